/* export/stages.h - the stages between a built graph and a file, one function each, in the order of pipeline.c. A stage
 * changes the graph in place and includes no later one. */
#ifndef WICK_EXPORT_STAGES_H
#define WICK_EXPORT_STAGES_H

#include "export/config.h"
#include "graph/lower.h"

/* What quantization did, for the summary. */
struct wick_quantize_report {
    unsigned linears, quantized, embeddings;
    const char *left_name; /* the first linear that stayed float because the group does not divide it; NULL if none */
};

/* quantize.c: weights by quantization.qmode and quantization.embedding_quantize. */
wick_status wick_stage_quantize(struct wick_graph *g, const struct wick_config *config, struct wick_quantize_report *report, wick_error *err);
/* partition.c: runs of calls that a lowering claims become delegate calls. */
wick_status wick_stage_partition(struct wick_graph *g, const struct wick_lowering *lowering, const struct wick_lowering_options *options, wick_error *err);
/* decompose.c: what no backend took of the exporter's own operators becomes operators of the portable libraries. */
wick_status wick_stage_decompose(struct wick_graph *g, wick_error *err);
/* views.c: reshapes that need no copy share the bytes of their input. */
wick_status wick_stage_views(struct wick_graph *g, wick_error *err);

/* schedule.c: calls run as late as memory likes. */
wick_status wick_stage_schedule(struct wick_graph *g, wick_error *err);

/* A planned tensor: from the node that needs its bytes first to the last one, both included (node_count: an output, or a state). */
struct wick_plan_life {
    uint32_t id, first, last;
    uint64_t bytes, offset;
};

/* plan.c: where each tensor lies in the planned buffer. */
struct wick_memory_plan {
    uint64_t *offsets;   /* by value id; WICK_NO_OFFSET: not planned (input, constant, view, no tensor) */
    uint64_t bytes;      /* of the one buffer */
    uint64_t state_bytes; /* kept between calls: of it, or of the second one */
    uint64_t apart_bytes; /* of a second buffer with the states alone, which methods share; 0: states are in the first */
    const struct wick_plan_life *lives; /* of every planned tensor, in the graph's arena */
    uint32_t life_count;
};
#define WICK_NO_OFFSET UINT64_MAX
/* apart: states get a buffer of their own. */
wick_status wick_stage_plan(struct wick_graph *g, bool apart, struct wick_memory_plan *plan, wick_error *err);

#endif
