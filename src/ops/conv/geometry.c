/* ops/conv/geometry.c - reading the arguments of windowed operators; see geometry.h. */
#include "ops/conv/geometry.h"

static wick_status transposed_window(struct wick_window *w, int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation, int64_t extra,
                                     int axis, wick_error *err)
{
    const int64_t limit = INT32_MAX;
    if (kernel < 1 || kernel > limit || stride < 1 || stride > limit || dilation < 1 || dilation > limit || pad < 0 || pad > limit || extra < 0 ||
        (extra >= stride && extra >= dilation) || in < 1)
        return wick_fail(err, WICK_INVALID_ARGUMENT,
                         "dim %d: %lld elements, kernel %lld, stride %lld, padding %lld, dilation %lld, output padding %lld", axis, (long long)in,
                         (long long)kernel, (long long)stride, (long long)pad, (long long)dilation, (long long)extra);
    int64_t out = (in - 1) * stride - 2 * pad + dilation * (kernel - 1) + extra + 1;
    if (out < 1 || out > limit) return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d: the result has %lld elements", axis, (long long)out);
    *w = (struct wick_window){in, out, kernel, stride, pad, dilation};
    return WICK_OK;
}

static wick_status read_window(struct wick_window *w, const struct wick_args *args, int dim, int axis, bool transposed, wick_error *err)
{
    int64_t in = wick_arg_tensor(args, 0)->shape.sizes[axis], kernel = wick_arg_tensor(args, 1)->shape.sizes[axis];
    int64_t stride = wick_window_item(args, 3, dim, 1), pad = wick_window_item(args, 4, dim, 0), dilation = wick_window_item(args, 5, dim, 1);
    if (transposed) return transposed_window(w, in, kernel, stride, pad, dilation, wick_window_item(args, 7, dim, 0), axis, err);
    return wick_window_pool(w, in, kernel, stride, pad, dilation, false, axis, err);
}

wick_status wick_convolution_read(struct wick_convolution *c, const struct wick_args *args, wick_error *err)
{
    const struct wick_shape *input = &wick_arg_tensor(args, 0)->shape, *weight = &wick_arg_tensor(args, 1)->shape;
    const struct wick_tensor *bias = wick_arg_tensor(args, 2);
    if ((input->rank != 3 && input->rank != 4) || weight->rank != input->rank)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "input has rank %u, weight %u", input->rank, weight->rank);
    *c = (struct wick_convolution){.spatial = input->rank - 2,
                                   .batch = input->sizes[0],
                                   .in_channels = input->sizes[1],
                                   .groups = wick_arg_int(args, 8),
                                   .transposed = wick_arg_bool(args, 6),
                                   .height = {1, 1, 1, 1, 0, 1}};
    WICK_TRY(wick_window_list(args, 3, c->spatial, true, "stride", err));
    WICK_TRY(wick_window_list(args, 4, c->spatial, true, "padding", err));
    WICK_TRY(wick_window_list(args, 5, c->spatial, true, "dilation", err));
    if (c->transposed) WICK_TRY(wick_window_list(args, 7, c->spatial, true, "output_padding", err));
    int64_t wide = weight->sizes[0], deep = weight->sizes[1]; /* plain: [out, in / groups]; transposed: [in, out / groups] */
    bool fits = c->groups > 0 && wide > 0 && deep > 0 && c->in_channels % c->groups == 0 && wide % c->groups == 0;
    fits = fits && (c->transposed ? wide == c->in_channels : deep == c->in_channels / c->groups);
    c->out_channels = fits && c->transposed ? deep * c->groups : wide;
    fits = fits && c->out_channels <= INT32_MAX && (!bias || (bias->shape.rank == 1 && bias->shape.sizes[0] == c->out_channels));
    if (!fits) {
        char a[128], b[128];
        wick_shape_text(input, a);
        wick_shape_text(weight, b);
        return wick_fail(err, WICK_INVALID_ARGUMENT, "input %s, weight %s, %lld groups and the bias do not go together", a, b, (long long)c->groups);
    }
    if (c->spatial == 2) WICK_TRY(read_window(&c->height, args, 0, 2, c->transposed, err));
    return read_window(&c->width, args, c->spatial - 1, c->spatial + 1, c->transposed, err);
}

