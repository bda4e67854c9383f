/* stats.h - order statistics, means, fairness and distribution points of result columns.
 *
 * Percentiles are nearest-rank: the smallest value such that at least p percent
 * of all values are <= it, so the result is always one of the values and p99 of
 * 50 values is the largest. No interpolation. Nothing here fails; N == 0 has a
 * stated result each.
 */
#ifndef FABRICAST_ANALYSIS_STATS_H
#define FABRICAST_ANALYSIS_STATS_H

#include <stdint.h>

/* Ascending, in place. */
void stats_sort_i64(int64_t *values, int64_t n);

/* Of ascending values; PERCENT in [0, 100] (0 gives the smallest). 0 when N is 0. O(1). */
int64_t stats_percentile_sorted_i64(const int64_t *sorted, int64_t n, double percent);
/* Of values in any order; copies and sorts. */
int64_t stats_percentile_i64(const int64_t *values, int64_t n, double percent);

/* Arithmetic mean; the sum is 128 bits wide. 0 when N is 0. */
double stats_mean_i64(const int64_t *values, int64_t n);

/* Jain's fairness index (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has
 * everything. 1 when N is 0 or all values are 0. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984. */
double stats_jain(const double *values, int64_t n);

/* One step of an empirical CDF: SHARE of the values are <= VALUE. */
struct stats_cdf_point {
    int64_t value;
    double share;
};
/* Points of the CDF of ascending values, at most MAX_POINTS (>= 2), one per distinct value at most; the
 * first is the smallest value, the last the largest with share 1. POINTS has room for MAX_POINTS.
 * Returns their number. */
int64_t stats_cdf_sorted_i64(const int64_t *sorted, int64_t n, struct stats_cdf_point *points,
                             int64_t max_points);

#endif
