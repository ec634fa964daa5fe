/* exec/instance.h - one timeline of a method: its values, planned memory and scratch, run after run.
 *
 * Used by one thread at a time; only wick_instance_cancel may come from any. Nothing is allocated by a run once the
 * temporary arena has seen its largest operator. */
#ifndef WICK_EXEC_INSTANCE_H
#define WICK_EXEC_INSTANCE_H

#include "exec/graph.h"

struct wick_instance;

/* Watches nodes; for profiles. end also comes for a node that failed. Called from the running thread. */
struct wick_tracer {
    void (*begin)(void *user, const struct wick_instance *instance, uint32_t node);
    void (*end)(void *user, const struct wick_instance *instance, uint32_t node, wick_status status);
    void *user;
};

struct wick_instance_options {
    struct wick_arena *load;    /* values and tables; as long as the instance */
    struct wick_arena *planned; /* planned buffers and scratch; as long as the instance; may be `load` */
    struct wick_arena *temp;    /* emptied after every node; this instance's alone while it runs */
    struct wick_pool *pool;     /* borrowed; NULL: the calling thread only */
};

/* A fresh timeline: planned buffers are zero or hold the program's initial content. The graph must outlive it. */
wick_status wick_instance_open(struct wick_instance **instance, const struct wick_exec_graph *graph, const struct wick_instance_options *options,
                               wick_error *err) WICK_MUST_CHECK;

const struct wick_exec_graph *wick_instance_graph(const struct wick_instance *instance);

/* Sets input i from a tensor. The dtype must be the program's, the rank too; sizes may shrink where the program allows
 * it (bytes at most the bound). Planned inputs are copied, others alias `data` until replaced: it must stay valid for the
 * runs, and a program that changes its input changes it there. Another dim order than the program's is converted (into
 * memory of the instance). Errors: INVALID_ARGUMENT, NOT_SUPPORTED (a size the program cannot take). */
wick_status wick_instance_set_tensor(struct wick_instance *instance, uint32_t input, const struct wick_shape *shape, void *data,
                                     wick_error *err) WICK_MUST_CHECK;
/* Sets an INT, DOUBLE, BOOL or STRING input: numbers are fixed at export, so it must equal the program's (a double within
 * 1e-4 + 1e-5 |x|); INVALID_ARGUMENT otherwise. */
wick_status wick_instance_set_scalar(struct wick_instance *instance, uint32_t input, const struct wick_value *value, wick_error *err) WICK_MUST_CHECK;

/* Runs the method once. All inputs must have been set since opening (they stay set). Errors name node and operator:
 * INVALID_STATE (an input is missing), INVALID_PROGRAM (also more than 10,000,000 instructions), CANCELLED, what operators report. */
wick_status wick_instance_run(struct wick_instance *instance, const struct wick_tracer *tracer, wick_error *err) WICK_MUST_CHECK;

/* Output i with its current sizes; NONE for one past the end. Valid until the next run. */
const struct wick_value *wick_instance_output(const struct wick_instance *instance, uint32_t output);
/* Any value by its id in the graph: for tracers. */
const struct wick_value *wick_instance_value(const struct wick_instance *instance, uint32_t id);

/* Back to the state after opening: no key, value, convolution or recurrent state of an earlier sequence is left, and no
 * input is set. */
void wick_instance_reset_state(struct wick_instance *instance);
/* From any thread: stops the run under way before its next node, or else the next run before its first. */
void wick_instance_cancel(struct wick_instance *instance);

#endif
