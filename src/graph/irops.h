/* graph/irops.h - operators that exist only between stages of the exporter: no program contains them. */
#ifndef WICK_GRAPH_IROPS_H
#define WICK_GRAPH_IROPS_H

#include "graph/graph.h"

/* Linear with activations quantized per row to 8 bits when it runs, and a weight in groups of few bits.
 * x (.., K) f32, weight (N, K) i8 constant whose value has info.quantized, bias (N) or none -> (.., N) f32. */
extern const struct wick_opmeta wick_ir_dynamic_linear;

#endif
