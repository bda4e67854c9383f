/* gnuplot.h - runs gnuplot on a script and data files in a temporary folder of its own.
 *
 * Write data with gnuplot_data(), build the script with gnuplot_add(), then
 * gnuplot_render(). Every text that comes from a book goes through
 * gnuplot_quote(), so that it cannot become a command.
 */
#ifndef FABRICAST_ANALYSIS_GNUPLOT_H
#define FABRICAST_ANALYSIS_GNUPLOT_H

#include <glib.h>
#include <stdbool.h>

#define GNUPLOT_ERROR (gnuplot_error_quark())
typedef enum {
    GNUPLOT_ERROR_MISSING, /* there is no program gnuplot                        */
    GNUPLOT_ERROR_FORMAT,  /* a picture format that we do not make               */
    GNUPLOT_ERROR_RUN,     /* gnuplot failed; the message holds what it said     */
    GNUPLOT_ERROR_IO,      /* the temporary folder or the picture can't be written */
} gnuplot_error;
GQuark gnuplot_error_quark(void);

struct gnuplot; /* opaque: folder, script so far */

/* FORMAT is "png" or "svg". NULL with ERR set. (transfer full) */
struct gnuplot *gnuplot_new(const char *format, GError **err);
/* Removes the folder and all in it. Accepts NULL. */
void gnuplot_free(struct gnuplot *plot);
typedef struct gnuplot gnuplot;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gnuplot, gnuplot_free)

/* Opens a picture of WIDTH x HEIGHT pixels: white ground, line types 1 to 8 that print well. Comes first. */
void gnuplot_begin(struct gnuplot *plot, int width, int height);
/* Adds to the script. No %f or %g: a locale might put commas; use gnuplot_number(). */
void gnuplot_add(struct gnuplot *plot, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* TEXT as one gnuplot string, quotes included; control characters become blanks. (transfer full) */
char *gnuplot_quote(const char *text);
/* Appends VALUE to TEXT with up to 9 significant digits; "NaN" for what is not finite. */
void gnuplot_number(GString *text, double value);

/* Writes the file NAME into the folder, for use as 'NAME' in the script. */
bool gnuplot_data(struct gnuplot *plot, const char *name, const GString *text, GError **err);

/* Runs gnuplot and puts the picture at PATH, replacing what was there only when all went well. */
bool gnuplot_render(struct gnuplot *plot, const char *path, GError **err);

#endif
