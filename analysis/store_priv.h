/* store_priv.h - what the store's writer and reader share: handles, errors, names. */
#ifndef FABRICAST_ANALYSIS_STORE_PRIV_H
#define FABRICAST_ANALYSIS_STORE_PRIV_H

#include "analysis/store.h"
#include <hdf5.h>

/* The user block before the HDF5 part. */
#define STORE_SEAL_BYTES 512

/* An HDF5 handle that closes itself: g_auto(store_hid). Any kind of object. */
typedef hid_t store_hid;
static inline void store_hid_close(store_hid *id)
{
    if (*id >= 0)
        H5Idec_ref(*id);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(store_hid, store_hid_close)

/* Silences HDF5's printing for its scope: G_GNUC_UNUSED g_auto(store_quiet) quiet = store_quiet_begin(); */
typedef struct {
    H5E_auto2_t func;
    void *data;
} store_quiet;
store_quiet store_quiet_begin(void);
void store_quiet_end(store_quiet *quiet);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(store_quiet, store_quiet_end)

/* Sets ERR to the message, followed by what HDF5's error stack says. Returns false. */
bool store_fail(GError **err, store_error code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The HDF5 part, in an open file. */
bool store_write_book(hid_t file, const struct record_book *book, GError **err);
bool store_read_book(hid_t file, struct record_book *book, GError **err);

#endif
