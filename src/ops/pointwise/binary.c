/* ops/pointwise/binary.c - arithmetic of two tensors or a tensor and a Scalar; vector kernels run by ops/elementwise. */
#include "ops/elementwise.h"

/* Integers wrap: in unsigned arithmetic, where that is defined. */
#define WRAP(a, op, b) ((int64_t)((uint64_t)(a)op(uint64_t)(b)))

enum form { TENSORS, WITH_SCALAR, SCALAR_FIRST };

/* out = f(a, b) with a and b converted to the promoted type (for WICK_RESULT_FLOAT: as a float). `at`: index of out. */
static wick_status run_pair(const struct wick_args *args, struct wick_run *run, const struct wick_vectors *vectors, enum form form,
                            enum wick_result result, struct wick_params *params, uint32_t at)
{
    struct wick_scalar_tensor scalar;
    const struct wick_tensor *ins[2] = {form == SCALAR_FIRST ? NULL : wick_arg_tensor(args, 0),
                                        form == WITH_SCALAR ? NULL : wick_arg_tensor(args, 1)};
    int dtype = form == TENSORS       ? wick_dtype_promote(ins[0]->shape.dtype, ins[1]->shape.dtype)
                : form == WITH_SCALAR ? wick_dtype_with_scalar(ins[0]->shape.dtype, wick_arg(args, 1))
                                      : wick_dtype_with_scalar(ins[1]->shape.dtype, wick_arg(args, 0));
    dtype = wick_result_dtype(dtype, result);
    if (form == WITH_SCALAR) ins[1] = wick_scalar_as_tensor(wick_arg(args, 1), dtype, &scalar);
    if (form == SCALAR_FIRST) ins[0] = wick_scalar_as_tensor(wick_arg(args, 0), dtype, &scalar);
    struct wick_tensor *out = wick_arg_tensor(args, at);
    WICK_TRY(wick_out_check(dtype, out, run->err));
    WICK_TRY(wick_elementwise(vectors, wick_compute_of(dtype), ins, 2, out, params, run));
    if (atomic_load(&params->failed)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "integer division by zero");
    return WICK_OK;
}

static wick_status run_plain(const struct wick_args *args, struct wick_run *run, const struct wick_vectors *vectors, enum form form,
                             enum wick_result result)
{
    struct wick_params params = {0};
    return run_pair(args, run, vectors, form, result, &params, 2);
}

