/* plot_bars.h - for analysis/plot.c: the bar pictures, and what all pictures share. */
#ifndef FABRICAST_ANALYSIS_PLOT_BARS_H
#define FABRICAST_ANALYSIS_PLOT_BARS_H

#include "analysis/gnuplot.h"
#include "sim/record.h"

enum plot_outcome { PLOT_DRAWN, PLOT_SKIPPED, PLOT_FAILED };

/* The unit in which values up to some largest one read well. */
struct plot_scale {
    const char *unit;
    double divisor; /* base units a unit */
};
struct plot_scale plot_scale_time(double max_ps);     /* ns, us, ms, s */
struct plot_scale plot_scale_bytes(double max_bytes); /* B, kB, MB, GB */

/* TITLE, and the scenario's name below it. */
void plot_add_title(struct gnuplot *plot, const struct record_book *book, const char *title);
/* Room below the axis label for a key of up to ROWS rows. */
void plot_add_key(struct gnuplot *plot, guint rows);
/* Appends the axis label "'text' position", shortened to what a margin holds, after a comma if needed. */
void plot_append_tic(GString *tics, const char *text, guint position);

/* Each sets WHY to the reason, and returns PLOT_SKIPPED when the book has nothing to draw; PLOT_FAILED has
 * ERR set. */
enum plot_outcome plot_draw_links(const struct record_book *book, struct gnuplot *plot, const char **why,
                                  GError **err);
enum plot_outcome plot_draw_collectives(const struct record_book *book, struct gnuplot *plot,
                                        const char **why, GError **err);

#endif
