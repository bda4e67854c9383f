/* fuzz_run.c - whole runs: a tiny fabric, parameters and a workload chosen by the input, simulated for half a millisecond
 * at most.
 *
 * Any outcome is right but a broken law of the model (RUN_BROKEN), a failure without a message, or a result that
 * depends on the number of threads. A run that takes long is ended through its interrupt, as Ctrl-C does.
 */
#include "fuzz.h"
#include "scenarios/groups.h"
#include "scenarios/run.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define MAX_RUN_SECONDS 2 /* of processor time */
#define MAX_SETTINGS    12
#define MAX_FLOWS       10
#define MAX_UNTIL       (500 * UNIT_US)
#define MAX_START       (20 * UNIT_US)
#define PACKETS_A_FLOW  60
#define MAX_PACKETS     (INT64_C(1) << 31) /* of a queue pair: the model's bound */
#define MAX_SLICES      64 /* of a collective's data */
#define MAX_COLLECTIVE_BYTES UNIT_MIB

static volatile sig_atomic_t interrupted;

static void on_timer(int number)
{
    (void)number;
    interrupted = 1;
}

/* SECONDS of processor time from now; 0: never. */
static void interrupt_after(int seconds)
{
    struct itimerval timer = {.it_value.tv_sec = seconds};
    interrupted = 0;
    signal(SIGVTALRM, on_timer);
    FUZZ_REQUIRE(setitimer(ITIMER_VIRTUAL, &timer, NULL) == 0);
}

/* ---- settings ------------------------------------------------------------------------ */

struct maker {
    struct fuzz_dice dice;
    struct scenario *scenario;
};

