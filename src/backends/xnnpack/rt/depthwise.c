/* xnnpack/rt/depthwise.c - DepthwiseConv2d over [N, H, W, C]: every channel has its own window, `multiplier` times.
 *
 * All in float32 between lanes. For statically quantized images that is exact: a lane gives q - zero point, weights are
 * whole numbers, and the sum of a window stays far below 2^24; the scales come in once at the end. */
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/ops.h"
#include "backends/xnnpack/rt/window.h"
#include "ukernel/ukernels.h"

enum { DEPTHWISE_GRAIN = 8 * 1024 }; /* multiply-adds a task should at least have */

static const int32_t *params_of(const struct wick_args *args) { return wick_arg_tensor(args, 1)->data; }

static wick_status infer_depthwise(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_xnn_window_infer(args, 1, 2, outs, err, "xnn::depthwise_convolution");
}

struct depthwise {
    const struct wick_ukernels *uk;
    const struct wick_xnn_depthwise *s;
    const int32_t *p;
    int64_t h, w, c, oh, ow;
    const void *x;
    void *y;
};

/* acc[i] += x[channel of i] * weight[i] for output channels [first, first + n). */
static void add_tap(const float *x, size_t multiplier, size_t first, const float *weight, float *acc, size_t n)
{
    if (multiplier == 1) {
        for (size_t i = 0; i < n; i++) acc[i] += x[i] * weight[i];
    } else {
        size_t base = first / multiplier;
        for (size_t i = 0; i < n; i++) acc[i] += x[(first + i) / multiplier - base] * weight[i];
    }
}

/* Output channels [first, first + n) of pixel (image, oy, ox). */
static void depthwise_block(const struct depthwise *d, int64_t image, int64_t oy, int64_t ox, size_t first, size_t n)
{
    const struct wick_xnn_depthwise *s = d->s;
    float acc[WICK_XNN_BLOCK], block[WICK_XNN_BLOCK];
    size_t multiplier = s->multiplier, outputs = (size_t)d->c * multiplier;
    size_t channel = first / multiplier, channels = (first + n - 1) / multiplier - channel + 1;
    int64_t y0 = oy * d->p[WICK_XNN_STRIDE_H] - d->p[WICK_XNN_TOP], x0 = ox * d->p[WICK_XNN_STRIDE_W] - d->p[WICK_XNN_LEFT], ky0, ky1, kx0, kx1;
    wick_xnn_window_taps(y0, d->p[WICK_XNN_DILATION_H], d->p[WICK_XNN_KERNEL_H], d->h, &ky0, &ky1);
    wick_xnn_window_taps(x0, d->p[WICK_XNN_DILATION_W], d->p[WICK_XNN_KERNEL_W], d->w, &kx0, &kx1);
    if (s->scales) memset(acc, 0, n * sizeof *acc);
    else memcpy(acc, s->bias + first, n * sizeof *acc);
    for (int64_t ky = ky0; ky < ky1; ky++) {
        for (int64_t kx = kx0; kx < kx1; kx++) {
            int64_t iy = y0 + ky * d->p[WICK_XNN_DILATION_H], ix = x0 + kx * d->p[WICK_XNN_DILATION_W];
            size_t from = (size_t)((image * d->h + iy) * d->w + ix) * (size_t)d->c + channel;
            const float *x = (const float *)d->x + from;
            if (s->x.dtype != WICK_DTYPE_F32) {
                wick_xnn_lane_load(&s->x, d->uk, d->x, from, channels, block);
                x = block;
            }
            add_tap(x, multiplier, first, s->weights + (size_t)(ky * d->p[WICK_XNN_KERNEL_W] + kx) * outputs + first, acc, n);
        }
    }
    for (size_t i = 0; s->scales && i < n; i++) acc[i] = acc[i] * s->scales[first + i] + s->bias[first + i];
    d->uk->clamp(n, acc, s->min, s->max, acc);
    wick_xnn_lane_store(&s->y, d->uk, d->y, (size_t)((image * d->oh + oy) * d->ow + ox) * outputs + first, n, acc);
}

static void depthwise_pixels(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct depthwise *d = user;
    size_t outputs = (size_t)d->c * d->s->multiplier;
    for (size_t i = begin; i < end; i++) {
        int64_t pixel = (int64_t)i, ox = pixel % d->ow, oy = pixel / d->ow % d->oh, image = pixel / d->ow / d->oh;
        for (size_t first = 0; first < outputs; first += WICK_XNN_BLOCK)
            depthwise_block(d, image, oy, ox, first, WICK_MIN(outputs - first, (size_t)WICK_XNN_BLOCK));
    }
}

static wick_status run_depthwise(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 2);
    struct wick_xnn_sizes in = wick_xnn_sizes_of(x), out = wick_xnn_sizes_of(y);
    struct depthwise d = {.uk = run->ukernels, .s = state, .p = params_of(args), .x = x->data, .y = y->data};
    d.h = in.size[1], d.w = in.size[2], d.c = in.size[3], d.oh = out.size[1], d.ow = out.size[2];
    size_t work = (size_t)d.p[WICK_XNN_KERNEL_H] * (size_t)d.p[WICK_XNN_KERNEL_W] * (size_t)out.size[3];
    wick_xnn_ranges(run->pool, wick_xnn_sizes_product(&out, 0, 3), DEPTHWISE_GRAIN / (work + 1) + 1, depthwise_pixels, &d);
    return WICK_OK;
}

static const struct wick_opmeta depthwise_meta = {"xnn::depthwise_convolution", "TT>T", WICK_ALIAS_NONE, infer_depthwise};
const struct wick_op wick_xnn_op_depthwise_convolution = {.meta = &depthwise_meta, .run = run_depthwise};
