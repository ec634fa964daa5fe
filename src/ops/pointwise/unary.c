/* ops/pointwise/unary.c - functions of one element; each is a set of vector kernels run by ops/elementwise. */
#include "ops/elementwise.h"

enum unary_kind {
    UNARY_KEEPS, /* integers stay integers */
    UNARY_FLOAT, /* integers are computed as floats */
    UNARY_TEST,  /* true or false */
};

static wick_status run_unary(const struct wick_args *args, struct wick_run *run, const struct wick_vectors *vectors, enum unary_kind kind)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 1);
    int dtype = in->shape.dtype;
    if (kind == UNARY_FLOAT) dtype = wick_dtype_floating(dtype);
    /* An f64 out takes the function of an integer exactly. */
    if (kind == UNARY_FLOAT && out->shape.dtype == WICK_DTYPE_F64) dtype = WICK_DTYPE_F64;
    WICK_TRY(wick_out_check(kind == UNARY_TEST ? WICK_DTYPE_BOOL : dtype, out, run->err));
    struct wick_params params = {.i = {in->shape.dtype == WICK_DTYPE_BOOL}};
    return wick_elementwise(vectors, wick_compute_of(dtype), &in, 1, out, &params, run);
}

#define KEEPS(name, expr_f32, expr_f64, expr_i64) \
    WICK_KERNEL1(name##_f32, float, expr_f32)     \
    KEEPS_OTHERS(name, expr_f64, expr_i64)
/* With a micro-kernel for f32. */
#define KEEPS_FAST(name, expr_f64, expr_i64) \
    WICK_UKERNEL1(name##_f32, name)          \
    KEEPS_OTHERS(name, expr_f64, expr_i64)
#define KEEPS_OTHERS(name, expr_f64, expr_i64)                                                \
    WICK_KERNEL1(name##_f64, double, expr_f64)                                                \
    WICK_KERNEL1(name##_i64, int64_t, expr_i64)                                               \
    static const struct wick_vectors name##_vectors = {{name##_f32, name##_f64, name##_i64}}; \
    WICK_OP_RUN(aten_##name##_out, run_unary, &name##_vectors, UNARY_KEEPS)

/* Two's complement wraps: -INT64_MIN and its absolute value are itself. */
#define NEGATED(x) ((int64_t)(0 - (uint64_t)(x)))

KEEPS_FAST(abs, fabs(x), x < 0 ? NEGATED(x) : x)
KEEPS_FAST(neg, -x, NEGATED(x))
KEEPS(sign, (float)((x > 0) - (x < 0)), (x > 0) - (x < 0), (x > 0) - (x < 0))
KEEPS(relu, x < 0 ? 0 : x, x < 0 ? 0 : x, x < 0 ? 0 : x)
KEEPS(ceil, ceilf(x), ceil(x), x)
KEEPS(floor, floorf(x), floor(x), x)
KEEPS(round, nearbyintf(x), nearbyint(x), x)
KEEPS(trunc, truncf(x), trunc(x), x)
KEEPS(_conj_physical, x, x, x)

#define FLOAT(name, expr_f32, expr_f64)       \
    WICK_KERNEL1(name##_f32, float, expr_f32) \
    FLOAT_F64(name, expr_f64)
#define FLOAT_FAST(name, expr_f64)  \
    WICK_UKERNEL1(name##_f32, name) \
    FLOAT_F64(name, expr_f64)
#define FLOAT_F64(name, expr_f64)                                                       \
    WICK_KERNEL1(name##_f64, double, expr_f64)                                          \
    static const struct wick_vectors name##_vectors = {{name##_f32, name##_f64, NULL}}; \
    WICK_OP_RUN(aten_##name##_out, run_unary, &name##_vectors, UNARY_FLOAT)

#define LIBM(name) FLOAT(name, name##f(x), name(x))

LIBM(acos)
LIBM(acosh)
LIBM(asin)
LIBM(asinh)
LIBM(atan)
LIBM(atanh)
LIBM(cos)
LIBM(cosh)
LIBM(erf)
LIBM(expm1)
LIBM(log)
LIBM(log10)
LIBM(log1p)
LIBM(log2)
LIBM(sin)
LIBM(sinh)
LIBM(tan)
FLOAT(reciprocal, 1.0f / x, 1.0 / x)
FLOAT_FAST(exp, exp(x))
FLOAT_FAST(sqrt, sqrt(x))
FLOAT_FAST(rsqrt, 1.0 / sqrt(x))
FLOAT_FAST(sigmoid, 1.0 / (1.0 + exp(-x)))
FLOAT_FAST(tanh, tanh(x))

#define TEST(name, expr)                                                                      \
    WICK_KERNEL1(name##_f32, float, expr)                                                     \
    WICK_KERNEL1(name##_f64, double, expr)                                                    \
    WICK_KERNEL1(name##_i64, int64_t, ((void)x, 0))                                           \
    static const struct wick_vectors name##_vectors = {{name##_f32, name##_f64, name##_i64}}; \
    WICK_OP_RUN(aten_##name##_out, run_unary, &name##_vectors, UNARY_TEST)

TEST(isinf, isinf(x) != 0)
TEST(isnan, x != x)

/* log(x / (1 - x)); with eps given, x is first clamped to [eps, 1 - eps]. i[0]: it is. */
static double clamp_logit(double x, const struct wick_params *params)
{
    if (!params->i[0]) return x;
    return x < params->d[0] ? params->d[0] : x > 1.0 - params->d[0] ? 1.0 - params->d[0] : x;
}
WICK_KERNEL1(logit_f32, float, logf((float)clamp_logit(x, params) / (1.0f - (float)clamp_logit(x, params))))
WICK_KERNEL1(logit_f64, double, log(clamp_logit(x, params) / (1.0 - clamp_logit(x, params))))

static wick_status run_logit(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{logit_f32, logit_f64, NULL}};
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    bool clamps = !wick_arg_is_none(args, 1);
    struct wick_params params = {.d = {clamps ? wick_arg_double(args, 1) : 0}, .i = {clamps}};
    int dtype = wick_dtype_floating(in->shape.dtype);
    (void)state;
    WICK_TRY(wick_out_check(dtype, out, run->err));
    return wick_elementwise(&vectors, wick_compute_of(dtype), &in, 1, out, &params, run);
}
const struct wick_op wick_op_aten_logit_out = {.meta = &wick_opmeta_aten_logit_out, .run = run_logit};
