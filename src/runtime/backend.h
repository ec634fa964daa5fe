/* runtime/backend.h - the contract of a backend: how delegate payloads become nodes, or run as one. */
#ifndef WICK_RUNTIME_BACKEND_H
#define WICK_RUNTIME_BACKEND_H

#include "runtime/op.h"

enum { WICK_BACKEND_ABI = 1 };

/* An option that the exporter stored beside a payload. */
struct wick_compile_spec {
    struct wick_str key;
    const uint8_t *value;
    size_t size;
};

/* One delegate call of a program. data stays valid as long as the program is open. */
struct wick_payload {
    const uint8_t *data;
    size_t size;
    const struct wick_compile_spec *specs;
    size_t spec_count;
    struct wick_args args; /* the call's values: delegate inputs, then outputs; upper-bound shapes, no data */
    /* Blobs kept in the program (named data) or a .ptd; NOT_FOUND names the key. The bytes stay valid likewise. */
    wick_status (*named_data)(void *user, struct wick_str key, const uint8_t **data, size_t *size, wick_error *err);
    /* Says that a blob has been copied (packed) and its pages may go. */
    void (*named_data_done)(void *user, const uint8_t *data, size_t size);
    void *user;
};

/* Where an expansion goes. Implemented by src/exec. */
struct wick_expansion {
    /* A new tensor value: constant when data is given (borrowed; must outlive the method), else an internal one whose
     * memory the scheduler plans for `bound` (its upper-bound shape) from its first to its last use. Its id is an index
     * into values like payload->args.ids. */
    wick_status (*add_value)(struct wick_expansion *x, const struct wick_shape *bound, const void *data, uint32_t *id);
    /* A new node, in execution order. ids (copied): inputs, then outs, as op->meta->signature says. state: as op->prepare
     * would make it; NULL lets prepare run. */
    wick_status (*add_node)(struct wick_expansion *x, const struct wick_op *op, const uint32_t *ids, uint32_t count, void *state);
    struct wick_value *(*value)(struct wick_expansion *x, uint32_t id); /* valid until the next add_value */
    struct wick_bind *bind;
};

struct wick_backend {
    uint32_t abi;   /* WICK_BACKEND_ABI */
    const char *id; /* as in the file: "XnnpackBackend" */
    /* Turns a payload into nodes. NULL for an opaque backend (init, execute, destroy are then used). */
    wick_status (*expand)(const struct wick_payload *payload, struct wick_expansion *x, wick_error *err);
    wick_status (*init)(const struct wick_payload *payload, struct wick_bind *bind, void **handle);
    /* A handle is shared by every timeline of a method: execute may be called from several threads at once. Outputs have
     * memory for their upper bound; execute resizes those that are dynamic. */
    wick_status (*execute)(void *handle, const struct wick_args *args, struct wick_run *run);
    void (*destroy)(void *handle);
};

struct wick_backend_table {
    const struct wick_backend *const *backends;
    size_t count;
};

#endif
