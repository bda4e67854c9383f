/* test_read_chakra.c - Chakra traces: messages, attributes, groups, dependencies. */
#include "scenarios/chakra.pb-c.h"
#include "scenarios/workload_read.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

typedef Fabricast__Chakra__Attribute pb_attribute;

/* ---- a small writer ---------------------------------------------------------------- */

static void put_message(GByteArray *out, const ProtobufCMessage *message)
{
    size_t n = protobuf_c_message_get_packed_size(message);
    assert_true(n < 16384); /* two bytes of varint are enough here */
    guint8 length[2] = {(guint8)(n & 0x7f) | (n > 127 ? 0x80 : 0), (guint8)(n >> 7)};
    g_byte_array_append(out, length, n > 127 ? 2 : 1);
    guint at = out->len;
    g_byte_array_set_size(out, at + (guint)n);
    protobuf_c_message_pack(message, out->data + at);
}

static GByteArray *trace_new(void)
{
    GByteArray *out = g_byte_array_new();
    Fabricast__Chakra__Metadata metadata = FABRICAST__CHAKRA__METADATA__INIT;
    metadata.version = "0.0.4";
    put_message(out, &metadata.base);
    return out;
}

static pb_attribute whole(char *name, int64_t value)
{
    pb_attribute a = FABRICAST__CHAKRA__ATTRIBUTE__INIT;
    a.name = name;
    a.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_WHOLE64;
    a.whole64 = value;
    return a;
}

static pb_attribute text(char *name, char *value)
{
    pb_attribute a = FABRICAST__CHAKRA__ATTRIBUTE__INIT;
    a.name = name;
    a.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_TEXT;
    a.text = value;
    return a;
}

/* A node with up to four attributes; DEP < 0: no dependency. */
static void put_node(GByteArray *out, uint64_t id, int kind, uint64_t micros, int64_t dep, pb_attribute *attributes, size_t n)
{
    Fabricast__Chakra__Node node = FABRICAST__CHAKRA__NODE__INIT;
    pb_attribute *list[4] = {&attributes[0], NULL, NULL, NULL};
    uint64_t before = (uint64_t)dep;
    for (size_t i = 0; i < n; i++)
        list[i] = &attributes[i];
    node.id = id;
    node.name = "n";
    node.kind = kind;
    node.duration_micros = micros;
    node.control_deps = &before;
    node.n_control_deps = dep >= 0 ? 1 : 0;
    node.attributes = list;
    node.n_attributes = n;
    put_message(out, &node.base);
}

static void put_compute(GByteArray *out, uint64_t id, uint64_t micros, int64_t dep)
{
    pb_attribute none = whole("unused", 0);
    put_node(out, id, 4, micros, dep, &none, 0);
}

static void put_collective(GByteArray *out, uint64_t id, int type, int64_t bytes, int64_t dep, char *group)
{
    pb_attribute a[3] = {whole("comm_type", type), whole("comm_size", bytes), text("pg_name", group ? group : "")};
    put_node(out, id, 7, 0, dep, a, group ? 3 : 2);
}

static void put_transfer(GByteArray *out, uint64_t id, bool sends, int64_t peer, int64_t bytes, int64_t tag, int64_t dep)
{
    pb_attribute a[3] = {whole(sends ? "comm_dst" : "comm_src", peer), whole("comm_size", bytes), whole("comm_tag", tag)};
    put_node(out, id, sends ? 5 : 6, 0, dep, a, 3);
}

/* Reads TRACE (consumed) as that of all of N_RANKS. */
static struct job *read(GByteArray *trace, uint32_t n_ranks, GPtrArray *warnings, GError **err)
{
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    struct job *job = read_chakra_from_bytes("t.et", trace->data, trace->len, n_ranks, &options, warnings, err);
    g_byte_array_unref(trace);
    return job;
}

static void assert_refused(GByteArray *trace, const char *message)
{
    g_autoptr(GError) err = NULL;
    assert_null(read(trace, 2, NULL, &err));
    assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_INPUT));
    assert_string_equal(err->message, message);
}

static const struct job_collective *collective_at(const struct job *job, guint i)
{
    return &g_array_index(job->collectives, struct job_collective, i);
}

/* ---- tests ---------------------------------------------------------------------------- */

