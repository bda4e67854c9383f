/* store.c - the file around the HDF5 part: temporary name, seal, rename, and errors. */
#include "analysis/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

G_DEFINE_QUARK(fabricast - store - error, store_error)

#define SEAL_FORMAT                                                                                          \
    "fabricast results\nsha256 %s\nbytes %" G_GINT64_FORMAT                                                  \
    "\nThe rest of this file is HDF5; the format is described in docs/FORMATS.md of fabricast.\n"
#define SEAL_OPENING "fabricast results\n"

typedef FILE *file_handle;
static void file_handle_close(file_handle *file)
{
    if (*file)
        fclose(*file);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(file_handle, file_handle_close)

/* ---- errors --------------------------------------------------------------- */

store_quiet store_quiet_begin(void)
{
    store_quiet quiet = {NULL, NULL};
    H5Eget_auto2(H5E_DEFAULT, &quiet.func, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void store_quiet_end(store_quiet *quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet->func, quiet->data);
}

static herr_t add_description(unsigned n, const H5E_error2_t *error, void *data)
{
    GString *text = data;
    if (error->desc && error->desc[0])
        g_string_append_printf(text, "%s%s", n > 0 && text->len > 0 ? "; " : "", error->desc);
    return 0;
}

bool store_fail(GError **err, store_error code, const char *format, ...)
{
    GString *stack = g_string_new(NULL); /* first: any other call may clear HDF5's stack */
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, add_description, stack);
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    if (stack->len > 0)
        g_set_error(err, STORE_ERROR, (gint)code, "%s (HDF5: %s)", what, stack->str);
    else
        g_set_error_literal(err, STORE_ERROR, (gint)code, what);
    g_string_free(stack, TRUE);
    return false;
}

static bool fail_errno(GError **err, const char *doing)
{
    int number = errno;
    g_set_error(err, STORE_ERROR, STORE_ERROR_IO, "%s: %s", doing, g_strerror(number));
    return false;
}

/* ---- seal ----------------------------------------------------------------- */

/* Hash and length of everything after the seal. */
static char *hash_rest(FILE *file, int64_t *bytes)
{
    enum { BLOCK_BYTES = 1 << 16 };
    g_autofree guchar *block = g_malloc(BLOCK_BYTES);
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    size_t got;
    *bytes = 0;
    if (fseek(file, STORE_SEAL_BYTES, SEEK_SET) != 0)
        return NULL;
    while ((got = fread(block, 1, BLOCK_BYTES, file)) > 0) {
        g_checksum_update(checksum, block, (gssize)got);
        *bytes += (int64_t)got;
    }
    return ferror(file) ? NULL : g_strdup(g_checksum_get_string(checksum));
}

static void seal_text(char seal[STORE_SEAL_BYTES], const char *hash, int64_t bytes)
{
    memset(seal, 0, STORE_SEAL_BYTES);
    g_snprintf(seal, STORE_SEAL_BYTES, SEAL_FORMAT, hash, bytes);
}

static bool seal_write(const char *path, GError **err)
{
    g_auto(file_handle) file = fopen(path, "r+b");
    if (!file)
        return fail_errno(err, "cannot open to seal");
    int64_t bytes;
    g_autofree char *hash = hash_rest(file, &bytes);
    if (!hash)
        return fail_errno(err, "cannot read back");
    char seal[STORE_SEAL_BYTES];
    seal_text(seal, hash, bytes);
    if (fseek(file, 0, SEEK_SET) != 0 || fwrite(seal, 1, sizeof seal, file) != sizeof seal ||
        fflush(file) != 0 || fsync(fileno(file)) != 0)
        return fail_errno(err, "cannot write");
    return true;
}

/* The length that SEAL states; -1 if it states none. */
static int64_t seal_stated_bytes(const char seal[STORE_SEAL_BYTES])
{
    g_autofree char *text = g_strndup(seal, STORE_SEAL_BYTES);
    const char *bytes = strstr(text, "\nbytes ");
    return bytes ? g_ascii_strtoll(bytes + strlen("\nbytes "), NULL, 10) : -1;
}

static bool seal_check(const char *path, GError **err)
{
    char seal[STORE_SEAL_BYTES], expected[STORE_SEAL_BYTES];
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return store_fail(err, STORE_ERROR_IO, "is a folder, not a results file");
    g_auto(file_handle) file = fopen(path, "rb");
    if (!file)
        return fail_errno(err, "cannot open");
    size_t got = fread(seal, 1, sizeof seal, file);
    if (got < strlen(SEAL_OPENING) || memcmp(seal, SEAL_OPENING, strlen(SEAL_OPENING)) != 0)
        return store_fail(err, STORE_ERROR_FORMAT,
                          "is not a results file of fabricast (it does not open with its seal)");
    if (got < sizeof seal)
        return store_fail(err, STORE_ERROR_FORMAT, "is truncated: it ends within its seal");
    int64_t bytes;
    g_autofree char *hash = hash_rest(file, &bytes);
    if (!hash)
        return fail_errno(err, "cannot read");
    int64_t stated = seal_stated_bytes(seal);
    if (bytes < stated)
        return store_fail(err, STORE_ERROR_FORMAT,
                          "is truncated: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " bytes are there", bytes,
                          stated);
    seal_text(expected, hash, bytes);
    if (memcmp(seal, expected, sizeof seal) != 0)
        return store_fail(err, STORE_ERROR_FORMAT,
                          "is damaged or was changed after it was written (its checksum differs)");
    return true;
}

/* ---- writing -------------------------------------------------------------- */

static hid_t create_file(const char *path)
{
    g_auto(store_hid) plist = H5Pcreate(H5P_FILE_CREATE);
    if (plist < 0 || H5Pset_userblock(plist, STORE_SEAL_BYTES) < 0 ||
        H5Pset_link_creation_order(plist, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0 ||
        H5Pset_obj_track_times(plist, 0) < 0)
        return H5I_INVALID_HID;
    return H5Fcreate(path, H5F_ACC_TRUNC, plist, H5P_DEFAULT);
}

static bool write_hdf5(const char *path, const struct record_book *book, GError **err)
{
    G_GNUC_UNUSED g_auto(store_quiet) quiet = store_quiet_begin();
    hid_t file = create_file(path);
    if (file < 0)
        return store_fail(err, STORE_ERROR_IO, "cannot create");
    bool ok = store_write_book(file, book, err);
    if (H5Fclose(file) < 0) /* flushes: a full disk shows here */
        return ok ? store_fail(err, STORE_ERROR_IO, "cannot write") : false;
    return ok;
}

bool store_write(const char *path, const struct record_book *book, GError **err)
{
    /* The rename below would put a file in the place of a device or pipe. */
    if (g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return store_fail(err, STORE_ERROR_IO, "%s: is there and no regular file", path);
    g_autofree char *temporary = g_strdup_printf("%s.XXXXXX", path);
    int fd = g_mkstemp_full(temporary, O_RDWR, 0666);
    if (fd < 0) {
        fail_errno(err, "cannot create a file in its folder");
        g_prefix_error(err, "%s: ", path);
        return false;
    }
    close(fd);
    bool ok = write_hdf5(temporary, book, err) && seal_write(temporary, err);
    if (ok && g_rename(temporary, path) != 0)
        ok = fail_errno(err, "cannot rename the finished file to this name");
    if (!ok) {
        g_unlink(temporary);
        g_prefix_error(err, "%s: ", path);
    }
    return ok;
}

/* ---- reading -------------------------------------------------------------- */

static bool read_hdf5(const char *path, struct record_book *book, GError **err)
{
    G_GNUC_UNUSED g_auto(store_quiet) quiet = store_quiet_begin();
    g_auto(store_hid) file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return store_fail(err, STORE_ERROR_FORMAT, "cannot be opened as HDF5");
    return store_read_book(file, book, err);
}

struct record_book *store_read(const char *path, GError **err)
{
    struct record_book *book = record_book_new();
    if (seal_check(path, err) && read_hdf5(path, book, err))
        return book;
    g_prefix_error(err, "%s: ", path);
    record_book_free(book);
    return NULL;
}
