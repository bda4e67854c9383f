/* test_store.c - books through files; damaged files; what other tools see. */
#include "analysis/store.h"
#include "analysis/fake_book.h"

#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* ---- a folder and a file of each test ------------------------------------- */

struct place {
    char *folder, *path;
};

static int set_up(void **state)
{
    struct place *place = g_new0(struct place, 1);
    place->folder = fake_folder();
    place->path = g_build_filename(place->folder, "run.h5", NULL);
    *state = place;
    return place->folder ? 0 : -1;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    g_unlink(place->path);
    int left = g_rmdir(place->folder); /* fails if a temporary file was left behind */
    g_free(place->path);
    g_free(place->folder);
    g_free(place);
    return left;
}

static void write_fake(const char *path)
{
    GError *err = NULL;
    struct record_book *book = fake_book_new();
    bool ok = store_write(path, book, &err);
    record_book_free(book);
    if (!ok)
        fail_msg("%s", err->message);
}

static void assert_unreadable(const char *path, store_error code, const char *part)
{
    GError *err = NULL;
    struct record_book *book = store_read(path, &err);
    assert_null(book);
    assert_non_null(err);
    assert_true(g_str_has_prefix(err->message, path));
    if (!g_error_matches(err, STORE_ERROR, (gint)code) || !strstr(err->message, part))
        fail_msg("unexpected: %s", err->message);
    g_error_free(err);
}

/* ---- equality ------------------------------------------------------------- */

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void assert_same_meta(const struct record_book *a, const struct record_book *b)
{
    assert_int_equal(record_meta_n(a), record_meta_n(b));
    for (int i = 0; i < record_meta_n(a); i++) {
        const char *key, *value;
        record_meta_at(a, i, &key, &value);
        assert_non_null(record_meta_get(b, key));
        assert_string_equal(record_meta_get(b, key), value);
    }
}

static void assert_same_summary(const struct record_book *a, const struct record_book *b)
{
    assert_int_equal(record_summary_n(a), record_summary_n(b));
    for (int i = 0; i < record_summary_n(a); i++) {
        const char *name[2], *unit[2], *doc[2];
        double value[2];
        record_summary_at(a, i, &name[0], &value[0], &unit[0], &doc[0]);
        record_summary_at(b, i, &name[1], &value[1], &unit[1], &doc[1]);
        assert_string_equal(name[0], name[1]);
        assert_string_equal(unit[0], unit[1]);
        assert_string_equal(doc[0], doc[1]);
        assert_true(same_double(value[0], value[1]));
    }
}

static void assert_same_params(const struct record_book *a, const struct record_book *b)
{
    assert_int_equal(record_param_n(a), record_param_n(b));
    for (int i = 0; i < record_param_n(a); i++) {
        const struct record_param *p = record_param_at(a, i), *q = record_param_at(b, i);
        assert_string_equal(p->group, q->group);
        assert_string_equal(p->key, q->key);
        assert_string_equal(p->value, q->value);
        assert_string_equal(p->def, q->def);
        assert_string_equal(p->unit, q->unit);
        assert_string_equal(p->source, q->source);
        assert_string_equal(p->set_by, q->set_by);
        assert_string_equal(p->origin, q->origin);
        assert_true(same_double(p->base_value, q->base_value));
    }
}

static void assert_same_cell(const struct record_table *a, const struct record_table *b, int c, int64_t r)
{
    switch (record_table_spec(a, c)->type) {
    case RECORD_I64:
        assert_int_equal(record_column_i64(a, c)[r], record_column_i64(b, c)[r]);
        break;
    case RECORD_F64:
        assert_true(same_double(record_column_f64(a, c)[r], record_column_f64(b, c)[r]));
        break;
    case RECORD_TEXT:
        assert_string_equal(record_column_text(a, c)[r], record_column_text(b, c)[r]);
        break;
    }
}

