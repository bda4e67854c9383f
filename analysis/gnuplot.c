/* gnuplot.c - see gnuplot.h. */
#include "analysis/gnuplot.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

G_DEFINE_QUARK(fabricast - gnuplot - error, gnuplot_error)

#define SCRIPT_NAME  "plot.gp"
#define PICTURE_NAME "picture"

struct gnuplot {
    char *program, *folder;
    const char *terminal;
    GString *script;
};

/* ---- life ----------------------------------------------------------------- */

struct gnuplot *gnuplot_new(const char *format, GError **err)
{
    if (strcmp(format, "png") != 0 && strcmp(format, "svg") != 0) {
        g_set_error(err, GNUPLOT_ERROR, GNUPLOT_ERROR_FORMAT, "format '%s' is unknown; allowed: png, svg",
                    format);
        return NULL;
    }
    g_autofree char *program = g_find_program_in_path("gnuplot");
    if (!program) {
        g_set_error_literal(
            err, GNUPLOT_ERROR, GNUPLOT_ERROR_MISSING,
            "the program 'gnuplot' is not in PATH; install it to draw plots (Debian: gnuplot-nox)");
        return NULL;
    }
    char *folder = g_dir_make_tmp("fabricast-plot-XXXXXX", err);
    if (!folder)
        return NULL;
    struct gnuplot *plot = g_new0(struct gnuplot, 1);
    plot->program = g_steal_pointer(&program);
    plot->folder = folder;
    plot->script = g_string_new(NULL);
    plot->terminal = strcmp(format, "png") == 0 ? "pngcairo" : "svg";
    return plot;
}

static void remove_folder(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    if (dir)
        g_dir_close(dir);
    g_rmdir(folder);
}

void gnuplot_free(struct gnuplot *plot)
{
    if (!plot)
        return;
    remove_folder(plot->folder);
    g_string_free(plot->script, TRUE);
    g_free(plot->folder);
    g_free(plot->program);
    g_free(plot);
}

/* ---- script and data ------------------------------------------------------ */

/* White ground, and lines that differ in dash as well as in colour: they must survive a
 * monochrome printer. The colours are dark variants of a palette that colour-blind readers tell apart. */
void gnuplot_begin(struct gnuplot *plot, int width, int height)
{
    static const char *const colours[] = {"#000000", "#0057a0", "#b83b00", "#00704f",
                                          "#8a2f72", "#7a5c00", "#4d4d4d", "#5a0010"};
    static const char *const dashes[] = {"1",     "(14,5)", "(4,4)",          "(16,5,3,5)",
                                         "(9,3)", "(2,3)",  "(20,4,2,4,2,4)", "(6,6)"};
    gnuplot_add(plot,
                "set terminal %s size %d,%d font '%s,%d' linewidth 2 background rgb 'white' noenhanced\n",
                plot->terminal, width, height, "DejaVu Sans", 15);
    gnuplot_add(plot, "set output '%s'\nset encoding utf8\nset datafile missing 'NaN'\n", PICTURE_NAME);
    gnuplot_add(plot, "set border 3 linewidth 0.7\nset tics out nomirror\nset grid back linecolor rgb "
                      "'#c8c8c8' linewidth 0.5 dashtype 1\n");
    for (gsize i = 0; i < G_N_ELEMENTS(colours); i++)
        gnuplot_add(plot, "set linetype %d linecolor rgb '%s' linewidth 1.3 dashtype %s\n", (int)i + 1,
                    colours[i], dashes[i]);
}

void gnuplot_add(struct gnuplot *plot, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_string_append_vprintf(plot->script, format, args);
    va_end(args);
}

/* Characters that mean nothing to gnuplot within double quotes. */
static bool is_plain(char c)
{
    return g_ascii_isalnum(c) || (c && strchr(" _-+.,:;()<>/=%#", c));
}

char *gnuplot_quote(const char *text)
{
    /* All others as octal escapes: no backslash, quote, `command` or @macro is ever in the script. Single
     * quotes will not do: gnuplot 5.4 takes '''x' (a text that begins with a quote) for an empty text and
     * then more. */
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *quoted = g_string_new("\"");
    bool escaped = false; /* gnuplot reads digits on behind an octal escape: those are escaped, too */
    for (const char *p = valid; *p; p++) {
        bool plain = is_plain(*p) && !(escaped && g_ascii_isdigit(*p));
        escaped = !plain && !g_ascii_iscntrl(*p);
        if (escaped)
            g_string_append_printf(quoted, "\\%03o", (unsigned)(guchar)*p);
        else
            g_string_append_c(quoted, plain ? *p : ' ');
    }
    g_string_append_c(quoted, '"');
    return g_string_free(quoted, FALSE);
}

void gnuplot_number(GString *text, double value)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(text, isfinite(value) ? g_ascii_formatd(number, sizeof number, "%.9g", value) : "NaN");
}

bool gnuplot_data(struct gnuplot *plot, const char *name, const GString *text, GError **err)
{
    g_autofree char *path = g_build_filename(plot->folder, name, NULL);
    return g_file_set_contents(path, text->str, (gssize)text->len, err);
}

/* ---- running -------------------------------------------------------------- */

static bool run_program(struct gnuplot *plot, GError **err)
{
    const char *argv[] = {plot->program, SCRIPT_NAME, NULL};
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LC_ALL", "C.UTF-8", TRUE);
    g_autofree char *errors = NULL;
    int status;
    if (!g_spawn_sync(plot->folder, (char **)argv, environment, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                      &errors, &status, err))
        return false;
    if (g_spawn_check_wait_status(status, NULL))
        return true;
    g_set_error(err, GNUPLOT_ERROR, GNUPLOT_ERROR_RUN, "gnuplot failed: %s", g_strstrip(errors));
    return false;
}

bool gnuplot_render(struct gnuplot *plot, const char *path, GError **err)
{
    g_autofree char *picture = g_build_filename(plot->folder, PICTURE_NAME, NULL);
    g_autofree char *bytes = NULL;
    gsize n = 0;
    gnuplot_add(plot, "set output\n"); /* closes the picture */
    if (!gnuplot_data(plot, SCRIPT_NAME, plot->script, err) || !run_program(plot, err) ||
        !g_file_get_contents(picture, &bytes, &n, err))
        return false;
    if (n == 0) {
        g_set_error_literal(err, GNUPLOT_ERROR, GNUPLOT_ERROR_RUN, "gnuplot made an empty picture");
        return false;
    }
    return g_file_set_contents_full(path, bytes, (gssize)n, G_FILE_SET_CONTENTS_CONSISTENT, 0666, err);
}
