/* collective.c - fabricast collective show: what a collective becomes, without a fabric. */
#include "cli/cli.h"

#include "models/collective/collective.h"
#include "sim/units.h"
#include <glib.h>
#include <stdio.h>
#include <string.h>

struct options {
    int ranks, channels, root;
    char *bytes, *algorithm, *max_message, *elem;
    gboolean json;
};

static int fail(const char *key, const char *text)
{
    fprintf(stderr, "fabricast collective show: %s: %s\n", key, text);
    return CLI_BAD_INPUT;
}

static bool parse_size(const char *key, const char *text, int64_t *out)
{
    g_autoptr(GError) err = NULL;
    if (!text || (units_parse_bytes(text, out, &err) && *out >= 0))
        return true;
    fail(key, err ? err->message : "negative; allowed: 0 or more");
    return false;
}

static bool parse_algorithm(const char *text, struct collective_spec *spec)
{
    static const char *const names[] = {"ring", "direct", "auto"};
    for (int i = 0; text && i < (int)G_N_ELEMENTS(names); i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        spec->algorithm = (enum collective_algorithm)i;
        return true;
    }
    if (text)
        fail("--algorithm", "allowed: ring, direct, auto");
    return !text;
}

#define RANKS_MAX 1048576

static bool parse_counts(const struct options *o, struct collective_spec *spec)
{
    if (o->ranks < 1 || o->ranks > RANKS_MAX) {
        fail("--ranks", "missing or outside 1..1048576");
        return false;
    }
    if (o->channels < 1 || o->channels > COLLECTIVE_CHANNELS_MAX || o->root < 0 || o->root >= o->ranks) {
        fail("--channels, --root", "allowed: 1..64 channels, a root below --ranks");
        return false;
    }
    spec->n_ranks = (uint32_t)o->ranks;
    spec->channels = (uint32_t)o->channels;
    spec->root = (uint32_t)o->root;
    return true;
}

static bool parse_kind(const char *text, struct collective_spec *spec)
{
    if (collective_kind_parse(text, &spec->kind))
        return true;
    g_autoptr(GString) known = g_string_new("unknown; allowed:");
    for (int kind = JOB_ALL_REDUCE; kind <= JOB_SEND_RECV; kind++)
        g_string_append_printf(known, " %s", collective_kind_name((enum job_collective_kind)kind));
    fail(text, known->str);
    return false;
}

/* What the table and the JSON show. */
struct facts {
    struct collective_spec spec;
    const char *algorithm;
    uint32_t steps;
    uint64_t messages;
    int64_t largest_message_bytes;
    int64_t sent_min_bytes, sent_max_bytes, received_max_bytes, bound_bytes;
    double factor;
};

static void count_messages(const struct job *job, struct facts *f)
{
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        if (op->kind != JOB_SEND)
            continue;
        f->messages++;
        f->largest_message_bytes = MAX(f->largest_message_bytes, op->amount);
    }
}

/* From the ops themselves, not from formulas: this is what a run will execute. */
static void sum_bytes(const struct job *job, struct facts *f)
{
    g_autofree int64_t *sent = g_new0(int64_t, job->n_ranks), *got = g_new0(int64_t, job->n_ranks);
    for (uint32_t i = 0; i < job_n_ops(job); i++) {
        const struct job_op *op = job_op_at(job, i);
        if (op->kind == JOB_SEND)
            sent[op->rank] += op->amount;
        if (op->kind == JOB_RECV)
            got[op->rank] += op->amount;
    }
    f->sent_min_bytes = sent[0];
    for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
        f->sent_min_bytes = MIN(f->sent_min_bytes, sent[rank]);
        f->sent_max_bytes = MAX(f->sent_max_bytes, sent[rank]);
        f->received_max_bytes = MAX(f->received_max_bytes, got[rank]);
    }
}

static bool gather(struct facts *f, GError **err)
{
    struct collective_spec *spec = &f->spec;
    g_autofree uint32_t *ranks = g_new(uint32_t, spec->n_ranks);
    for (uint32_t i = 0; i < spec->n_ranks; i++)
        ranks[i] = i;
    spec->ranks = ranks;
    struct job *job = job_new(spec->n_ranks);
    bool ok = collective_add(job, spec, err) != JOB_NONE && job_seal(job, err);
    if (ok) {
        f->algorithm = collective_algorithm_name(spec->kind, spec->algorithm);
        f->steps = collective_steps(spec);
        f->factor = collective_busbw_factor(spec->kind, spec->n_ranks);
        f->bound_bytes = collective_bound_bytes(spec->kind, spec->bytes, spec->n_ranks);
        count_messages(job, f);
        sum_bytes(job, f);
    }
    spec->ranks = NULL;
    job_free(job);
    return ok;
}

static void print_bytes(const char *label, int64_t bytes)
{
    printf("%-26s %16" G_GINT64_FORMAT " B\n", label, bytes);
}

