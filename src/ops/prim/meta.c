/* ops/prim/meta.c - rules of the operators on single numbers, and of the two tensor prims. */
#include "ops/copy/view.h"

#define OP(id, wire, sig) const struct wick_opmeta wick_opmeta_##id = {.name = wire, .signature = sig}

OP(aten__local_scalar_dense, "aten::_local_scalar_dense", "T>V");
OP(aten_sym_numel, "aten::sym_numel", "T>V");
OP(aten_sym_size_int, "aten::sym_size.int", "TI>V");
OP(executorch_prim_add_Scalar, "executorch_prim::add.Scalar", "SS>V");
OP(executorch_prim_sub_Scalar, "executorch_prim::sub.Scalar", "SS>V");
OP(executorch_prim_mul_Scalar, "executorch_prim::mul.Scalar", "SS>V");
OP(executorch_prim_floordiv_Scalar, "executorch_prim::floordiv.Scalar", "SS>V");
OP(executorch_prim_floordiv_int, "executorch_prim::floordiv.int", "II>V");
OP(executorch_prim_truediv_Scalar, "executorch_prim::truediv.Scalar", "SS>V");
OP(executorch_prim_mod_Scalar, "executorch_prim::mod.Scalar", "SS>V");
OP(executorch_prim_mod_int, "executorch_prim::mod.int", "II>V");
OP(executorch_prim_eq_Scalar, "executorch_prim::eq.Scalar", "SS>V");
OP(executorch_prim_gt_Scalar, "executorch_prim::gt.Scalar", "SS>V");
OP(executorch_prim_lt_Scalar, "executorch_prim::lt.Scalar", "SS>V");
OP(executorch_prim_ge_Scalar, "executorch_prim::ge.Scalar", "SS>V");
OP(executorch_prim_le_Scalar, "executorch_prim::le.Scalar", "SS>V");
OP(executorch_prim_sym_max_Scalar, "executorch_prim::sym_max.Scalar", "SS>V");
OP(executorch_prim_sym_min_Scalar, "executorch_prim::sym_min.Scalar", "SS>V");
OP(executorch_prim_neg_Scalar, "executorch_prim::neg.Scalar", "S>V");
OP(executorch_prim_sym_float_Scalar, "executorch_prim::sym_float.Scalar", "S>V");
OP(executorch_prim_sym_int_Scalar, "executorch_prim::sym_int.Scalar", "S>V");
OP(executorch_prim_sym_not_Scalar, "executorch_prim::sym_not.Scalar", "S>V");
OP(executorch_prim_sym_ite_Scalar, "executorch_prim::sym_ite.Scalar", "SSS>V");
OP(executorch_prim_ceil_Scalar, "executorch_prim::ceil.Scalar", "S>V");
OP(executorch_prim_round_Scalar, "executorch_prim::round.Scalar", "S>V");
OP(executorch_prim_trunc_Scalar, "executorch_prim::trunc.Scalar", "S>V");
/* `to` grows by a row: the kernel resizes it. */
OP(executorch_prim_et_copy_index_tensor, "executorch_prim::et_copy_index.tensor", "MTI>");

static wick_status infer_et_view(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    outs[0] = (struct wick_shape){.dtype = self->shape.dtype};
    wick_shape_set_contiguous(&outs[0]);
    return wick_view_sizes(args, 1, wick_tensor_numel(self), &outs[0], err);
}

const struct wick_opmeta wick_opmeta_executorch_prim_et_view_default = {
    .name = "executorch_prim::et_view.default", .signature = "TN>T", .alias = WICK_ALIAS_VIEW, .infer = infer_et_view};
