/* test_check.c - each rule finds its mistake, where it is, and is silent about the healthy twin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "scenarios/check_priv.h"
#include <math.h>
#include <string.h>

/* node0..node7 at leaf0 and leaf1, spine0 and spine1; 400 Gb/s. What the mistakes are made in: nothing to find but notes. */
#define FABRIC "[topology]\nkind = leaf_spine\nhosts = 8\nleaves = 2\nspines = 2\nhost_rate = 400Gbps\n"

static struct check_report *look(const char *text)
{
    g_autoptr(GError) err = NULL;
    struct scenario *scenario = scenario_parse("f.ini", text, strlen(text), &err);
    struct check_report *report = scenario ? check_scenario(scenario, &err) : NULL;
    scenario_free(scenario);
    if (!report)
        fail_msg("%s", err->message);
    return report;
}

static const struct check_finding *find(const struct check_report *report, const char *id)
{
    for (guint i = 0; i < report->findings->len; i++) {
        const struct check_finding *finding = report->findings->pdata[i];
        if (strcmp(finding->id, id) == 0)
            return finding;
    }
    return NULL;
}

static uint32_t n_serious(const struct check_report *report)
{
    return report->n_by_severity[CHECK_ERROR] + report->n_by_severity[CHECK_WARNING];
}

static void expect_clean(const char *text)
{
    struct check_report *report = look(text);
    for (guint i = 0; i < report->findings->len; i++) {
        const struct check_finding *finding = report->findings->pdata[i];
        if (finding->severity > CHECK_NOTE)
            fail_msg("%s: %s (%s)\n%s", finding->id, finding->what, finding->where, text);
    }
    check_report_free(report);
}

/* TEXT has a finding ID of SEVERITY at WHERE (NULL: anywhere) that says SAYS, in its sentence, terms or changes. */
static void expect(const char *text, const char *id, enum check_severity severity, const char *where, const char *says)
{
    struct check_report *report = look(text);
    bool found = false;
    g_autoptr(GString) seen = g_string_new(NULL);
    for (guint i = 0; i < report->findings->len; i++) {
        const struct check_finding *finding = report->findings->pdata[i];
        g_autoptr(GString) all = g_string_new(finding->what);
        for (guint t = 0; t < finding->terms->len; t++) {
            const struct check_term *term = finding->terms->pdata[t];
            g_string_append_printf(all, "\n%s: %s", term->name, term->value);
        }
        for (guint t = 0; t < finding->changes->len; t++)
            g_string_append_printf(all, "\n%s", (const char *)finding->changes->pdata[t]);
        g_string_append_printf(seen, "%s [%s] at %s: %s\n", check_severity_name(finding->severity), finding->id, finding->where, all->str);
        found |= strcmp(finding->id, id) == 0 && finding->severity == severity && (!where || strcmp(finding->where, where) == 0) &&
                 (!says || strstr(all->str, says));
    }
    if (!found)
        fail_msg("no %s [%s] at %s that says '%s' in:\n%s", check_severity_name(severity), id, where ? where : "any place", says ? says : "", seen->str);
    check_report_free(report);
}

static void test_check__a_healthy_fabric_has_notes_alone(void **state)
{
    (void)state;
    expect_clean(FABRIC);
    expect_clean("");
    expect_clean("[topology]\nhosts = 1\n");
    expect_clean(FABRIC "[pfc]\nenabled = false\nlossless_classes = none\n");
    expect_clean(FABRIC "[pfcwd]\nenabled = true\n");
    expect_clean(FABRIC "[nic]\nclass_dscp = 0 8 16 26 32 40 48 56\n[qos]\ndscp_to_tc = 0-63:0 26:3 48:6\n");
}

/* ---- marking ------------------------------------------------------------------------ */

