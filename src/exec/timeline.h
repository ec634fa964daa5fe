/* exec/timeline.h - what an instance is made of, shared by instance.c and run.c. Private to exec. */
#ifndef WICK_EXEC_TIMELINE_H
#define WICK_EXEC_TIMELINE_H

#include "exec/instance.h"

#include <stdatomic.h>

enum { WICK_TIMELINE_ALIGNMENT = 64 };

struct wick_timeline_input {
    bool set;
    void *staged; /* an unplanned input whose bytes had to be put into another order */
};

struct wick_instance {
    const struct wick_exec_graph *graph;
    struct wick_value *values;   /* graph->value_count */
    struct wick_tensor *tensors; /* graph->tensor_count */
    char **planned;
    char *scratch;
    struct wick_shape *shapes; /* room for what one node infers: graph->out_max */
    struct wick_timeline_input *inputs;
    uint32_t missing; /* inputs not set yet */
    struct wick_arena *staging;
    struct wick_run run;
    atomic_bool cancelled;
};

/* Sets tensors back whose pointers the last run changed. */
void wick_timeline_restore_moving(struct wick_instance *instance);

#endif
