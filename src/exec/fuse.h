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
    const uint32_t *uses;            /* one a tensor object: arguments that read it, and results of the method */
    const uint32_t *producer;        /* one a tensor object: the last node that writes it */
    const bool *moved;               /* one a method value: the target of a move */
    wick_error *err;
};

struct wick_fusion {
    const char *name;
    wick_status (*apply)(struct wick_fuse *fuse);
};

/* True if running `writer` may change bytes of the tensor value: it writes it, a tensor planned over it, or one whose
 * place is not known before the run. */
bool wick_fuse_overwrites(const struct wick_exec_graph *graph, const struct wick_node *writer, uint32_t value);
/* ---- matching: trees of calls, from the last one up ---- */

/* Argument k of a call is a tensor; its value. */
uint32_t wick_fuse_arg(const struct wick_node *node, uint32_t k);
/* The call that alone makes the tensor value, if its operator has one of the two names (the second may be NULL) and it stands before node `at` with
 * no jump between; else NULL. With `sole` also NULL if anything but one argument reads the value. */
const struct wick_node *wick_fuse_producer(const struct wick_fuse *fuse, uint32_t value, uint32_t at, bool sole, const char *name, const char *other);
/* A plain elementwise call of f32 tensors without a clamp. */
bool wick_fuse_is_f32(const struct wick_fuse *fuse, const struct wick_node *node);
/* Nothing that lives between the parts of a match and its last call changes the value, the parts themselves aside: they go. */
bool wick_fuse_is_quiet(const struct wick_fuse *fuse, const struct wick_node *const *parts, uint32_t count, uint32_t last, uint32_t value);

/* A result between calls, which nobody outside can see and which may lie anywhere. */
bool wick_fuse_can_move(const struct wick_fuse *fuse, uint32_t value);

/* Makes node `at` a call of op: ids are inputs, then outs. Each out that the file planned gets memory of ours, because there it may lie on an input
 * that the original list no longer needed; false (and nothing is changed) if an out cannot move and does lie on an input. */
bool wick_fuse_can_call(const struct wick_fuse *fuse, const uint32_t *ids, uint32_t inputs, uint32_t outs);
wick_status wick_fuse_call(struct wick_fuse *fuse, uint32_t at, const struct wick_op *op, const uint32_t *ids, uint32_t inputs, uint32_t outs);

/* True if only payload nodes can see the value: no id of the method's, planned by us. */
bool wick_fuse_is_internal(const struct wick_exec_graph *graph, uint32_t value);

#endif