static void assert_same_table(const struct record_table *a, const struct record_table *b)
{
    assert_non_null(b);
    assert_string_equal(record_table_doc(a), record_table_doc(b));
    assert_int_equal(record_table_n_rows(a), record_table_n_rows(b));
    assert_int_equal(record_table_n_columns(a), record_table_n_columns(b));
    for (int c = 0; c < record_table_n_columns(a); c++) {
        const struct record_column_spec *p = record_table_spec(a, c), *q = record_table_spec(b, c);
        assert_string_equal(p->name, q->name);
        assert_string_equal(p->unit, q->unit);
        assert_string_equal(p->doc, q->doc);
        assert_int_equal(p->type, q->type);
        for (int64_t r = 0; r < record_table_n_rows(a); r++)
            assert_same_cell(a, b, c, r);
    }
}

static void assert_same_book(const struct record_book *a, const struct record_book *b)
{
    assert_same_meta(a, b);
    assert_same_summary(a, b);
    assert_same_params(a, b);
    assert_int_equal(record_table_n(a), record_table_n(b));
    for (int i = 0; i < record_table_n(a); i++) {
        const struct record_table *table = record_table_at(a, i);
        assert_same_table(table, record_table_get(b, record_table_path(table)));
    }
}

static void assert_round_trip(const char *path, const struct record_book *book)
{
    GError *err = NULL;
    if (!store_write(path, book, &err))
        fail_msg("%s", err->message);
    struct record_book *back = store_read(path, &err);
    if (!back)
        fail_msg("%s", err->message);
    assert_same_book(book, back);
    record_book_free(back);
}

/* ---- round trips ---------------------------------------------------------- */

static void test_store__a_book_comes_back_equal(void **state)
{
    struct place *place = *state;
    struct record_book *book = fake_book_new();
    assert_round_trip(place->path, book);
    record_book_free(book);
}

static void test_store__an_empty_book_comes_back_empty(void **state)
{
    struct place *place = *state;
    struct record_book *book = record_book_new();
    assert_round_trip(place->path, book);
    record_book_free(book);
}

static void test_store__a_table_without_rows_keeps_its_columns(void **state)
{
    struct place *place = *state;
    struct record_book *book = record_book_new();
    const struct record_column_spec specs[] = {
        {"a", RECORD_I64, "ps", "A."}, {"b", RECORD_F64, "1", "B."}, {"c", RECORD_TEXT, "name", "C."}};
    record_table_add(book, "events/pfc", "None came.", specs, 3);
    assert_round_trip(place->path, book);
    record_book_free(book);
}

static void test_store__extreme_cells_survive(void **state)
{
    struct place *place = *state;
    struct record_book *book = record_book_new();
    const struct record_column_spec specs[] = {
        {"a", RECORD_I64, "ps", "A."}, {"b", RECORD_F64, "1", "B."}, {"c", RECORD_TEXT, "name", "C."}};
    struct record_table *table = record_table_add(book, "deep/er/table", "", specs, 3);
    g_autofree char *long_text = g_strnfill(70000, 'x');
    record_append(table, INT64_MAX, INFINITY, "");
    record_append(table, INT64_MIN, NAN, long_text);
    record_append(table, INT64_C(0), -0.0, "gr\xc3\xbc\xc3\x9f");
    struct record_table *texts = record_table_add(book, "texts", "Only empty ones.", &specs[2], 1);
    record_append(texts, "");
    record_meta_set(book, "long", long_text);
    record_summary_set(book, "inf", -INFINITY, "1", "");
    assert_round_trip(place->path, book);
    record_book_free(book);
}

static void add_param_of(struct record_book *book, const char *group)
{
    g_autofree char *name = g_strdup(group);
    const struct record_param row = {name,          (char *)"enabled", (char *)"false",       (char *)"true", (char *)"",
                                     (char *)"law", (char *)"file",    (char *)"incast.ini:9", 0};
    record_param_add(book, &row);
}

static void test_store__layers_with_a_peer_come_back_equal(void **state)
{
    struct place *place = *state;
    struct record_book *book = record_book_new();
    add_param_of(book, "pfc");
    add_param_of(book, "pfc:leaf0/spine1");
    add_param_of(book, "pfc:leaf0");
    assert_round_trip(place->path, book);
    record_book_free(book);
}