static void test_read_chakra__compute_then_all_reduce(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    put_compute(trace, 0, 200, -1);
    put_collective(trace, 1, 0, 1000, 0, NULL);
    put_compute(trace, 2, 50, 1);
    struct job *job = read(trace, 4, NULL, NULL);
    assert_non_null(job);
    assert_int_equal(job->n_ranks, 4);
    assert_int_equal(job->collectives->len, 1);
    const struct job_collective *c = collective_at(job, 0);
    assert_int_equal(c->kind, JOB_ALL_REDUCE);
    assert_int_equal(c->bytes, 1000);
    assert_int_equal(c->n_ranks, 4);
    assert_true(job_seal(job, NULL));
    for (uint32_t rank = 0; rank < 4; rank++) { /* two computes a rank come first, in file order */
        uint32_t before = 2 * rank, after = 2 * rank + 1;
        assert_int_equal(job_op_at(job, before)->amount, 200 * UNIT_US);
        assert_int_equal(job->succ[job->succ_first[before]], c->start_op[rank]);
        assert_int_equal(job->n_deps[c->start_op[rank]], 1);
        assert_int_equal(job->n_deps[after], 1);
        assert_int_equal(job->succ[job->succ_first[c->end_op[rank]]], after);
        assert_int_equal(job_op_at(job, c->start_op[rank])->origin, 1);
    }
    job_free(job);
}

static void test_read_chakra__sizes_of_every_whole_type(void **state)
{
    (void)state;
    pb_attribute size = FABRICAST__CHAKRA__ATTRIBUTE__INIT;
    size.name = "comm_size";
    for (int kind = 0; kind < 10; kind++) {
        memset(&size.whole64, 0, sizeof size.whole64);
        switch (kind) {
        case 0: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_WHOLE32; size.whole32 = 77; break;
        case 1: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_WHOLE64; size.whole64 = 77; break;
        case 2: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_COUNT32; size.count32 = 77; break;
        case 3: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_COUNT64; size.count64 = 77; break;
        case 4: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_ZIGZAG32; size.zigzag32 = 77; break;
        case 5: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_ZIGZAG64; size.zigzag64 = 77; break;
        case 6: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_COUNT32; size.fixed_count32 = 77; break;
        case 7: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_COUNT64; size.fixed_count64 = 77; break;
        case 8: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_WHOLE32; size.fixed_whole32 = 77; break;
        default: size.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FIXED_WHOLE64; size.fixed_whole64 = 77; break;
        }
        pb_attribute a[2] = {whole("comm_type", 0), size};
        GByteArray *trace = trace_new();
        put_node(trace, 0, 7, 0, -1, a, 2);
        struct job *job = read(trace, 2, NULL, NULL);
        assert_non_null(job);
        assert_int_equal(collective_at(job, 0)->bytes, 77);
        job_free(job);
    }
}

/* What each rank brings to an all-gather counts n times; the other kinds give S as it is. */
static void test_read_chakra__all_gather_size(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    put_collective(trace, 0, 2, 1000, -1, NULL);
    put_collective(trace, 1, 7, 1000, 0, NULL);
    put_collective(trace, 2, 6, 1000, 1, NULL);
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    struct job *job = read_chakra_from_bytes("t", trace->data, trace->len, 4, &options, NULL, NULL);
    assert_int_equal(collective_at(job, 0)->bytes, 4000);
    assert_int_equal(collective_at(job, 1)->kind, JOB_REDUCE_SCATTER);
    assert_int_equal(collective_at(job, 1)->bytes, 1000);
    assert_int_equal(collective_at(job, 2)->kind, JOB_ALL_TO_ALL);
    assert_string_equal(collective_at(job, 2)->algorithm, "direct");
    job_free(job);
    options.all_gather_total = true;
    job = read_chakra_from_bytes("t", trace->data, trace->len, 4, &options, NULL, NULL);
    assert_int_equal(collective_at(job, 0)->bytes, 1000);
    job_free(job);
    g_byte_array_unref(trace);
}

