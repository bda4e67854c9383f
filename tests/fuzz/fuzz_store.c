/* fuzz_store.c - results files.
 *
 * The input as a file; then a book of records whose names and values come from the input is written and read back:
 * the same book, or an error in writing. (Inputs with a valid checksum but damaged HDF5 inside are not made: libhdf5
 * does not survive them, and the checksum is there to keep them from it.)
 */
#include "analysis/store.h"
#include "fuzz.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MAX_TABLES  3
#define MAX_COLUMNS 4
#define MAX_ROWS    12

/* ---- a book from the input -------------------------------------------------------- */

/* Text of up to 15 characters of any kind, UTF-8, without zeros. (transfer full) */
static char *any_text(struct fuzz_dice *dice)
{
    char raw[16] = "";
    uint32_t n = fuzz_below(dice, sizeof raw);
    for (uint32_t i = 0; i < n; i++)
        raw[i] = (char)fuzz_byte(dice);
    return g_utf8_make_valid(raw, (gssize)strlen(raw));
}

/* A name as the code has them, now and then any text. (transfer full) */
static char *any_name(struct fuzz_dice *dice)
{
    uint8_t way = fuzz_byte(dice);
    return way > 230 ? any_text(dice) : g_strdup_printf("%s%d", way % 5 == 0 ? "series/n" : "n", way % 7);
}

static double any_real(struct fuzz_dice *dice)
{
    static const double special[] = {0.0, -0.0, 1.5, 1e308, -1e-308, INFINITY, NAN};
    uint32_t i = fuzz_below(dice, G_N_ELEMENTS(special) + 1);
    return i < G_N_ELEMENTS(special) ? special[i] : (double)fuzz_between(dice, INT64_MIN, INT64_MAX);
}

static void add_meta(struct fuzz_dice *dice, struct record_book *book)
{
    for (uint32_t n = fuzz_below(dice, 5); n > 0; n--) {
        g_autofree char *key = any_name(dice), *value = any_text(dice);
        record_meta_set(book, key, value);
    }
    for (uint32_t n = fuzz_below(dice, 5); n > 0; n--) {
        g_autofree char *name = any_name(dice), *unit = any_text(dice), *doc = any_text(dice);
        record_summary_set(book, name, any_real(dice), unit, doc);
    }
}

static void add_params(struct fuzz_dice *dice, struct record_book *book)
{
    for (uint32_t n = fuzz_below(dice, 4); n > 0; n--) {
        g_autofree char *group = any_name(dice), *key = g_strdup_printf("key%u", n), *value = any_text(dice), *source = any_text(dice);
        struct record_param row = {group, key, value, value, source, source, value, source, any_real(dice)};
        record_param_add(book, &row);
    }
}

static void fill_column(struct fuzz_dice *dice, enum record_type type, int64_t n_rows, void **column, GPtrArray *texts)
{
    *column = g_new0(int64_t, (gsize)n_rows + 1); /* all three kinds have 8 bytes */
    for (int64_t r = 0; r < n_rows; r++) {
        char *text = NULL;
        if (type == RECORD_I64)
            ((int64_t *)*column)[r] = fuzz_between(dice, INT64_MIN, INT64_MAX);
        else if (type == RECORD_F64)
            ((double *)*column)[r] = any_real(dice);
        else
            g_ptr_array_add(texts, ((char **)*column)[r] = text = any_text(dice));
    }
}

static bool is_new(const struct record_column_spec *specs, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(specs[i].name, name) == 0)
            return false;
    return true;
}

static void add_table(struct fuzz_dice *dice, struct record_book *book, GPtrArray *texts)
{
    struct record_column_spec specs[MAX_COLUMNS];
    void *columns[MAX_COLUMNS] = {0};
    int64_t n_rows = fuzz_below(dice, MAX_ROWS);
    int n = 0;
    char *path = any_name(dice);
    g_ptr_array_add(texts, path);
    for (uint32_t wanted = fuzz_below(dice, MAX_COLUMNS + 1); wanted > 0; wanted--) {
        char *name = any_name(dice), *doc = any_text(dice);
        g_ptr_array_add(texts, name);
        g_ptr_array_add(texts, doc);
        enum record_type type = (enum record_type)fuzz_below(dice, RECORD_TEXT + 1);
        if (!is_new(specs, n, name))
            continue;
        fill_column(dice, type, n_rows, &columns[n], texts);
        specs[n++] = (struct record_column_spec){name, type, "1", doc};
    }
    if (n > 0 && !record_table_get(book, path)) {
        struct record_table *table = record_table_add(book, path, "fuzz", specs, n);
        record_append_columns(table, n_rows, (const void *const *)columns);
    }
    for (int c = 0; c < n; c++)
        g_free(columns[c]);
}