static void test_check__kmin_above_kmax(void **state)
{
    (void)state;
    expect(FABRIC "[ecn]\nkmin = 1600KB\nkmax = 400KB\n", "kmin-above-kmax", CHECK_ERROR, NULL, "set at f.ini:8");
    expect(FABRIC "[ecn]\nkmin = 1600KB\nkmax = 400Gbps:400KB\n", "kmin-above-kmax", CHECK_ERROR, NULL, "1,600,000 B is above kmax 400,000 B");
    expect(FABRIC "[ecn:leaf0]\nkmin = 1600KB\nkmax = 400KB\n", "contradiction", CHECK_ERROR, "", "f.ini:8");
    expect_clean(FABRIC "[ecn]\nkmin = 400KB\nkmax = 400KB\n"); /* a step */
}

static void test_check__a_rate_without_a_rule(void **state)
{
    (void)state;
    expect(FABRIC "[ecn]\nkmin = 25Gbps:100KB 100Gbps:400KB\nkmax = 25Gbps:400KB 100Gbps:1600KB\n", "refused", CHECK_ERROR, "leaf0..leaf1 to node0..node7, 8 ports",
           "f.ini:8: ecn.kmin: no value for 400Gbps links");
}

static void test_check__thresholds_that_fall_with_the_rate(void **state)
{
    (void)state;
    expect(FABRIC "[ecn]\nkmin = 100Gbps:400KB 200Gbps:300KB 400Gbps:1600KB\n", "ecn-falling", CHECK_WARNING, NULL, "200Gbps links have 300kB, below the 400kB");
}

static void test_check__queues_that_never_mark(void **state)
{
    (void)state;
    expect(FABRIC "[ecn:leaf1/spine*]\nenabled = false\n", "ecn-missing", CHECK_WARNING, "leaf1 to spine0..spine1, 2 ports", "ecn.enabled = true (now false, set at f.ini:8)");
    expect(FABRIC "[ecn]\nclasses = 4\n", "ecn-missing", CHECK_WARNING, NULL, "queue 3");
    expect_clean(FABRIC "[ecn]\nenabled = false\n[nic]\ncongestion_control = none\n");
}

/* q = N / M (r + alpha B / (1 + alpha N)). B = 64 MB - 6 x (4,096 + headroom). */
static void test_check__ecn_after_pfc(void **state)
{
    (void)state;
    expect(FABRIC "[buffer]\nsize = 2MB\n", "ecn-after-pfc", CHECK_WARNING, NULL, "from a fan-in of 2 ports");
    expect(FABRIC "[buffer]\nalpha = 1/64\n[ecn]\nkmin = 3MB\nkmax = 6MB\n", "ecn-after-pfc", CHECK_WARNING, NULL, "alpha 0.015625");
    expect(FABRIC "[buffer]\nthreshold_mode = static\nstatic_th = 500KB\n", "ecn-after-pfc", CHECK_WARNING, NULL, "static_th 500,000 B");
    expect_clean(FABRIC "[buffer]\nsize = 2MB\n[ecn]\nkmin = 50KB\nkmax = 100KB\n");
    expect_clean(FABRIC "[buffer]\nsize = 2MB\n[nic]\ncongestion_control = none\n");
}

/* 16 hosts at a leaf of 24 ports, alpha 1: with k ports busy both ways XOFF at 4,096 + B / (1 + k). */
static void test_check__ecn_after_pfc_says_the_fan_in(void **state)
{
    (void)state;
    struct check_report *report = look("[topology]\nkind = star\nhosts = 20\n[buffer]\nsize = 20MB\nheadroom_rule = fixed\nheadroom = 100KB\nreserved = 0\n");
    /* B = 18 MB; 18 MB / (1 + k) < 1.6 MB from k = 11 on, more than half of 20 ports: a note. */
    const struct check_finding *finding = find(report, "ecn-after-pfc");
    assert_non_null(finding);
    assert_int_equal(finding->severity, CHECK_NOTE);
    assert_non_null(strstr(finding->what, "from a fan-in of 11 ports into as many queues: XOFF at a queue of 1,500,000 B"));
    check_report_free(report);
}

