/* xnnpack/rt/rig_test.h - for tests: builds a payload from plain structs, expands it, and runs its nodes one after the other.
 *
 * The scheduler of the product plans memory and fuses; here every value has an exact heap block of its own, so that a
 * sanitizer sees each byte too far, and shapes are inferred anew in every run. */
#ifndef WICK_XNNPACK_RT_RIG_H
#define WICK_XNNPACK_RT_RIG_H

#include "backends/xnnpack/rt/backend.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/linear.h"
#include "fixture.h"
#include "ukernel/ukernels.h"

#include <math.h>
#include <stdlib.h>

enum { RIG_VALUES = 64, RIG_NODES = 32, RIG_ALL = 512 };

struct rig_node {
    const struct wick_op *op;
    uint32_t ids[16], count;
    const void *state;
};

struct rig {
    struct wick_expansion x; /* first: cast back */
    struct wick_ukernels uk;
    struct wick_arena arena, temp;
    struct wick_pool *pool;
    struct wick_bind bind;
    wick_error err;
    /* The payload. Constants are inline, borrowed from the test, unless `named` says so. */
    struct wick_xnn_value file_values[RIG_VALUES];
    struct wick_xnn_node file_nodes[RIG_NODES];
    struct wick_xnn_constant constants[RIG_VALUES];
    struct wick_xnn_graph graph;
    struct wick_buf bytes;
    /* What it expands into. Values [0, arg_count) are the call's arguments. */
    struct wick_value values[RIG_ALL];
    struct wick_tensor tensors[RIG_ALL];
    uint32_t ids[RIG_ALL], value_count, arg_count;
    struct rig_node nodes[RIG_ALL];
    uint32_t node_count;
    uint32_t done; /* calls of named_data_done */
};

static inline wick_status rig_add_value(struct wick_expansion *x, const struct wick_shape *bound, const void *data, uint32_t *id)
{
    struct rig *r = (struct rig *)x;
    if (r->value_count == RIG_ALL) return wick_fail(&r->err, WICK_OUT_OF_MEMORY, "rig: too many values");
    struct wick_tensor *t = &r->tensors[r->value_count];
    *t = (struct wick_tensor){.shape = *bound, .dynamism = data ? WICK_STATIC : WICK_DYNAMIC_BOUND, .constant = data != NULL};
    memcpy(&t->data, &data, sizeof data);
    r->values[r->value_count] = (struct wick_value){.tag = WICK_TAG_TENSOR, .as.tensor = t};
    *id = r->value_count++;
    return WICK_OK;
}

static inline wick_status rig_add_node(struct wick_expansion *x, const struct wick_op *op, const uint32_t *ids, uint32_t count, void *state)
{
    struct rig *r = (struct rig *)x;
    if (r->node_count == RIG_ALL || count > 16) return wick_fail(&r->err, WICK_OUT_OF_MEMORY, "rig: too many nodes");
    struct rig_node *node = &r->nodes[r->node_count++];
    *node = (struct rig_node){.op = op, .count = count, .state = state};
    memcpy(node->ids, ids, count * sizeof *ids);
    struct wick_args args = {r->values, node->ids, count};
    return wick_args_check(&args, op->meta, &r->err);
}

static inline struct wick_value *rig_value_at(struct wick_expansion *x, uint32_t id) { return &((struct rig *)x)->values[id]; }

static inline struct rig *rig_open(const char *cap, unsigned threads)
{
    struct rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    wick_arena_init(&r->arena, &wick_allocator_heap);
    wick_arena_init(&r->temp, &wick_allocator_heap);
    WICK_ASSERT_OK(wick_ukernels_init(&r->uk, cap, &r->err), &r->err);
    WICK_ASSERT_OK(wick_pool_create(&r->pool, threads, &r->err), &r->err);
    r->bind = (struct wick_bind){.ukernels = &r->uk, .arena = &r->arena, .pool = r->pool, .err = &r->err};
    r->x = (struct wick_expansion){rig_add_value, rig_add_node, rig_value_at, &r->bind};
    r->graph = (struct wick_xnn_graph){r->file_values, r->file_nodes, r->constants, 0, 0, 1, 0};
    return r;
}

