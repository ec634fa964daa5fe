/* xnnpack/rt/pool.c - windows over [N, H, W, C] images: average, max and arg-max pooling, global average pooling.
 *
 * A task computes output pixels, channels in blocks that are converted by the lanes of lane.h: floats, halves and
 * quantized values go the same way. Window sizes arrive as a constant I32 tensor, in the order of window.h. */
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/ops.h"
#include "backends/xnnpack/rt/window.h"

#include <float.h>

enum { POOL_GRAIN = 4 * 1024 }; /* taps times channels a task should at least visit */

static const int32_t *params_of(const struct wick_args *args, uint32_t k) { return wick_arg_tensor(args, k)->data; }

static wick_status infer_window(const struct wick_args *args, struct wick_shape *outs, wick_error *err, bool apart, const char *node)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), y = x;
    const int32_t *p = params_of(args, 1);
    WICK_TRY(wick_xnn_window_check(&x, p, err, node));
    int64_t high = x.size[1] + p[WICK_XNN_TOP] + (int64_t)p[WICK_XNN_BOTTOM], wide = x.size[2] + p[WICK_XNN_LEFT] + (int64_t)p[WICK_XNN_RIGHT];
    if (apart) {
        y.size[1] = high / p[WICK_XNN_KERNEL_H];
        y.size[2] = wide / p[WICK_XNN_KERNEL_W];
    } else {
        y.size[1] = wick_xnn_window_slide(high, p[WICK_XNN_KERNEL_H], p[WICK_XNN_DILATION_H], p[WICK_XNN_STRIDE_H]);
        y.size[2] = wick_xnn_window_slide(wide, p[WICK_XNN_KERNEL_W], p[WICK_XNN_DILATION_W], p[WICK_XNN_STRIDE_W]);
    }
    WICK_TRY(wick_xnn_sizes_out(args, 2, &y, &outs[0], node, err));
    return apart ? wick_xnn_sizes_out(args, 3, &y, &outs[1], node, err) : WICK_OK;
}

enum pooling { AVERAGE, MAXIMUM, ARG_MAXIMUM };

struct pool {
    const struct wick_ukernels *uk;
    enum pooling kind;
    const int32_t *p;
    struct wick_xnn_lane lane_x, lane_y;
    bool clamped;
    float min, max;
    int64_t h, w, c, oh, ow;
    const void *x;
    void *y, *index;
    bool wide_index; /* I64 */
};

static void store_index(const struct pool *p, size_t first, size_t count, const int32_t *index)
{
    if (p->wide_index)
        for (size_t i = 0; i < count; i++) ((int64_t *)p->index)[first + i] = index[i];
    else memcpy((int32_t *)p->index + first, index, count * sizeof *index);
}

static void take_tap(const struct pool *p, float *acc, int32_t *index, const float *tap, size_t n, int32_t where)
{
    if (p->kind == AVERAGE) {
        for (size_t i = 0; i < n; i++) acc[i] += tap[i];
    } else if (p->kind == MAXIMUM) {
        for (size_t i = 0; i < n; i++) acc[i] = tap[i] > acc[i] ? tap[i] : acc[i];
    } else {
        for (size_t i = 0; i < n; i++)
            if (tap[i] > acc[i]) acc[i] = tap[i], index[i] = where;
    }
}

