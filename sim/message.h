/* message.h - words for error messages: quoting what was read, naming what was meant.
 *
 * For set-up code and tools; everything allocates. Nothing here can fail.
 */
#ifndef FABRICAST_SIM_MESSAGE_H
#define FABRICAST_SIM_MESSAGE_H

/* TEXT in single quotes, blanks around it removed, control characters and bytes
 * that are not UTF-8 escaped, cut after 60 characters with "...". (transfer full) */
char *message_quote(const char *text);

/* Number of insertions, deletions, substitutions and swaps of neighbours that
 * turn A into B (optimal string alignment). O(strlen(a) x strlen(b)). */
int message_distance(const char *a, const char *b);

/* The entry of NAMES[0..N) that NAME most probably means: least distance, the first of equals.
 * NULL when even that differs in more than half of NAME, or when N is 0. Borrowed from NAMES. */
const char *message_nearest(const char *name, const char *const *names, int n);

/* The end of an "unknown X" message: "; did you mean 'pfc'?" when one is near, and
 * then "; allowed: a, b, c". (transfer full) */
char *message_allowed(const char *name, const char *const *names, int n);

#endif