static void test_read_chakra__compute_scale(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    put_compute(trace, 0, 3, -1);
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    options.compute_scale = 0.5;
    struct job *job = read_chakra_from_bytes("t", trace->data, trace->len, 1, &options, NULL, NULL);
    assert_int_equal(job_op_at(job, 0)->amount, 1500000);
    job_free(job);
    options.compute_scale = 1e6;
    g_byte_array_unref(trace);
    trace = trace_new();
    put_compute(trace, 0, 1000000000000, -1);
    g_autoptr(GError) err = NULL;
    assert_null(read_chakra_from_bytes("t", trace->data, trace->len, 1, &options, NULL, &err));
    assert_non_null(strstr(err->message, "duration_micros: above 1000000 s after workload.compute_scale"));
    g_byte_array_unref(trace);
}

static void test_read_chakra__one_rank_moves_nothing(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    put_collective(trace, 0, 0, 1048576, -1, NULL);
    struct job *job = read(trace, 1, NULL, NULL);
    assert_int_equal(job_n_ops(job), 2);
    assert_true(job_seal(job, NULL));
    job_free(job);
}

/* Writes TRACES[i] (consumed) to folder/p.i.et and reads the folder. */
static struct job *read_folder(GByteArray **traces, uint32_t n, GPtrArray *warnings, GError **err)
{
    g_autofree char *folder = g_dir_make_tmp("chakra-XXXXXX", NULL);
    assert_non_null(folder);
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("%s/p.%u.et", folder, i);
        if (traces[i])
            assert_true(g_file_set_contents(name, (const char *)traces[i]->data, (gssize)traces[i]->len, NULL));
    }
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    struct job *job = read_chakra(folder, &options, warnings, err);
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("%s/p.%u.et", folder, i);
        g_remove(name);
        if (traces[i])
            g_byte_array_unref(traces[i]);
    }
    g_rmdir(folder);
    return job;
}

static void test_read_chakra__groups_hold_the_ranks_that_name_them(void **state)
{
    (void)state;
    GByteArray *traces[4];
    for (uint32_t r = 0; r < 4; r++) {
        traces[r] = trace_new();
        put_collective(traces[r], 10, 0, 100, -1, r % 2 == 0 ? "even" : "odd");
        put_collective(traces[r], 11, 0, 200, 10, r % 2 == 0 ? "even" : "odd");
        put_collective(traces[r], 12, 0, 300, 11, NULL);
    }
    struct job *job = read_folder(traces, 4, NULL, NULL);
    assert_non_null(job);
    assert_int_equal(job->collectives->len, 5);
    assert_int_equal(collective_at(job, 0)->n_ranks, 4); /* the default group first */
    assert_int_equal(collective_at(job, 0)->bytes, 300);
    assert_int_equal(collective_at(job, 1)->n_ranks, 2);
    assert_int_equal(collective_at(job, 1)->ranks[1], 2);
    assert_int_equal(collective_at(job, 2)->bytes, 200);
    assert_int_equal(collective_at(job, 3)->ranks[0], 1);
    assert_true(job_seal(job, NULL));
    job_free(job);
}

static void test_read_chakra__ranks_must_agree(void **state)
{
    (void)state;
    GByteArray *traces[2] = {trace_new(), trace_new()};
    put_collective(traces[0], 4, 0, 100, -1, NULL);
    put_collective(traces[1], 5, 2, 100, -1, NULL);
    g_autoptr(GError) err = NULL;
    assert_null(read_folder(traces, 2, NULL, &err));
    assert_non_null(strstr(err->message, "p.1.et: byte 8: node 5: ranks 0 and 1 disagree on collective 0 of group all ranks: "
                                         "all_reduce of 100 bytes (node 4) against all_gather of 100 bytes"));
    g_clear_error(&err);
    GByteArray *missing[2] = {trace_new(), trace_new()};
    put_collective(missing[0], 4, 0, 100, -1, NULL);
    assert_null(read_folder(missing, 2, NULL, &err));
    assert_non_null(strstr(err->message, "node 4: collective 0 of group all ranks is on rank 0, but rank 1 has no such collective"));
    g_clear_error(&err);
    GByteArray *fewer[2] = {trace_new(), trace_new()};
    put_collective(fewer[0], 4, 0, 100, -1, "g");
    put_collective(fewer[1], 4, 0, 100, -1, "g");
    put_collective(fewer[1], 6, 0, 100, 4, "g");
    assert_null(read_folder(fewer, 2, NULL, &err));
    assert_non_null(strstr(err->message, "node 6: collective 1 of group 'g' is on rank 1, but rank 0 has no such collective"));
}