/* Channels [c, c + n) of output pixel (image, oy, ox). */
static void pool_block(const struct pool *p, int64_t image, int64_t oy, int64_t ox, int64_t c, size_t n)
{
    float acc[WICK_XNN_BLOCK], tap[WICK_XNN_BLOCK];
    int32_t index[WICK_XNN_BLOCK] = {0};
    for (size_t i = 0; i < n; i++) acc[i] = p->kind == AVERAGE ? 0.0f : -FLT_MAX;
    int64_t y0 = oy * p->p[WICK_XNN_STRIDE_H] - p->p[WICK_XNN_TOP], x0 = ox * p->p[WICK_XNN_STRIDE_W] - p->p[WICK_XNN_LEFT];
    int64_t kernel_h = p->p[WICK_XNN_KERNEL_H], dilation_h = p->p[WICK_XNN_DILATION_H], dilation_w = p->p[WICK_XNN_DILATION_W];
    int64_t ky0, ky1, kx0, kx1;
    wick_xnn_window_taps(y0, dilation_h, kernel_h, p->h, &ky0, &ky1);
    wick_xnn_window_taps(x0, dilation_w, p->p[WICK_XNN_KERNEL_W], p->w, &kx0, &kx1);
    for (int64_t kx = kx0; kx < kx1; kx++) {
        for (int64_t ky = ky0; ky < ky1; ky++) {
            int64_t iy = y0 + ky * dilation_h, ix = x0 + kx * dilation_w;
            wick_xnn_lane_load(&p->lane_x, p->uk, p->x, (size_t)(((image * p->h + iy) * p->w + ix) * p->c + c), n, tap);
            take_tap(p, acc, index, tap, n, (int32_t)(kx * kernel_h + ky));
        }
    }
    if (p->kind == AVERAGE && ky1 > ky0 && kx1 > kx0) {
        float scale = 1.0f / (float)((ky1 - ky0) * (kx1 - kx0));
        for (size_t i = 0; i < n; i++) acc[i] *= scale;
    }
    for (size_t i = 0; p->clamped && i < n; i++) acc[i] = acc[i] < p->min ? p->min : acc[i] > p->max ? p->max : acc[i];
    size_t to = (size_t)(((image * p->oh + oy) * p->ow + ox) * p->c + c);
    wick_xnn_lane_store(&p->lane_y, p->uk, p->y, to, n, acc);
    if (p->kind == ARG_MAXIMUM) store_index(p, to, n, index);
}

static void pool_pixels(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct pool *p = user;
    for (size_t i = begin; i < end; i++) {
        int64_t pixel = (int64_t)i, ox = pixel % p->ow, oy = pixel / p->ow % p->oh, image = pixel / p->ow / p->oh;
        for (int64_t c = 0; c < p->c; c += WICK_XNN_BLOCK) pool_block(p, image, oy, ox, c, (size_t)WICK_MIN(p->c - c, (int64_t)WICK_XNN_BLOCK));
    }
}

static wick_status run_pool(const struct wick_args *args, const struct wick_xnn_unary *s, struct wick_run *run, enum pooling kind)
{
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 2);
    const struct wick_tensor *index = kind == ARG_MAXIMUM ? wick_arg_tensor(args, 3) : NULL;
    struct wick_xnn_sizes in = wick_xnn_sizes_of(x), out = wick_xnn_sizes_of(y);
    struct pool p = {.uk = run->ukernels, .kind = kind, .p = params_of(args, 1), .x = x->data, .y = y->data};
    p.lane_x = s ? s->x : wick_xnn_lane_of(x->shape.dtype);
    p.lane_y = s ? s->y : wick_xnn_lane_of(y->shape.dtype);
    if (s) p.clamped = true, p.min = s->a, p.max = s->b;
    p.h = in.size[1], p.w = in.size[2], p.c = in.size[3], p.oh = out.size[1], p.ow = out.size[2];
    if (index) p.index = index->data, p.wide_index = index->shape.dtype == WICK_DTYPE_I64;
    size_t visits = (size_t)(WICK_MIN(p.p[WICK_XNN_KERNEL_H], p.h) * WICK_MIN(p.p[WICK_XNN_KERNEL_W], p.w) * p.c);
    wick_xnn_ranges(run->pool, wick_xnn_sizes_product(&out, 0, 3), POOL_GRAIN / (visits + 1) + 1, pool_pixels, &p);
    return WICK_OK;
}

