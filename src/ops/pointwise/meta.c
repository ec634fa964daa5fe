/* ops/pointwise/meta.c - rules of unary functions, arithmetic and activations. */
#include "ops/rules.h"

#define UNARY(name, rule) WICK_META(aten_##name##_out, "aten::" #name ".out", "T>T", INPLACE, rule)

UNARY(abs, wick_infer_like)
UNARY(ceil, wick_infer_like)
UNARY(floor, wick_infer_like)
UNARY(neg, wick_infer_like)
UNARY(relu, wick_infer_like)
UNARY(round, wick_infer_like)
UNARY(sign, wick_infer_like)
UNARY(trunc, wick_infer_like)
UNARY(_conj_physical, wick_infer_like)
UNARY(acos, wick_infer_like_float)
UNARY(acosh, wick_infer_like_float)
UNARY(asin, wick_infer_like_float)
UNARY(asinh, wick_infer_like_float)
UNARY(atan, wick_infer_like_float)
UNARY(atanh, wick_infer_like_float)
UNARY(cos, wick_infer_like_float)
UNARY(cosh, wick_infer_like_float)
UNARY(erf, wick_infer_like_float)
UNARY(exp, wick_infer_like_float)
UNARY(expm1, wick_infer_like_float)
UNARY(log, wick_infer_like_float)
UNARY(log10, wick_infer_like_float)
UNARY(log1p, wick_infer_like_float)
UNARY(log2, wick_infer_like_float)
UNARY(reciprocal, wick_infer_like_float)
UNARY(rsqrt, wick_infer_like_float)
UNARY(sigmoid, wick_infer_like_float)
UNARY(sin, wick_infer_like_float)
UNARY(sinh, wick_infer_like_float)
UNARY(sqrt, wick_infer_like_float)
UNARY(tan, wick_infer_like_float)
UNARY(tanh, wick_infer_like_float)
WICK_META(aten_isinf_out, "aten::isinf.out", "T>T", NONE, wick_infer_like_bool)
WICK_META(aten_isnan_out, "aten::isnan.out", "T>T", NONE, wick_infer_like_bool)
WICK_META(aten_logit_out, "aten::logit.out", "Tf>T", INPLACE, wick_infer_like_float)

WICK_META(aten_add_out, "aten::add.out", "TTS>T", INPLACE, wick_infer_pair)
WICK_META(aten_sub_out, "aten::sub.out", "TTS>T", INPLACE, wick_infer_pair)
WICK_META(aten_mul_out, "aten::mul.out", "TT>T", INPLACE, wick_infer_pair)
WICK_META(aten_div_out, "aten::div.out", "TT>T", INPLACE, wick_infer_pair_float)
WICK_META(aten_floor_divide_out, "aten::floor_divide.out", "TT>T", INPLACE, wick_infer_pair)
WICK_META(aten_fmod_Tensor_out, "aten::fmod.Tensor_out", "TT>T", INPLACE, wick_infer_pair)
WICK_META(aten_remainder_Tensor_out, "aten::remainder.Tensor_out", "TT>T", INPLACE, wick_infer_pair)
WICK_META(aten_atan2_out, "aten::atan2.out", "TT>T", INPLACE, wick_infer_pair_float)
WICK_META(aten_maximum_out, "aten::maximum.out", "TT>T", INPLACE, wick_infer_pair)
WICK_META(aten_minimum_out, "aten::minimum.out", "TT>T", INPLACE, wick_infer_pair)
WICK_META(aten_pow_Tensor_Tensor_out, "aten::pow.Tensor_Tensor_out", "TT>T", INPLACE, wick_infer_pair)

/* Results of alpha: an integer tensor with a float alpha is refused by the kernel, as torch does. */
WICK_META(aten_add_Scalar_out, "aten::add.Scalar_out", "TSS>T", INPLACE, wick_infer_scalar)
WICK_META(aten_sub_Scalar_out, "aten::sub.Scalar_out", "TSS>T", INPLACE, wick_infer_scalar)
WICK_META(aten_rsub_Scalar_out, "aten::rsub.Scalar_out", "TSS>T", INPLACE, wick_infer_scalar)
WICK_META(aten_mul_Scalar_out, "aten::mul.Scalar_out", "TS>T", INPLACE, wick_infer_scalar)
WICK_META(aten_div_Scalar_out, "aten::div.Scalar_out", "TS>T", INPLACE, wick_infer_scalar_float)
WICK_META(aten_fmod_Scalar_out, "aten::fmod.Scalar_out", "TS>T", INPLACE, wick_infer_scalar)
WICK_META(aten_remainder_Scalar_out, "aten::remainder.Scalar_out", "TS>T", INPLACE, wick_infer_scalar)
WICK_META(aten_pow_Tensor_Scalar_out, "aten::pow.Tensor_Scalar_out", "TS>T", INPLACE, wick_infer_scalar)

static wick_status infer_pow_scalar(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    (void)err;
    outs[0] = wick_arg_tensor(args, 1)->shape;
    outs[0].dtype = (uint8_t)wick_dtype_with_scalar(outs[0].dtype, wick_arg(args, 0));
    return WICK_OK;
}
WICK_META(aten_pow_Scalar_out, "aten::pow.Scalar_out", "ST>T", NONE, infer_pow_scalar)

/* Without a rounding mode this is the true division. */
static wick_status infer_div_mode(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_arg_is_none(args, 2) ? wick_infer_pair_float(args, outs, err) : wick_infer_pair(args, outs, err);
}

static wick_status infer_div_scalar_mode(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_arg_is_none(args, 2) ? wick_infer_scalar_float(args, outs, err) : wick_infer_scalar(args, outs, err);
}
WICK_META(aten_div_out_mode, "aten::div.out_mode", "TTc>T", INPLACE, infer_div_mode)
WICK_META(aten_div_Scalar_mode_out, "aten::div.Scalar_mode_out", "TSc>T", INPLACE, infer_div_scalar_mode)

WICK_META(aten_elu_out, "aten::elu.out", "TSSS>T", INPLACE, wick_infer_like)
WICK_META(aten_gelu_out, "aten::gelu.out", "TC>T", INPLACE, wick_infer_like)
WICK_META(aten_hardtanh_out, "aten::hardtanh.out", "TSS>T", INPLACE, wick_infer_like)
WICK_META(aten_leaky_relu_out, "aten::leaky_relu.out", "TS>T", INPLACE, wick_infer_like)

static wick_status infer_glu(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    int dim;
    outs[0] = wick_arg_tensor(args, 0)->shape;
    WICK_TRY(wick_rule_dim(wick_arg_int(args, 1), outs[0].rank, &dim, err));
    if (outs[0].rank == 0 || outs[0].sizes[dim] % 2) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d cannot be halved", dim);
    outs[0].sizes[dim] /= 2;
    return WICK_OK;
}
WICK_META(aten_glu_out, "aten::glu.out", "TI>T", NONE, infer_glu)

static wick_status infer_dropout(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(wick_infer_like_bool(args, outs + 1, err));
    return wick_infer_like(args, outs, err);
}
WICK_META(aten_native_dropout_out, "aten::native_dropout.out", "TFb>TT", NONE, infer_dropout)
