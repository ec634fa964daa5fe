/* xnnpack/rt/convolution.c - Conv2d and ConvTranspose2d over [N, H, W, C] in float32 between lanes, any number of groups; pixels of the result are
 * split over threads. */
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/window.h"

#include "ukernel/ukernels.h"

enum { CONVOLUTION_GRAIN = 32 * 1024 };

static wick_status infer_convolution(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return wick_xnn_window_infer(args, 1, 2, outs, err, "xnn::convolution");
}

struct convolution {
    const struct wick_ukernels *uk;
    const struct wick_xnn_convolution *s;
    const int32_t *p;
    int64_t h, w, oh, ow;
    size_t c, oc, group_in, group_out;
    const float *x; /* the image as float32 */
    void *y;
    float *rows;    /* [oc] a thread */
};

/* The pixel that tap `tap` of a window at output place `at` reads, along one dim; -1: none (padding, or between strides). */
static int64_t pixel_of(const int32_t *p, int64_t at, int64_t tap, int before, int stride, int dilation, int64_t size)
{
    int64_t i;
    if (p[WICK_XNN_TRANSPOSED]) {
        i = at + p[before] - tap * p[dilation];
        if (i < 0 || i % p[stride] != 0) return -1;
        i /= p[stride];
    } else i = at * p[stride] + tap * p[dilation] - p[before];
    return i >= 0 && i < size ? i : -1;
}

static void add_tap(const struct convolution *t, const float *x, size_t tap, size_t taps, float *out)
{
    for (size_t o = 0; o < t->oc; o++) {
        const float *w = t->s->weights + (o * taps + tap) * t->group_in, *in = x + o / t->group_out * t->group_in;
        out[o] += t->uk->dot(t->group_in, in, w);
    }
}

static void convolve_pixels(void *user, size_t begin, size_t end, unsigned thread)
{
    const struct convolution *t = user;
    const int32_t *p = t->p;
    int64_t kh = p[WICK_XNN_KERNEL_H], kw = p[WICK_XNN_KERNEL_W];
    float *out = t->rows + thread * t->oc;
    for (size_t i = begin; i < end; i++) {
        int64_t ox = (int64_t)i % t->ow, oy = (int64_t)i / t->ow % t->oh, image = (int64_t)i / t->ow / t->oh;
        memcpy(out, t->s->bias, t->oc * sizeof *out);
        for (int64_t ky = 0; ky < kh; ky++) {
            int64_t iy = pixel_of(p, oy, ky, WICK_XNN_TOP, WICK_XNN_STRIDE_H, WICK_XNN_DILATION_H, t->h);
            for (int64_t kx = 0; kx < kw && iy >= 0; kx++) {
                int64_t ix = pixel_of(p, ox, kx, WICK_XNN_LEFT, WICK_XNN_STRIDE_W, WICK_XNN_DILATION_W, t->w);
                if (ix >= 0) add_tap(t, t->x + ((image * t->h + iy) * t->w + ix) * (int64_t)t->c, (size_t)(ky * kw + kx), (size_t)(kh * kw), out);
            }
        }
        t->uk->clamp(t->oc, out, t->s->min, t->s->max, out);
        wick_xnn_lane_store(&t->s->y, t->uk, t->y, i * t->oc, t->oc, out);
    }
}

static wick_status run_convolution(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 2);
    struct wick_xnn_sizes in = wick_xnn_sizes_of(x), out = wick_xnn_sizes_of(y);
    const struct wick_xnn_convolution *s = state;
    struct convolution t = {.uk = run->ukernels, .s = s, .p = wick_arg_tensor(args, 1)->data, .h = in.size[1], .w = in.size[2], .oh = out.size[1], .ow = out.size[2],
                            .c = (size_t)in.size[3], .oc = (size_t)out.size[3], .x = x->data, .y = y->data};
    size_t count = wick_tensor_numel(x);
    t.group_in = t.c / s->groups;
    t.group_out = t.oc / s->groups;
    t.rows = wick_arena_array(run->temp, wick_pool_threads(run->pool), t.oc * sizeof(float), 64);
    if (!t.rows) return wick_fail_oom(run->err, t.oc * sizeof(float), "xnn::convolution");
    if (s->x.dtype != WICK_DTYPE_F32) {
        float *copy = wick_arena_array(run->temp, count, sizeof(float), 64);
        if (!copy) return wick_fail_oom(run->err, count * sizeof(float), "xnn::convolution");
        wick_xnn_lane_load(&s->x, run->ukernels, x->data, 0, count, copy);
        t.x = copy;
    }
    size_t work = (size_t)t.p[WICK_XNN_KERNEL_H] * (size_t)t.p[WICK_XNN_KERNEL_W] * t.group_in * t.oc;
    wick_xnn_ranges(run->pool, wick_xnn_sizes_product(&out, 0, 3), CONVOLUTION_GRAIN / (work + 1) + 1, convolve_pixels, &t);
    return WICK_OK;
}

static const struct wick_opmeta convolution_meta = {"xnn::convolution", "TT>T", WICK_ALIAS_NONE, infer_convolution};
const struct wick_op wick_xnn_op_convolution = {.meta = &convolution_meta, .run = run_convolution};
