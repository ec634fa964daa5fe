/* xnnpack/rt/window.c - the geometry of sliding windows; see window.h. */
#include "backends/xnnpack/rt/window.h"

int64_t wick_xnn_window_slide(int64_t size, int64_t kernel, int64_t dilation, int64_t stride)
{
    int64_t reach = (kernel - 1) * dilation + 1;
    return (size > reach ? size - reach : 0) / stride + 1;
}

void wick_xnn_window_taps(int64_t start, int64_t dilation, int64_t kernel, int64_t size, int64_t *begin, int64_t *end)
{
    *begin = start < 0 ? (-start + dilation - 1) / dilation : 0;
    *end = start < size ? WICK_MIN(kernel, (size - 1 - start) / dilation + 1) : 0;
}

wick_status wick_xnn_window_check(const struct wick_xnn_sizes *x, const int32_t *params, wick_error *err, const char *node)
{
    if (x->rank != 4 || x->size[1] < 1 || x->size[2] < 1) {
        char text[128];
        wick_xnn_sizes_text(x, text);
        return wick_fail(err, WICK_INVALID_PROGRAM, "%s: needs an image [N, H, W, C], has %s", node, text);
    }
    for (int i = 0; i < WICK_XNN_WINDOW_PARAMS; i++)
        if (params[i] < (i >= WICK_XNN_KERNEL_H))
            return wick_fail(err, WICK_INVALID_PROGRAM, "%s: padding, kernel, stride or dilation (parameter %d) is %d", node, i, (int)params[i]);
    return WICK_OK;
}

/* A transposed window: the last input pixel's window ends the result; paddings crop it. */
static int64_t spread(int64_t size, int64_t crop, int64_t adjust, int64_t kernel, int64_t dilation, int64_t stride)
{
    return stride * (size - 1) + adjust + (kernel - 1) * dilation + 1 - crop;
}

wick_status wick_xnn_window_infer(const struct wick_args *args, uint32_t k_params, uint32_t k_out, struct wick_shape *outs, wick_error *err,
                                  const char *node)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), y = x;
    const int32_t *p = wick_arg_tensor(args, k_params)->data;
    WICK_TRY(wick_xnn_window_check(&x, p, err, node));
    if (x.size[3] != p[WICK_XNN_CHANNELS_IN])
        return wick_fail(err, WICK_INVALID_PROGRAM, "%s: the image has %lld channels, the filter takes %d", node, (long long)x.size[3],
                         (int)p[WICK_XNN_CHANNELS_IN]);
    int64_t pad_h = (int64_t)p[WICK_XNN_TOP] + p[WICK_XNN_BOTTOM], pad_w = (int64_t)p[WICK_XNN_LEFT] + p[WICK_XNN_RIGHT];
    if (p[WICK_XNN_TRANSPOSED]) {
        y.size[1] = spread(x.size[1], pad_h, p[WICK_XNN_ADJUST_H], p[WICK_XNN_KERNEL_H], p[WICK_XNN_DILATION_H], p[WICK_XNN_STRIDE_H]);
        y.size[2] = spread(x.size[2], pad_w, p[WICK_XNN_ADJUST_W], p[WICK_XNN_KERNEL_W], p[WICK_XNN_DILATION_W], p[WICK_XNN_STRIDE_W]);
    } else {
        y.size[1] = wick_xnn_window_slide(x.size[1] + pad_h, p[WICK_XNN_KERNEL_H], p[WICK_XNN_DILATION_H], p[WICK_XNN_STRIDE_H]);
        y.size[2] = wick_xnn_window_slide(x.size[2] + pad_w, p[WICK_XNN_KERNEL_W], p[WICK_XNN_DILATION_W], p[WICK_XNN_STRIDE_W]);
    }
    y.size[3] = p[WICK_XNN_CHANNELS_OUT];
    return wick_xnn_sizes_out(args, k_out, &y, outs, node, err);
}
