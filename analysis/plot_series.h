/* plot_series.h - columns of a book as lines for a plot: split by key, gaps closed, ranked, thinned.
 *
 * A series table has one row an instant and key (port, flow), in time order, and
 * leaves out rows where nothing was to tell; what that means differs by table,
 * so that the caller says how gaps are filled.
 */
#ifndef FABRICAST_ANALYSIS_PLOT_SERIES_H
#define FABRICAST_ANALYSIS_PLOT_SERIES_H

#include "sim/record.h"

struct plot_point {
    double x_ps, y; /* y is NAN where the line breaks */
};

struct plot_series {
    int64_t key, class; /* class is -1 when the table was not split by it */
    GArray *points;     /* struct plot_point, ascending x_ps */
    double score;       /* by which series are ranked */
};

/* One series for every key (and class, when CLASS_COLUMN is not NULL) of TABLE, in order of first
 * appearance; X is column t_ps. NULL when a column is missing. Cells that are not finite are left out.
 * (transfer full: g_ptr_array_unref) */
GPtrArray *plot_series_collect(const struct record_table *table, const char *key_column,
                               const char *class_column, const char *y_column);

/* All instants at which the book was sampled: every t_ps of the tables series/..., ascending, each once.
 * (transfer full: int64_t) */
GArray *plot_series_instants(const struct record_book *book);
/* Where a series has no point at some of INSTANTS between (and, for zeros, next to) its points: PLOT_GAP_ZERO
 * puts zeros there, PLOT_GAP_BREAK breaks the line. */
enum plot_gap { PLOT_GAP_ZERO, PLOT_GAP_BREAK };
void plot_series_fill_gaps(GPtrArray *series, const GArray *instants, enum plot_gap gap);

/* Sets scores to the largest y, or to largest less smallest. */
void plot_series_score_peak(GPtrArray *series);
void plot_series_score_swing(GPtrArray *series);
/* Keeps the N best, best first; equal ones in their order. */
void plot_series_keep_best(GPtrArray *series, guint n);

/* At most about MAX_POINTS points: of each stretch of time the first, smallest, largest and last stay, so
 * that no peak is lost. */
void plot_series_thin(struct plot_series *series, guint max_points);

/* A stretch of time for which a class of a port was paused. */
struct plot_pause {
    int64_t port, class, start_ps, end_ps;
};
/* From table events/pfc: a pause ends at the resume, or when its quanta (at the port's rate of table
 * ports) have run out; a refresh extends it; one that is still on ends with the run. Ascending start_ps.
 * NULL when the book has no such events. (transfer full) */
GArray *plot_pauses(const struct record_book *book);
/* Sum over all ports and classes of the time paused until each instant. (transfer full: struct plot_point) */
GArray *plot_pauses_cumulated(const GArray *pauses);

#endif
