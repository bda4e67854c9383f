/* text_table.h - rows of text cells, printed in aligned columns for a terminal. */
#ifndef FABRICAST_ANALYSIS_TEXT_TABLE_H
#define FABRICAST_ANALYSIS_TEXT_TABLE_H

#include <stdio.h>

struct text_table;

/* HEADINGS are N column headings. ALIGN has one letter a column: 'l' left (text), 'r' right (numbers). */
struct text_table *text_table_new(const char *const *headings, const char *align);
void text_table_free(struct text_table *table); /* accepts NULL */

/* The next cell, row by row; CELL is taken (freed with g_free). Control characters become '?', so
 * that a name from a file cannot steer the terminal. */
void text_table_take(struct text_table *table, char *cell);
void text_table_add(struct text_table *table, const char *cell); /* copies */
void text_table_addf(struct text_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints headings and all complete rows, each after INDENT blanks. */
void text_table_print(const struct text_table *table, int indent, FILE *out);

/* TEXT as one line that is safe on a terminal: valid UTF-8, control characters as '?'. (transfer full) */
char *text_table_clean(const char *text);

#endif