#define VECTORS(name, expr_f32, expr_f64, expr_i64) \
    WICK_KERNEL2(name##_f32, float, expr_f32)       \
    OTHER_VECTORS(name, expr_f64, expr_i64)
/* With a micro-kernel for f32. */
#define FAST_VECTORS(name, expr_f64, expr_i64) \
    WICK_UKERNEL2(name##_f32, name)            \
    OTHER_VECTORS(name, expr_f64, expr_i64)
#define OTHER_VECTORS(name, expr_f64, expr_i64) \
    WICK_KERNEL2(name##_f64, double, expr_f64)  \
    WICK_KERNEL2(name##_i64, int64_t, expr_i64) \
    static const struct wick_vectors name##_vectors = {{name##_f32, name##_f64, name##_i64}};

/* ---- add, subtract, multiply ---- */

FAST_VECTORS(add, x + y, WRAP(x, +, y))
VECTORS(add_scaled, x + (float)params->d[0] * y, x + params->d[0] * y, WRAP(x, +, WRAP(params->i[0], *, y)))
FAST_VECTORS(sub, x - y, WRAP(x, -, y))
VECTORS(sub_scaled, x - (float)params->d[0] * y, x - params->d[0] * y, WRAP(x, -, WRAP(params->i[0], *, y)))
VECTORS(reversed_sub, y - x, y - x, WRAP(y, -, x))
VECTORS(reversed_sub_scaled, y - (float)params->d[0] * x, y - params->d[0] * x, WRAP(y, -, WRAP(params->i[0], *, x)))
FAST_VECTORS(mul, x *y, WRAP(x, *, y))

/* Arguments (a, b, alpha). */
static wick_status run_scaled(const struct wick_args *args, struct wick_run *run, const struct wick_vectors *plain, const struct wick_vectors *scaled,
                              enum form form)
{
    struct wick_params params = {.d = {wick_arg_scalar(args, 2)}, .i = {wick_arg_scalar_int(args, 2)}};
    const struct wick_tensor *a = wick_arg_tensor(args, 0);
    int b = form == TENSORS ? wick_arg_tensor(args, 1)->shape.dtype : wick_dtype_with_scalar(a->shape.dtype, wick_arg(args, 1));
    bool integral = !wick_dtype_is_float(a->shape.dtype) && !wick_dtype_is_float(b);
    if (integral && wick_arg(args, 2)->tag == WICK_TAG_DOUBLE && params.d[0] != (double)params.i[0])
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "alpha is %g, but both operands are integers", params.d[0]);
    return run_pair(args, run, params.d[0] == 1.0 ? plain : scaled, form, WICK_RESULT_SAME, &params, 3);
}
WICK_OP_RUN(aten_add_out, run_scaled, &add_vectors, &add_scaled_vectors, TENSORS)
WICK_OP_RUN(aten_sub_out, run_scaled, &sub_vectors, &sub_scaled_vectors, TENSORS)
WICK_OP_RUN(aten_add_Scalar_out, run_scaled, &add_vectors, &add_scaled_vectors, WITH_SCALAR)
WICK_OP_RUN(aten_sub_Scalar_out, run_scaled, &sub_vectors, &sub_scaled_vectors, WITH_SCALAR)
WICK_OP_RUN(aten_rsub_Scalar_out, run_scaled, &reversed_sub_vectors, &reversed_sub_scaled_vectors, WITH_SCALAR)
WICK_OP_RUN(aten_mul_out, run_plain, &mul_vectors, TENSORS, WICK_RESULT_SAME)
WICK_OP_RUN(aten_mul_Scalar_out, run_plain, &mul_vectors, WITH_SCALAR, WICK_RESULT_SAME)

/* ---- divide ---- */

/* Reports a zero divisor; the quotient is then of no consequence. INT64_MIN / -1 wraps. */
static int64_t quotient(int64_t a, int64_t b, struct wick_params *params)
{
    if (b == 0) atomic_store(&params->failed, true);
    return b == 0 ? 0 : b == -1 ? WRAP(0, -, a) : a / b;
}

static int64_t modulo(int64_t a, int64_t b, struct wick_params *params)
{
    if (b == 0) atomic_store(&params->failed, true);
    return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t floored_quotient(int64_t a, int64_t b, struct wick_params *params)
{
    int64_t q = quotient(a, b, params), r = modulo(a, b, params);
    return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
}

static int64_t floored_modulo(int64_t a, int64_t b, struct wick_params *params)
{
    int64_t r = modulo(a, b, params);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Python's floor division: exact where a / b would round up to the next integer. */
static double floored_division(double a, double b)
{
    if (b == 0) return a / b;
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0)) q -= 1;
    if (q == 0) return copysign(0.0, a / b);
    double whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

static double floored_remainder(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}

FAST_VECTORS(div, x / y, quotient(x, y, params))
VECTORS(div_trunc, truncf(x / y), trunc(x / y), quotient(x, y, params))
VECTORS(div_floor, floored_division(x, y), floored_division(x, y), floored_quotient(x, y, params))
VECTORS(fmod, fmodf(x, y), fmod(x, y), modulo(x, y, params))
VECTORS(remainder, floored_remainder(x, y), floored_remainder(x, y), floored_modulo(x, y, params))

/* Arguments (a, b, rounding_mode). */
static wick_status run_div_mode(const struct wick_args *args, struct wick_run *run, enum form form)
{
    struct wick_params params = {0};
    if (wick_arg_is_none(args, 2)) return run_pair(args, run, &div_vectors, form, WICK_RESULT_FLOAT, &params, 3);
    struct wick_str mode = wick_arg(args, 2)->as.string;
    bool floors = wick_str_is(mode, "floor");
    if (!floors && !wick_str_is(mode, "trunc"))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "rounding_mode is \"%.*s\", not \"floor\" or \"trunc\"", (int)WICK_MIN(mode.size, 32),
                         mode.data);
    return run_pair(args, run, floors ? &div_floor_vectors : &div_trunc_vectors, form, WICK_RESULT_SAME, &params, 3);
}
WICK_OP_RUN(aten_div_out, run_plain, &div_vectors, TENSORS, WICK_RESULT_FLOAT)
WICK_OP_RUN(aten_div_Scalar_out, run_plain, &div_vectors, WITH_SCALAR, WICK_RESULT_FLOAT)
WICK_OP_RUN(aten_div_out_mode, run_div_mode, TENSORS)
WICK_OP_RUN(aten_div_Scalar_mode_out, run_div_mode, WITH_SCALAR)
WICK_OP_RUN(aten_floor_divide_out, run_plain, &div_floor_vectors, TENSORS, WICK_RESULT_SAME)
WICK_OP_RUN(aten_fmod_Tensor_out, run_plain, &fmod_vectors, TENSORS, WICK_RESULT_SAME)
WICK_OP_RUN(aten_fmod_Scalar_out, run_plain, &fmod_vectors, WITH_SCALAR, WICK_RESULT_SAME)
WICK_OP_RUN(aten_remainder_Tensor_out, run_plain, &remainder_vectors, TENSORS, WICK_RESULT_SAME)
WICK_OP_RUN(aten_remainder_Scalar_out, run_plain, &remainder_vectors, WITH_SCALAR, WICK_RESULT_SAME)

/* ---- power, extremes, angle ---- */

/* Wraps like repeated multiplication; a negative exponent leaves what an integer can hold of 1 / base^-e. */
static int64_t integer_power(int64_t base, int64_t exponent)
{
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)base;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result *= square;
        square *= square;
    }
    return (int64_t)result;
}

VECTORS(pow, powf(x, y), pow(x, y), integer_power(x, y))
VECTORS(square, x *x, x *x, WRAP(x, *, x))
/* A NaN on either side wins. */
VECTORS(maximum, x != x || x > y ? x : y, x != x || x > y ? x : y, x > y ? x : y)
VECTORS(minimum, x != x || x < y ? x : y, x != x || x < y ? x : y, x < y ? x : y)
VECTORS(atan2, atan2f(x, y), atan2(x, y), x)

static wick_status run_pow_scalar(const struct wick_args *args, const void *state, struct wick_run *run)
{
    bool squares = wick_arg_scalar(args, 1) == 2.0;
    (void)state;
    return run_plain(args, run, squares ? &square_vectors : &pow_vectors, WITH_SCALAR, WICK_RESULT_SAME);
}
const struct wick_op wick_op_aten_pow_Tensor_Scalar_out = {.meta = &wick_opmeta_aten_pow_Tensor_Scalar_out, .run = run_pow_scalar};
WICK_OP_RUN(aten_pow_Scalar_out, run_plain, &pow_vectors, SCALAR_FIRST, WICK_RESULT_SAME)
WICK_OP_RUN(aten_pow_Tensor_Tensor_out, run_plain, &pow_vectors, TENSORS, WICK_RESULT_SAME)
WICK_OP_RUN(aten_maximum_out, run_plain, &maximum_vectors, TENSORS, WICK_RESULT_SAME)
WICK_OP_RUN(aten_minimum_out, run_plain, &minimum_vectors, TENSORS, WICK_RESULT_SAME)
WICK_OP_RUN(aten_atan2_out, run_plain, &atan2_vectors, TENSORS, WICK_RESULT_FLOAT)