static void test_read_chakra__messages_match_by_tag(void **state)
{
    (void)state;
    GByteArray *traces[2] = {trace_new(), trace_new()};
    put_transfer(traces[0], 1, true, 1, 640, 9, -1);
    put_transfer(traces[1], 2, false, 0, 640, 9, -1);
    struct job *job = read_folder(traces, 2, NULL, NULL);
    assert_non_null(job);
    assert_true(job_seal(job, NULL));
    assert_int_equal(job_op_at(job, 0)->match, 1);
    assert_int_equal(job_op_at(job, 0)->tag, 9);
    job_free(job);
    GByteArray *alone[2] = {trace_new(), trace_new()};
    put_transfer(alone[1], 17, false, 0, 640, 5, -1);
    job = read_folder(alone, 2, NULL, NULL);
    g_autoptr(GError) err = NULL;
    assert_false(job_seal(job, &err));
    assert_true(g_error_matches(err, JOB_ERROR, JOB_ERROR_UNMATCHED));
    assert_string_equal(err->message, "rank 1 op 17 waits for a receive from rank 0 with tag 5 that nobody sends");
    job_free(job);
}

static void test_read_chakra__cycle_is_named_by_node_ids(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    put_compute(trace, 30, 1, 50);
    put_compute(trace, 40, 1, 30);
    put_compute(trace, 50, 1, 40);
    struct job *job = read(trace, 1, NULL, NULL);
    g_autoptr(GError) err = NULL;
    assert_false(job_seal(job, &err));
    assert_string_equal(err->message, "cycle of 3 operations: rank 0 op 30 -> rank 0 op 40 -> rank 0 op 50 -> rank 0 op 30");
    job_free(job);
}

static void test_read_chakra__dependencies_lead_through_metadata(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    pb_attribute none = whole("unused", 0);
    put_compute(trace, 0, 1, -1);
    put_node(trace, 1, 1, 0, 0, &none, 0);
    put_node(trace, 2, 2, 7, 1, &none, 0); /* memory load with a duration */
    put_node(trace, 3, 3, 0, 2, &none, 0); /* memory store without       */
    struct job *job = read(trace, 1, NULL, NULL);
    assert_true(job_seal(job, NULL));
    assert_int_equal(job_op_at(job, 1)->kind, JOB_NOP);
    assert_int_equal(job_op_at(job, 2)->amount, 7 * UNIT_US);
    assert_int_equal(job_op_at(job, 3)->amount, 0);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_equal(job->n_deps[i], 1);
    job_free(job);
}

static void test_read_chakra__bad_nodes_are_named(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    pb_attribute type = whole("comm_type", 0);
    put_node(trace, 3, 7, 0, -1, &type, 1);
    assert_refused(trace, "t.et: byte 8: node 3: comm_size: the attribute is missing (an older encoding of the trace?)");
    trace = trace_new();
    put_collective(trace, 3, 0, -5, -1, NULL);
    assert_refused(trace, "t.et: byte 8: node 3: comm_size: -5 is outside 0..1000000000000000");
    trace = trace_new();
    put_collective(trace, 3, 3, 5, -1, NULL);
    assert_refused(trace, "t.et: byte 8: node 3: comm_type: gather and scatter are not supported");
    trace = trace_new();
    put_collective(trace, 3, 10, 5, -1, NULL);
    assert_refused(trace, "t.et: byte 8: node 3: comm_type: 10 is outside 0..9");
    trace = trace_new();
    put_compute(trace, 3, 1, 99);
    assert_refused(trace, "t.et: byte 8: node 3: depends on node 99, which the file does not have");
    trace = trace_new();
    put_compute(trace, 3, 1, 3);
    assert_refused(trace, "t.et: byte 8: node 3: depends on itself");
    trace = trace_new();
    put_compute(trace, 3, 1, -1);
    put_compute(trace, 3, 1, -1);
    assert_refused(trace, "t.et: byte 18: node 3: the id is there twice");
    trace = trace_new();
    put_node(trace, 3, 0, 0, -1, &type, 0);
    assert_refused(trace, "t.et: byte 8: node 3: type: 0 is no kind of node; allowed: 1..7");
    trace = trace_new();
    put_transfer(trace, 3, true, 2, 1, 0, -1);
    assert_refused(trace, "t.et: byte 8: node 3: comm_dst: rank 2 has no trace, there are 2 ranks");
    trace = trace_new();
    put_transfer(trace, 3, true, 0, 1, 0, -1);
    assert_refused(trace, "t.et: byte 8: node 3: comm_dst: is the rank of this file; a message needs two ranks");
}