/* ---- buffers ---------------------------------------------------------------------------- */

static void test_check__a_buffer_that_is_too_small(void **state)
{
    (void)state;
    const char *case_8 = "[topology]\nhosts = 64\nhost_rate = 400Gbps\nhost_delay = 10us\n[buffer]\nsize = 32MiB\nreserved = 4KiB\n"
                         "headroom_rule = rate_delay\nheadroom_factor = 3\n";
    expect(case_8, "buffer-too-small", CHECK_ERROR, "leaf0", "64 ports of 400Gbps x (reserved 4,096 B + headroom 1,500,000 B) = 96.3 MB");
    expect(case_8, "buffer-too-small", CHECK_ERROR, "leaf0", "fits up to 3.47 us");
    expect(FABRIC "[buffer:spine1]\nsize = 200KB\n", "buffer-too-small", CHECK_ERROR, "spine1", "buffer.size = ");
    expect(FABRIC "[buffer]\ningress_pool = 64MB\n", "buffer-too-small", CHECK_ERROR, NULL, "ingress pool");
    expect(FABRIC "[buffer]\nsize = 630KB\nheadroom_rule = fixed\nheadroom = 100KB\n", "buffer-tight", CHECK_WARNING, NULL, "below a frame of 4,174 B");
}

static void test_check__xon_not_below_xoff(void **state)
{
    (void)state;
    expect(FABRIC "[buffer]\nthreshold_mode = static\nstatic_th = 4MB\nxon = 4MB\n", "xon-above-xoff", CHECK_ERROR, NULL, "static_th = 4,000,000 B");
    /* Pool about 63 MB, alpha 1: half of it with one group, a quarter with three. */
    expect(FABRIC "[buffer]\nxon = 20MB\n", "xon-above-xoff", CHECK_WARNING, NULL, "when 3 or more groups are congested");
    expect(FABRIC "[buffer]\nxon_offset = 0\n", "xon-no-hysteresis", CHECK_WARNING, NULL, "buffer.xon_offset = 4174B");
    expect("[topology]\nhosts = 3\n[nic]\nrx_rate = 450Gbps\nrx_xon = 1MB\n", "xon-above-xoff", CHECK_ERROR, "node0..node2", "nic.rx_xon");
    expect_clean(FABRIC "[buffer]\nxon = 100KB\n");
}

/* ---- headroom -------------------------------------------------------------------------------- */

/* 400 Gb/s, 40 m: 2 x (200 + 120) + 500 + 600 ns = 1.74 us x 50 B/ns = 87,000 B; + 1 + 3 x 4,194 + 84 = 99,667 B. */
static void test_check__headroom_too_small_for_the_cable(void **state)
{
    (void)state;
    const char *text = FABRIC "leaf_cable = 40m\n[buffer]\nheadroom_rule = fixed\nheadroom = 90KB\n";
    expect(text, "headroom-short", CHECK_ERROR, "leaf0..leaf1, spine0..spine1 to leaf0..leaf1, spine0..spine1, 8 ports", "has 90,000 B of headroom and needs 99,667 B");
    expect(text, "headroom-short", CHECK_ERROR, NULL, "cable, there and back: 2 x 200ns x rate = 20,000 B");
    expect(text, "headroom-short", CHECK_ERROR, NULL, "FEC, there and back: 2 x 120ns x rate = 12,000 B");
    expect(text, "headroom-short", CHECK_ERROR, NULL, "peer's response (pfc.response): 500ns x rate = 25,000 B");
    expect(text, "headroom-short", CHECK_ERROR, NULL, "own pipeline (switch.latency): 600ns x rate = 30,000 B");
    expect(text, "headroom-short", CHECK_ERROR, NULL, "frames: 3 x 4,194 B = 12,582 B");
    expect(text, "headroom-short", CHECK_ERROR, NULL, "buffer.headroom = 100kB (now 90kB, set at f.ini:10)");
    expect_clean(FABRIC "leaf_cable = 40m\n[buffer]\nheadroom_rule = fixed\nheadroom = 100KB\n");
}

