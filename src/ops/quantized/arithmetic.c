/* ops/quantized/arithmetic.c - add of two quantized tensors; products of float activations and int8 weights. */
#include "ops/copy/cast.h"
#include "ops/ops.h"
#include "ops/quantized/affine.h"
#include "ukernel/ukernels.h"

enum { COLUMN_TASKS = 64 };

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

/* Ranges must lie in [0, 255]: the operator is defined for bytes. */
static wick_status check_range(const struct wick_args *args, uint32_t low, struct wick_run *run)
{
    int64_t qmin = wick_arg_int(args, low), qmax = wick_arg_int(args, low + 1);
    if (qmin >= 0 && qmax <= 255 && qmin <= qmax) return WICK_OK;
    return wick_fail(run->err, WICK_INVALID_ARGUMENT, "range [%lld, %lld] is not within [0, 255]", (long long)qmin, (long long)qmax);
}

static wick_status run_quantized_decomposed_add_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    enum { BLOCK = 128 };
    const struct wick_tensor *a = wick_arg_tensor(args, 0), *b = wick_arg_tensor(args, 5);
    struct wick_tensor *out = wick_arg_tensor(args, 14);
    int dtype = a->shape.dtype;
    if (b->shape.dtype != dtype || out->shape.dtype != dtype || !wick_affine_stored(dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "the operands and out are not of one quantized type");
    if (!wick_shape_same_sizes(&a->shape, &b->shape) || !wick_shape_same_sizes(&a->shape, &out->shape))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "the operands and out differ in size");
    WICK_TRY(check_range(args, 3, run));
    WICK_TRY(check_range(args, 8, run));
    WICK_TRY(check_range(args, 12, run));
    size_t numel = wick_tensor_numel(a), width = wick_dtype_size(dtype);
    for (size_t i = 0; i < numel; i += BLOCK) {
        float x[BLOCK], y[BLOCK];
        size_t count = WICK_MIN(numel - i, (size_t)BLOCK);
        wick_affine_dequantize(x, WICK_DTYPE_F32, (const char *)a->data + i * width, dtype, count, wick_arg_double(args, 1), wick_arg_int(args, 2));
        wick_affine_dequantize(y, WICK_DTYPE_F32, (const char *)b->data + i * width, dtype, count, wick_arg_double(args, 6), wick_arg_int(args, 7));
        for (size_t k = 0; k < count; k++) x[k] += y[k];
        wick_affine_quantize((char *)out->data + i * width, dtype, x, WICK_DTYPE_F32, count, wick_arg_double(args, 10), wick_arg_int(args, 11),
                             wick_arg_int(args, 12), wick_arg_int(args, 13));
    }
    return WICK_OK;
}

OP(quantized_decomposed_add_out);

/* input [M, K] f32 or f16, weight [K, N] (mm) or [N, K] (linear) int8. */
struct product {
    const struct wick_tensor *input, *weight, *scales;
    struct wick_tensor *out;
    size_t m, k, n, groups, group; /* linear: scales [N, groups], groups of `group` along K */
    /* mixed_linear: */
    const struct wick_ukernels *ukernels;
    float *x, *rows; /* (m, k); (thread, k) */
    size_t columns;  /* of out, a task */
};

static wick_status product_open(struct product *p, const struct wick_args *args, uint32_t out, struct wick_run *run)
{
    *p = (struct product){
        .input = wick_arg_tensor(args, 0), .weight = wick_arg_tensor(args, 1), .scales = wick_arg_tensor(args, 2), .out = wick_arg_tensor(args, out)};
    const struct wick_tensor *all[4] = {p->input, p->weight, p->scales, p->out};
    int x = p->input->shape.dtype, y = p->out->shape.dtype;
    if (!wick_arg_is_none(args, 3)) return wick_fail(run->err, WICK_NOT_SUPPORTED, "zero points of the weight");
    if ((x != WICK_DTYPE_F32 && x != WICK_DTYPE_F16) || p->weight->shape.dtype != WICK_DTYPE_I8 || p->scales->shape.dtype != x ||
        (y != WICK_DTYPE_F32 && y != WICK_DTYPE_F16))
        return wick_fail(run->err, WICK_INVALID_TYPE, "input %s, weight %s, scales %s, out %s", wick_dtype_name(x),
                         wick_dtype_name(p->weight->shape.dtype), wick_dtype_name(p->scales->shape.dtype), wick_dtype_name(y));
    for (int i = 0; i < 4; i++) {
        if (i != 2 && all[i]->shape.rank != 2) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "a factor or out has rank %u", all[i]->shape.rank);
        if (!wick_shape_is_contiguous(&all[i]->shape)) return wick_fail(run->err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    }
    p->m = (size_t)p->input->shape.sizes[0];
    p->k = (size_t)p->input->shape.sizes[1];
    p->n = (size_t)p->out->shape.sizes[1];
    if ((size_t)p->out->shape.sizes[0] != p->m) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
    return WICK_OK;
}

