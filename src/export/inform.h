/* export/inform.h - what debug.verbose, debug.profile_memory and debug.generate_etrecord ask for: which calls were delegated, what lives in planned
 * memory when, and which layer an instruction came from. */
#ifndef WICK_EXPORT_INFORM_H
#define WICK_EXPORT_INFORM_H

#include "export/methods.h"

/* Calls by operator. Zero-initialise; wick_delegation_free. */
struct wick_delegation {
    struct wick_delegation_row {
        const char *name;
        uint32_t delegated, left;
    } *rows;
    uint32_t count, capacity;
    bool failed; /* no memory */
};

/* delegation.c. Before partition: counts every call, as if all were delegated. After it: takes off those that were left. After the last stage
 * that rewrites calls: counts what the program calls itself. */
void wick_delegation_before(struct wick_delegation *d, const struct wick_graph *g);
void wick_delegation_after(struct wick_delegation *d, const struct wick_graph *g);
void wick_delegation_final(struct wick_delegation *d, const struct wick_graph *g);
/* Three lines of totals and a table, as the original prints them; lines end in \n. */
void wick_delegation_print(const struct wick_delegation *d, uint32_t subgraphs, struct wick_buf *out);
void wick_delegation_free(struct wick_delegation *d);

/* memory_trace.c: a Chrome trace of the plan; a row ("thread") a call, on it what lives then, as wide as it is large. */
wick_status wick_memory_trace_write(const struct wick_graph *g, const struct wick_memory_plan *plan, const char *path, wick_error *err);

/* record.c: NAME.etrecord.json beside the program NAME.pte: {"version": 1, "methods": [{"name", "instructions": [{"operator", "layer"}]}]}, instructions
 * in the order of the program; those that call a delegate have "delegate" instead of "operator", and "calls", what the delegate was made of. */
wick_status wick_record_write(const struct wick_methods *methods, const char *program_path, wick_error *err);

#endif
