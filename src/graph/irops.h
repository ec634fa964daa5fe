/* graph/irops.h - operators that exist only between stages of the exporter, which no program contains; and casts. */
#ifndef WICK_GRAPH_IROPS_H
#define WICK_GRAPH_IROPS_H

#include "graph/graph.h"

/* Linear with activations quantized per row to 8 bits when it runs, and a weight in groups of few bits.
 * x (.., K) f32, weight (N, K) i8 constant whose value has info.quantized, bias (N) or none -> (.., N) f32. */
extern const struct wick_opmeta wick_ir_dynamic_linear;
/* The same with activations as they are. */
extern const struct wick_opmeta wick_ir_weight_linear;

/* x in another element type by aten::_to_copy.out; x itself if it is of that type. */
uint32_t wick_graph_cast(struct wick_graph *g, uint32_t x, int dtype);

#endif