static void test_store__many_rows_span_chunks(void **state)
{
    struct place *place = *state;
    struct record_book *book = record_book_new();
    const struct record_column_spec specs[] = {{"t_ps", RECORD_I64, "ps", "T."},
                                               {"node", RECORD_TEXT, "name", "N."}};
    struct record_table *table = record_table_add(book, "series/queue", "Q.", specs, 2);
    for (int64_t i = 0; i < 40000; i++)
        record_append(table, i * i, i % 2 ? "leaf" : "spine12");
    assert_round_trip(place->path, book);
    record_book_free(book);
}

static void test_store__equal_books_give_equal_bytes(void **state)
{
    struct place *place = *state;
    g_autofree char *first = NULL, *second = NULL;
    gsize n_first = 0, n_second = 0;
    write_fake(place->path);
    assert_true(g_file_get_contents(place->path, &first, &n_first, NULL));
    g_usleep(1100 * 1000); /* a stored time stamp would differ */
    write_fake(place->path);
    assert_true(g_file_get_contents(place->path, &second, &n_second, NULL));
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, n_first);
}

/* ---- names and places that cannot be -------------------------------------- */

static void assert_unwritable(const char *path, const struct record_book *book, store_error code,
                              const char *part)
{
    GError *err = NULL;
    assert_false(store_write(path, book, &err));
    assert_non_null(err);
    if (!g_error_matches(err, STORE_ERROR, (gint)code) || !strstr(err->message, part))
        fail_msg("unexpected: %s", err->message);
    g_error_free(err);
}

static void test_store__a_group_with_the_sign_for_a_slash_is_refused(void **state)
{
    struct place *place = *state;
    struct record_book *book = record_book_new();
    add_param_of(book, "pfc:leaf0>spine1");
    assert_unwritable(place->path, book, STORE_ERROR_BOOK, "'>'");
    record_book_free(book);
}

static void test_store__names_that_hdf5_cannot_hold_are_errors(void **state)
{
    struct place *place = *state;
    const struct record_column_spec spec = {"a/b", RECORD_I64, "ps", "A."},
                                    good = {"a", RECORD_I64, "ps", "A."};
    static const char *const paths[] = {"", "a//b", "meta", "summary", "params/x", "a/"};
    for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
        struct record_book *book = record_book_new();
        record_table_add(book, paths[i], "", &good, 1);
        assert_unwritable(place->path, book, STORE_ERROR_BOOK, "table");
        record_book_free(book);
    }
    struct record_book *book = record_book_new();
    record_table_add(book, "t", "", &spec, 1);
    assert_unwritable(place->path, book, STORE_ERROR_BOOK, "a/b");
    record_book_free(book);
    assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void test_store__a_failed_write_leaves_the_old_file(void **state)
{
    struct place *place = *state;
    write_fake(place->path);
    struct record_book *book = record_book_new();
    record_meta_set(book, "", "x");
    assert_unwritable(place->path, book, STORE_ERROR_BOOK, "meta");
    record_book_free(book);
    struct record_book *old = store_read(place->path, NULL);
    assert_non_null(old);
    assert_non_null(record_table_get(old, "flows"));
    record_book_free(old);
}

static void test_store__a_missing_folder_is_an_error(void **state)
{
    struct place *place = *state;
    g_autofree char *path = g_build_filename(place->folder, "none", "run.h5", NULL);
    struct record_book *book = record_book_new();
    assert_unwritable(path, book, STORE_ERROR_IO, "No such file");
    record_book_free(book);
    assert_unreadable(path, STORE_ERROR_IO, "No such file");
    assert_unreadable(place->folder, STORE_ERROR_IO, "folder");
}

/* ---- damaged files -------------------------------------------------------- */

static void test_store__foreign_files_are_errors(void **state)
{
    struct place *place = *state;
    static const char *const contents[] = {"", "x", "\x89HDF\r\n\x1a\n", "fabricast results\n",
                                           "[topology]\nkind = star\n"};
    for (gsize i = 0; i < G_N_ELEMENTS(contents); i++) {
        assert_true(g_file_set_contents(place->path, contents[i], -1, NULL));
        assert_unreadable(place->path, STORE_ERROR_FORMAT, "");
    }
}