/* ---- comparison --------------------------------------------------------------------- */

static bool same_real(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_heads(const struct record_book *a, const struct record_book *b)
{
    FUZZ_REQUIRE(record_summary_n(a) == record_summary_n(b));
    for (int i = 0; i < record_meta_n(a); i++) {
        const char *key, *value;
        record_meta_at(a, i, &key, &value);
        FUZZ_REQUIRE_TEXT(g_strcmp0(record_meta_get(b, key), value) == 0, key);
    }
    for (int i = 0; i < record_summary_n(a); i++) {
        const char *name, *unit, *doc;
        double value = 0, back = 0;
        record_summary_at(a, i, &name, &value, &unit, &doc);
        FUZZ_REQUIRE_TEXT(record_summary_get(b, name, &back) && same_real(value, back), name);
    }
    FUZZ_REQUIRE(record_param_n(a) == record_param_n(b) && record_table_n(a) == record_table_n(b));
}

static void check_column(const struct record_table *a, const struct record_table *b, int c)
{
    const struct record_column_spec *x = record_table_spec(a, c), *y = record_table_spec(b, c);
    FUZZ_REQUIRE(strcmp(x->name, y->name) == 0 && x->type == y->type);
    for (int64_t r = 0; r < record_table_n_rows(a); r++) {
        if (x->type == RECORD_I64)
            FUZZ_REQUIRE(record_column_i64(a, c)[r] == record_column_i64(b, c)[r]);
        else if (x->type == RECORD_F64)
            FUZZ_REQUIRE(same_real(record_column_f64(a, c)[r], record_column_f64(b, c)[r]));
        else
            FUZZ_REQUIRE(strcmp(record_column_text(a, c)[r], record_column_text(b, c)[r]) == 0);
    }
}

static void check_same(const struct record_book *a, const struct record_book *b)
{
    check_heads(a, b);
    for (int t = 0; t < record_table_n(a); t++) {
        const struct record_table *x = record_table_at(a, t), *y = record_table_get(b, record_table_path(x));
        FUZZ_REQUIRE_TEXT(y, record_table_path(x));
        FUZZ_REQUIRE(record_table_n_rows(x) == record_table_n_rows(y));
        FUZZ_REQUIRE(record_table_n_columns(x) == record_table_n_columns(y));
        for (int c = 0; c < record_table_n_columns(x); c++)
            check_column(x, y, c);
    }
}

/* ---- both ways ------------------------------------------------------------------------ */

static void check_round_trip(struct fuzz_dice *dice, const char *path)
{
    struct record_book *book = record_book_new(), *back = NULL;
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    GError *err = NULL;
    add_meta(dice, book);
    add_params(dice, book);
    for (uint32_t n = fuzz_below(dice, MAX_TABLES + 1); n > 0; n--)
        add_table(dice, book, texts);
    if (!store_write(path, book, &err)) {
        FUZZ_REQUIRE_TEXT(err->code == STORE_ERROR_BOOK, err->message);
        fuzz_take_error(&err, path);
    } else {
        back = store_read(path, &err);
        FUZZ_REQUIRE_TEXT(back, err ? err->message : "no message");
        check_same(book, back);
        g_unlink(path);
    }
    record_book_free(book);
    record_book_free(back);
}

static void check_file(const uint8_t *data, size_t n_bytes)
{
    struct fuzz_file file;
    GError *err = NULL;
    fuzz_file_init(&file, data, n_bytes);
    struct record_book *book = store_read(file.path, &err);
    if (!book)
        fuzz_take_error(&err, file.path);
    record_book_free(book);
    fuzz_file_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct fuzz_dice dice = {data, data + n_bytes};
    /* In memory where there is such a folder: the writer waits for the disk. */
    const char *folder = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
    g_autofree char *path = g_strdup_printf("%s/fabricast-fuzz-%d.h5", folder, (int)getpid());
    check_file(data, n_bytes);
    check_round_trip(&dice, path);
    return 0;
}
