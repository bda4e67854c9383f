/* fuzz.c - what the fuzz targets share. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Longer messages would mean that a whole input was quoted. */
#define MAX_MESSAGE_BYTES 4096

void fuzz_broken(const char *file, int line, const char *law, const char *text)
{
    fprintf(stderr, "%s:%d: broken: %s%s%s\n", file, line, law, text ? ": " : "", text ? text : "");
    abort();
}

void fuzz_show(const char *format, ...)
{
    va_list args;
    if (!g_getenv("FABRICAST_FUZZ_SHOW"))
        return;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

void fuzz_take_error(GError **err, const char *opening)
{
    FUZZ_REQUIRE(*err);
    const char *message = (*err)->message;
    fuzz_show("error: %s\n", message);
    FUZZ_REQUIRE(message[0] != '\0');
    FUZZ_REQUIRE_TEXT(strlen(message) <= MAX_MESSAGE_BYTES, message);
    FUZZ_REQUIRE_TEXT(g_utf8_validate(message, -1, NULL), message);
    FUZZ_REQUIRE_TEXT(!opening || g_str_has_prefix(message, opening), message);
    g_clear_error(err);
}

void fuzz_file_init(struct fuzz_file *file, const void *data, size_t n_bytes)
{
    file->fd = memfd_create("fabricast-fuzz", 0);
    FUZZ_REQUIRE(file->fd >= 0);
    for (size_t at = 0; at < n_bytes;) {
        ssize_t n = write(file->fd, (const char *)data + at, n_bytes - at);
        FUZZ_REQUIRE(n > 0);
        at += (size_t)n;
    }
    g_snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
}

void fuzz_file_release(struct fuzz_file *file)
{
    close(file->fd);
}

uint8_t fuzz_byte(struct fuzz_dice *dice)
{
    return dice->next < dice->end ? *dice->next++ : 0;
}

uint32_t fuzz_below(struct fuzz_dice *dice, uint32_t n)
{
    uint32_t value = fuzz_byte(dice);
    if (n > 256)
        value = value << 8 | fuzz_byte(dice);
    return value % n;
}

int64_t fuzz_between(struct fuzz_dice *dice, int64_t min, int64_t max)
{
    uint64_t span = (uint64_t)max - (uint64_t)min;
    uint8_t way = fuzz_byte(dice);
    uint64_t step = fuzz_byte(dice);
    if (way >= 64) { /* a number of (way - 64) / 3 bits at most */
        for (int i = 0; i < 7; i++)
            step = step << 8 | fuzz_byte(dice);
        step >>= 63 - (way - 64) / 3;
    }
    uint64_t from_min = span == UINT64_MAX ? step : step % (span + 1);
    return way < 32 ? (int64_t)((uint64_t)max - from_min) : (int64_t)((uint64_t)min + from_min);
}
