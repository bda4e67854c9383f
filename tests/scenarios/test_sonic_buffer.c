/* Tests of scenarios/sonic_buffer.c: profiles of groups and queues, pools and what headroom comes out of. */
#include "tests/scenarios/sonic_fixture.h"

#define DB "{'PORT':{'E0':{'speed':'100000'}}," SONIC_POOLS "," SONIC_PROFILES

static void test_sonic_buffer__headroom_within_size_or_beside_it(void **state)
{
    (void)state;
    /* pg_a: 50,176 = 19,456 + 30,720, NVIDIA's way; pg_b: 1,664 are for the group itself, Broadcom's */
    struct sonic_overlay o = sonic_of(DB ",'BUFFER_PG':{'E0|3':{'profile':'pg_a'},'E0|4':{'profile':'[BUFFER_PROFILE|pg_b]'}}}");
    sonic_has(&o, "buffer:*#3", "reserved", "19456B");
    sonic_has(&o, "buffer:*#3", "xon", "19456B");
    sonic_has(&o, "buffer:*#3", "headroom", "30720B");
    sonic_has(&o, "buffer:*#3", "alpha", "1/8");
    sonic_has(&o, "buffer:*#3", "threshold_mode", "dynamic");
    sonic_has(&o, "buffer:*#3", "xon_offset", "0B");
    sonic_has(&o, "buffer:*#3-4", "headroom_rule", "fixed");
    sonic_has(&o, "buffer:*#4", "reserved", "1664B");
    sonic_has(&o, "buffer:*#4", "headroom", "160000B");
    sonic_has(&o, "buffer:*#4", "xon", "4608B");
    sonic_has(&o, "buffer:*#4", "xon_offset", "2288B");
    sonic_has(&o, "buffer:*#4", "threshold_mode", "static");
    sonic_has(&o, "buffer:*#4", "static_th", "1000000B");
    sonic_overlay_release(&o);
}

static void test_sonic_buffer__queues(void **state)
{
    (void)state;
    static const char queues[] = ",'BUFFER_QUEUE':{'E0|3-4':{'profile':'out_lossless'},'E0|0-2':{'profile':'out_lossy'}}";
    g_autofree char *plain = g_strconcat(DB, queues, "}", NULL);
    struct sonic_overlay o = sonic_of(plain);
    sonic_has(&o, "buffer:*#3-4", "egress_static_th", "13945824B");
    sonic_has(&o, "buffer:*#3-4", "egress_reserved", "0B");
    sonic_has(&o, "buffer:*#0-2", "lossy_reserved", "1518B");
    sonic_has(&o, "buffer:*#0-2", "lossy_alpha", "8");
    sonic_has(&o, "buffer", "egress_lossless_pool", "13945824B");
    sonic_has(&o, "buffer", "egress_lossy_pool", "3302912B");
    sonic_has(&o, "buffer", "lossy_in_lossless_pool", "false");
    sonic_overlay_release(&o);
    /* PFC decides where it is known: queue 4 is lossy, and its static threshold a limit */
    g_autofree char *with_pfc = g_strconcat(DB, queues, ",'PORT_QOS_MAP':{'E0':{'pfc_enable':'3'}}}", NULL);
    o = sonic_of(with_pfc);
    sonic_has(&o, "buffer:*#3", "egress_static_th", "13945824B");
    sonic_has(&o, "buffer:*#4", "lossy_limit", "13945824B");
    sonic_overlay_release(&o);
}

