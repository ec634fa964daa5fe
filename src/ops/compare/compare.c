/* ops/compare/compare.c - comparisons and logic (results 0 or 1) and operations on bits. */
#include "ops/elementwise.h"

enum form { TENSORS, WITH_SCALAR };

/* How operands are converted and what out may be. */
enum meaning { TRUTH, BITS };

static wick_status run_pair(const struct wick_args *args, struct wick_run *run, const struct wick_vectors *vectors, enum form form,
                            enum meaning meaning)
{
    struct wick_scalar_tensor scalar;
    const struct wick_tensor *ins[2] = {wick_arg_tensor(args, 0), wick_arg_tensor(args, 1)};
    int dtype = form == TENSORS ? wick_dtype_promote(ins[0]->shape.dtype, ins[1]->shape.dtype)
                                : wick_dtype_with_scalar(ins[0]->shape.dtype, wick_arg(args, 1));
    if (form == WITH_SCALAR) ins[1] = wick_scalar_as_tensor(wick_arg(args, 1), dtype, &scalar);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    struct wick_params params = {0};
    if (meaning == BITS && wick_dtype_is_float(dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "operations on bits are for integers and bool, not %s", wick_dtype_name(dtype));
    WICK_TRY(wick_out_check(meaning == BITS ? dtype : WICK_DTYPE_BOOL, out, run->err));
    return wick_elementwise(vectors, wick_compute_of(dtype), ins, 2, out, &params, run);
}

#define TRUTH_VECTORS(name, expr)           \
    WICK_KERNEL2(name##_f32, float, expr)   \
    WICK_KERNEL2(name##_f64, double, expr)  \
    WICK_KERNEL2(name##_i64, int64_t, expr) \
    static const struct wick_vectors name##_vectors = {{name##_f32, name##_f64, name##_i64}};

#define COMPARE(name, expr)                                                          \
    TRUTH_VECTORS(name, expr)                                                        \
    WICK_OP_RUN(aten_##name##_Tensor_out, run_pair, &name##_vectors, TENSORS, TRUTH) \
    WICK_OP_RUN(aten_##name##_Scalar_out, run_pair, &name##_vectors, WITH_SCALAR, TRUTH)

COMPARE(eq, x == y)
COMPARE(ne, x != y)
COMPARE(ge, x >= y)
COMPARE(gt, x > y)
COMPARE(le, x <= y)
COMPARE(lt, x < y)

#define LOGICAL(name, expr)   \
    TRUTH_VECTORS(name, expr) \
    WICK_OP_RUN(aten_##name##_out, run_pair, &name##_vectors, TENSORS, TRUTH)

LOGICAL(logical_and, x != 0 && y != 0)
LOGICAL(logical_or, x != 0 || y != 0)
LOGICAL(logical_xor, (x != 0) != (y != 0))

/* Shifts by less than 0 or by at least the width leave zeros on the left, the sign on the right. */
static int64_t shift_left(int64_t value, int64_t count) { return count < 0 || count > 63 ? 0 : (int64_t)((uint64_t)value << count); }
static int64_t shift_right(int64_t value, int64_t count) { return value >> (count < 0 || count > 63 ? 63 : count); }

#define ON_BITS(name, tensor, scalar, expr)                                       \
    WICK_KERNEL2(name##_i64, int64_t, expr)                                       \
    static const struct wick_vectors name##_vectors = {{NULL, NULL, name##_i64}}; \
    WICK_OP_RUN(aten_##name##_##tensor, run_pair, &name##_vectors, TENSORS, BITS) \
    WICK_OP_RUN(aten_##name##_##scalar, run_pair, &name##_vectors, WITH_SCALAR, BITS)

ON_BITS(bitwise_and, Tensor_out, Scalar_out, x &y)
ON_BITS(bitwise_or, Tensor_out, Scalar_out, x | y)
ON_BITS(bitwise_xor, Tensor_out, Scalar_out, x ^ y)
ON_BITS(bitwise_left_shift, Tensor_out, Tensor_Scalar_out, shift_left(x, y))
ON_BITS(bitwise_right_shift, Tensor_out, Tensor_Scalar_out, shift_right(x, y))

WICK_KERNEL1(not_f32, float, x == 0)
WICK_KERNEL1(not_f64, double, x == 0)
WICK_KERNEL1(not_i64, int64_t, x == 0)
WICK_KERNEL1(complement_i64, int64_t, ~x)

static const struct wick_vectors not_vectors = {{not_f32, not_f64, not_i64}}, complement_vectors = {{NULL, NULL, complement_i64}};

/* On bool the complement of bits is the logical one. */
static wick_status run_not(const struct wick_args *args, struct wick_run *run, enum meaning meaning)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 1);
    bool logical = meaning == TRUTH || in->shape.dtype == WICK_DTYPE_BOOL;
    struct wick_params params = {0};
    WICK_TRY(wick_out_check(logical ? WICK_DTYPE_BOOL : in->shape.dtype, out, run->err));
    return wick_elementwise(logical ? &not_vectors : &complement_vectors, wick_compute_of(in->shape.dtype), &in, 1, out, &params, run);
}
WICK_OP_RUN(aten_logical_not_out, run_not, TRUTH)
WICK_OP_RUN(aten_bitwise_not_out, run_not, BITS)
