/* ops/matmul/linear.c - aten::linear: out = input x weight^T + bias, with weights that are constant packed at bind. */
#include "ops/matmul/gemm.h"
#include "ops/matmul/product.h"

/* Weights packed when the layer was bound. */
struct packed_linear {
    const struct wick_gemm *gemm;
    void *packed;
    bool with_bias; /* the packed form has it */
};

static const struct wick_gemm *gemm_of(const struct wick_ukernels *u, int dtype)
{
    return dtype == WICK_DTYPE_F32 ? &u->gemm_f32 : dtype == WICK_DTYPE_F16 ? &u->gemm_f16 : dtype == WICK_DTYPE_BF16 ? &u->gemm_bf16 : NULL;
}

static bool is_constant(const struct wick_tensor *t) { return t->constant && t->data && wick_shape_is_contiguous(&t->shape); }

/* A constant bias as n floats in memory of the arena; one element stands for all. */
static float *bias_as_f32(const struct wick_tensor *bias, size_t n, struct wick_arena *arena)
{
    float *values = WICK_NEW_ARRAY(arena, float, n);
    if (values) wick_loader(bias->shape.dtype, WICK_COMPUTE_F32)(values, bias->data, bias->shape.sizes[0] == 1 ? 0 : 1, n);
    return values;
}

/* Packs a constant weight of f32, f16 or bf16; leaves *state NULL for any other. */
static wick_status prepare_linear(const struct wick_args *args, struct wick_bind *bind, void **state)
{
    const struct wick_tensor *weight = wick_arg_tensor(args, 1), *bias = wick_arg_tensor(args, 2);
    const struct wick_gemm *gemm = gemm_of(bind->ukernels, weight->shape.dtype);
    if (!gemm || !is_constant(weight) || weight->shape.rank != 2 || wick_tensor_numel(weight) == 0) return WICK_OK;
    struct wick_gemm_weights weights = {.n = (size_t)weight->shape.sizes[0], .k = (size_t)weight->shape.sizes[1], .w = weight->data};
    struct packed_linear *linear = WICK_NEW(bind->arena, struct packed_linear);
    size_t bytes = gemm->packed_size(weights.n, weights.k, 0);
    if (!linear) return wick_fail_oom(bind->err, sizeof *linear, "a linear layer");
    linear->gemm = gemm;
    linear->packed = wick_arena_alloc(bind->arena, bytes, 64);
    if (!linear->packed) return wick_fail_oom(bind->err, bytes, "packed weights");
    linear->with_bias = bias && is_constant(bias) && wick_dtype_is_arithmetic(bias->shape.dtype) && bias->shape.rank == 1 &&
                        (bias->shape.sizes[0] == 1 || bias->shape.sizes[0] == weight->shape.sizes[0]);
    if (linear->with_bias) {
        weights.bias = bias_as_f32(bias, weights.n, bind->arena);
        if (!weights.bias) return wick_fail_oom(bind->err, weights.n * sizeof(float), "a bias");
    }
    wick_gemm_pack_constant(gemm, &weights, wick_dtype_size(weight->shape.dtype), linear->packed, bind);
    *state = linear;
    return WICK_OK;
}

/* m rows of f32 or half through the packed weights; halves are converted on both sides. */
static wick_status run_packed(const struct packed_linear *linear, const struct wick_tensor *in, const struct wick_tensor *bias,
                              struct wick_tensor *out, size_t m, size_t n, size_t k, struct wick_run *run)
{
    bool floats = in->shape.dtype == WICK_DTYPE_F32;
    const float *a = floats ? in->data : NULL;
    float *c = floats ? out->data : NULL;
    if (!floats) {
        float *rows = WICK_NEW_ARRAY(run->temp, float, m *k);
        c = WICK_NEW_ARRAY(run->temp, float, m *n);
        if (!rows || !c) return wick_fail_oom(run->err, m * (n + k) * sizeof(float), "rows of a linear layer");
        wick_loader(in->shape.dtype, WICK_COMPUTE_F32)(rows, in->data, 1, m * k);
        a = rows;
    }
    struct wick_gemm_call call = {
        .m = m, .n = n, .k = k, .a = a, .a_stride = k, .packed = linear->packed, .c = c, .c_stride = n, .min = -INFINITY, .max = INFINITY};
    wick_gemm_run(linear->gemm, &call, run->pool);
    if (bias && !linear->with_bias) {
        float *values = bias_as_f32(bias, n, run->temp);
        if (!values) return wick_fail_oom(run->err, n * sizeof(float), "a bias");
        for (size_t i = 0; i < m; i++) run->ukernels->add(n, c + i * n, values, c + i * n);
    }
    if (!floats) wick_storer(out->shape.dtype, WICK_COMPUTE_F32)(out->data, 1, c, m * n);
    return WICK_OK;
}

/* (input [.., K], weight [N, K], bias; out [.., N]) */
static wick_status run_linear(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0), *weight = wick_arg_tensor(args, 1), *bias = wick_arg_tensor(args, 2);
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    if (in->shape.dtype != out->shape.dtype || weight->shape.dtype != out->shape.dtype || (bias && bias->shape.dtype != out->shape.dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "input is %s, weight %s, out %s: they must be of one type", wick_dtype_name(in->shape.dtype),
                         wick_dtype_name(weight->shape.dtype), wick_dtype_name(out->shape.dtype));
    if (!wick_shape_is_contiguous(&in->shape) || !wick_shape_is_contiguous(&out->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "a linear layer on a layout that is not contiguous");
    size_t n = (size_t)weight->shape.sizes[0], k = (size_t)weight->shape.sizes[1];
    if (n == 0 || wick_tensor_numel(out) == 0) return WICK_OK;
    if (state) return run_packed(state, in, bias, out, wick_tensor_numel(out) / n, n, k, run);
    struct wick_product product = {.dtype = in->shape.dtype,
                                   .batch = 1,
                                   .m = wick_tensor_numel(out) / n,
                                   .n = n,
                                   .k = k,
                                   .a = in->data,
                                   .w = weight->data,
                                   .out = out->data,
                                   .a_row = (int64_t)k,
                                   .a_k = 1,
                                   .w_k = weight->strides[1],
                                   .w_column = weight->strides[0],
                                   .out_row = (int64_t)n,
                                   .out_column = 1};
    if (bias) {
        product.bias = bias->data;
        product.bias_stride = bias->shape.sizes[0] == 1 ? 0 : 1;
    }
    return wick_product_run(&product, run);
}

static void count_linear(const struct wick_args *args, const void *state, struct wick_work *work)
{
    const struct wick_tensor *weight = wick_arg_tensor(args, 1);
    (void)state;
    work->multiply_adds = wick_tensor_numel(wick_arg_tensor(args, 3)) * (uint64_t)weight->shape.sizes[1];
    work->bytes = wick_tensor_nbytes(weight);
}

const struct wick_op wick_op_aten_linear_out = {.meta = &wick_opmeta_aten_linear_out, .prepare = prepare_linear, .run = run_linear, .work = count_linear};