static void test_read_chakra__some_dimensions_are_refused(void **state)
{
    (void)state;
    protobuf_c_boolean items[2] = {1, 0};
    Fabricast__Chakra__BoolList list = FABRICAST__CHAKRA__BOOL_LIST__INIT;
    list.items = items;
    list.n_items = 2;
    pb_attribute dims = FABRICAST__CHAKRA__ATTRIBUTE__INIT;
    dims.name = "involved_dim";
    dims.value_case = FABRICAST__CHAKRA__ATTRIBUTE__VALUE_FLAGS;
    dims.flags = &list;
    pb_attribute a[3] = {whole("comm_type", 0), whole("comm_size", 8), dims};
    GByteArray *trace = trace_new();
    put_node(trace, 3, 7, 0, -1, a, 3);
    assert_refused(trace, "t.et: byte 8: node 3: involved_dim: only some dimensions; allowed: all of them, or name the ranks' "
                          "group with pg_name");
    items[1] = 1;
    trace = trace_new();
    put_node(trace, 3, 7, 0, -1, a, 3);
    struct job *job = read(trace, 2, NULL, NULL);
    assert_non_null(job);
    job_free(job);
}

static void test_read_chakra__oddities_warn(void **state)
{
    (void)state;
    GByteArray *trace = trace_new();
    pb_attribute ops = whole("num_ops", 1000);
    put_node(trace, 5, 4, 0, -1, &ops, 1);
    put_collective(trace, 6, 0, 0, -1, NULL);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct job *job = read(trace, 2, warnings, NULL);
    assert_non_null(job);
    assert_int_equal(warnings->len, 3);
    assert_string_equal(g_ptr_array_index(warnings, 0), "2 compute nodes have num_ops or runtime but no duration_micros: they "
                                                        "take no time (first: rank 0 node 5)");
    assert_string_equal(g_ptr_array_index(warnings, 1), "2 collectives of 0 bytes: they move nothing (first: rank 0 node 6)");
    assert_string_equal(g_ptr_array_index(warnings, 2),
                        "2 collectives have no predecessor: they start at time 0 (first: rank 0 node 6)");
    job_free(job);
}

/* Cut anywhere, a trace must be refused or be a shorter trace; never read beyond its end (ASan looks on). */
static void test_read_chakra__truncated_anywhere(void **state)
{
    (void)state;
    g_autoptr(GByteArray) trace = trace_new();
    put_compute(trace, 0, 200, -1);
    guint after_first = trace->len;
    put_collective(trace, 1, 0, 100, 0, "g");
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    for (guint n = 0; n < trace->len; n++) {
        g_autofree uint8_t *copy = g_memdup2(trace->data, n);
        g_autoptr(GError) err = NULL;
        struct job *job = read_chakra_from_bytes("t.et", copy, n, 2, &options, NULL, &err);
        bool is_whole = n == 8 || n == after_first;
        assert_true((job != NULL) == is_whole);
        assert_true((err != NULL) == !is_whole);
        job_free(job);
    }
    g_autoptr(GError) err = NULL;
    assert_null(read_chakra_from_bytes("t.et", trace->data, 30, 2, &options, NULL, &err));
    assert_non_null(strstr(err->message, "t.et: byte 17: a message of "));
}

static void test_read_chakra__garbage_is_refused(void **state)
{
    (void)state;
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    g_autoptr(GError) err = NULL;
    assert_null(read_chakra_from_bytes("t", endless, sizeof endless, 1, &options, NULL, &err));
    assert_string_equal(err->message, "t: byte 0: the length of a message is cut off or no varint");
    g_clear_error(&err);
    assert_null(read_chakra_from_bytes("t", huge, sizeof huge, 1, &options, NULL, &err));
    assert_string_equal(err->message, "t: byte 0: a message of 18446744073709551615 bytes, but the file has 0 more");
    g_clear_error(&err);
    const uint8_t node_first[] = {2, 8, 1};
    assert_null(read_chakra_from_bytes("t", node_first, sizeof node_first, 1, &options, NULL, &err));
    assert_string_equal(err->message, "t: byte 0: the first message is no Chakra metadata");
}

