/* ops/compare/choose.c - where and clamp. */
#include "ops/elementwise.h"

#define WHERE_KERNEL(name, type)                                                             \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params) \
    {                                                                                        \
        type *to = out;                                                                      \
        const type *condition = in[0], *x = in[1], *y = in[2];                               \
        (void)params;                                                                        \
        for (size_t i = 0; i < n; i++) to[i] = condition[i] != 0 ? x[i] : y[i];              \
    }
WHERE_KERNEL(where_f32, float)
WHERE_KERNEL(where_f64, double)
WHERE_KERNEL(where_i64, int64_t)

static wick_status run_where(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{where_f32, where_f64, where_i64}};
    const struct wick_tensor *ins[3] = {wick_arg_tensor(args, 0), wick_arg_tensor(args, 1), wick_arg_tensor(args, 2)};
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    int dtype = wick_dtype_promote(ins[1]->shape.dtype, ins[2]->shape.dtype);
    struct wick_params params = {0};
    (void)state;
    if (ins[0]->shape.dtype != WICK_DTYPE_BOOL && ins[0]->shape.dtype != WICK_DTYPE_U8)
        return wick_fail(run->err, WICK_INVALID_TYPE, "the condition is %s, not BOOL or BYTE", wick_dtype_name(ins[0]->shape.dtype));
    WICK_TRY(wick_out_check(dtype, out, run->err));
    return wick_elementwise(&vectors, wick_compute_of(dtype), ins, 3, out, &params, run);
}
const struct wick_op wick_op_aten_where_self_out = {.meta = &wick_opmeta_aten_where_self_out, .run = run_where};

/* Inputs: value, low, high. A NaN on any side wins; high wins over low. */
#define CLAMP_KERNEL(name, type)                                                             \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params) \
    {                                                                                        \
        type *to = out;                                                                      \
        const type *values = in[0], *lows = in[1], *highs = in[2];                           \
        for (size_t i = 0; i < n; i++) {                                                     \
            type x = values[i];                                                              \
            if (params->i[0] && x == x && !(x >= lows[i])) x = lows[i];                      \
            if (params->i[1] && x == x && !(x <= highs[i])) x = highs[i];                    \
            to[i] = x;                                                                       \
        }                                                                                    \
    }
CLAMP_KERNEL(clamp_f32, float)
CLAMP_KERNEL(clamp_f64, double)
CLAMP_KERNEL(clamp_i64, int64_t)

/* An absent bound is passed as the value itself and not looked at. */
static wick_status clamp(const struct wick_tensor *self, const struct wick_tensor *low, const struct wick_tensor *high, int dtype,
                         struct wick_tensor *out, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{clamp_f32, clamp_f64, clamp_i64}};
    const struct wick_tensor *ins[3] = {self, low ? low : self, high ? high : self};
    struct wick_params params = {.i = {low != NULL, high != NULL}};
    WICK_TRY(wick_out_check(dtype, out, run->err));
    return wick_elementwise(&vectors, wick_compute_of(dtype), ins, 3, out, &params, run);
}

static wick_status run_clamp(const struct wick_args *args, const void *state, struct wick_run *run)
{
    struct wick_scalar_tensor storage[2];
    const struct wick_tensor *self = wick_arg_tensor(args, 0), *bounds[2] = {NULL, NULL};
    int dtype = self->shape.dtype;
    (void)state;
    for (uint32_t k = 0; k < 2; k++)
        if (!wick_arg_is_none(args, k + 1)) dtype = wick_dtype_with_scalar(dtype, wick_arg(args, k + 1));
    for (uint32_t k = 0; k < 2; k++)
        if (!wick_arg_is_none(args, k + 1)) bounds[k] = wick_scalar_as_tensor(wick_arg(args, k + 1), dtype, &storage[k]);
    return clamp(self, bounds[0], bounds[1], dtype, wick_arg_tensor(args, 3), run);
}
const struct wick_op wick_op_aten_clamp_out = {.meta = &wick_opmeta_aten_clamp_out, .run = run_clamp};

static wick_status run_clamp_tensor(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *self = wick_arg_tensor(args, 0), *low = wick_arg_tensor(args, 1), *high = wick_arg_tensor(args, 2);
    int dtype = self->shape.dtype;
    (void)state;
    if (low) dtype = wick_dtype_promote(dtype, low->shape.dtype);
    if (high) dtype = wick_dtype_promote(dtype, high->shape.dtype);
    return clamp(self, low, high, dtype, wick_arg_tensor(args, 3), run);
}
const struct wick_op wick_op_aten_clamp_Tensor_out = {.meta = &wick_opmeta_aten_clamp_Tensor_out, .run = run_clamp_tensor};
