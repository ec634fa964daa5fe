/* ops/quantized/quantize.c - choose_qparams, quantize and dequantize: per tensor, per channel, per token. */
#include "ops/copy/cast.h"
#include "ops/ops.h"
#include "ops/quantized/affine.h"

#include <float.h>

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}
#define KERNEL(id) static wick_status run_##id(const struct wick_args *args, const void *state, struct wick_run *run)

/* ---- parameters ---- */

static void range_of(const float *x, size_t n, float *low, float *high)
{
    float a = FLT_MAX, b = -FLT_MAX;
    for (size_t i = 0; i < n; i++) {
        a = x[i] < a ? x[i] : a;
        b = x[i] > b ? x[i] : b;
    }
    *low = a;
    *high = b;
}

static wick_status check_params(const struct wick_tensor *input, const struct wick_tensor *scales, const struct wick_tensor *zero_points,
                                size_t count, struct wick_run *run)
{
    if (input->shape.dtype != WICK_DTYPE_F32 || scales->shape.dtype != WICK_DTYPE_F64 || zero_points->shape.dtype != WICK_DTYPE_I64)
        return wick_fail(run->err, WICK_INVALID_TYPE, "wants a FLOAT input, DOUBLE scales and LONG zero points, not %s, %s, %s",
                         wick_dtype_name(input->shape.dtype), wick_dtype_name(scales->shape.dtype), wick_dtype_name(zero_points->shape.dtype));
    if (wick_tensor_numel(scales) != count || wick_tensor_numel(zero_points) != count)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "outs have %zu and %zu elements, not %zu", wick_tensor_numel(scales),
                         wick_tensor_numel(zero_points), count);
    return WICK_OK;
}

KERNEL(quantized_decomposed_choose_qparams_Tensor_out)
{
    (void)state;
    const struct wick_tensor *input = wick_arg_tensor(args, 0);
    struct wick_tensor *scale = wick_arg_tensor(args, 5), *zero_point = wick_arg_tensor(args, 6);
    int64_t qmin = wick_arg_int(args, 1), qmax = wick_arg_int(args, 2);
    WICK_TRY(check_params(input, scale, zero_point, 1, run));
    if (qmin < INT32_MIN || qmax > INT32_MAX || qmin >= qmax || wick_tensor_numel(input) == 0)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "range [%lld, %lld] for %zu elements", (long long)qmin, (long long)qmax,
                         wick_tensor_numel(input));
    float low, high;
    range_of(input->data, wick_tensor_numel(input), &low, &high);
    wick_affine_choose(low, high, (int32_t)qmin, (int32_t)qmax, scale->data, zero_point->data);
    return WICK_OK;
}

/* A token is a row of the last dim; the range is that of int8. */
KERNEL(quantized_decomposed_choose_qparams_per_token_asymmetric_out)
{
    (void)state;
    const struct wick_tensor *input = wick_arg_tensor(args, 0);
    struct wick_tensor *scales = wick_arg_tensor(args, 2), *zero_points = wick_arg_tensor(args, 3);
    size_t width = input->shape.rank ? (size_t)input->shape.sizes[input->shape.rank - 1] : 1, numel = wick_tensor_numel(input);
    size_t tokens = width ? numel / width : wick_tensor_numel(scales);
    WICK_TRY(check_params(input, scales, zero_points, tokens, run));
    if (!wick_shape_is_contiguous(&input->shape)) return wick_fail(run->err, WICK_NOT_SUPPORTED, "the input is not in contiguous dim order");
    if (tokens > 0 && width == 0) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "tokens have no elements");
    for (size_t i = 0; i < tokens; i++) {
        float low, high;
        range_of((const float *)input->data + i * width, width, &low, &high);
        wick_affine_choose(low, high, -128, 127, (double *)scales->data + i, (int64_t *)zero_points->data + i);
    }
    return WICK_OK;
}

OP(quantized_decomposed_choose_qparams_Tensor_out);
OP(quantized_decomposed_choose_qparams_per_token_asymmetric_out);

/* ---- rows: the tensor as [outer, channels, inner]; a channel has one scale and zero point ---- */

struct rows {
    const struct wick_tensor *from;
    struct wick_tensor *to;
    size_t outer, channels, inner;
    const struct wick_tensor *scales, *zero_points; /* NULL: scale, zero_point for all (zero_points NULL: 0) */
    double scale;
    int64_t zero_point, qmin, qmax;
    bool quantize;
};

