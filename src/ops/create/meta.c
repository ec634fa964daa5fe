/* ops/create/meta.c - rules of operators that make tensors from sizes and Scalars. */
#include "ops/rules.h"

static wick_status infer_sizes(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_rule_sizes(args, 0, WICK_DTYPE_F32, outs, err);
}

static int dtype_of_scalar(const struct wick_value *scalar)
{
    return scalar->tag == WICK_TAG_DOUBLE ? WICK_DTYPE_F32 : scalar->tag == WICK_TAG_INT ? WICK_DTYPE_I64 : WICK_DTYPE_BOOL;
}

static wick_status infer_full(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_rule_sizes(args, 0, dtype_of_scalar(wick_arg(args, 1)), outs, err);
}

static wick_status infer_scalar_tensor(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    outs[0] = wick_shape_make(dtype_of_scalar(wick_arg(args, 0)), 0, NULL);
    return WICK_OK;
}

/* ceil((end - start) / step) elements; integers throughout give i64, else f32. */
static wick_status range(double start, double end, double step, bool integral, struct wick_shape *out, wick_error *err)
{
    if (!(step > 0 || step < 0)) return wick_fail(err, WICK_INVALID_ARGUMENT, "step is %g", step);
    double quotient = (end - start) / step;
    if (!(quotient >= 0)) return wick_fail(err, WICK_INVALID_ARGUMENT, "steps of %g do not lead from %g to %g", step, start, end);
    if (quotient > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "%g elements are too many", quotient);
    int32_t count = (int32_t)quotient;
    count += quotient > (double)count;
    *out = wick_shape_make(integral ? WICK_DTYPE_I64 : WICK_DTYPE_F32, 1, &count);
    return WICK_OK;
}

static wick_status infer_arange(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return range(0, wick_arg_scalar(args, 0), 1, wick_arg(args, 0)->tag != WICK_TAG_DOUBLE, outs, err);
}

static wick_status infer_arange_start(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    bool integral = true;
    for (uint32_t k = 0; k < 3; k++) integral = integral && wick_arg(args, k)->tag != WICK_TAG_DOUBLE;
    return range(wick_arg_scalar(args, 0), wick_arg_scalar(args, 1), wick_arg_scalar(args, 2), integral, outs, err);
}

WICK_META(aten_ones_out, "aten::ones.out", "N>T", NONE, infer_sizes)
WICK_META(aten_zeros_out, "aten::zeros.out", "N>T", NONE, infer_sizes)
WICK_META(aten_rand_out, "aten::rand.out", "N>T", NONE, infer_sizes)
WICK_META(aten_randn_out, "aten::randn.out", "N>T", NONE, infer_sizes)
WICK_META(aten_empty_out, "aten::empty.out", "Ni>T", NONE, infer_sizes)
WICK_META(aten_full_out, "aten::full.out", "NS>T", NONE, infer_full)
WICK_META(aten_full_like_out, "aten::full_like.out", "TSi>T", NONE, wick_infer_like)
WICK_META(aten_fill_Scalar_out, "aten::fill.Scalar_out", "TS>T", NONE, wick_infer_like)
WICK_META(aten_fill_Tensor_out, "aten::fill.Tensor_out", "TT>T", NONE, wick_infer_like)
WICK_META(aten_scalar_tensor_out, "aten::scalar_tensor.out", "S>T", NONE, infer_scalar_tensor)
WICK_META(aten_arange_out, "aten::arange.out", "S>T", NONE, infer_arange)
WICK_META(aten_arange_start_out, "aten::arange.start_out", "SSS>T", NONE, infer_arange_start)
