/* store.h - a record_book as one HDF5 file, and back.
 *
 * The layout is documented in docs/FORMATS.md. The first 512 bytes of the file
 * (an HDF5 user block, which h5py, h5dump and MATLAB skip) hold the SHA-256 and
 * length of the rest. The reader checks them before HDF5 sees the file, because
 * libhdf5 is not safe against damaged files; so a truncated, altered or foreign
 * file is an error with a plain message, and results that were edited after the
 * run do not pass for results.
 *
 * Equal books give equal bytes. One thread at a time (libhdf5 is usually built
 * without thread safety).
 */
#ifndef FABRICAST_ANALYSIS_STORE_H
#define FABRICAST_ANALYSIS_STORE_H

#include "sim/record.h"

/* Raised when a column changes its meaning or goes away; new columns and tables do not raise it. */
#define STORE_SCHEMA_VERSION 1

#define STORE_ERROR (store_error_quark())
typedef enum {
    STORE_ERROR_IO,      /* the file or its folder cannot be opened, written or renamed   */
    STORE_ERROR_FORMAT,  /* not a results file, truncated, or changed since it was written */
    STORE_ERROR_VERSION, /* written by another schema version                             */
    STORE_ERROR_BOOK,    /* the book has a name that no file can hold                     */
} store_error;
GQuark store_error_quark(void);

/* Writes BOOK to PATH through a temporary file in the same folder, renamed when complete: PATH is
 * either the whole new file or what it was before. Messages open with PATH. */
bool store_write(const char *path, const struct record_book *book, GError **err);

/* The book in PATH (transfer full: record_book_free), or NULL with ERR set; messages open with PATH.
 * Equal to what was written, but for order: short meta values come before long ones, and
 * parameters and tables are grouped by their first name. */
struct record_book *store_read(const char *path, GError **err);

#endif
