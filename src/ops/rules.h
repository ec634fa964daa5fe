/* ops/rules.h - shape and type rules that many operators share; usable as wick_opmeta.infer.
 *
 * Types follow torch: integers of a float function become f32; a tensor of rank 0 and a Scalar do not widen a tensor
 * with dims of the same category (bool < integer < float). Every rule fills its whole wick_shape. */
#ifndef WICK_OPS_RULES_H
#define WICK_OPS_RULES_H

#include "ops/ops.h"

/* Defines wick_opmeta_<id>; alias without its prefix. */
#define WICK_META(id, name, signature, alias, infer) const struct wick_opmeta wick_opmeta_##id = {name, signature, WICK_ALIAS_##alias, infer};

/* The type of a rule's result, given the promoted type of its operands. */
enum wick_result { WICK_RESULT_SAME, WICK_RESULT_FLOAT, WICK_RESULT_BOOL };
int wick_result_dtype(int promoted, enum wick_result result);

/* f32 for integers and bool, else itself. */
int wick_dtype_floating(int dtype);
/* dtype op Scalar. */
int wick_dtype_with_scalar(int dtype, const struct wick_value *scalar);
/* Types that elementwise operators compute with: u8 i8 i16 i32 i64 f16 f32 f64 bool bf16. */
bool wick_dtype_is_arithmetic(int dtype);
/* Whether a result of type `from` may be stored in an out of type `to` (torch's can_cast): no float to integer, no
 * number to bool. */
bool wick_dtype_can_cast(int from, int to);
/* Type of an operation on two tensors, with the rule for rank 0. */
int wick_dtype_of_pair(const struct wick_shape *a, const struct wick_shape *b);

/* out[0] from arg 0 alone: its sizes and dim order. */
wick_status wick_infer_like(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
wick_status wick_infer_like_float(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
wick_status wick_infer_like_bool(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
/* Args 0 and 1 are tensors that broadcast. */
wick_status wick_infer_pair(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
wick_status wick_infer_pair_float(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
wick_status wick_infer_pair_bool(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
/* Arg 0 is a tensor, arg 1 a Scalar. */
wick_status wick_infer_scalar(const struct wick_args *args, struct wick_shape *outs, wick_error *err);
wick_status wick_infer_scalar_float(const struct wick_args *args, struct wick_shape *outs, wick_error *err);

/* Broadcasts b into out, which holds a's shape before; dtype is left alone. Names both shapes when they do not fit. */
wick_status wick_rule_broadcast(struct wick_shape *out, const struct wick_shape *b, wick_error *err);
/* A dim argument; INVALID_ARGUMENT names it when it is outside. */
wick_status wick_rule_dim(int64_t dim, int rank, int *wrapped, wick_error *err);
/* An int[] argument as sizes of a contiguous shape; checks that none is negative and that the bytes do not overflow. */
wick_status wick_rule_sizes(const struct wick_args *args, uint32_t k, int dtype, struct wick_shape *out, wick_error *err);
/* The dims that a list argument names, as a bit mask; none or empty: all. */
wick_status wick_rule_dim_mask(const struct wick_args *args, uint32_t k, int rank, uint32_t *mask, wick_error *err);
/* in without the dims of mask; with keepdim they stay as 1. dtype of in. */
void wick_rule_reduce(const struct wick_shape *in, uint32_t mask, bool keepdim, struct wick_shape *out);

#endif
