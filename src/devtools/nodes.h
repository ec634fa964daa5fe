/* devtools/nodes.h - what a method does once bound: its list of nodes, as text. */
#ifndef WICK_DEVTOOLS_NODES_H
#define WICK_DEVTOOLS_NODES_H

#include "base/str.h"
#include "exec/graph.h"

/* Appends a line a node: instruction, operator, arguments in their order. A tensor is %value type[bound sizes], with `=` for a constant and
 * `~` for a state or other memory of the program that a run may leave changed; scalars are their numbers, lists of tensors their values. */
void wick_nodes_text(const struct wick_exec_graph *graph, struct wick_buf *out);

#endif
