/* ops/call_test.h - for tests: one operator call built by hand, with every tensor between guard pages. */
#ifndef WICK_OPS_CALL_TEST_H
#define WICK_OPS_CALL_TEST_H

#include "fixture.h"
#include "ops/elementwise.h"

#include <stdlib.h>

enum { CALL_VALUES = 64, CALL_TENSORS = 16 };

struct call {
    struct wick_value values[CALL_VALUES];
    uint32_t ids[CALL_VALUES], count; /* arguments so far */
    uint32_t items;                   /* list items, from the back of values */
    int32_t indices[CALL_VALUES];
    struct wick_tensor tensors[CALL_TENSORS];
    uint32_t tensor_count, inputs;
    struct wick_ukernels ukernels;
    struct wick_arena temp, bound;
    struct wick_pool *pool; /* NULL: one thread */
    struct wick_error err;
    wick_status status;
};

static inline struct call *call_new(void)
{
    struct call *c = calloc(1, sizeof *c);
    assert_non_null(c);
    wick_arena_init(&c->temp, &wick_allocator_heap);
    wick_arena_init(&c->bound, &wick_allocator_heap);
    WICK_ASSERT_OK(wick_ukernels_init(&c->ukernels, NULL, &c->err), &c->err);
    return c;
}

static inline void call_free(struct call *c)
{
    for (uint32_t i = 0; i < c->tensor_count; i++) wick_test_guarded_free(c->tensors[i].data, c->tensors[i].capacity ? c->tensors[i].capacity : 1);
    wick_arena_release(&c->temp);
    wick_arena_release(&c->bound);
    free(c);
}

static inline void call_value(struct call *c, struct wick_value value)
{
    c->values[c->count] = value;
    c->ids[c->count] = c->count;
    c->count++;
}
static inline void call_int(struct call *c, int64_t i) { call_value(c, (struct wick_value){.tag = WICK_TAG_INT, .as.i = i}); }
static inline void call_double(struct call *c, double d) { call_value(c, (struct wick_value){.tag = WICK_TAG_DOUBLE, .as.d = d}); }
static inline void call_bool(struct call *c, bool b) { call_value(c, (struct wick_value){.tag = WICK_TAG_BOOL, .as.b = b}); }
static inline void call_none(struct call *c) { call_value(c, (struct wick_value){.tag = WICK_TAG_NONE}); }
static inline void call_text(struct call *c, const char *text)
{
    call_value(c, (struct wick_value){.tag = WICK_TAG_STRING, .as.string = wick_str_of(text)});
}

static inline void call_ints(struct call *c, uint32_t count, const int64_t *ints)
{
    int32_t *indices = c->indices + c->items;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = CALL_VALUES - 1 - c->items++;
        c->values[at] = (struct wick_value){.tag = WICK_TAG_INT, .as.i = ints[i]};
        indices[i] = (int32_t)at;
    }
    call_value(c, (struct wick_value){.tag = WICK_TAG_INT_LIST, .as.list = {.indices = indices, .count = count}});
}

/* A tensor argument whose memory is there, but not set. dim_order NULL: contiguous. */
static inline struct wick_tensor *call_shape(struct call *c, int dtype, int rank, const int32_t *sizes, const uint8_t *dim_order)
{
    struct wick_tensor *t = &c->tensors[c->tensor_count++];
    t->shape = wick_shape_make(dtype, rank, sizes);
    if (dim_order) memcpy(t->shape.dim_order, dim_order, (size_t)rank);
    wick_shape_strides(&t->shape, t->strides);
    t->dynamism = WICK_DYNAMIC_BOUND;
    t->capacity = wick_tensor_nbytes(t);
    t->data = wick_test_guarded(t->capacity ? t->capacity : 1);
    assert_non_null(t->data);
    call_value(c, (struct wick_value){.tag = WICK_TAG_TENSOR, .as.tensor = t});
    return t;
}

/* Memory offset of row-major element `at`. */
static inline int64_t call_offset(const struct wick_tensor *t, size_t at)
{
    int64_t offset = 0;
    for (int d = t->shape.rank - 1; d >= 0; d--) {
        offset += (int64_t)(at % (size_t)t->shape.sizes[d]) * t->strides[d];
        at /= (size_t)t->shape.sizes[d];
    }
    return offset;
}

static inline void call_set(struct wick_tensor *t, size_t at, double value)
{
    int64_t bytes = (int64_t)wick_dtype_size(t->shape.dtype);
    wick_storer(t->shape.dtype, WICK_COMPUTE_F64)((char *)t->data + call_offset(t, at) * bytes, 1, &value, 1);
}

static inline double call_get(const struct wick_tensor *t, size_t at)
{
    double value;
    int64_t bytes = (int64_t)wick_dtype_size(t->shape.dtype);
    wick_loader(t->shape.dtype, WICK_COMPUTE_F64)(&value, (const char *)t->data + call_offset(t, at) * bytes, 1, 1);
    return value;
}

/* A tensor argument with values in row-major order, converted to dtype. */
static inline struct wick_tensor *call_tensor(struct call *c, int dtype, int rank, const int32_t *sizes, const double *values)
{
    struct wick_tensor *t = call_shape(c, dtype, rank, sizes, NULL);
    for (size_t i = 0; i < wick_tensor_numel(t); i++) call_set(t, i, values[i]);
    return t;
}
#define CALL_DOUBLES(...) ((const double[]){__VA_ARGS__})
#define CALL_SIZES(...) ((const int32_t[]){__VA_ARGS__})
#define CALL_INTS(...) ((const int64_t[]){__VA_ARGS__})
/* f32 vector of the given values. */
#define CALL_VECTOR(c, ...) \
    call_tensor(c, WICK_DTYPE_F32, 1, CALL_SIZES(sizeof(CALL_DOUBLES(__VA_ARGS__)) / sizeof(double)), CALL_DOUBLES(__VA_ARGS__))