/* Item i is row i of outer * channels. */
static void convert_row(void *user, size_t i, unsigned thread)
{
    (void)thread;
    const struct rows *rows = user;
    size_t channel = i % rows->channels;
    int from_dtype = rows->from->shape.dtype, to_dtype = rows->to->shape.dtype;
    const void *from = (const char *)rows->from->data + i * rows->inner * wick_dtype_size(from_dtype);
    void *to = (char *)rows->to->data + i * rows->inner * wick_dtype_size(to_dtype);
    double scale = rows->scales ? wick_element_double(rows->scales->data, rows->scales->shape.dtype, channel) : rows->scale;
    int64_t zero_point = rows->zero_points ? wick_element_int(rows->zero_points->data, rows->zero_points->shape.dtype, channel) : rows->zero_point;
    if (rows->quantize) wick_affine_quantize(to, to_dtype, from, from_dtype, rows->inner, scale, zero_point, rows->qmin, rows->qmax);
    else wick_affine_dequantize(to, to_dtype, from, from_dtype, rows->inner, scale, zero_point);
}

static wick_status check_list(const struct wick_tensor *list, const char *what, size_t count, bool integer, struct wick_run *run)
{
    int dtype = list->shape.dtype;
    bool fits = integer ? !wick_dtype_is_float(dtype) && wick_cast_known(dtype) : dtype == WICK_DTYPE_F64 || dtype == WICK_DTYPE_F32;
    if (!fits) return wick_fail(run->err, WICK_INVALID_TYPE, "%s are %s", what, wick_dtype_name(dtype));
    if (wick_tensor_numel(list) != count)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "%zu %s for %zu channels", wick_tensor_numel(list), what, count);
    return WICK_OK;
}

static wick_status convert(struct rows *rows, struct wick_run *run)
{
    const struct wick_shape *from = &rows->from->shape, *to = &rows->to->shape;
    int value = rows->quantize ? from->dtype : to->dtype, stored = rows->quantize ? to->dtype : from->dtype;
    if (!wick_affine_from(value) || !wick_affine_stored(stored))
        return wick_fail(run->err, WICK_INVALID_TYPE, "%s to %s", wick_dtype_name(from->dtype), wick_dtype_name(to->dtype));
    if (!wick_shape_same_sizes(from, to)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
    bool same_order = memcmp(from->dim_order, to->dim_order, from->rank) == 0;
    if (!(same_order && rows->channels == 1) && (!wick_shape_is_contiguous(from) || !wick_shape_is_contiguous(to)))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    if (rows->quantize && rows->qmin > rows->qmax) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "quant_min is above quant_max");
    if (rows->scales) WICK_TRY(check_list(rows->scales, "scales", rows->channels, false, run));
    if (rows->zero_points) WICK_TRY(check_list(rows->zero_points, "zero points", rows->channels, true, run));
    size_t count = rows->outer * rows->channels;
    if (rows->inner == 0) return WICK_OK;
    wick_pool_run(count * rows->inner > 32768 ? run->pool : NULL, count, convert_row, rows);
    return WICK_OK;
}

static struct rows per_tensor(const struct wick_tensor *from, struct wick_tensor *to, bool quantize)
{
    return (struct rows){.from = from, .to = to, .outer = 1, .channels = 1, .inner = wick_tensor_numel(from), .quantize = quantize};
}

/* Rows of the last dim. */
static struct rows per_token(const struct wick_tensor *from, struct wick_tensor *to, bool quantize)
{
    struct rows rows = per_tensor(from, to, quantize);
    size_t numel = rows.inner;
    rows.inner = from->shape.rank ? (size_t)from->shape.sizes[from->shape.rank - 1] : 1;
    rows.channels = rows.inner ? numel / rows.inner : 0;
    return rows;
}

static wick_status per_channel(struct rows *rows, const struct wick_tensor *from, struct wick_tensor *to, int64_t axis, bool quantize,
                               struct wick_run *run)
{
    *rows = per_tensor(from, to, quantize);
    int dim = wick_dim_wrap(axis, from->shape.rank);
    if (dim < 0 || from->shape.rank == 0)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "axis %lld is outside a tensor of rank %u", (long long)axis, from->shape.rank);
    rows->inner = 1;
    for (int d = 0; d < dim; d++) rows->outer *= (size_t)from->shape.sizes[d];
    for (int d = dim + 1; d < from->shape.rank; d++) rows->inner *= (size_t)from->shape.sizes[d];
    rows->channels = (size_t)from->shape.sizes[dim];
    return WICK_OK;
}

