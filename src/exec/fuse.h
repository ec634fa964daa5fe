/* exec/fuse.h - rewriting the node list by patterns, one file each under fuse/, listed in fuse/fuse.def.
 *
 * A pattern sees the whole list after expansion and before shapes, states and memory are settled. It may give a node
 * other ids, another operator, or mark it dead; values keep their numbers. It must leave every result of the method and
 * every value that a remaining node reads as they were. */
#ifndef WICK_EXEC_FUSE_H
#define WICK_EXEC_FUSE_H

#include "exec/build.h"

struct wick_fuse {
    struct wick_exec_graph *graph;
    struct wick_arena *arena, *temp; /* what stays with the graph; what does not */
    bool *dead;                      /* one a node: to be removed when the pattern is done */
    const bool *leader;              /* one a node: a jump leads here, or the node before is a jump */
    const uint32_t *defs;            /* one a tensor object: nodes that write it */
    wick_error *err;
};

struct wick_fusion {
    const char *name;
    wick_status (*apply)(struct wick_fuse *fuse);
};

/* True if running `writer` may change bytes of the tensor value: it writes it, a tensor planned over it, or one whose
 * place is not known before the run. */
bool wick_fuse_overwrites(const struct wick_exec_graph *graph, const struct wick_node *writer, uint32_t value);
/* True if only payload nodes can see the value: no id of the method's, planned by us. */
bool wick_fuse_is_internal(const struct wick_exec_graph *graph, uint32_t value);

#endif