/* Infers, makes outs (dtypes given per out, -1: the inferred one; dtypes NULL: all inferred), prepares and runs. */
static inline wick_status call_run(struct call *c, const struct wick_op *op, const int *dtypes)
{
    struct wick_shape shapes[4];
    struct wick_args args = {c->values, c->ids, c->count};
    uint32_t outs = wick_signature_outs(op->meta->signature);
    c->inputs = c->count;
    assert_int_equal(c->count, wick_signature_inputs(op->meta->signature));
    c->err.message[0] = 0;
    c->status = op->meta->infer(&args, shapes, &c->err);
    if (c->status != WICK_OK) return c->status;
    for (uint32_t i = 0; i < outs; i++) {
        assert_true(wick_shape_valid(&shapes[i], NULL));
        struct wick_tensor *t =
            call_shape(c, dtypes && dtypes[i] >= 0 ? dtypes[i] : shapes[i].dtype, shapes[i].rank, shapes[i].sizes, shapes[i].dim_order);
        memset(t->data, 0x5a, t->capacity);
    }
    args.count = c->count;
    WICK_ASSERT_OK(wick_args_check(&args, op->meta, &c->err), &c->err);
    struct wick_bind bind = {.ukernels = &c->ukernels, .arena = &c->bound, .pool = c->pool, .err = &c->err};
    struct wick_run run = {.ukernels = &c->ukernels, .temp = &c->temp, .pool = c->pool, .err = &c->err};
    void *state = NULL;
    if (op->prepare) c->status = op->prepare(&args, &bind, &state);
    if (c->status == WICK_OK) c->status = op->run(&args, state, &run);
    return c->status;
}

/* A tensor list of the last `count` tensor arguments, which stop being arguments of their own. */
static inline void call_list(struct call *c, uint32_t count)
{
    int32_t *indices = c->indices + c->items;
    c->items += count;
    for (uint32_t i = 0; i < count; i++) {
        c->values[CALL_VALUES - c->items + i] = c->values[c->count - count + i];
        indices[i] = (int32_t)(CALL_VALUES - c->items + i);
    }
    c->count -= count;
    call_value(c, (struct wick_value){.tag = WICK_TAG_TENSOR_LIST, .as.list = {.indices = indices, .count = count}});
}

/* As the runtime does it, with outs that are arguments already: infers (if there is a rule), resizes, runs. */
static inline wick_status call_direct(struct call *c, const struct wick_op *op)
{
    struct wick_shape shapes[8];
    struct wick_args args = {c->values, c->ids, c->count};
    struct wick_run run = {.ukernels = &c->ukernels, .temp = &c->temp, .pool = c->pool, .err = &c->err};
    c->inputs = wick_signature_inputs(op->meta->signature);
    c->err.message[0] = 0;
    WICK_ASSERT_OK(wick_args_check(&args, op->meta, &c->err), &c->err);
    c->status = op->meta->infer ? op->meta->infer(&args, shapes, &c->err) : WICK_OK;
    for (uint32_t i = 0; op->meta->infer && c->status == WICK_OK && i < wick_args_out_tensors(&args, op->meta); i++)
        c->status = wick_tensor_resize(wick_args_out_tensor(&args, op->meta, i), shapes[i].sizes, shapes[i].rank, &c->err);
    if (c->status == WICK_OK) c->status = op->run(&args, NULL, &run);
    wick_arena_reset(&c->temp);
    return c->status;
}

static inline struct wick_tensor *call_out(const struct call *c, uint32_t i) { return c->values[c->inputs + i].as.tensor; }

/* Out i has these sizes and values; tolerance relative to max(1, |want|). */
static inline void call_expect(const struct call *c, uint32_t i, int rank, const int32_t *sizes, const double *want, double tolerance)
{
    const struct wick_tensor *t = call_out(c, i);
    if (c->status != WICK_OK) fail_msg("%s", c->err.message);
    assert_int_equal(t->shape.rank, rank);
    for (int d = 0; d < rank; d++) assert_int_equal(t->shape.sizes[d], sizes[d]);
    for (size_t k = 0; k < wick_tensor_numel(t); k++) {
        double got = call_get(t, k), scale = fabs(want[k]) > 1 ? fabs(want[k]) : 1;
        bool same = isnan(want[k]) ? isnan(got) : got == want[k] || fabs(got - want[k]) <= tolerance * scale;
        if (!same) fail_msg("out %u, element %zu: %.9g, want %.9g", i, k, got, want[k]);
    }
}
#define CALL_EXPECT_VECTOR(c, tolerance, ...) \
    call_expect(c, 0, 1, CALL_SIZES(sizeof(CALL_DOUBLES(__VA_ARGS__)) / sizeof(double)), CALL_DOUBLES(__VA_ARGS__), tolerance)

/* The call fails with this status and says something. */
static inline void call_expect_error(const struct call *c, wick_status status, const char *part)
{
    assert_int_equal(c->status, status);
    if (!strstr(c->err.message, part)) fail_msg("message \"%s\" does not say \"%s\"", c->err.message, part);
}

#endif
