/* ops/create/random.c - random tensors. Streams are seeded by the clock: no state is kept, and no two calls agree. */
#include "ops/elementwise.h"

/* xorshift64*; the upper 53 bits as a number in [0, 1). */
static double uniform(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * 0x2545f4914f6cdd1dull >> 11) * 0x1p-53;
}

/* Box-Muller; 1 - u keeps the logarithm away from 0. */
static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - uniform(state)));
    return radius * cos(6.28318530717958647692 * uniform(state));
}

/* Bits of a mantissa: a number below 1 cut to these stays below 1. */
static int precision_of(int dtype) { return dtype == WICK_DTYPE_F64 ? 53 : dtype == WICK_DTYPE_F32 ? 24 : dtype == WICK_DTYPE_F16 ? 11 : 8; }

static wick_status run_random(const struct wick_args *args, struct wick_run *run, double (*draw)(uint64_t *))
{
    struct wick_tensor *out = wick_arg_tensor(args, 1);
    if (!wick_dtype_is_float(out->shape.dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "random numbers of type %s", wick_dtype_name(out->shape.dtype));
    wick_store_fn *store = wick_storer(out->shape.dtype, WICK_COMPUTE_F64);
    size_t count = wick_tensor_numel(out), element = wick_dtype_size(out->shape.dtype);
    uint64_t state = (wick_now_ns() ^ (uint64_t)(uintptr_t)out->data) * 0x9e3779b97f4a7c15ull | 1;
    double scale = ldexp(1, precision_of(out->shape.dtype));
    for (size_t i = 0; i < count; i++) {
        double value = floor(draw(&state) * scale) / scale;
        store((char *)out->data + i * element, 1, &value, 1);
    }
    return WICK_OK;
}
WICK_OP_RUN(aten_rand_out, run_random, uniform)
WICK_OP_RUN(aten_randn_out, run_random, normal)
