/* exec/build.h - what the stages of binding share: expand.c makes the node list, fuse.c rewrites it, settle.c gives it
 * shapes and states, memory.c its memory. graph.c calls them in that order. Private to exec. */
#ifndef WICK_EXEC_BUILD_H
#define WICK_EXEC_BUILD_H

#include "exec/graph.h"

struct wick_build {
    struct wick_exec_graph *graph;
    const struct wick_method *method;
    const struct wick_exec_graph_options *options;
    struct wick_arena *arena, *temp;
    struct wick_bind bind;
    const bool *moved; /* one a method value: it is the target of a move */
    wick_error *err;
};

/* Stage 1: fills graph->values, tensors, places and nodes; jump targets are node indices. */
wick_status wick_build_expand(struct wick_build *build);
/* Stage 2: removes and replaces nodes by the patterns of fuse.def. */
wick_status wick_build_fuse(struct wick_build *build);
/* Fills node->writes of all nodes; runs before fusion, which must know what is overwritten. */
wick_status wick_build_writes(struct wick_build *build);
/* Stage 3: upper-bound shapes of internal values, which nodes are settled, prepared states. */
wick_status wick_build_settle(struct wick_build *build);
/* Stage 4: memory of internal values, and the checks that are made before each call. */
wick_status wick_build_memory(struct wick_build *build);

static inline uint32_t wick_exec_graph_tensor_index(const struct wick_exec_graph *graph, uint32_t value)
{
    return (uint32_t)(graph->values[value].as.tensor - graph->tensors);
}

/* Calls fn for every tensor value that ids[0, count) name, lists flattened; absent list items are left out. */
typedef void (*wick_each_tensor_fn)(void *user, uint32_t value);
void wick_each_tensor(const struct wick_value *values, const uint32_t *ids, uint32_t count, wick_each_tensor_fn fn, void *user);

/* Walks a call's arguments by its signature: kind letter of argument k, and whether it is an out. */
char wick_signature_kind(const char *signature, uint32_t k, bool *out);

#endif