static void test_sonic_buffer__one_egress_pool_for_both_kinds(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{'BUFFER_POOL':{'out':{'type':'egress','mode':'static','size':'1000000'}},'BUFFER_PROFILE':{"
                                      "'a':{'pool':'out','size':'0','static_th':'500000'},'b':{'pool':'out','size':'1778','dynamic_th':'0'}},"
                                      "'BUFFER_QUEUE':{'E0|3':{'profile':'a'},'E0|0':{'profile':'b'}}}");
    sonic_has(&o, "buffer", "egress_lossless_pool", "1000000B");
    sonic_has(&o, "buffer", "egress_lossy_pool", "0B");
    sonic_has(&o, "buffer", "lossy_in_lossless_pool", "true");
    sonic_overlay_release(&o);
}

#define POOLS(size, xoff, egress) \
    "{'BUFFER_POOL':{'ingress_lossless_pool':{'type':'ingress','mode':'dynamic','size':'" size "','xoff':'" xoff "'},'out':{'type':'egress','mode':'static','size':'" egress "'}}}"

static void test_sonic_buffer__where_headroom_lies(void **state)
{
    (void)state;
    static const struct sonic_options inside = {.headroom = SONIC_HEADROOM_INSIDE}, beside = {.headroom = SONIC_HEADROOM_BESIDE};
    static const struct { const char *json; const struct sonic_options *options; const char *size, *pool, *headroom; } rows[] = {
        {POOLS("10875072", "4194112", "15982720"), NULL, "15982720B", "10875072B", "4194112B"}, /* Tomahawk: both fit the chip */
        {POOLS("32732160", "1622016", "32599040"), NULL, "32732160B", "0B", "1622016B"},          /* Trident 3: the sum does not */
        {POOLS("10875072", "4194112", "15982720"), &inside, "10875072B", "0B", "4194112B"},
        {POOLS("32732160", "1622016", "32599040"), &beside, "34354176B", "32732160B", "1622016B"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct sonic_overlay o = sonic_of_all(rows[i].json, NULL, NULL, rows[i].options);
        sonic_has(&o, "buffer", "size", rows[i].size);
        sonic_has(&o, "buffer", "ingress_pool", rows[i].pool);
        sonic_has(&o, "buffer", "headroom_pool", rows[i].headroom);
        sonic_overlay_release(&o);
    }
}

static void test_sonic_buffer__a_shared_headroom_pool_by_ratio(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of(DB ",'BUFFER_PG':{'E0|3-4':{'profile':'pg_a'}},'DEFAULT_LOSSLESS_BUFFER_PARAMETER':{'AZURE':{'over_subscribe_ratio':'2'}}}");
    sonic_has(&o, "buffer", "headroom_pool", "30720B"); /* 2 x 30,720 / 2 */
    sonic_overlay_release(&o);
}

static void test_sonic_buffer__doubtful_profiles_warn(void **state)
{
    (void)state;
    struct sonic_overlay o = sonic_of("{" SONIC_POOLS ",'BUFFER_PROFILE':{'zero':{'pool':'ingress_lossless_pool','size':'0','xoff':'0','dynamic_th':'0'},"
                                      "'lossy':{'pool':'ingress_lossless_pool','size':'100','dynamic_th':'0','packet_discard_action':'trim'}},"
                                      "'BUFFER_PG':{'E0,E1|3':{'profile':'zero'},'E0,E1|4':{'profile':'lossy'}},'PORT_QOS_MAP':{'E0,E1':{'pfc_enable':'4'}}}");
    assert_int_equal(sonic_warns(&o, "zero gives priority group 3 no headroom (xoff 0): frames that arrive after XOFF are dropped (2 times)"), 1);
    assert_int_equal(sonic_warns(&o, "zero is lossless, yet no priority of pfc_enable is in priority group 3"), 1);
    assert_int_equal(sonic_warns(&o, "lossy has no xoff and is lossy, yet pfc_enable makes priority group 4 lossless"), 1);
    assert_int_equal(sonic_warns(&o, "BUFFER_PROFILE|lossy|size: ignored: lossy priority groups have no reserve"), 1);
    assert_int_equal(sonic_warns(&o, "BUFFER_PROFILE: packet_discard_action: ignored in lossy: frames beyond a limit are dropped, not trimmed"), 1);
    sonic_has(&o, "buffer:*#3", "headroom", "0B");
    sonic_overlay_release(&o);
}

static void test_sonic_buffer__profiles_are_checked(void **state)
{
    (void)state;
    sonic_refuses("{'BUFFER_POOL':{'p':{'size':'1'}}}", "db.json: BUFFER_POOL|p|type: missing; allowed: ingress, egress, both");
    sonic_refuses("{'BUFFER_POOL':{'p':{'type':'ingress','size':'-1'}}}", "db.json: BUFFER_POOL|p|size: '-1'; allowed: a whole number from 1 to 4000000000");
    sonic_refuses("{'BUFFER_PROFILE':{'x':{'size':'0'}}}", "db.json: BUFFER_PROFILE|x|pool: missing; allowed: a row of BUFFER_POOL");
    sonic_refuses("{" SONIC_POOLS ",'BUFFER_PROFILE':{'x':{'pool':'egress_lossy_pool','dynamic_th':'0','static_th':'1'}}}",
                  "db.json: BUFFER_PROFILE|x|static_th: beside dynamic_th; allowed: one of them");
    sonic_refuses("{" SONIC_POOLS ",'BUFFER_PROFILE':{'x':{'pool':'egress_lossy_pool','dynamic_th':'9'}}}",
                  "db.json: BUFFER_PROFILE|x|dynamic_th: '9'; allowed: a whole number from -8 to 8");
    sonic_refuses(DB ",'BUFFER_PG':{'E0|3':{'profile':'out_lossy'}}}", "db.json: BUFFER_PG|E0|3|profile: out_lossy is of an egress pool; allowed: profiles of ingress pools");
    sonic_refuses(DB ",'BUFFER_QUEUE':{'E0|3':{'profile':'pg_a'}}}", "db.json: BUFFER_QUEUE|E0|3|profile: pg_a is of an ingress pool; allowed: profiles of egress pools");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sonic_buffer__headroom_within_size_or_beside_it),
        cmocka_unit_test(test_sonic_buffer__queues),
        cmocka_unit_test(test_sonic_buffer__one_egress_pool_for_both_kinds),
        cmocka_unit_test(test_sonic_buffer__where_headroom_lies),
        cmocka_unit_test(test_sonic_buffer__a_shared_headroom_pool_by_ratio),
        cmocka_unit_test(test_sonic_buffer__doubtful_profiles_warn),
        cmocka_unit_test(test_sonic_buffer__profiles_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