static void print_table(const struct facts *f)
{
    g_autofree char *size = units_format_bytes(f->spec.bytes);
    printf("%s of %s, %u ranks, %s, %u channel%s\n\n", collective_kind_name(f->spec.kind), size, f->spec.n_ranks, f->algorithm,
           f->spec.channels, f->spec.channels == 1 ? "" : "s");
    printf("%-26s %16u\n", "steps", f->steps);
    printf("%-26s %16" G_GUINT64_FORMAT "\n", "messages", f->messages);
    print_bytes("largest message", f->largest_message_bytes);
    print_bytes("sent by a rank, least", f->sent_min_bytes);
    print_bytes("sent by a rank, most", f->sent_max_bytes);
    print_bytes("received by a rank, most", f->received_max_bytes);
    print_bytes("bound, any algorithm", f->bound_bytes);
    printf("%-26s %16.6g\n", "busbw / algbw", f->factor);
}

static void print_json(const struct facts *f)
{
    char factor[G_ASCII_DTOSTR_BUF_SIZE];
    printf("{\"collective\": \"%s\", \"algorithm\": \"%s\", \"ranks\": %u, \"channels\": %u, \"bytes\": %" G_GINT64_FORMAT ", ",
           collective_kind_name(f->spec.kind), f->algorithm, f->spec.n_ranks, f->spec.channels, f->spec.bytes);
    printf("\"steps\": %u, \"messages\": %" G_GUINT64_FORMAT ", \"largest_message_bytes\": %" G_GINT64_FORMAT ", ", f->steps,
           f->messages, f->largest_message_bytes);
    printf("\"rank_sent_min_bytes\": %" G_GINT64_FORMAT ", \"rank_sent_max_bytes\": %" G_GINT64_FORMAT ", ", f->sent_min_bytes,
           f->sent_max_bytes);
    printf("\"rank_received_max_bytes\": %" G_GINT64_FORMAT ", \"bound_bytes\": %" G_GINT64_FORMAT ", \"busbw_factor\": %s}\n",
           f->received_max_bytes, f->bound_bytes, g_ascii_dtostr(factor, sizeof factor, f->factor));
}

static int show(const struct options *o, const char *kind)
{
    struct facts f = {.spec = COLLECTIVE_SPEC_DEFAULT};
    struct collective_spec *spec = &f.spec;
    if (!parse_kind(kind, spec))
        return CLI_BAD_INPUT;
    if (!o->bytes && spec->kind != JOB_BARRIER)
        return fail("--bytes", "missing; the total size as nccl-tests counts it, with a unit (1MiB)");
    if (!parse_counts(o, spec) || !parse_size("--bytes", o->bytes, &spec->bytes) ||
        !parse_size("--max-message", o->max_message, &spec->max_message_bytes) ||
        !parse_size("--elem", o->elem, &spec->elem_bytes) || !parse_algorithm(o->algorithm, spec))
        return CLI_BAD_INPUT;
    g_autoptr(GError) err = NULL;
    if (!gather(&f, &err))
        return fail(kind, err->message);
    if (o->json)
        print_json(&f);
    else
        print_table(&f);
    return CLI_OK;
}

static void free_options(struct options *o)
{
    g_free(o->bytes);
    g_free(o->algorithm);
    g_free(o->max_message);
    g_free(o->elem);
}

int cli_collective(int argc, char **argv)
{
    struct options o = {.channels = 1};
    const GOptionEntry entries[] = {
        {"ranks", 'n', 0, G_OPTION_ARG_INT, &o.ranks, "Number of ranks", "N"},
        {"bytes", 'b', 0, G_OPTION_ARG_STRING, &o.bytes, "Total size S as nccl-tests counts it", "SIZE"},
        {"algorithm", 'a', 0, G_OPTION_ARG_STRING, &o.algorithm, "ring, direct or auto", "NAME"},
        {"channels", 'c', 0, G_OPTION_ARG_INT, &o.channels, "Parts side by side (1)", "N"},
        {"max-message", 'm', 0, G_OPTION_ARG_STRING, &o.max_message, "Cut chunks into messages of this size", "SIZE"},
        {"elem", 'e', 0, G_OPTION_ARG_STRING, &o.elem, "Size of an element (1B)", "SIZE"},
        {"root", 'r', 0, G_OPTION_ARG_INT, &o.root, "Root of broadcast and reduce (0)", "RANK"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &o.json, "Print JSON", NULL},
        {0},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("show KIND - steps, messages and bytes of a collective");
    g_option_context_add_main_entries(context, entries, NULL);
    g_autoptr(GError) err = NULL;
    int code = CLI_BAD_INPUT;
    if (!g_option_context_parse(context, &argc, &argv, &err))
        fail("command line", err->message);
    else if (argc != 3 || strcmp(argv[1], "show") != 0)
        fail("command line", "expected: fabricast collective show KIND --ranks N --bytes SIZE");
    else
        code = show(&o, argv[2]);
    free_options(&o);
    return code;
}
