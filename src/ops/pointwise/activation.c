/* ops/pointwise/activation.c - activations with parameters, gated halves, dropout. */
#include "ops/elementwise.h"

/* One input (arg 0) with parameters; floats only unless there is an i64 kernel. */
static wick_status run_activation(const struct wick_args *args, struct wick_run *run, const struct wick_vectors *vectors, struct wick_params *params,
                                  uint32_t at)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, at);
    WICK_TRY(wick_out_check(in->shape.dtype, out, run->err));
    return wick_elementwise(vectors, wick_compute_of(in->shape.dtype), &in, 1, out, params, run);
}

/* d: alpha * scale, scale, input_scale */
WICK_KERNEL1(elu_f32, float, x <= 0 ? expm1f(x * (float)params->d[2]) * (float)params->d[0] : x * (float)params->d[1])
WICK_KERNEL1(elu_f64, double, x <= 0 ? expm1(x * params->d[2]) * params->d[0] : x * params->d[1])

static wick_status run_elu(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{elu_f32, elu_f64, NULL}};
    double scale = wick_arg_scalar(args, 2);
    struct wick_params params = {.d = {wick_arg_scalar(args, 1) * scale, scale, wick_arg_scalar(args, 3)}};
    (void)state;
    return run_activation(args, run, &vectors, &params, 4);
}
const struct wick_op wick_op_aten_elu_out = {.meta = &wick_opmeta_aten_elu_out, .run = run_elu};

#define SQRT_HALF 0.70710678118654752440
#define SQRT_2_OVER_PI 0.79788456080286535588
WICK_UKERNEL1(gelu_f32, gelu)
WICK_KERNEL1(gelu_f64, double, 0.5 * x * (1.0 + erf(x * SQRT_HALF)))
WICK_KERNEL1(gelu_tanh_f32, float, 0.5f * x * (1.0f + tanhf((float)SQRT_2_OVER_PI * (x + 0.044715f * x * x * x))))
WICK_KERNEL1(gelu_tanh_f64, double, 0.5 * x * (1.0 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x))))

static wick_status run_gelu(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors exact = {{gelu_f32, gelu_f64, NULL}}, approximate = {{gelu_tanh_f32, gelu_tanh_f64, NULL}};
    struct wick_str mode = wick_arg(args, 1)->as.string;
    struct wick_params params = {0};
    (void)state;
    if (wick_str_is(mode, "none")) return run_activation(args, run, &exact, &params, 2);
    if (wick_str_is(mode, "tanh")) return run_activation(args, run, &approximate, &params, 2);
    return wick_fail(run->err, WICK_INVALID_ARGUMENT, "approximate is \"%.*s\", not \"none\" or \"tanh\"", (int)WICK_MIN(mode.size, 32), mode.data);
}
const struct wick_op wick_op_aten_gelu_out = {.meta = &wick_opmeta_aten_gelu_out, .run = run_gelu};

/* Bounds in d and i; a NaN passes. */
#define CLIP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
WICK_KERNEL1(hardtanh_f32, float, CLIP(x, (float)params->d[0], (float)params->d[1]))
WICK_KERNEL1(hardtanh_f64, double, CLIP(x, params->d[0], params->d[1]))
WICK_KERNEL1(hardtanh_i64, int64_t, CLIP(x, params->i[0], params->i[1]))

static wick_status run_hardtanh(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{hardtanh_f32, hardtanh_f64, hardtanh_i64}};
    struct wick_params params = {.d = {wick_arg_scalar(args, 1), wick_arg_scalar(args, 2)},
                                 .i = {wick_arg_scalar_int(args, 1), wick_arg_scalar_int(args, 2)}};
    (void)state;
    return run_activation(args, run, &vectors, &params, 3);
}
const struct wick_op wick_op_aten_hardtanh_out = {.meta = &wick_opmeta_aten_hardtanh_out, .run = run_hardtanh};

WICK_KERNEL1(leaky_relu_f32, float, x > 0 ? x : x * (float)params->d[0])
WICK_KERNEL1(leaky_relu_f64, double, x > 0 ? x : x * params->d[0])

