/* report_flows.c - every flow of a flow list: how long, how fast, and against an empty fabric. */
#include "analysis/columns.h"
#include "analysis/report.h"
#include "analysis/text_table.h"
#include "sim/units.h"

#include <inttypes.h>
#include <math.h>

static void add_flow(struct text_table *table, const struct record_table *flows, int64_t r)
{
    double time_ps = columns_number(flows, "fct_rx_ps", r, -1), acked_ps = columns_number(flows, "fct_ack_ps", r, -1), bytes = columns_number(flows, "bytes", r, NAN);
    double ideal_ps = columns_number(flows, "ideal_ps", r, NAN);
    text_table_addf(table, "%.0f", columns_number(flows, "flow", r, NAN));
    text_table_addf(table, "%.0f -> %.0f", columns_number(flows, "src", r, NAN), columns_number(flows, "dst", r, NAN));
    text_table_addf(table, "%.0f", columns_number(flows, "class", r, NAN));
    text_table_take(table, units_human_bytes(bytes));
    if (time_ps > 0) {
        text_table_take(table, units_human_time((int64_t)time_ps));
        text_table_take(table, units_human_rate(bytes * UNIT_BITS_PER_BYTE * (double)UNIT_S / time_ps));
        text_table_addf(table, "%.2f", time_ps / ideal_ps);
    } else {
        text_table_add(table, "unfinished");
        text_table_add(table, "-");
        text_table_add(table, "-");
    }
    text_table_take(table, acked_ps > 0 ? units_human_time((int64_t)acked_ps) : g_strdup("unfinished"));
    text_table_addf(table, "%.0f", columns_number(flows, "retransmitted_pkts", r, 0));
}

void report_flows(const struct record_book *book, FILE *out)
{
    static const char *const headings[] = {"flow", "ranks", "class", "bytes", "received", "goodput", "time/ideal", "acknowledged", "sent again"};
    const struct record_table *flows = columns_table(book, "flows");
    int64_t n = flows ? record_table_n_rows(flows) : 0;
    struct text_table *table = text_table_new(headings, "rlrrrrrrr");
    fprintf(out, "\nFlows (%" PRId64 ")\n", n);
    for (int64_t r = 0; r < n; r++)
        add_flow(table, flows, r);
    if (n > 0)
        text_table_print(table, 2, out);
    text_table_free(table);
}
