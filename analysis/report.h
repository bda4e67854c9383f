/* report.h - a run's results as text for a terminal or as JSON, from the book alone.
 *
 * Nothing here fails: what the book does not hold is left out.
 */
#ifndef FABRICAST_ANALYSIS_REPORT_H
#define FABRICAST_ANALYSIS_REPORT_H

#include "sim/record.h"
#include <stdio.h>

/* The run, its warnings (meta keys warning.0, warning.1, ...), collectives, flow completion times,
 * congestion, ledger, busiest links, speed of the simulator. A section without data is left out. */
void report_text(const struct record_book *book, FILE *out);

/* One row a flow of a flow list: time, goodput, time against an empty fabric, packets sent again. */
void report_flows(const struct record_book *book, FILE *out);

/* One JSON object: meta, summary, params and, WITH_TABLES, every table but series/ and events/, column by
 * column. NaN and infinities become null. docs/FORMATS.md has the layout. */
void report_json(const struct record_book *book, FILE *out, bool with_tables);

#endif
