/* graph/lower.h - the contract of a backend's exporting half: which calls it takes, and the payload it makes of them. */
#ifndef WICK_GRAPH_LOWER_H
#define WICK_GRAPH_LOWER_H

#include "graph/graph.h"

struct wick_lowering_options {
    bool extended; /* take every operator it can, not only dynamically quantized linears */
    bool bf16;     /* take calls on bfloat16, too */
    int pass;      /* of the backend's: 0 first */
};

/* Live nodes [first, last) of g, all claimed. inputs: values made outside (no constants), outputs: values needed
 * outside; both in the order of the delegate call's arguments. */
struct wick_partition {
    uint32_t first, last;
    const uint32_t *inputs, *outputs;
    uint32_t input_count, output_count;
};

struct wick_lowering {
    const char *id;      /* "XnnpackBackend" */
    int passes;          /* over the graph; calls that different passes take never share a delegate */
    const char *section; /* of its keys in a configuration: "xnnpack" for backend.xnnpack.enabled and .extended_ops */
    bool (*claims)(const struct wick_graph *g, const struct wick_graph_node *node, const struct wick_lowering_options *options);
    /* Fills delegate; memory from g->arena. */
    wick_status (*lower)(struct wick_graph *g, const struct wick_partition *partition, struct wick_delegate *delegate, wick_error *err);
};

struct wick_lowering_table {
    const struct wick_lowering *const *lowerings;
    size_t count;
};

#endif
