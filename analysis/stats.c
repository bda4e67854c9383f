/* stats.c - see stats.h. */
#include "analysis/stats.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void stats_sort_i64(int64_t *values, int64_t n)
{
    if (n > 1)
        qsort(values, (size_t)n, sizeof *values, compare_i64);
}

int64_t stats_percentile_sorted_i64(const int64_t *sorted, int64_t n, double percent)
{
    if (n <= 0)
        return 0;
    /* percent * n first: for whole percents the product is exact, so ceil() never sees 98.99999 for 99 */
    double rank = ceil(percent * (double)n / 100.0);
    return sorted[(int64_t)CLAMP(rank, 1.0, (double)n) - 1];
}

int64_t stats_percentile_i64(const int64_t *values, int64_t n, double percent)
{
    if (n <= 0)
        return 0;
    g_autofree int64_t *sorted = g_memdup2(values, (gsize)n * sizeof *values);
    stats_sort_i64(sorted, n);
    return stats_percentile_sorted_i64(sorted, n, percent);
}

double stats_mean_i64(const int64_t *values, int64_t n)
{
    __int128 sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += values[i];
    return n > 0 ? (double)sum / (double)n : 0.0;
}

double stats_jain(const double *values, int64_t n)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    return squares > 0 ? sum * sum / ((double)n * squares) : 1.0;
}

/* Rank (1..n) of point I of M: the first value, then evenly spaced, the last value last. */
static int64_t cdf_rank(int64_t i, int64_t m, int64_t n)
{
    return 1 + (int64_t)((__int128)i * (n - 1) / (m - 1));
}

int64_t stats_cdf_sorted_i64(const int64_t *sorted, int64_t n, struct stats_cdf_point *points,
                             int64_t max_points)
{
    g_return_val_if_fail(max_points >= 2, 0);
    int64_t steps = CLAMP(n, 2, max_points), made = 0, rank = 0;
    for (int64_t i = 0; n > 0 && i < steps; i++) {
        rank = MAX(rank, cdf_rank(i, steps, n));
        while (rank < n && sorted[rank] == sorted[rank - 1]) /* all equal values lie below the step */
            rank++;
        if (made == 0 || points[made - 1].value != sorted[rank - 1])
            points[made++] = (struct stats_cdf_point){sorted[rank - 1], (double)rank / (double)n};
    }
    return made;
}