static float element(const struct wick_tensor *t, size_t i) { return (float)wick_element_double(t->data, t->shape.dtype, i); }

static void store(struct wick_tensor *t, size_t i, float value)
{
    wick_cast((char *)t->data + i * wick_dtype_size(t->shape.dtype), t->shape.dtype, &value, WICK_DTYPE_F32, 1);
}

static wick_status run_quantized_decomposed_mixed_mm_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct product p;
    WICK_TRY(product_open(&p, args, 4, run));
    if ((size_t)p.weight->shape.sizes[0] != p.k || (size_t)p.weight->shape.sizes[1] != p.n || wick_tensor_numel(p.scales) != p.k)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "input, weight and %zu scales do not fit", wick_tensor_numel(p.scales));
    const int8_t *weight = p.weight->data;
    for (size_t i = 0; i < p.m; i++) {
        for (size_t j = 0; j < p.n; j++) {
            float sum = 0;
            for (size_t k = 0; k < p.k; k++) sum += element(p.input, i * p.k + k) * (float)weight[k * p.n + j] * element(p.scales, k);
            store(p.out, i * p.n + j, sum);
        }
    }
    return WICK_OK;
}

/* Columns of out: a row of the weight becomes floats once, for all rows of the input. */
static void multiply_columns(void *user, size_t task, unsigned thread)
{
    const struct product *p = user;
    float *row = p->rows + thread * p->k;
    size_t end = WICK_MIN((task + 1) * p->columns, p->n);
    for (size_t j = task * p->columns; j < end; j++) {
        p->ukernels->i8_to_f32(p->k, (const int8_t *)p->weight->data + j * p->k, 1.0f, 0, row);
        for (size_t i = 0; i < p->m; i++) {
            float sum = 0;
            for (size_t k = 0; k < p->k; k += p->group)
                sum +=
                    p->ukernels->dot(WICK_MIN(p->group, p->k - k), p->x + i * p->k + k, row + k) * element(p->scales, j * p->groups + k / p->group);
            store(p->out, i * p->n + j, sum);
        }
    }
}

static wick_status run_quantized_decomposed_mixed_linear_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct product p;
    WICK_TRY(product_open(&p, args, 5, run));
    p.groups = p.scales->shape.rank == 2 ? (size_t)p.scales->shape.sizes[1] : 1;
    if ((size_t)p.weight->shape.sizes[1] != p.k || (size_t)p.weight->shape.sizes[0] != p.n || wick_tensor_numel(p.scales) != p.n * p.groups ||
        p.groups == 0)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "input, weight and %zu scales do not fit", wick_tensor_numel(p.scales));
    p.group = p.k ? (p.k - 1) / p.groups + 1 : 1;
    if (p.m == 0 || p.n == 0) return WICK_OK;
    p.x = wick_arena_array(run->temp, p.m * p.k, sizeof(float), 64);
    p.rows = wick_arena_array(run->temp, wick_pool_threads(run->pool) * p.k, sizeof(float), 64);
    if (!p.x || !p.rows) return wick_fail_oom(run->err, p.m * p.k * sizeof(float), "quantized_decomposed::mixed_linear");
    wick_cast(p.x, WICK_DTYPE_F32, p.input->data, p.input->shape.dtype, p.m * p.k);
    p.ukernels = run->ukernels;
    p.columns = (p.n + COLUMN_TASKS - 1) / COLUMN_TASKS;
    bool small = p.m * p.n * p.k < COLUMN_TASKS * 4096;
    wick_pool_run(small ? NULL : run->pool, (p.n + p.columns - 1) / p.columns, multiply_columns, &p);
    return WICK_OK;
}

OP(quantized_decomposed_mixed_mm_out);
OP(quantized_decomposed_mixed_linear_out);