static void test_check__headroom_of_one_hop(void **state)
{
    (void)state;
    expect(FABRIC "[buffer:leaf0/spine1]\nheadroom_scale = 0.5\n", "headroom-short", CHECK_ERROR, "leaf0/spine1", "buffer.headroom_scale = 1 (now 0.5, set at f.ini:8)");
    expect(FABRIC "[buffer]\nheadroom_rule = fixed\nheadroom = 0\n", "headroom-short", CHECK_ERROR, NULL, "has 0 B of headroom"); /* cases.md 15 (c) */
    expect(FABRIC "leaf_cable = 10km\n[buffer]\nsize = 300MB\nheadroom_rule = rate_delay\nheadroom_factor = 1\n", "headroom-short", CHECK_ERROR, NULL, "10km (50us)");
}

static void test_check__headroom_in_cells(void **state)
{
    (void)state;
    /* 82,167 B at 5 m, in cells of 254 B: an answer of 66 B takes 254 B for 86 B on the wire, 2.953. */
    expect(FABRIC "[buffer]\ncell = 254B\nheadroom_rule = fixed\nheadroom = 100KB\n", "headroom-short", CHECK_ERROR, NULL, "cells: x 2.953");
    expect_clean(FABRIC "[buffer]\ncell = 254B\n");
    expect(FABRIC "[buffer]\ncell = 254B\n", "headroom-small-frames", CHECK_NOTE, NULL, "x 4 (64 B in cells of 254 B)");
}

static void test_check__a_shared_headroom_pool(void **state)
{
    (void)state;
    expect(FABRIC "[buffer]\nheadroom_pool = 50KB\n", "headroom-short", CHECK_ERROR, "leaf0..leaf1, spine0..spine1", "shared headroom pool of 50,000 B holds less");
    expect(FABRIC "[buffer]\nheadroom_pool = 150KB\n", "headroom-shared", CHECK_NOTE, NULL, "oversubscribed");
    expect_clean(FABRIC "[buffer]\nheadroom_pool = 150KB\n");
}

/* ---- hops and classes ---------------------------------------------------------------------------- */

static void test_check__pfc_off_on_one_hop(void **state)
{
    (void)state;
    const char *text = FABRIC "[pfc:leaf0/spine0]\nenabled = false\n";
    expect(text, "hop-not-lossless", CHECK_ERROR, "leaf0/spine0", "the sender ignores the receiver's pauses");
    expect(text, "hop-not-lossless", CHECK_ERROR, "spine0/leaf0", "the receiver sends no pauses");
    expect(text, "hop-not-lossless", CHECK_ERROR, "spine0/leaf0", "pfc.enabled = true (now false, set at f.ini:8)");
    expect(FABRIC "[pfc:node3]\nenabled = false\n", "hop-not-lossless", CHECK_ERROR, "node3/leaf0", "the sender ignores");
    expect(FABRIC "[pfc:spine1]\nlossless_classes = 4\n", "hop-not-lossless", CHECK_ERROR, "leaf0..leaf1 to spine1, 2 ports", "the receiver sends no pauses");
}

static void test_check__a_priority_swapped_on_one_hop(void **state)
{
    (void)state;
    const char *text = FABRIC "[pfc]\nlossless_classes = 3,4\n[ecn]\nclasses = 3,4\n[qos:spine0]\ndscp_to_tc = 0-63:0 24:4 32:3 48:6\n";
    expect(text, "hop-not-lossless", CHECK_ERROR, NULL, "the pauses stop another queue");
    expect(text, "maps-differ", CHECK_WARNING, "spine0 to leaf0..leaf1, 2 ports", "TC 4, priority group 4, queue 4; on 14 of 16");
    expect(text, "maps-differ", CHECK_WARNING, NULL, "qos.dscp_to_tc, set at f.ini:12");
    expect_clean(FABRIC "[pfc]\nlossless_classes = 3,4\n[ecn]\nclasses = 3,4\n");
    /* The pause of priority 3 stops queue 4 on one switch. */
    expect(FABRIC "[qos:leaf1]\npfc_to_queue = 0-7:0 3:4 4:3\n", "hop-not-lossless", CHECK_ERROR, "leaf1 to spine0..spine1, 2 ports", "which stop queue 4");
}