#define POOL_OP(name, signature, kind)                                                                       \
    static wick_status infer_##name(const struct wick_args *args, struct wick_shape *outs, wick_error *err)  \
    {                                                                                                        \
        return infer_window(args, outs, err, kind == ARG_MAXIMUM, "xnn::" #name);                            \
    }                                                                                                        \
    static wick_status run_##name(const struct wick_args *args, const void *state, struct wick_run *run)     \
    {                                                                                                        \
        return run_pool(args, state, run, kind);                                                             \
    }                                                                                                        \
    static const struct wick_opmeta name##_meta = {"xnn::" #name, signature, WICK_ALIAS_NONE, infer_##name}; \
    const struct wick_op wick_xnn_op_##name = {.meta = &name##_meta, .run = run_##name};
POOL_OP(average_pooling, "TT>T", AVERAGE)
POOL_OP(max_pooling, "TT>T", MAXIMUM)
POOL_OP(arg_max_pooling, "TT>TT", ARG_MAXIMUM)

/* ---- global average: (x [.., H, W, C], keep) > y [.., 1, 1, C] or [.., C] ---- */

static wick_status infer_global(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes x = wick_xnn_sizes_of(wick_arg_tensor(args, 0)), y = x;
    if (x.rank < 3 || x.size[x.rank - 3] * x.size[x.rank - 2] == 0)
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::global_average_pooling: needs [.., H, W, C] that is not empty, rank %d given", x.rank);
    if (params_of(args, 1)[0]) y.size[y.rank - 3] = y.size[y.rank - 2] = 1;
    else y.size[y.rank - 3] = x.size[x.rank - 1], y.rank -= 2;
    return wick_xnn_sizes_out(args, 2, &y, outs, "xnn::global_average_pooling", err);
}

/* Items are images; each adds its pixels in order, so that the sum does not depend on the threads. */
static void global_images(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct pool *p = user;
    size_t pixels = (size_t)(p->h * p->w), channels = (size_t)p->c;
    for (size_t image = begin; image < end; image++) {
        for (size_t c = 0; c < channels; c += WICK_XNN_BLOCK) {
            float acc[WICK_XNN_BLOCK] = {0}, tap[WICK_XNN_BLOCK];
            size_t n = WICK_MIN(channels - c, (size_t)WICK_XNN_BLOCK);
            for (size_t i = 0; i < pixels; i++) {
                wick_xnn_lane_load(&p->lane_x, p->uk, p->x, (image * pixels + i) * channels + c, n, tap);
                take_tap(p, acc, NULL, tap, n, 0);
            }
            for (size_t i = 0; i < n; i++) acc[i] /= (float)pixels;
            for (size_t i = 0; p->clamped && i < n; i++) acc[i] = acc[i] < p->min ? p->min : acc[i] > p->max ? p->max : acc[i];
            wick_xnn_lane_store(&p->lane_y, p->uk, p->y, image * channels + c, n, acc);
        }
    }
}

static wick_status run_global(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_unary *s = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 2);
    struct wick_xnn_sizes in = wick_xnn_sizes_of(x);
    struct pool p = {.uk = run->ukernels, .kind = AVERAGE, .x = x->data, .y = y->data};
    p.lane_x = s ? s->x : wick_xnn_lane_of(x->shape.dtype);
    p.lane_y = s ? s->y : wick_xnn_lane_of(y->shape.dtype);
    if (s) p.clamped = true, p.min = s->a, p.max = s->b;
    p.h = in.size[in.rank - 3], p.w = in.size[in.rank - 2], p.c = in.size[in.rank - 1];
    wick_xnn_ranges(run->pool, wick_xnn_sizes_product(&in, 0, in.rank - 3), 1, global_images, &p);
    return WICK_OK;
}

static const struct wick_opmeta global_meta = {"xnn::global_average_pooling", "TT>T", WICK_ALIAS_NONE, infer_global};
const struct wick_op wick_xnn_op_global_average_pooling = {.meta = &global_meta, .run = run_global};
