/* units.h - simulated time, sizes, rates, and every conversion between them.
 *
 * Simulated time is int64_t picoseconds (sim_ps, +-106 days). Sizes are int64_t
 * bytes, rates int64_t bits per second. The suffix of a name says its unit:
 * _ps _bytes _bps _pkts _ratio _mm. No other file converts between them.
 *
 * Text forms are exact: a decimal number and a unit, "1.6us", "400Gbps",
 * "32KiB", "100m". KiB (1024) and kB/KB (1000) differ. A bare number for a
 * quantity with a unit is an error; "0" alone is allowed, since 0 has one
 * meaning in any unit.
 */
#ifndef FABRICAST_SIM_UNITS_H
#define FABRICAST_SIM_UNITS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef int64_t sim_ps;

#define SIM_PS_MAX INT64_MAX

/* Integer constants for parameter tables. */
#define UNIT_NS INT64_C(1000)
#define UNIT_US INT64_C(1000000)
#define UNIT_MS INT64_C(1000000000)
#define UNIT_S INT64_C(1000000000000)
#define UNIT_KB INT64_C(1000)
#define UNIT_MB INT64_C(1000000)
#define UNIT_GB INT64_C(1000000000)
#define UNIT_KIB INT64_C(1024)
#define UNIT_MIB INT64_C(1048576)
#define UNIT_GIB INT64_C(1073741824)
#define UNIT_MBPS INT64_C(1000000)
#define UNIT_GBPS INT64_C(1000000000)
#define UNIT_M INT64_C(1000) /* metres in mm */
#define UNIT_KM INT64_C(1000000)
#define UNIT_BITS_PER_BYTE 8

#define UNITS_ERROR (units_error_quark())
typedef enum {
    UNITS_ERROR_SYNTAX, /* not a number followed by a unit              */
    UNITS_ERROR_UNIT,   /* a unit is missing, unknown, or of other kind */
    UNITS_ERROR_RANGE,  /* does not fit, or is not a whole base unit    */
} units_error;
GQuark units_error_quark(void);

/* Parse TEXT (surrounding blanks allowed) exactly; negative values parse.
 * On failure return false with ERR set, *OUT untouched. The message says what
 * is wrong and which units are allowed, without file or line.
 *   time:   ps ns us ms s min h      -> ps
 *   bytes:  B kB KB MB GB TB KiB MiB GiB TiB (bit units are errors) -> bytes
 *   rate:   bps kbps Mbps Gbps Tbps, also Mb/s Gb/s ... -> bit/s
 *   length: mm cm m km               -> mm
 *   int:    plain whole number;  real: decimal number, or a fraction "1/256" */
bool units_parse_time(const char *text, int64_t *out_ps, GError **err);
bool units_parse_bytes(const char *text, int64_t *out_bytes, GError **err);
bool units_parse_rate(const char *text, int64_t *out_bps, GError **err);
bool units_parse_length(const char *text, int64_t *out_mm, GError **err);
bool units_parse_int(const char *text, int64_t *out, GError **err);
bool units_parse_real(const char *text, double *out, GError **err);

/* Exact text that the matching parser reads back to the same value, in the
 * largest unit that keeps it short ("1.6us", "32KiB"). Returns (transfer full). */
char *units_format_time(int64_t ps);
char *units_format_bytes(int64_t bytes);
char *units_format_rate(int64_t bps);
char *units_format_length(int64_t mm);
char *units_format_real(double value); /* shortest text that parses back */

/* For people: SIGNIFICANT digits, rounded ("36.7 us", "401.3 GB/s"). (transfer full) */
char *units_human_time(int64_t ps);
char *units_human_bytes(double bytes);      /* decimal: kB MB GB */
char *units_human_rate(double bps);         /* bits per second   */
char *units_human_bytes_rate(double bps);   /* bits per second shown as GB/s */

/* Serialisation time of BYTES at BPS, rounded up to a picosecond; 128-bit. */
sim_ps units_wire_ps(int64_t bytes, int64_t bps);
/* Bytes that BPS carries in PS, rounded down; 128-bit. */
int64_t units_bytes_in(sim_ps ps, int64_t bps);
/* Rate of BYTES in PS as bits per second, 0 when PS is 0 (for reports). */
double units_rate_bps(int64_t bytes, sim_ps ps);
double units_ps_to_s(sim_ps ps);

/* Per-link serialisation factor: picoseconds a byte, 16 fraction bits. */
int64_t units_ps_per_byte_q16(int64_t bps);
static inline sim_ps units_wire_ps_q16(uint32_t bytes, int64_t ps_per_byte_q16)
{
    return ((int64_t)bytes * ps_per_byte_q16 + 0xffff) >> 16;
}

/* Propagation in a cable or fibre: 5 ns a metre (light at 0.66 c; SONiC's headroom formula has 198e6 m/s). */
#define UNIT_PS_PER_MM 5
static inline sim_ps units_cable_ps(int64_t length_mm) { return length_mm * UNIT_PS_PER_MM; }

#endif