static void test_check__trust_that_differs(void **state)
{
    (void)state;
    expect(FABRIC "[qos:spine0]\ntrust = pcp\n", "trust-differs", CHECK_WARNING, "spine0 to leaf0..leaf1, 2 ports", "trust the PCP, 14 of 16 switch ports the DSCP");
    expect_clean(FABRIC "[qos]\ntrust = pcp\n");
}

static void test_check__a_nic_that_marks_otherwise(void **state)
{
    (void)state;
    expect(FABRIC "[nic:node2]\nclass_dscp = 0 8 16 32 24 40 48 56\nclass_pcp = 0 1 2 4 3 5 6 7\n", "marking-differs", CHECK_WARNING, "node2/leaf0", "with DSCP 32, 7 others with DSCP 24");
}

static void test_check__cnps_in_the_data_class(void **state)
{
    (void)state;
    expect(FABRIC "[nic]\ncnp_class = 3\n", "cnp-with-data", CHECK_WARNING, NULL, "nic.cnp_class = 6 (now 3, set at f.ini:8)");
    expect(FABRIC "[qos:leaf1]\ndscp_to_tc = 0-63:0 24:3 48:3\n", "cnp-with-data", CHECK_WARNING, "leaf1 to node4..node7, spine0..spine1, 6 ports", "queue 3");
    expect(FABRIC "[nic]\ncnp_class = 5\n", "cnp-not-strict", CHECK_WARNING, NULL, "queue 5");
    expect(FABRIC "[pfc]\nlossless_classes = 3,6\n", "cnp-lossless", CHECK_WARNING, NULL, "priority group 6");
    expect_clean(FABRIC "[nic]\ncnp_class = 7\n");
    expect_clean(FABRIC "[nic]\ncnp_class = 3\ncongestion_control = none\n");
    expect_clean(FABRIC "[nic]\ncnp_class = 3\nnp_mode = ack_echo\n");
}

/* Two flows: RDMA in class 3, storage in class 1. */
static char *two_classes(const char *rest)
{
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "test_check.flows.csv", NULL);
    g_autoptr(GError) err = NULL;
    if (!g_file_set_contents(path, "flow,src,dst,bytes,start,class\n0,0,4,1000000,0us,3\n1,1,4,1000000,0us,1\n", -1, &err))
        fail_msg("%s", err->message);
    return g_strdup_printf(FABRIC "[workload]\nkind = flows\nfile = %s\n%s", path, rest);
}

static void test_check__storage_in_the_rdma_class(void **state)
{
    (void)state;
    g_autofree char *healthy = two_classes("");
    g_autofree char *switches = two_classes("[qos]\ndscp_to_tc = 0-63:0 8:3 24:3 48:6\n");
    g_autofree char *nics = two_classes("[nic]\nclass_dscp = 0 24 16 24 32 40 48 56\n");
    g_autofree char *group = two_classes("[qos]\ntc_to_pg = 0-7:0 1:3 3:3\n");
    expect_clean(healthy);
    expect(switches, "classes-share", CHECK_WARNING, NULL, "classes 1 and 3 (RDMA data) of the workload share queue 3");
    expect(nics, "classes-share", CHECK_WARNING, NULL, "class 1: DSCP 24; class 3: DSCP 24");
    expect(group, "classes-share", CHECK_WARNING, NULL, "share the lossless priority group 3");
}