static void test_read_chakra__folders(void **state)
{
    (void)state;
    GByteArray *traces[3] = {trace_new(), NULL, trace_new()};
    g_autoptr(GError) err = NULL;
    assert_null(read_folder(traces, 3, NULL, &err));
    assert_non_null(strstr(err->message, "the file of rank 1 is missing; there are ranks up to 2"));
    g_clear_error(&err);
    assert_null(read_folder(NULL, 0, NULL, &err));
    assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_FILE));
    assert_non_null(strstr(err->message, "no file of the form prefix.RANK.et"));
    g_clear_error(&err);
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    assert_null(read_chakra("/nonexistent/folder/prefix", &options, NULL, &err));
    assert_true(g_error_matches(err, WORKLOAD_ERROR, WORKLOAD_ERROR_FILE));
}

/* The example of the quickstart, by folder and by prefix. */
static void test_read_chakra__rail64_example(void **state)
{
    (void)state;
    struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
    const char *paths[] = {FABRICAST_SOURCE_DIR "/scenarios/examples/rail64/trace",
                           FABRICAST_SOURCE_DIR "/scenarios/examples/rail64/trace/rail64"};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        struct job *job = read_chakra(paths[i], &options, NULL, NULL);
        assert_non_null(job);
        assert_int_equal(job->n_ranks, 64);
        assert_int_equal(job->collectives->len, 2);
        assert_int_equal(collective_at(job, 1)->bytes, 32 * UNIT_MIB);
        assert_string_equal(collective_at(job, 1)->name, "grads1");
        assert_true(job_seal(job, NULL));
        job_free(job);
    }
}

static void test_read_chakra__microbenchmarks_are_read(void **state)
{
    (void)state;
    const struct {
        const char *folder;
        int kind;
        uint32_t n;
        int64_t bytes;
    } cases[] = {{"all_reduce_4npus_1MB", JOB_ALL_REDUCE, 4, UNIT_MIB},
                 {"all_gather_8npus_1MB", JOB_ALL_GATHER, 8, 8 * UNIT_MIB},
                 {"all_to_all_4npus_1MB", JOB_ALL_TO_ALL, 4, UNIT_MIB}};
    if (!g_file_test(TEST_SHARED_DIR "/real/chakra", G_FILE_TEST_IS_DIR)) {
        print_message("skipped: no real files beside the tree\n");
        skip();
    }
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_build_filename(TEST_SHARED_DIR, "real", "chakra", cases[i].folder, NULL);
        struct chakra_options options = CHAKRA_OPTIONS_DEFAULT;
        struct job *job = read_chakra(path, &options, NULL, NULL);
        assert_non_null(job);
        assert_int_equal(job->collectives->len, 1);
        assert_int_equal(collective_at(job, 0)->kind, cases[i].kind);
        assert_int_equal(collective_at(job, 0)->n_ranks, cases[i].n);
        assert_int_equal(collective_at(job, 0)->bytes, cases[i].bytes);
        assert_true(job_seal(job, NULL));
        job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_chakra__compute_then_all_reduce),
        cmocka_unit_test(test_read_chakra__sizes_of_every_whole_type),
        cmocka_unit_test(test_read_chakra__all_gather_size),
        cmocka_unit_test(test_read_chakra__compute_scale),
        cmocka_unit_test(test_read_chakra__one_rank_moves_nothing),
        cmocka_unit_test(test_read_chakra__groups_hold_the_ranks_that_name_them),
        cmocka_unit_test(test_read_chakra__ranks_must_agree),
        cmocka_unit_test(test_read_chakra__messages_match_by_tag),
        cmocka_unit_test(test_read_chakra__cycle_is_named_by_node_ids),
        cmocka_unit_test(test_read_chakra__dependencies_lead_through_metadata),
        cmocka_unit_test(test_read_chakra__bad_nodes_are_named),
        cmocka_unit_test(test_read_chakra__some_dimensions_are_refused),
        cmocka_unit_test(test_read_chakra__oddities_warn),
        cmocka_unit_test(test_read_chakra__truncated_anywhere),
        cmocka_unit_test(test_read_chakra__garbage_is_refused),
        cmocka_unit_test(test_read_chakra__folders),
        cmocka_unit_test(test_read_chakra__rail64_example),
        cmocka_unit_test(test_read_chakra__microbenchmarks_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
