/* wick/profile.h - where the time goes, and what the machine could do at most.
 *
 *     wick_session_watch(session, report, &totals);   // from now on report is called after every node
 *     wick_session_feed(session, ids, count, &error);
 *     wick_session_watch(session, NULL, NULL);
 *
 * Watching costs two readings of a clock a node. */
#ifndef WICK_PROFILE_H
#define WICK_PROFILE_H

#include "wick/llm.h"
#include "wick/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A node that has run: an instruction of the program, or a part of a delegate's payload. */
typedef struct wick_node_report {
    const char *name;      /* operator ("aten::linear.out", "xnn::dynamic_fully_connected"), valid as long as the model */
    uint32_t node;         /* index in the order of execution; the same for every run of a method */
    uint32_t instruction;  /* of the method, that it belongs to */
    uint64_t nanoseconds;
    uint64_t multiply_adds; /* of products and attention; 0 for the rest */
    uint64_t bytes;        /* of weights or cache that had to be read at least once; 0 where there are no products */
} wick_node_report;

/* Called from the thread that runs, between nodes; must not use the runner. */
typedef void (*wick_node_fn)(void *user, const wick_node_report *report);

/* From the next run on; fn NULL: no more. Same thread rule as running. */
WICK_API void wick_runner_watch(wick_runner *runner, wick_node_fn fn, void *user);
WICK_API void wick_session_watch(wick_session *session, wick_node_fn fn, void *user);

/* What this machine does at most, measured now with `threads` threads (0: one per performance core); takes about half a second.
 * Only upper bounds: no program reads without computing, or computes without reading. */
typedef struct wick_machine {
    double read_gb_s;   /* 1e9 bytes a second, summing a block far larger than the caches */
    double int8_gmac_s; /* 1e9 multiply-adds of bytes a second, registers only, with the best instruction of the level */
} wick_machine;

/* cpu: highest instruction level, as in wick_model_options; NULL: all. Errors: INVALID_ARGUMENT (an unknown level), OUT_OF_MEMORY. */
WICK_API wick_status wick_machine_measure(unsigned threads, const char *cpu, wick_machine *machine, wick_error *error);

#ifdef __cplusplus
}
#endif

#endif