static void test_check__the_hop_list_has_every_hop(void **state)
{
    (void)state;
    struct check_report *report = look(FABRIC "[pfc:leaf0/spine0]\nenabled = false\n");
    uint32_t n_lossy = 0;
    assert_int_equal(report->hops->len, 2 * (8 + 4));
    for (guint i = 0; i < report->hops->len; i++) {
        const struct check_hop *hop = &g_array_index(report->hops, struct check_hop, i);
        n_lossy += !hop->lossless;
        assert_int_equal(hop->class, 3);
        assert_int_equal(hop->dscp, 24);
        assert_int_equal(hop->queues, 1 << 3);
        assert_true(g_array_index(report->port_peers, uint32_t, hop->port) != NET_NONE);
    }
    assert_int_equal(n_lossy, 2);
    check_report_free(report);
}

/* ---- watchdog ------------------------------------------------------------------------------------ */

static void test_check__watchdog_times(void **state)
{
    (void)state;
    expect(FABRIC, "watchdog-off", CHECK_NOTE, NULL, "pfcwd.enabled = true");
    expect(FABRIC "[pfcwd:leaf0]\nenabled = true\n", "watchdog-missing", CHECK_WARNING, NULL, "others have one");
    expect(FABRIC "[pfcwd]\nenabled = true\npoll_interval = 500ms\n", "contradiction", CHECK_ERROR, NULL, "detection_time is below poll_interval");
    expect(FABRIC "[pfcwd]\nenabled = true\ndetection_time = 400ms\nrestoration_time = 200ms\n", "watchdog-flaps", CHECK_WARNING, NULL, "pfcwd.restoration_time = 400ms");
    expect(FABRIC "[pfcwd]\nenabled = true\npoll_interval = 50ms\n", "watchdog-range", CHECK_NOTE, NULL, "100ms to 1s");
    /* 63 MB at 400 Gb/s drain in 1.27 ms. */
    expect(FABRIC "[pfcwd]\nenabled = true\npoll_interval = 1ms\ndetection_time = 1ms\n", "watchdog-hasty", CHECK_WARNING, NULL, "may last 1.27 ms");
    expect_clean(FABRIC "[pfcwd]\nenabled = true\npoll_interval = 2ms\ndetection_time = 2ms\nrestoration_time = 2ms\n");
}

/* ---- paths ---------------------------------------------------------------------------------------- */

static void test_check__reordering_with_go_back_n(void **state)
{
    (void)state;
    expect(FABRIC "[routing]\nmode = spray\n", "spray-go-back-n", CHECK_WARNING, "node0..node7", "nic.recovery = selective_repeat");
    expect(FABRIC "[routing]\nmode = adaptive\n[nic]\nreorder_tolerance = 9\n[nic:node1]\nreorder_tolerance = 0\n", "spray-go-back-n", CHECK_WARNING, "node1", NULL);
    expect_clean(FABRIC "[routing]\nmode = spray\n[nic]\nrecovery = selective_repeat\n");
}

/* Leaf and aggregation have k / 2 = 4 ports up: gcd(4, 4) = 4, one port of four. */
static void test_check__polarisation(void **state)
{
    (void)state;
    expect("[topology]\nkind = fat_tree\nk = 8\n[routing]\necmp_seed_per_switch = false\n", "polarised", CHECK_WARNING, "agg0..agg31", "use 1 of 4 equal ports");
    expect("[topology]\nkind = fat_tree\nk = 8\n[routing]\necmp_seed_per_switch = false\n", "polarised", CHECK_WARNING, NULL, "4 / gcd(4, 4) = 1 values");
    expect_clean("[topology]\nkind = fat_tree\nk = 8\n");
    expect_clean(FABRIC "[routing]\necmp_seed_per_switch = false\n"); /* only leaves choose */
    expect_clean("[topology]\nkind = fat_tree\nk = 8\n[routing]\necmp_seed_per_switch = false\nmode = spray\n[nic]\nrecovery = selective_repeat\n");
}