static inline void rig_close(struct rig *r)
{
    for (uint32_t i = 0; i < r->value_count; i++)
        if (!r->tensors[i].constant) free(r->tensors[i].data);
    wick_pool_destroy(r->pool);
    wick_arena_release(&r->arena);
    wick_arena_release(&r->temp);
    wick_buf_free(&r->bytes);
    free(r);
}

/* ---- describing the payload ---- */

static inline struct wick_xnn_dims rig_dims(int rank, const int32_t *sizes)
{
    struct wick_xnn_dims dims = {.count = (uint32_t)rank};
    for (int i = 0; i < rank; i++) dims.items[i] = (uint32_t)sizes[i];
    return dims;
}

#define RIG_DIMS(...) rig_dims((int)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]){__VA_ARGS__})

/* An internal value; returns its index. */
static inline uint32_t rig_value(struct rig *r, int datatype, struct wick_xnn_dims dims)
{
    uint32_t index = r->graph.value_count++;
    assert_true(index < RIG_VALUES);
    r->file_values[index] = (struct wick_xnn_value){.id = index, .datatype = (int16_t)datatype, .dims = dims, .external_id = WICK_XNN_NO_ID};
    return index;
}

static inline int rig_dtype(int datatype)
{
    switch (datatype) {
    case XNN_DATATYPE_FP16: return WICK_DTYPE_F16;
    case XNN_DATATYPE_BF16: return WICK_DTYPE_BF16;
    case XNN_DATATYPE_QINT8: return WICK_DTYPE_I8;
    case XNN_DATATYPE_INT32: return WICK_DTYPE_I32;
    default: return WICK_DTYPE_F32;
    }
}

/* An argument of the call with memory for its bound; inputs before outputs. */
static inline uint32_t rig_argument(struct rig *r, int datatype, struct wick_xnn_dims dims, uint32_t flags)
{
    uint32_t index = rig_value(r, datatype, dims), arg = r->arg_count++;
    r->file_values[index].flags = flags;
    r->file_values[index].external_id = arg;
    r->graph.extern_count = r->arg_count;
    int32_t sizes[WICK_XNN_RANK_MAX];
    for (uint32_t i = 0; i < dims.count; i++) sizes[i] = (int32_t)dims.items[i];
    struct wick_tensor *t = &r->tensors[arg];
    *t = (struct wick_tensor){.shape = wick_shape_make(rig_dtype(datatype), (int)dims.count, sizes), .dynamism = WICK_DYNAMIC_BOUND};
    t->capacity = wick_tensor_nbytes(t);
    t->data = malloc(t->capacity ? t->capacity : 1);
    wick_shape_strides(&t->shape, t->strides);
    r->values[arg] = (struct wick_value){.tag = WICK_TAG_TENSOR, .as.tensor = t};
    r->ids[arg] = arg;
    r->value_count = r->arg_count;
    return index;
}

static inline uint32_t rig_input(struct rig *r, int datatype, struct wick_xnn_dims dims)
{
    return rig_argument(r, datatype, dims, WICK_XNN_VALUE_INPUT);
}
static inline uint32_t rig_output(struct rig *r, int datatype, struct wick_xnn_dims dims)
{
    return rig_argument(r, datatype, dims, WICK_XNN_VALUE_OUTPUT);
}

/* Index of a constant buffer. */
static inline uint32_t rig_bytes(struct rig *r, const void *data, size_t size)
{
    uint32_t index = r->graph.constant_count++;
    r->constants[index] = (struct wick_xnn_constant){.data = data, .size = size};
    return index;
}

static inline uint32_t rig_constant(struct rig *r, int datatype, struct wick_xnn_dims dims, const void *data, size_t size)
{
    uint32_t index = rig_value(r, datatype, dims);
    r->file_values[index].constant = rig_bytes(r, data, size);
    return index;
}

static inline struct wick_xnn_node *rig_node(struct rig *r, int kind)
{
    struct wick_xnn_node *node = &r->file_nodes[r->graph.node_count++];
    *node = (struct wick_xnn_node){.kind = (uint8_t)kind};
    return node;
}