wick_status wick_pool_read(struct wick_window windows[2], const struct wick_args *args, uint32_t dilation_at, uint32_t ceil_at, wick_error *err)
{
    const struct wick_shape *self = &wick_arg_tensor(args, 0)->shape;
    if (self->rank != 3 && self->rank != 4) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %u", self->rank);
    WICK_TRY(wick_window_list(args, 1, 2, false, "kernel_size", err));
    WICK_TRY(wick_window_list(args, 2, 2, true, "stride", err));
    WICK_TRY(wick_window_list(args, 3, 2, true, "padding", err));
    if (dilation_at) WICK_TRY(wick_window_list(args, dilation_at, 2, true, "dilation", err));
    for (int i = 0; i < 2; i++) {
        int axis = self->rank - 2 + i;
        int64_t kernel = wick_window_item(args, 1, i, 1), pad = wick_window_item(args, 3, i, 0),
                dilation = dilation_at ? wick_window_item(args, dilation_at, i, 1) : 1;
        if (pad > kernel / 2)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d: padding %lld is more than half of kernel %lld", axis, (long long)pad,
                             (long long)kernel);
        WICK_TRY(wick_window_pool(&windows[i], self->sizes[axis], kernel, wick_window_item(args, 2, i, kernel), pad, dilation,
                                  wick_arg_bool(args, ceil_at), axis, err));
    }
    return WICK_OK;
}

wick_status wick_padding_read(struct wick_padding *padding, const struct wick_args *args, wick_error *err)
{
    const struct wick_shape *self = &wick_arg_tensor(args, 0)->shape;
    uint32_t count = wick_arg_count(args, 1);
    *padding = (struct wick_padding){.dims = (int)(count / 2)};
    if (count % 2 != 0 || count / 2 > self->rank)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "%u paddings for a tensor of rank %u", count, self->rank);
    for (uint32_t i = 0; i < count / 2; i++) {
        int dim = self->rank - 1 - (int)i;
        int64_t before = wick_arg_int_at(args, 1, 2 * i), after = wick_arg_int_at(args, 1, 2 * i + 1);
        bool fits = before >= -INT32_MAX && before <= INT32_MAX && after >= -INT32_MAX && after <= INT32_MAX;
        int64_t size = fits ? self->sizes[dim] + before + after : -1;
        if (size < 0 || size > INT32_MAX)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of size %d padded by %lld and %lld", dim, self->sizes[dim], (long long)before,
                             (long long)after);
        padding->before[dim] = before;
        padding->after[dim] = after;
    }
    return WICK_OK;
}

wick_status wick_upsample_read(const struct wick_args *args, uint32_t factors_at, int32_t out[2], double scales[2], wick_error *err)
{
    const struct wick_shape *input = &wick_arg_tensor(args, 0)->shape;
    bool sized = !wick_arg_is_none(args, 1), scaled = !wick_arg_is_none(args, factors_at);
    if (input->rank != 4) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has rank %u, not 4", input->rank);
    if (sized == scaled || wick_arg_count(args, sized ? 1 : factors_at) != 2)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "either output_size or scale_factors, of 2 entries, must be given");
    for (int i = 0; i < 2; i++) {
        double factor = scaled ? wick_arg(args, factors_at)->as.list.doubles[i] : 0;
        double size = scaled ? (double)input->sizes[2 + i] * factor : (double)wick_arg_int_at(args, 1, (uint32_t)i);
        if (!(size >= 1 && size <= INT32_MAX) || input->sizes[2 + i] < 1)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "dim %d of size %d resampled to %g", 2 + i, input->sizes[2 + i], size);
        out[i] = (int32_t)size;
        scales[i] = factor;
    }
    return WICK_OK;
}