/* Two balls in two bins: 1.5. Three: 3 x 2/8 + 2 x 6/8 = 2.25. */
static void test_check__expected_maximum_of_balls_in_bins(void **state)
{
    (void)state;
    assert_true(fabs(check_expected_maximum(1, 8) - 1) < 1e-6);
    assert_true(fabs(check_expected_maximum(2, 2) - 1.5) < 1e-6);
    assert_true(fabs(check_expected_maximum(3, 2) - 2.25) < 1e-6);
    assert_true(fabs(check_expected_maximum(8, 8) - 2.59) < 0.03 * 2.59);
    assert_true(fabs(check_expected_maximum(1000, 1) - 1000) < 1e-3);
}

static void test_check__few_flows_over_the_uplinks(void **state)
{
    (void)state;
    expect("[topology]\nkind = leaf_spine\nhosts = 16\nleaves = 2\nspines = 8\n[workload]\nkind = collective\n[collective]\nop = all_reduce\nalgorithm = ring\n"
           "ranks = 0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15\n",
           "few-flows", CHECK_NOTE, "leaf0..leaf1", "8 queue pairs over 8 uplinks by ECMP: the fullest bears 2.60");
}

static void test_check__pairs_without_a_path(void **state)
{
    (void)state;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "test_check.topo.csv", NULL);
    g_autofree char *text = g_strdup_printf("[topology]\nkind = edges\nfile = %s\n", path);
    assert_true(g_file_set_contents(path, "node_a,node_b,rate_gbps,delay_ns\n0,3,100,1000\n1,4,100,1000\n2,3,100,1000\n5,4,100,1000\n", -1, NULL));
    expect(text, "unreachable", CHECK_ERROR, "", "2 components");
    expect(text, "not-looked-at", CHECK_NOTE, "", NULL);
}

/* ---- transport --------------------------------------------------------------------------------------- */

static void test_check__retries_against_reconvergence(void **state)
{
    (void)state;
    /* 4.096 us x 2^4 x 8 = 524 us against 50 ms. */
    expect(FABRIC "[nic]\nlocal_ack_timeout = 4\n[fault:f]\nkind = link_down\nwhere = leaf0/spine0\n", "retries-run-out", CHECK_WARNING, NULL, "fail after 524.3 us");
    expect(FABRIC "[nic]\nlocal_ack_timeout = 4\n", "retries-run-out", CHECK_NOTE, NULL, "nic.local_ack_timeout = 11");
    expect_clean(FABRIC "[nic]\nlocal_ack_timeout = 11\n[fault:f]\nkind = link_down\nwhere = leaf0/spine0\n");
    expect(FABRIC "[nic]\nrnr = true\nrnr_retry = 3\n", "rnr-runs-out", CHECK_NOTE, NULL, "nic.rnr_retry = 7");
    expect(FABRIC "[nic]\nlocal_ack_timeout = 0\n", "no-timeout", CHECK_NOTE, NULL, NULL);
}

static void test_check__windows_and_slow_receivers(void **state)
{
    (void)state;
    expect(FABRIC "[nic]\nwindow = 64KB\n", "window-below-bdp", CHECK_NOTE, NULL, "bandwidth x delay");
    expect(FABRIC "[nic:node5]\nrx_rate = 200Gbps\n", "slow-receiver", CHECK_WARNING, "node5", "50 % of the time paused");
    expect(FABRIC "[nic]\nrx_rate = 450Gbps\nrx_xoff = 1950KB\n", "nic-headroom-short", CHECK_ERROR, NULL, "has 50,000 B above its XOFF");
    expect_clean(FABRIC "[nic]\nwindow = 4MB\nrx_rate = 450Gbps\n");
}

/* ---- bad input ------------------------------------------------------------------------------------------ */