static inline struct wick_xnn_node *rig_1x1(struct rig *r, int kind, uint32_t in, uint32_t out)
{
    struct wick_xnn_node *node = rig_node(r, kind);
    node->slots[XNN_NODE_1X1_INPUT_ID] = in;
    node->slots[XNN_NODE_1X1_OUTPUT_ID] = out;
    return node;
}

static inline struct wick_xnn_node *rig_2x1(struct rig *r, int kind, uint32_t a, uint32_t b, uint32_t out)
{
    struct wick_xnn_node *node = rig_node(r, kind);
    node->slots[XNN_NODE_2X1_INPUT1_ID] = a;
    node->slots[XNN_NODE_2X1_INPUT2_ID] = b;
    node->slots[XNN_NODE_2X1_OUTPUT_ID] = out;
    return node;
}

/* ---- expanding and running ---- */

static inline wick_status rig_named_data(void *user, struct wick_str key, const uint8_t **data, size_t *size, wick_error *err)
{
    (void)user, (void)data, (void)size;
    return wick_fail(err, WICK_NOT_FOUND, "named data %.*s", (int)WICK_MIN(key.size, 64), key.data);
}

static inline void rig_named_data_done(void *user, const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    ((struct rig *)user)->done++;
}

static inline wick_status rig_expand_bytes(struct rig *r, const void *data, size_t size)
{
    struct wick_payload payload = {.data = data, .size = size, .args = {r->values, r->ids, r->arg_count}, .user = r};
    payload.named_data = rig_named_data;
    payload.named_data_done = rig_named_data_done;
    return wick_backend_xnnpack.expand(&payload, &r->x, &r->err);
}

static inline wick_status rig_expand(struct rig *r)
{
    WICK_TRY(wick_xnn_payload_write(&r->graph, &r->bytes, &r->err));
    return rig_expand_bytes(r, r->bytes.data, r->bytes.size);
}

static inline wick_status rig_run_node(struct rig *r, const struct rig_node *node)
{
    struct wick_args args = {r->values, node->ids, node->count};
    struct wick_shape shapes[2];
    uint32_t inputs = wick_signature_inputs(node->op->meta->signature);
    WICK_TRY(node->op->meta->infer(&args, shapes, &r->err));
    for (uint32_t k = inputs; k < node->count; k++) {
        struct wick_tensor *t = r->values[node->ids[k]].as.tensor;
        if (node->ids[k] < r->arg_count) {
            WICK_TRY(wick_tensor_resize(t, shapes[k - inputs].sizes, shapes[k - inputs].rank, &r->err));
            continue;
        }
        free(t->data);
        t->shape = shapes[k - inputs];
        wick_shape_strides(&t->shape, t->strides);
        t->capacity = wick_tensor_nbytes(t);
        t->data = malloc(t->capacity ? t->capacity : 1);
    }
    struct wick_run run = {&r->uk, &r->temp, r->pool, r->bind.numerics, &r->err};
    wick_status status = node->op->run(&args, node->state, &run);
    wick_arena_reset(&r->temp);
    return status;
}

static inline wick_status rig_run(struct rig *r)
{
    for (uint32_t i = 0; i < r->node_count; i++) WICK_TRY(rig_run_node(r, &r->nodes[i]));
    return WICK_OK;
}

/* Argument `arg` gets other sizes. */
static inline void rig_resize(struct rig *r, uint32_t arg, const int32_t *sizes)
{
    WICK_ASSERT_OK(wick_tensor_resize(&r->tensors[arg], sizes, r->tensors[arg].shape.rank, &r->err), &r->err);
}

static inline float *rig_f32(struct rig *r, uint32_t arg) { return r->tensors[arg].data; }

static inline void rig_fill(struct rig *r, uint32_t arg, uint64_t *seed, float scale)
{
    float *data = rig_f32(r, arg);
    for (size_t i = 0; i < wick_tensor_numel(&r->tensors[arg]); i++) data[i] = scale * wick_test_uniform(seed);
}

#endif