/* False if the value is not allowed: then the default stays. */
static bool set(struct maker *m, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool set(struct maker *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *assignment = g_strdup_vprintf(format, args);
    va_end(args);
    GError *err = NULL;
    if (param_bag_set_assignment(m->scenario->bag, assignment, PARAM_BY_COMMAND_LINE, "--set", &err))
        return true;
    fuzz_take_error(&err, "--set: ");
    return false;
}

static double any_real(struct fuzz_dice *dice, const struct param_desc *row)
{
    double part = (double)fuzz_between(dice, 0, 1 << 20) / (1 << 20);
    return row->min_r + (row->max_r - row->min_r) * part * part;
}

static char *any_choice(struct fuzz_dice *dice, const char *choices)
{
    g_auto(GStrv) names = g_strsplit(choices, "|", -1);
    return g_strdup(names[fuzz_below(dice, g_strv_length(names))]);
}

static char *any_text(struct fuzz_dice *dice, const char *key)
{
    static const char *const classes[] = {"none", "3", "3,4", "0,1,2,3,4,5,6,7", "6,7", "6", "0", "7,7"};
    static const char *const weights[] = {"1,1,1,1,1,1,1,1", "1,2,3,4,5,6,7,8", "10000,1,1,1,1,1,1,10000"};
    if (strcmp(key, "dwrr_weights") == 0)
        return g_strdup(weights[fuzz_below(dice, G_N_ELEMENTS(weights))]);
    return g_strdup(classes[fuzz_below(dice, G_N_ELEMENTS(classes))]);
}

/* A value of ROW within its range, most of the time. (transfer full) */
static char *any_value(struct fuzz_dice *dice, const struct param_desc *row)
{
    switch (row->type) {
    case PARAM_TIME:
        return units_format_time(fuzz_between(dice, row->min_i, row->max_i));
    case PARAM_BYTES:
    case PARAM_BYTES_MAP:
        return units_format_bytes(fuzz_between(dice, row->min_i, row->max_i));
    case PARAM_RATE:
        return units_format_rate(fuzz_between(dice, row->min_i, row->max_i));
    case PARAM_LENGTH:
        return units_format_length(fuzz_between(dice, row->min_i, row->max_i));
    case PARAM_INT:
        return g_strdup_printf("%" G_GINT64_FORMAT, fuzz_between(dice, row->min_i, row->max_i));
    case PARAM_REAL:
    case PARAM_REAL_MAP:
        return units_format_real(any_real(dice, row));
    case PARAM_BOOL:
        return g_strdup(fuzz_byte(dice) % 2 ? "true" : "false");
    case PARAM_ENUM:
        return any_choice(dice, row->choices);
    case PARAM_TEXT:
        break;
    }
    return any_text(dice, row->key);
}

/* Groups that say how large a run is are chosen with care below. */
static bool is_free(const char *group)
{
    static const char *const kept[] = {"run", "topology", "workload", "collective"};
    for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
        if (strcmp(group, kept[i]) == 0)
            return false;
    return true;
}

static void choose_settings(struct maker *m)
{
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    for (uint32_t left = fuzz_below(&m->dice, MAX_SETTINGS + 1); left > 0; left--) {
        const struct param_group *group = groups[fuzz_below(&m->dice, (uint32_t)n)];
        const struct param_desc *row = &group->rows[fuzz_below(&m->dice, (uint32_t)group->n_rows)];
        g_autofree char *value = any_value(&m->dice, row);
        if (is_free(group->name))
            set(m, "%s.%s=%s", group->name, row->key, value);
    }
}

static void choose_links(struct maker *m)
{
    static const char *const rates[] = {"100Gbps", "25Gbps", "400Gbps", "10Gbps", "1600Gbps"};
    static const char *const tiers[] = {"host", "leaf", "spine"};
    for (size_t i = 0; i < G_N_ELEMENTS(tiers); i++) {
        g_autofree char *delay = units_format_time(fuzz_between(&m->dice, 0, 10 * UNIT_US));
        set(m, "topology.%s_rate=%s", tiers[i], rates[fuzz_below(&m->dice, G_N_ELEMENTS(rates))]);
        set(m, "topology.%s_delay=%s", tiers[i], delay);
    }
}

/* The number of hosts' GPUs, at most 16. */
static uint32_t choose_fabric(struct maker *m)
{
    uint32_t kind = fuzz_below(&m->dice, 4), a = 2 + fuzz_below(&m->dice, 3), b = 1 + fuzz_below(&m->dice, 4);
    choose_links(m);
    switch (kind) {
    case 0:
        set(m, "topology.kind=star");
        set(m, "topology.hosts=%u", a * b);
        return a * b;
    case 1:
        set(m, "topology.kind=leaf_spine");
        set(m, "topology.hosts=%u", a * b);
        set(m, "topology.leaves=%u", b);
        set(m, "topology.spines=%u", 1 + fuzz_below(&m->dice, 3));
        return a * b;
    case 2:
        set(m, "topology.kind=rail_clos");
        set(m, "topology.nodes=%u", a);
        set(m, "topology.gpus_per_node=%u", b);
        set(m, "topology.rails=%u", fuzz_byte(&m->dice) % 2 ? b : 1);
        set(m, "topology.planes=%u", 1 + fuzz_below(&m->dice, 2));
        set(m, "topology.leaf_radix=8");
        set(m, "topology.spine_radix=8");
        return a * b;
    default:
        set(m, "topology.kind=fat_tree");
        set(m, "topology.k=4");
        return 16;
    }
}

static void choose_run(struct maker *m)
{
    sim_ps least_ps = fuzz_byte(&m->dice) > 32 ? MAX_UNTIL / 2 : UNIT_NS;
    g_autofree char *until = units_format_time(fuzz_between(&m->dice, least_ps, MAX_UNTIL));
    set(m, "run.until=%s", until);
    set(m, "run.seed=%u", fuzz_below(&m->dice, 1000));
    set(m, "run.series_grain=%s", fuzz_byte(&m->dice) % 2 ? "1us" : "0");
    set(m, "run.record_events=%s", fuzz_byte(&m->dice) % 2 ? "true" : "false");
    set(m, "run.data_class=%u", fuzz_below(&m->dice, 8));
    set(m, "run.deadlock_after=%uus", 1 + fuzz_below(&m->dice, 50));
}

/* ---- workloads ------------------------------------------------------------------------- */

/* Small sizes as a rule; a large one is never sent whole, since the run ends before. */
static int64_t any_bytes(struct maker *m)
{
    int64_t mtu = 0;
    g_autofree char *text = NULL;
    const struct param_group *nic = param_bag_find(m->scenario->bag, "nic");
    for (int r = 0; r < nic->n_rows; r++)
        if (strcmp(nic->rows[r].key, "mtu") == 0)
            text = param_format(&nic->rows[r], param_bag_get(m->scenario->bag, "nic"));
    FUZZ_REQUIRE(text && units_parse_bytes(text, &mtu, NULL));
    int64_t packets = fuzz_byte(&m->dice) > 200 ? MAX_PACKETS : PACKETS_A_FLOW;
    return fuzz_between(&m->dice, 0, packets * mtu);
}

/* (transfer full) */
static char *make_flows(struct maker *m, uint32_t n_ranks)
{
    GString *text = g_string_new("flow,src,dst,bytes,start_ps,class,after_flow\n");
    uint32_t n = 1 + fuzz_below(&m->dice, MAX_FLOWS);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t src = fuzz_below(&m->dice, n_ranks), dst = (src + 1 + fuzz_below(&m->dice, n_ranks - 1)) % n_ranks;
        int64_t bytes = any_bytes(m), start_ps = fuzz_between(&m->dice, 0, MAX_START);
        uint8_t choice = fuzz_byte(&m->dice);
        int after = choice > 192 && i > 0 ? (int)fuzz_below(&m->dice, i) : -1;
        g_autofree char *class = choice % 2 ? g_strdup_printf("%d", choice / 2 % 8) : g_strdup("");
        g_string_append_printf(text, "%u,%u,%u,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%s,%d\n", i, src, dst, bytes,
                               start_ps, class, after);
    }
    return g_string_free(text, FALSE);
}