static void test_check__bad_input_is_an_error_with_its_place(void **state)
{
    (void)state;
    static const struct { const char *text, *says; } wrong[] = {
        {FABRIC "[switch]\nstrict_classes = 9\n", "f.ini:8: switch.strict_classes: "},
        {FABRIC "[pfc:leaf9]\nenabled = false\n", "f.ini:7: [pfc:leaf9]: "},
        {FABRIC "[workload]\nkind = flows\nfile = absent.csv\n", "absent.csv"},
        {"[topology]\nkind = rail_clos\nnics_per_node = 3\n", "f.ini:3: topology.nics_per_node: "},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) err = NULL;
        struct scenario *scenario = scenario_parse("f.ini", wrong[i].text, strlen(wrong[i].text), &err);
        assert_non_null(scenario);
        assert_null(check_scenario(scenario, &err));
        if (!strstr(err->message, wrong[i].says))
            fail_msg("'%s' does not say '%s'", err->message, wrong[i].says);
        scenario_free(scenario);
    }
    check_report_free(NULL);
}

/* Several mistakes at once: errors come first, and all are counted. */
static void test_check__findings_are_ordered_and_counted(void **state)
{
    (void)state;
    struct check_report *report = look(FABRIC "[qos:spine0]\ntrust = pcp\n[pfc:leaf0]\nenabled = false\n");
    int last = CHECK_ERROR;
    uint32_t n = 0;
    for (guint i = 0; i < report->findings->len; i++, n++) {
        const struct check_finding *finding = report->findings->pdata[i];
        assert_true((int)finding->severity <= last);
        last = (int)finding->severity;
    }
    assert_int_equal(n, n_serious(report) + report->n_by_severity[CHECK_NOTE]);
    assert_true(report->n_by_severity[CHECK_ERROR] > 0 && report->n_by_severity[CHECK_WARNING] > 0);
    check_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check__a_healthy_fabric_has_notes_alone),
        cmocka_unit_test(test_check__kmin_above_kmax),
        cmocka_unit_test(test_check__a_rate_without_a_rule),
        cmocka_unit_test(test_check__thresholds_that_fall_with_the_rate),
        cmocka_unit_test(test_check__queues_that_never_mark),
        cmocka_unit_test(test_check__ecn_after_pfc),
        cmocka_unit_test(test_check__ecn_after_pfc_says_the_fan_in),
        cmocka_unit_test(test_check__a_buffer_that_is_too_small),
        cmocka_unit_test(test_check__xon_not_below_xoff),
        cmocka_unit_test(test_check__headroom_too_small_for_the_cable),
        cmocka_unit_test(test_check__headroom_of_one_hop),
        cmocka_unit_test(test_check__headroom_in_cells),
        cmocka_unit_test(test_check__a_shared_headroom_pool),
        cmocka_unit_test(test_check__pfc_off_on_one_hop),
        cmocka_unit_test(test_check__a_priority_swapped_on_one_hop),
        cmocka_unit_test(test_check__trust_that_differs),
        cmocka_unit_test(test_check__a_nic_that_marks_otherwise),
        cmocka_unit_test(test_check__cnps_in_the_data_class),
        cmocka_unit_test(test_check__storage_in_the_rdma_class),
        cmocka_unit_test(test_check__the_hop_list_has_every_hop),
        cmocka_unit_test(test_check__watchdog_times),
        cmocka_unit_test(test_check__reordering_with_go_back_n),
        cmocka_unit_test(test_check__polarisation),
        cmocka_unit_test(test_check__expected_maximum_of_balls_in_bins),
        cmocka_unit_test(test_check__few_flows_over_the_uplinks),
        cmocka_unit_test(test_check__pairs_without_a_path),
        cmocka_unit_test(test_check__retries_against_reconvergence),
        cmocka_unit_test(test_check__windows_and_slow_receivers),
        cmocka_unit_test(test_check__bad_input_is_an_error_with_its_place),
        cmocka_unit_test(test_check__findings_are_ordered_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
