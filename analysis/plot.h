/* plot.h - pictures of a run, from the book alone, drawn by gnuplot.
 *
 * Pictures: fct_cdf, queue_depth, rates, pauses, link_utilisation, collectives. Made
 * for print: white ground, lines that differ in dash as well as in colour, units on all axes.
 */
#ifndef FABRICAST_ANALYSIS_PLOT_H
#define FABRICAST_ANALYSIS_PLOT_H

#include "analysis/gnuplot.h"
#include "sim/record.h"

/* Draws every picture for which BOOK has data into OUT_DIR (made if it is not there) as <name>.<FORMAT>,
 * FORMAT "png" or "svg". Adds the paths to MADE_PATHS and, for each picture left out, "name: why" to SKIPPED
 * (may be NULL); both are arrays of char * to be freed with g_free. Errors: see gnuplot_error. */
bool plot_run(const struct record_book *book, const char *out_dir, const char *format, GPtrArray *made_paths,
              GPtrArray *skipped, GError **err);

#endif
