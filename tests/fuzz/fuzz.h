/* fuzz.h - what the fuzz targets share.
 *
 * A target is fuzz_<name>.c with LLVMFuzzerTestOneInput(). With clang and FABRICAST_FUZZ it is linked with
 * libFuzzer; always it is linked with replay.c, which runs the corpus and mutations of it as ctest
 * "fuzz/<name>". A broken law prints one line and aborts.
 */
#ifndef FABRICAST_TESTS_FUZZ_H
#define FABRICAST_TESTS_FUZZ_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Aborts with file, line and the condition when it does not hold. */
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition, NULL))
/* The same with a text that says more; may be NULL. */
#define FUZZ_REQUIRE_TEXT(condition, text) ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition, text))
void fuzz_broken(const char *file, int line, const char *law, const char *text) G_GNUC_NORETURN;

/* Prints to stderr when FABRICAST_FUZZ_SHOW is in the environment: what an input means and how it ended. */
void fuzz_show(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* ERR is what a failed call left: it must be set, its message UTF-8 text of bounded length that opens with OPENING
 * (NULL: any). Clears it. */
void fuzz_take_error(GError **err, const char *opening);

/* A file in memory that holds DATA; its path is path. Release it. */
struct fuzz_file {
    int fd;
    char path[32];
};
void fuzz_file_init(struct fuzz_file *file, const void *data, size_t n_bytes);
void fuzz_file_release(struct fuzz_file *file);

/* Choices read from the input one after the other; zeros when it is used up. */
struct fuzz_dice {
    const uint8_t *next, *end;
};
uint8_t fuzz_byte(struct fuzz_dice *dice);
/* 0 ... N - 1. */
uint32_t fuzz_below(struct fuzz_dice *dice, uint32_t n);
/* In [MIN, MAX]: an end, a step from an end, or any, small ones more often. */
int64_t fuzz_between(struct fuzz_dice *dice, int64_t min, int64_t max);

#endif