static void test_store__every_truncation_is_an_error(void **state)
{
    struct place *place = *state;
    write_fake(place->path);
    g_autofree char *bytes = NULL;
    gsize n = 0;
    assert_true(g_file_get_contents(place->path, &bytes, &n, NULL));
    for (gsize keep = 0; keep < n; keep += 1 + keep / 8) {
        assert_true(g_file_set_contents(place->path, bytes, (gssize)keep, NULL));
        assert_unreadable(place->path, STORE_ERROR_FORMAT, "");
    }
    assert_true(g_file_set_contents(place->path, bytes, (gssize)n - 1, NULL));
    assert_unreadable(place->path, STORE_ERROR_FORMAT, "truncated");
}

static void test_store__every_changed_byte_is_an_error(void **state)
{
    struct place *place = *state;
    write_fake(place->path);
    g_autofree char *bytes = NULL;
    gsize n = 0;
    assert_true(g_file_get_contents(place->path, &bytes, &n, NULL));
    for (gsize at = 0; at < n; at += at < 600 ? 1 : 997) {
        bytes[at] = (char)(bytes[at] ^ 0x41);
        assert_true(g_file_set_contents(place->path, bytes, (gssize)n, NULL));
        assert_unreadable(place->path, STORE_ERROR_FORMAT, "");
        bytes[at] = (char)(bytes[at] ^ 0x41);
    }
}

/* A seal that fits the bytes, so that HDF5 itself meets them. */
static void seal_anew(const char *path, const char *rest, gsize n)
{
    GString *file = g_string_new(NULL);
    g_autofree char *hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)rest, n);
    g_string_printf(
        file,
        "fabricast results\nsha256 %s\nbytes %" G_GSIZE_FORMAT
        "\nThe rest of this file is HDF5; the format is described in docs/FORMATS.md of fabricast.\n",
        hash, n);
    while (file->len < 512)
        g_string_append_c(file, 0);
    g_string_append_len(file, rest, (gssize)n);
    assert_true(g_file_set_contents(path, file->str, (gssize)file->len, NULL));
    g_string_free(file, TRUE);
}

static void test_store__a_sealed_file_that_is_not_hdf5_is_an_error(void **state)
{
    struct place *place = *state;
    seal_anew(place->path, "no HDF5 here", 12);
    assert_unreadable(place->path, STORE_ERROR_FORMAT, "HDF5");
}

/* The last place of the N_PART bytes of PART in [FROM, TO), NULL if there is none. */
static char *find_last(char *from, char *to, const char *part, gsize n_part)
{
    for (char *p = to - n_part; p >= from; p--)
        if (memcmp(p, part, n_part) == 0)
            return p;
    return NULL;
}

static void test_store__another_schema_version_is_named(void **state)
{
    struct place *place = *state;
    write_fake(place->path);
    g_autofree char *bytes = NULL;
    gsize n = 0;
    assert_true(g_file_get_contents(place->path, &bytes, &n, NULL));
    /* in an attribute message the int64 value comes last, 48 bytes or so after the name */
    char *name = find_last(bytes, bytes + n, "schema_version", strlen("schema_version"));
    assert_non_null(name);
    char *value = find_last(name, name + 64, "\x01\0\0\0\0\0\0\0", 8);
    assert_non_null(value);
    *value = 77;
    seal_anew(place->path, bytes + 512, n - 512);
    assert_unreadable(place->path, STORE_ERROR_VERSION, "version 77");
}

/* ---- other people's tools ------------------------------------------------- */

static char *run_tool(const char *const *argv, int *status)
{
    char *out = NULL, *errors = NULL;
    if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &errors, status,
                      NULL)) {
        *status = -1;
        return NULL;
    }
    if (*status != 0)
        print_message("%s\n", errors);
    g_free(errors);
    return out;
}

/* A Python that has h5py; NULL if there is none. */
static const char *find_python(void)
{
    static const char *const candidates[] = {"/usr/bin/python3", "python3"};
    for (gsize i = 0; i < G_N_ELEMENTS(candidates); i++) {
        const char *argv[] = {candidates[i], "-c", "import h5py", NULL};
        g_autofree char *out = NULL;
        char *errors = NULL;
        int status = -1;
        bool ran = g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &errors,
                                &status, NULL);
        g_free(errors);
        if (ran && status == 0)
            return candidates[i];
    }
    return NULL;
}

