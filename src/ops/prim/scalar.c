/* ops/prim/scalar.c - arithmetic on INT, DOUBLE and BOOL values: symbolic sizes, loop counters, conditions.
 *
 * A result's kind follows from its operands and replaces that of the placeholder in the file. Integers wrap. */
#include "ops/ops.h"

#include <math.h>

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

#define KERNEL(id) static wick_status run_##id(const struct wick_args *args, const void *state, struct wick_run *run)

static void put_int(struct wick_value *out, int64_t value)
{
    out->tag = WICK_TAG_INT;
    out->as.i = value;
}

static void put_double(struct wick_value *out, double value)
{
    out->tag = WICK_TAG_DOUBLE;
    out->as.d = value;
}

static void put_bool(struct wick_value *out, bool value)
{
    out->tag = WICK_TAG_BOOL;
    out->as.b = value;
}

/* Two numbers: both INT, or at least one DOUBLE and none BOOL. */
static wick_status numbers(const struct wick_args *args, bool *integers, struct wick_run *run)
{
    int a = wick_arg(args, 0)->tag, b = wick_arg(args, 1)->tag;
    *integers = a == WICK_TAG_INT && b == WICK_TAG_INT;
    if (a == WICK_TAG_BOOL || b == WICK_TAG_BOOL) return wick_fail(run->err, WICK_INVALID_TYPE, "a BOOL is no operand of arithmetic");
    return WICK_OK;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Python's float floor division; by zero an infinity of the dividend's sign. */
static double floor_divide_double(double a, double b)
{
    if (b == 0) return signbit(a) ? -(double)INFINITY : (double)INFINITY;
    double rest = fmod(a, b), q = (a - rest) / b;
    if (rest != 0 && signbit(b) != signbit(rest)) q -= 1;
    if (q == 0) return copysign(0, a / b);
    double whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

static wick_status divisor(int64_t b, struct wick_run *run)
{
    return b == 0 ? wick_fail(run->err, WICK_INVALID_ARGUMENT, "integer division by zero") : WICK_OK;
}

/* Integer and floating form of a binary operator. a and b are the operands. */
#define BINARY(id, int_result, double_result)                                                  \
    KERNEL(id)                                                                                 \
    {                                                                                          \
        (void)state;                                                                           \
        bool integers;                                                                         \
        WICK_TRY(numbers(args, &integers, run));                                               \
        if (integers) {                                                                        \
            uint64_t a = (uint64_t)wick_arg_int(args, 0), b = (uint64_t)wick_arg_int(args, 1); \
            put_int(wick_arg(args, 2), (int64_t)(int_result));                                 \
        } else {                                                                               \
            double a = wick_arg_scalar(args, 0), b = wick_arg_scalar(args, 1);                 \
            put_double(wick_arg(args, 2), double_result);                                      \
        }                                                                                      \
        return WICK_OK;                                                                        \
    }                                                                                          \
    OP(id)

BINARY(executorch_prim_add_Scalar, a + b, a + b);
BINARY(executorch_prim_sub_Scalar, a - b, a - b);
BINARY(executorch_prim_mul_Scalar, a *b, a *b);

KERNEL(executorch_prim_floordiv_Scalar)
{
    (void)state;
    bool integers;
    WICK_TRY(numbers(args, &integers, run));
    if (integers) {
        WICK_TRY(divisor(wick_arg_int(args, 1), run));
        put_int(wick_arg(args, 2), floor_divide(wick_arg_int(args, 0), wick_arg_int(args, 1)));
    } else {
        put_double(wick_arg(args, 2), floor_divide_double(wick_arg_scalar(args, 0), wick_arg_scalar(args, 1)));
    }
    return WICK_OK;
}

KERNEL(executorch_prim_truediv_Scalar)
{
    (void)state;
    bool integers;
    WICK_TRY(numbers(args, &integers, run));
    put_double(wick_arg(args, 2), wick_arg_scalar(args, 0) / wick_arg_scalar(args, 1));
    return WICK_OK;
}

/* C's division and remainder. */
KERNEL(executorch_prim_floordiv_int)
{
    (void)state;
    int64_t a = wick_arg_int(args, 0), b = wick_arg_int(args, 1);
    WICK_TRY(divisor(b, run));
    put_int(wick_arg(args, 2), b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b);
    return WICK_OK;
}

KERNEL(executorch_prim_mod_int)
{
    (void)state;
    int64_t a = wick_arg_int(args, 0), b = wick_arg_int(args, 1);
    WICK_TRY(divisor(b, run));
    put_int(wick_arg(args, 2), b == -1 ? 0 : a % b);
    return WICK_OK;
}

KERNEL(executorch_prim_mod_Scalar)
{
    bool integers;
    WICK_TRY(numbers(args, &integers, run));
    if (!integers) return wick_fail(run->err, WICK_INVALID_TYPE, "the remainder of a DOUBLE");
    return run_executorch_prim_mod_int(args, state, run);
}

OP(executorch_prim_floordiv_Scalar);
OP(executorch_prim_truediv_Scalar);
OP(executorch_prim_floordiv_int);
OP(executorch_prim_mod_int);
OP(executorch_prim_mod_Scalar);

/* Comparisons take two numbers or two BOOLs; integers are compared exactly. */
static wick_status compare(const struct wick_args *args, struct wick_run *run, int *order)
{
    const struct wick_value *a = wick_arg(args, 0), *b = wick_arg(args, 1);
    if ((a->tag == WICK_TAG_BOOL) != (b->tag == WICK_TAG_BOOL)) return wick_fail(run->err, WICK_INVALID_TYPE, "a BOOL compared with a number");
    if (a->tag == WICK_TAG_DOUBLE || b->tag == WICK_TAG_DOUBLE) {
        double x = wick_arg_scalar(args, 0), y = wick_arg_scalar(args, 1);
        *order = x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; /* 2: unordered, true for none */
    } else {
        int64_t x = wick_arg_scalar_int(args, 0), y = wick_arg_scalar_int(args, 1);
        *order = x < y ? -1 : x > y;
    }
    return WICK_OK;
}

#define COMPARISON(id, test)                  \
    KERNEL(id)                                \
    {                                         \
        (void)state;                          \
        int order;                            \
        WICK_TRY(compare(args, run, &order)); \
        put_bool(wick_arg(args, 2), test);    \
        return WICK_OK;                       \
    }                                         \
    OP(id)

COMPARISON(executorch_prim_eq_Scalar, order == 0);
COMPARISON(executorch_prim_gt_Scalar, order == 1);
COMPARISON(executorch_prim_lt_Scalar, order == -1);
COMPARISON(executorch_prim_ge_Scalar, order == 0 || order == 1);
COMPARISON(executorch_prim_le_Scalar, order == 0 || order == -1);

#define EXTREME(id, test)                                                                              \
    KERNEL(id)                                                                                         \
    {                                                                                                  \
        (void)state;                                                                                   \
        bool integers;                                                                                 \
        WICK_TRY(numbers(args, &integers, run));                                                       \
        if (!integers) return wick_fail(run->err, WICK_INVALID_TYPE, "the operands are not both INT"); \
        int64_t a = wick_arg_int(args, 0), b = wick_arg_int(args, 1);                                  \
        put_int(wick_arg(args, 2), test ? a : b);                                                      \
        return WICK_OK;                                                                                \
    }                                                                                                  \
    OP(id)

EXTREME(executorch_prim_sym_max_Scalar, a > b);
EXTREME(executorch_prim_sym_min_Scalar, a < b);

/* ---- one operand ---- */

KERNEL(executorch_prim_neg_Scalar)
{
    (void)state;
    const struct wick_value *a = wick_arg(args, 0);
    if (a->tag == WICK_TAG_BOOL) return wick_fail(run->err, WICK_INVALID_TYPE, "the negative of a BOOL");
    if (a->tag == WICK_TAG_INT) put_int(wick_arg(args, 1), (int64_t)(0 - (uint64_t)a->as.i));
    else put_double(wick_arg(args, 1), -a->as.d);
    return WICK_OK;
}

KERNEL(executorch_prim_sym_float_Scalar)
{
    (void)state, (void)run;
    put_double(wick_arg(args, 1), wick_arg_scalar(args, 0));
    return WICK_OK;
}

/* A finite double as the integer it is; INVALID_ARGUMENT for what int64 cannot hold. */
static wick_status put_whole(struct wick_value *out, double whole, struct wick_run *run)
{
    if (!(whole >= -0x1p63 && whole < 0x1p63)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "%g is no 64-bit integer", whole);
    put_int(out, (int64_t)whole);
    return WICK_OK;
}

KERNEL(executorch_prim_sym_int_Scalar)
{
    (void)state;
    if (wick_arg(args, 0)->tag == WICK_TAG_DOUBLE) return put_whole(wick_arg(args, 1), trunc(wick_arg_double(args, 0)), run);
    put_int(wick_arg(args, 1), wick_arg_scalar_int(args, 0));
    return WICK_OK;
}

KERNEL(executorch_prim_sym_not_Scalar)
{
    (void)state;
    if (wick_arg(args, 0)->tag != WICK_TAG_BOOL) return wick_fail(run->err, WICK_INVALID_TYPE, "the operand is no BOOL");
    put_bool(wick_arg(args, 1), !wick_arg_bool(args, 0));
    return WICK_OK;
}

KERNEL(executorch_prim_sym_ite_Scalar)
{
    (void)state;
    if (wick_arg(args, 0)->tag != WICK_TAG_BOOL) return wick_fail(run->err, WICK_INVALID_TYPE, "the condition is no BOOL");
    *wick_arg(args, 3) = *wick_arg(args, wick_arg_bool(args, 0) ? 1 : 2);
    return WICK_OK;
}

#define WHOLE(id, function)                                                                                                       \
    KERNEL(id)                                                                                                                    \
    {                                                                                                                             \
        (void)state;                                                                                                              \
        if (wick_arg(args, 0)->tag != WICK_TAG_DOUBLE) return wick_fail(run->err, WICK_INVALID_TYPE, "the operand is no DOUBLE"); \
        return put_whole(wick_arg(args, 1), function(wick_arg_double(args, 0)), run);                                             \
    }                                                                                                                             \
    OP(id)

/* To the nearest, ties to even, whatever rounding mode the host has set. */
static double round_even(double x)
{
    double whole = floor(x), rest = x - whole;
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) != 0)) whole += 1;
    return whole;
}

WHOLE(executorch_prim_ceil_Scalar, ceil);
WHOLE(executorch_prim_trunc_Scalar, trunc);
WHOLE(executorch_prim_round_Scalar, round_even);

OP(executorch_prim_neg_Scalar);
OP(executorch_prim_sym_float_Scalar);
OP(executorch_prim_sym_int_Scalar);
OP(executorch_prim_sym_not_Scalar);
OP(executorch_prim_sym_ite_Scalar);
