/* export/delegation.c - the table of delegated and other calls; see inform.h. */
#include "export/inform.h"

#include <stdlib.h>

static struct wick_delegation_row *row_of(struct wick_delegation *d, const char *name)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (strcmp(d->rows[i].name, name) == 0) return &d->rows[i];
    if (d->count == d->capacity) {
        uint32_t capacity = d->capacity * 2 + 32;
        struct wick_delegation_row *rows = realloc(d->rows, capacity * sizeof *rows);
        if (!rows) {
            d->failed = true;
            return NULL;
        }
        d->rows = rows;
        d->capacity = capacity;
    }
    d->rows[d->count] = (struct wick_delegation_row){.name = name};
    return &d->rows[d->count++];
}

static void add(struct wick_delegation *d, const struct wick_graph *g, int delegated, int left)
{
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        struct wick_delegation_row *row = node->dead || !node->op ? NULL : row_of(d, node->op->name);
        if (!row) continue;
        row->delegated = (uint32_t)((int64_t)row->delegated + delegated);
        row->left = (uint32_t)((int64_t)row->left + left);
    }
}

void wick_delegation_before(struct wick_delegation *d, const struct wick_graph *g) { add(d, g, 1, 0); }
void wick_delegation_after(struct wick_delegation *d, const struct wick_graph *g) { add(d, g, -1, 0); }
void wick_delegation_final(struct wick_delegation *d, const struct wick_graph *g) { add(d, g, 0, 1); }

static int by_name(const void *a, const void *b) { return strcmp(((const struct wick_delegation_row *)a)->name, ((const struct wick_delegation_row *)b)->name); }

static void print_rule(struct wick_buf *out, const char *left, const char *line, const char *cross, const char *right, const size_t *widths)
{
    for (int column = 0; column < 4; column++) {
        wick_buf_text(out, column ? cross : left);
        for (size_t i = 0; i < widths[column] + 2; i++) wick_buf_text(out, line);
    }
    wick_buf_text(out, right);
    wick_buf_text(out, "\n");
}

void wick_delegation_print(const struct wick_delegation *d, uint32_t subgraphs, struct wick_buf *out)
{
    static const char *const heads[] = {"", "op_type", "occurrences_in_delegated_graphs", "occurrences_in_non_delegated_graphs"};
    size_t widths[4] = {3, strlen(heads[1]), strlen(heads[2]), strlen(heads[3])};
    uint32_t delegated = 0, left = 0, number = 0;
    if (d->count) qsort(d->rows, d->count, sizeof *d->rows, by_name);
    for (uint32_t i = 0; i < d->count; i++) {
        widths[1] = WICK_MAX(widths[1], strlen(d->rows[i].name));
        delegated += d->rows[i].delegated;
        left += d->rows[i].left;
    }
    wick_buf_printf(out, "Total delegated subgraphs: %u\nNumber of delegated nodes: %u\nNumber of non-delegated nodes: %u\n", subgraphs, delegated, left);
    print_rule(out, "\u2552", "\u2550", "\u2564", "\u2555", widths);
    wick_buf_printf(out, "\u2502 %-*s \u2502 %-*s \u2502 %*s \u2502 %*s \u2502\n", (int)widths[0], heads[0], (int)widths[1], heads[1], (int)widths[2], heads[2], (int)widths[3], heads[3]);
    print_rule(out, "\u255e", "\u2550", "\u256a", "\u2561", widths);
    for (uint32_t i = 0; i <= d->count; i++) {
        const struct wick_delegation_row total = {"Total", delegated, left}, *row = i < d->count ? &d->rows[i] : &total;
        if (i < d->count && !row->delegated && !row->left) continue; /* became another operator */
        if (number) print_rule(out, "\u251c", "\u2500", "\u253c", "\u2524", widths);
        wick_buf_printf(out, "\u2502 %-*u \u2502 %-*s \u2502 %*u \u2502 %*u \u2502\n", (int)widths[0], number++, (int)widths[1], row->name, (int)widths[2], row->delegated,
                        (int)widths[3], row->left);
    }
    print_rule(out, "\u2558", "\u2550", "\u2567", "\u255b", widths);
}

void wick_delegation_free(struct wick_delegation *d)
{
    free(d->rows);
    *d = (struct wick_delegation){0};
}