/* out_dtype, if given, is out's. */
static wick_status check_out_dtype(const struct wick_args *args, uint32_t k, const struct wick_tensor *out, struct wick_run *run)
{
    if (wick_arg_int_or(args, k, out->shape.dtype) == out->shape.dtype) return WICK_OK;
    return wick_fail(run->err, WICK_INVALID_TYPE, "out is %s, out_dtype asks for %lld", wick_dtype_name(out->shape.dtype),
                     (long long)wick_arg_int(args, k));
}

KERNEL(quantized_decomposed_quantize_per_tensor_out)
{
    (void)state;
    struct rows rows = per_tensor(wick_arg_tensor(args, 0), wick_arg_tensor(args, 6), true);
    rows.scale = wick_arg_double(args, 1);
    rows.zero_point = wick_arg_int(args, 2);
    rows.qmin = wick_arg_int(args, 3);
    rows.qmax = wick_arg_int(args, 4);
    return convert(&rows, run);
}

KERNEL(quantized_decomposed_quantize_per_tensor_Tensor_out)
{
    (void)state;
    struct rows rows = per_tensor(wick_arg_tensor(args, 0), wick_arg_tensor(args, 6), true);
    rows.scales = wick_arg_tensor(args, 1);
    rows.zero_points = wick_arg_tensor(args, 2);
    rows.qmin = wick_arg_int(args, 3);
    rows.qmax = wick_arg_int(args, 4);
    return convert(&rows, run);
}

KERNEL(quantized_decomposed_quantize_per_channel_out)
{
    (void)state;
    struct rows rows;
    WICK_TRY(per_channel(&rows, wick_arg_tensor(args, 0), wick_arg_tensor(args, 7), wick_arg_int(args, 3), true, run));
    rows.scales = wick_arg_tensor(args, 1);
    rows.zero_points = wick_arg_tensor(args, 2);
    rows.qmin = wick_arg_int(args, 4);
    rows.qmax = wick_arg_int(args, 5);
    return convert(&rows, run);
}

KERNEL(quantized_decomposed_quantize_per_token_out)
{
    (void)state;
    struct rows rows = per_token(wick_arg_tensor(args, 0), wick_arg_tensor(args, 6), true);
    rows.scales = wick_arg_tensor(args, 1);
    rows.zero_points = wick_arg_tensor(args, 2);
    rows.qmin = wick_arg_int(args, 3);
    rows.qmax = wick_arg_int(args, 4);
    return convert(&rows, run);
}

KERNEL(quantized_decomposed_dequantize_per_tensor_out)
{
    (void)state;
    struct rows rows = per_tensor(wick_arg_tensor(args, 0), wick_arg_tensor(args, 7), false);
    WICK_TRY(check_out_dtype(args, 6, rows.to, run));
    rows.scale = wick_arg_double(args, 1);
    rows.zero_point = wick_arg_int(args, 2);
    return convert(&rows, run);
}

KERNEL(quantized_decomposed_dequantize_per_tensor_Tensor_out)
{
    (void)state;
    struct rows rows = per_tensor(wick_arg_tensor(args, 0), wick_arg_tensor(args, 7), false);
    WICK_TRY(check_out_dtype(args, 6, rows.to, run));
    rows.scales = wick_arg_tensor(args, 1);
    rows.zero_points = wick_arg_tensor(args, 2);
    return convert(&rows, run);
}

KERNEL(quantized_decomposed_dequantize_per_channel_out)
{
    (void)state;
    struct rows rows;
    WICK_TRY(per_channel(&rows, wick_arg_tensor(args, 0), wick_arg_tensor(args, 8), wick_arg_int(args, 3), false, run));
    WICK_TRY(check_out_dtype(args, 7, rows.to, run));
    rows.scales = wick_arg_tensor(args, 1);
    rows.zero_points = wick_arg_tensor(args, 2);
    return convert(&rows, run);
}

KERNEL(quantized_decomposed_dequantize_per_token_out)
{
    (void)state;
    struct rows rows = per_token(wick_arg_tensor(args, 0), wick_arg_tensor(args, 7), false);
    WICK_TRY(check_out_dtype(args, 6, rows.to, run));
    rows.scales = wick_arg_tensor(args, 1);
    rows.zero_points = wick_arg_tensor(args, 2);
    return convert(&rows, run);
}

OP(quantized_decomposed_quantize_per_tensor_out);
OP(quantized_decomposed_quantize_per_tensor_Tensor_out);
OP(quantized_decomposed_quantize_per_channel_out);
OP(quantized_decomposed_quantize_per_token_out);
OP(quantized_decomposed_dequantize_per_tensor_out);
OP(quantized_decomposed_dequantize_per_tensor_Tensor_out);
OP(quantized_decomposed_dequantize_per_channel_out);
OP(quantized_decomposed_dequantize_per_token_out);