static void choose_collective(struct maker *m)
{
    static const char *const ops[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                      "broadcast",  "reduce",         "barrier",    "send_recv"};
    static const char *const algorithms[] = {"auto", "ring", "direct"};
    int64_t any = any_bytes(m), bytes = MIN(any, MAX_COLLECTIVE_BYTES);
    g_autofree char *slice = units_format_bytes(fuzz_between(&m->dice, bytes / MAX_SLICES + 1, bytes + 1));
    set(m, "workload.kind=collective");
    set(m, "collective.op=%s", ops[fuzz_below(&m->dice, G_N_ELEMENTS(ops))]);
    set(m, "collective.algorithm=%s", algorithms[fuzz_below(&m->dice, G_N_ELEMENTS(algorithms))]);
    set(m, "collective.bytes=%" G_GINT64_FORMAT "B", bytes);
    set(m, "collective.channels=%u", 1 + fuzz_below(&m->dice, 4));
    set(m, "collective.repeat=%u", 1 + fuzz_below(&m->dice, 2));
    set(m, "collective.max_message=%s", fuzz_byte(&m->dice) % 2 ? slice : "0");
    set(m, "collective.max_outstanding=%u", fuzz_below(&m->dice, 3));
    set(m, "collective.root=%u", fuzz_below(&m->dice, 3));
}

/* FLOWS is made when the workload is a flow list. */
static void choose_workload(struct maker *m, uint32_t n_ranks, struct fuzz_file *flows)
{
    if (fuzz_byte(&m->dice) > 160) {
        fuzz_file_init(flows, "", 0);
        choose_collective(m);
        return;
    }
    g_autofree char *text = make_flows(m, n_ranks);
    fuzz_file_init(flows, text, strlen(text));
    set(m, "workload.kind=flows");
    set(m, "workload.file=%s", flows->path);
}

/* ---- runs -------------------------------------------------------------------------------- */

static void check_notes(const struct run_result *result)
{
    for (guint i = 0; i < result->notes->len; i++)
        FUZZ_REQUIRE(((char *)g_ptr_array_index(result->notes, i))[0] != '\0');
    const char *first = result->notes->len > 0 ? g_ptr_array_index(result->notes, 0) : "no note";
    FUZZ_REQUIRE_TEXT(result->status != RUN_BROKEN, first);
    FUZZ_REQUIRE(result->status != RUN_STUCK || result->notes->len > 0);
    FUZZ_REQUIRE(result->book && record_meta_get(result->book, "digest"));
}

/* The digest; NULL when there is none, or only one of a run that was cut short. (transfer full) */
static char *run_once(struct maker *m, int threads)
{
    GError *err = NULL;
    struct run_options options = {.interrupt = &interrupted};
    set(m, "run.threads=%d", threads);
    interrupt_after(MAX_RUN_SECONDS * threads);
    struct run_result *result = run_scenario(m->scenario, &options, &err);
    bool whole = !interrupted;
    interrupt_after(0);
    if (result)
        fuzz_show("--- status %d%s\n", (int)result->status, whole ? "" : ", interrupted");
    if (!result) {
        fuzz_take_error(&err, NULL);
        return NULL;
    }
    check_notes(result);
    char *digest = whole ? g_strdup(record_meta_get(result->book, "digest")) : NULL;
    run_result_free(result);
    return digest;
}

/* What "fabricast run" needs to reproduce a finding. */
static void show(const struct maker *m, const struct fuzz_file *flows)
{
    g_autofree char *text = NULL;
    int n = 0;
    const struct param_group *const *groups = scenario_groups(&n);
    for (int g = 0; g < n; g++) {
        fuzz_show("[%s]\n", groups[g]->name);
        for (int r = 0; r < groups[g]->n_rows; r++) {
            const struct param_desc *row = &groups[g]->rows[r];
            g_autofree char *value = param_format(row, param_bag_get(m->scenario->bag, groups[g]->name));
            if (param_bag_set_by(m->scenario->bag, groups[g]->name, row->key) != PARAM_BY_DEFAULT)
                fuzz_show("%s = %s\n", row->key, value);
        }
    }
    if (g_file_get_contents(flows->path, &text, NULL, NULL))
        fuzz_show("--- flows\n%s", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct maker m = {{data, data + n_bytes}, scenario_new_default()};
    struct fuzz_file flows;
    GError *err = NULL;
    bool twice = fuzz_byte(&m.dice) > 224;
    uint32_t n_ranks = choose_fabric(&m);
    choose_run(&m);
    choose_settings(&m);
    choose_workload(&m, n_ranks, &flows);
    show(&m, &flows);
    if (scenario_check(m.scenario, &err)) {
        g_autofree char *digest = run_once(&m, 1), *again = twice && digest ? run_once(&m, 2) : NULL;
        FUZZ_REQUIRE_TEXT(!again || strcmp(digest, again) == 0, "results depend on the number of threads");
    } else {
        fuzz_take_error(&err, NULL);
    }
    fuzz_file_release(&flows);
    scenario_free(m.scenario);
    return 0;
}