static const char H5PY_CHECK[] =
    "import h5py, math, sys\n"
    "f = h5py.File(sys.argv[1], 'r')\n"
    "assert f.attrs['schema_version'] == 1\n"
    "assert f['meta'].attrs['scenario'] == 'incast40.ini'\n"
    "assert f['meta/scenario_text'].asstr()[()].startswith('# 40 to 1\\n[topology]')\n"
    "k = f['params/ecn/kmin']\n"
    "assert k[()] == 100000 and k.dtype.kind == 'i' and k.attrs['unit'] == 'bytes', k\n"
    "assert k.attrs['set_by'] == 'file' and k.attrs['default'] == '400KB' and k.attrs['text'] == '100KB'\n"
    "assert f['params/ecn/pmax'][()] == 0.2\n"
    "s = dict(zip(f['summary/name'].asstr()[:], f['summary/value'][:]))\n"
    "assert s['rate_cuts'] == 420 and math.isnan(s['timeouts'])\n"
    "columns = 0\n"
    "def visit(name, item):\n"
    "    global columns\n"
    "    if isinstance(item, h5py.Dataset) and item.ndim == 1:\n"
    "        assert item.attrs['unit'] and item.attrs['doc'], name\n"
    "        assert item.compression == 'gzip' and item.chunks, name\n"
    "        columns += 1\n"
    "    elif isinstance(item, h5py.Group) and any(isinstance(x, h5py.Dataset) for x in item.values()):\n"
    "        if not name.startswith(('meta', 'params')):\n"
    "            assert item.attrs['doc'], name\n"
    "            assert all(len(x) == item.attrs['n_rows'] for x in item.values()), name\n"
    "f.visititems(visit)\n"
    "assert list(f['flows'])[:3] == ['flow', 'src', 'dst'], list(f['flows'])\n"
    "assert len(f['series/queue/t_ps']) == 2800 and f['ports/node'].asstr()[7] == 'leaf1'\n"
    "print(columns)\n";

static void test_store__h5py_sees_units_on_every_column(void **state)
{
    struct place *place = *state;
    const char *python = find_python();
    if (!python) {
        print_message("skipped: no python3 with h5py\n");
        skip();
    }
    write_fake(place->path);
    const char *argv[] = {python, "-c", H5PY_CHECK, place->path, NULL};
    int status;
    g_autofree char *out = run_tool(argv, &status);
    assert_int_equal(status, 0);
    assert_string_equal(
        out, "73\n"); /* summary 4, flows 11, collectives 12, ports 20, ledger 8, series 13, events 4 */
}

static void test_store__h5dump_reads_it(void **state)
{
    struct place *place = *state;
    g_autofree char *tool = g_find_program_in_path("h5dump");
    if (!tool) {
        print_message("skipped: no h5dump\n");
        skip();
    }
    write_fake(place->path);
    const char *argv[] = {tool, "-d", "/ledger/sent_pkts", place->path, NULL};
    int status;
    g_autofree char *out = run_tool(argv, &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(out, "40000, 512"));
    assert_non_null(strstr(out, "\"packets\""));
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_store__a_book_comes_back_equal),
        IN_PLACE(test_store__an_empty_book_comes_back_empty),
        IN_PLACE(test_store__a_table_without_rows_keeps_its_columns),
        IN_PLACE(test_store__extreme_cells_survive),
        IN_PLACE(test_store__layers_with_a_peer_come_back_equal),
        IN_PLACE(test_store__a_group_with_the_sign_for_a_slash_is_refused),
        IN_PLACE(test_store__many_rows_span_chunks),
        IN_PLACE(test_store__equal_books_give_equal_bytes),
        IN_PLACE(test_store__names_that_hdf5_cannot_hold_are_errors),
        IN_PLACE(test_store__a_failed_write_leaves_the_old_file),
        IN_PLACE(test_store__a_missing_folder_is_an_error),
        IN_PLACE(test_store__foreign_files_are_errors),
        IN_PLACE(test_store__every_truncation_is_an_error),
        IN_PLACE(test_store__every_changed_byte_is_an_error),
        IN_PLACE(test_store__a_sealed_file_that_is_not_hdf5_is_an_error),
        IN_PLACE(test_store__another_schema_version_is_named),
        IN_PLACE(test_store__h5py_sees_units_on_every_column),
        IN_PLACE(test_store__h5dump_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
