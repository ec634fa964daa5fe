/* exec/graph.h - the execution graph: a method's instructions and its expanded payloads as one list of nodes.
 *
 * Made once per method ("bound"), then immutable and shared by any number of timelines (exec/instance.h). States that
 * operators prepare (packed weights) live here. */
#ifndef WICK_EXEC_GRAPH_H
#define WICK_EXEC_GRAPH_H

#include "runtime/backend.h"
#include "runtime/method.h"

enum wick_node_kind {
    WICK_NODE_CALL,       /* op->run */
    WICK_NODE_OPAQUE,     /* backend->execute */
    WICK_NODE_MOVE,       /* ids: from, to */
    WICK_NODE_JUMP_FALSE, /* ids: condition; goes to `target` when false */
    WICK_NODE_FREE,       /* ids: tensor */
};

struct wick_opaque;

struct wick_node {
    uint8_t kind;
    bool settled; /* its out shapes were inferred when it was bound and can never change */
    bool view;    /* the out gets the pointer of argument 0 */
    uint32_t count;
    const uint32_t *ids;
    const struct wick_op *op; /* CALL */
    const void *state;        /* CALL: what prepare made */
    const struct wick_opaque *opaque;
    const uint32_t *writes; /* value ids of the out tensors (lists flattened), then of other tensors it changes */
    const uint32_t *bare;   /* value ids of tensors that may come without bytes: looked at before each call */
    uint32_t out_count, write_count, bare_count;
    uint32_t target;      /* JUMP_FALSE: node index, at most node_count */
    uint32_t instruction; /* of the method, for messages and profiles */
    uint32_t weight;      /* instructions that begin here: what the limit on a run counts */
};

/* One opaque delegate: execute(handle). */
struct wick_opaque {
    const struct wick_backend *backend;
    void *handle;
    struct wick_opaque *next;
};

/* What the memory of a tensor object is. The first three are the method's; see wick_storage. */
enum wick_place_kind {
    WICK_PLACE_NONE,
    WICK_PLACE_CONSTANT,
    WICK_PLACE_PLANNED,
    WICK_PLACE_SCRATCH, /* planned here: offset into the scratch block */
};

struct wick_place {
    uint8_t kind;
    bool input;          /* of the method */
    bool moving;         /* its pointer changes during a run (views, frees) and is set back before the next */
    uint32_t buffer;     /* PLANNED */
    uint64_t offset;     /* PLANNED, SCRATCH */
    const void *initial; /* CONSTANT, PLANNED */
};

struct wick_exec_graph {
    const struct wick_method *method;
    /* Templates that a timeline copies: the method's values first (same ids), then those of payloads. */
    struct wick_value *values;
    struct wick_tensor *tensors;
    struct wick_place *places; /* one a tensor object */
    uint32_t value_count, tensor_count;
    struct wick_node *nodes;
    uint32_t node_count;
    uint32_t out_max; /* most out tensors of one node */
    uint64_t scratch_bytes;
    const uint32_t *moving; /* tensor objects with place.moving */
    uint32_t moving_count;
    uint32_t fused; /* nodes that fusion took away */
    const struct wick_ukernels *ukernels;
    enum wick_numerics_mode numerics;
    struct wick_opaque *opaques;
};

struct wick_exec_graph_options {
    const struct wick_backend_table *backends; /* NULL: none */
    const struct wick_ukernels *ukernels;
    struct wick_pool *pool; /* used while binding only; NULL: the calling thread */
    enum wick_numerics_mode numerics;
    bool no_fuse;
    const struct wick_log *log;
};

/* Binds a method. The graph and all it prepares live in `arena` (and borrow the method and its program); `temp` is
 * used while binding and reset. On failure what backends opened is closed; `arena` keeps garbage until released.
 * Errors: NOT_FOUND (a backend), INVALID_PROGRAM, INVALID_TYPE, OUT_OF_MEMORY, what operators and backends report. */
wick_status wick_exec_graph_bind(struct wick_exec_graph **graph, const struct wick_method *method, const struct wick_exec_graph_options *options,
                            struct wick_arena *arena, struct wick_arena *temp, wick_error *err) WICK_MUST_CHECK;
/* Closes opaque delegates; memory is the arena's. NULL allowed. */
void wick_exec_graph_close(struct wick_exec_graph *graph);

/* "aten::add.out", "move", a backend's id: what a node is, for messages and profiles. */
const char *wick_node_name(const struct wick_node *node);

#endif