static wick_status run_leaky_relu(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{leaky_relu_f32, leaky_relu_f64, NULL}};
    struct wick_params params = {.d = {wick_arg_scalar(args, 1)}};
    (void)state;
    return run_activation(args, run, &vectors, &params, 2);
}
const struct wick_op wick_op_aten_leaky_relu_out = {.meta = &wick_opmeta_aten_leaky_relu_out, .run = run_leaky_relu};

WICK_KERNEL2(glu_f32, float, x / (1.0f + expf(-y)))
WICK_KERNEL2(glu_f64, double, x / (1.0 + exp(-y)))

/* First half times the sigmoid of the second half, along a dim. */
static wick_status run_glu(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors vectors = {{glu_f32, glu_f64, NULL}};
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    struct wick_params params = {0};
    int dim;
    (void)state;
    WICK_TRY(wick_rule_dim(wick_arg_int(args, 1), in->shape.rank, &dim, run->err));
    WICK_TRY(wick_element_check(in, "self", run->err));
    WICK_TRY(wick_out_check(in->shape.dtype, out, run->err));
    if (in->shape.rank == 0) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "a tensor of rank 0 has no halves");
    struct wick_tensor first = *in;
    first.shape.sizes[dim] /= 2;
    struct wick_tensor second = first;
    second.data = (char *)in->data + (size_t)first.shape.sizes[dim] * (size_t)in->strides[dim] * wick_dtype_size(in->shape.dtype);
    const struct wick_tensor *ins[2] = {&first, &second};
    if (wick_tensor_numel(out) == 0) return WICK_OK;
    return wick_elementwise(&vectors, wick_compute_of(in->shape.dtype), ins, 2, out, &params, run);
}
const struct wick_op wick_op_aten_glu_out = {.meta = &wick_opmeta_aten_glu_out, .run = run_glu};

/* x * mask / (1 - p) */
WICK_KERNEL2(dropout_f32, float, y != 0 ? x * (float)params->d[0] : 0)
WICK_KERNEL2(dropout_f64, double, y != 0 ? x * params->d[0] : 0)
WICK_KERNEL1(copy_f32, float, x)
WICK_KERNEL1(copy_f64, double, x)

/* The mask of training: each element is kept with probability 1 - p, by a fresh random stream (xorshift64*). */
static void draw_mask(struct wick_tensor *mask, double p)
{
    uint8_t *keep = mask->data;
    size_t count = wick_tensor_numel(mask);
    uint64_t state = wick_now_ns() | 1;
    for (size_t i = 0; i < count; i++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        keep[i] = (double)(state * 0x2545f4914f6cdd1dull >> 11) * 0x1p-53 >= p;
    }
}

static wick_status run_dropout(const struct wick_args *args, const void *state, struct wick_run *run)
{
    static const struct wick_vectors copies = {{copy_f32, copy_f64, NULL}}, drops = {{dropout_f32, dropout_f64, NULL}};
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 3), *mask = wick_arg_tensor(args, 4);
    double p = wick_arg_double(args, 1);
    bool train = wick_arg_is_none(args, 2) || wick_arg_bool(args, 2);
    (void)state;
    if (!(p >= 0 && p <= 1)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "p is %g, not within 0..1", p);
    if (mask->shape.dtype != WICK_DTYPE_BOOL) return wick_fail(run->err, WICK_INVALID_TYPE, "the mask must be BOOL");
    WICK_TRY(wick_out_check(in->shape.dtype, out, run->err));
    struct wick_params params = {.d = {p < 1 ? 1 / (1 - p) : 0}};
    const struct wick_tensor *ins[2] = {in, mask};
    if (!train || p == 0) {
        if (wick_tensor_numel(mask) > 0) memset(mask->data, 1, wick_tensor_numel(mask));
        return wick_elementwise(&copies, wick_compute_of(in->shape.dtype), ins, 1, out, &params, run);
    }
    draw_mask(mask, p);
    return wick_elementwise(&drops, wick_compute_of(in->shape.dtype), ins, 2, out, &params, run);
}
const struct wick_op wick_op_aten_native_dropout_out = {.meta = &wick_opmeta_aten_native_dropout_out, .run = run_dropout};
