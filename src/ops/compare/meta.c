/* ops/compare/meta.c - rules of comparisons, logic, bits, choice and clamping. */
#include "ops/rules.h"

#define COMPARE(name)                                                                                     \
    WICK_META(aten_##name##_Tensor_out, "aten::" #name ".Tensor_out", "TT>T", NONE, wick_infer_pair_bool) \
    WICK_META(aten_##name##_Scalar_out, "aten::" #name ".Scalar_out", "TS>T", NONE, wick_infer_like_bool)
COMPARE(eq)
COMPARE(ne)
COMPARE(ge)
COMPARE(gt)
COMPARE(le)
COMPARE(lt)

WICK_META(aten_logical_and_out, "aten::logical_and.out", "TT>T", NONE, wick_infer_pair_bool)
WICK_META(aten_logical_or_out, "aten::logical_or.out", "TT>T", NONE, wick_infer_pair_bool)
WICK_META(aten_logical_xor_out, "aten::logical_xor.out", "TT>T", NONE, wick_infer_pair_bool)
WICK_META(aten_logical_not_out, "aten::logical_not.out", "T>T", NONE, wick_infer_like_bool)

#define BITS(name, tensor, scalar)                                                                  \
    WICK_META(aten_##name##_##tensor, "aten::" #name "." #tensor, "TT>T", INPLACE, wick_infer_pair) \
    WICK_META(aten_##name##_##scalar, "aten::" #name "." #scalar, "TS>T", INPLACE, wick_infer_scalar)
BITS(bitwise_and, Tensor_out, Scalar_out)
BITS(bitwise_or, Tensor_out, Scalar_out)
BITS(bitwise_xor, Tensor_out, Scalar_out)
BITS(bitwise_left_shift, Tensor_out, Tensor_Scalar_out)
BITS(bitwise_right_shift, Tensor_out, Tensor_Scalar_out)
WICK_META(aten_bitwise_not_out, "aten::bitwise_not.out", "T>T", INPLACE, wick_infer_like)

static wick_status infer_where(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *a = &wick_arg_tensor(args, 1)->shape, *b = &wick_arg_tensor(args, 2)->shape;
    outs[0] = *a;
    outs[0].dtype = (uint8_t)wick_dtype_of_pair(a, b);
    WICK_TRY(wick_rule_broadcast(&outs[0], b, err));
    return wick_rule_broadcast(&outs[0], &wick_arg_tensor(args, 0)->shape, err);
}
WICK_META(aten_where_self_out, "aten::where.self_out", "TTT>T", NONE, infer_where)

static wick_status infer_clamp(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    if (wick_arg_is_none(args, 1) && wick_arg_is_none(args, 2)) return wick_fail(err, WICK_INVALID_ARGUMENT, "neither min nor max is given");
    outs[0] = wick_arg_tensor(args, 0)->shape;
    for (uint32_t k = 1; k <= 2; k++)
        if (!wick_arg_is_none(args, k)) outs[0].dtype = (uint8_t)wick_dtype_with_scalar(outs[0].dtype, wick_arg(args, k));
    return WICK_OK;
}
WICK_META(aten_clamp_out, "aten::clamp.out", "Tss>T", INPLACE, infer_clamp)

static wick_status infer_clamp_tensor(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_tensor *bounds[2] = {wick_arg_tensor(args, 1), wick_arg_tensor(args, 2)};
    if (!bounds[0] && !bounds[1]) return wick_fail(err, WICK_INVALID_ARGUMENT, "neither min nor max is given");
    outs[0] = wick_arg_tensor(args, 0)->shape;
    for (int i = 0; i < 2; i++) {
        if (!bounds[i]) continue;
        outs[0].dtype = (uint8_t)wick_dtype_of_pair(&outs[0], &bounds[i]->shape);
        WICK_TRY(wick_rule_broadcast(&outs[0], &bounds[i]->shape, err));
    }
    return WICK_OK;
}
WICK_META(aten_clamp_Tensor_out, "aten::clamp.Tensor_out", "Ttt>T", INPLACE, infer_clamp_tensor)
