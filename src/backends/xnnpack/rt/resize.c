/* xnnpack/rt/resize.c - StaticResizeBilinear2D on [N, H, W, C] images: each output pixel mixes four input pixels, with
 * half-pixel centres or aligned corners. All in float32 between the lanes of lane.h. */
#include "backends/xnnpack/rt/sizes.h"
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/ops.h"

enum { RESIZE_GRAIN = 4 * 1024 }; /* channels times pixels a task should at least have */

static const int32_t *params_of(const struct wick_args *args) { return wick_arg_tensor(args, 1)->data; }

static wick_status infer_resize(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    struct wick_xnn_sizes y = wick_xnn_sizes_of(wick_arg_tensor(args, 0));
    const int32_t *p = params_of(args);
    if (y.rank != 4 || y.size[1] < 1 || y.size[2] < 1)
        return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::resize_bilinear: needs [N, H, W, C] that is not empty, rank %d given", y.rank);
    if (p[0] < 1 || p[1] < 1) return wick_fail(err, WICK_INVALID_PROGRAM, "xnn::resize_bilinear: new size %d x %d", (int)p[0], (int)p[1]);
    y.size[1] = p[0];
    y.size[2] = p[1];
    return wick_xnn_sizes_out(args, 2, &y, outs, "xnn::resize_bilinear", err);
}

struct resize {
    const struct wick_ukernels *uk;
    struct wick_xnn_lane lane_x, lane_y;
    int64_t h, w, c, oh, ow;
    bool align;
    const void *x;
    void *y;
};

/* Where an output position lies between two input positions: first of them, second of them, weight of the second. */
static void locate(int64_t out, int64_t in_size, int64_t out_size, bool align, int64_t *first, int64_t *second, float *weight)
{
    float at;
    if (align) at = out_size > 1 ? (float)out * ((float)(in_size - 1) / (float)(out_size - 1)) : 0.0f;
    else at = ((float)out + 0.5f) * ((float)in_size / (float)out_size) - 0.5f;
    at = at < 0.0f ? 0.0f : at > (float)(in_size - 1) ? (float)(in_size - 1) : at;
    *first = (int64_t)at;
    *second = WICK_MIN(*first + 1, in_size - 1);
    *weight = at - (float)*first;
}

static void resize_pixels(void *user, size_t begin, size_t end, unsigned thread)
{
    (void)thread;
    const struct resize *r = user;
    float corner[4][WICK_XNN_BLOCK];
    for (size_t i = begin; i < end; i++) {
        int64_t pixel = (int64_t)i, ox = pixel % r->ow, oy = pixel / r->ow % r->oh, image = pixel / r->ow / r->oh, y[2], x[2];
        float wy, wx;
        locate(oy, r->h, r->oh, r->align, &y[0], &y[1], &wy);
        locate(ox, r->w, r->ow, r->align, &x[0], &x[1], &wx);
        for (int64_t c = 0; c < r->c; c += WICK_XNN_BLOCK) {
            size_t n = (size_t)WICK_MIN(r->c - c, (int64_t)WICK_XNN_BLOCK);
            for (int k = 0; k < 4; k++)
                wick_xnn_lane_load(&r->lane_x, r->uk, r->x, (size_t)(((image * r->h + y[k >> 1]) * r->w + x[k & 1]) * r->c + c), n, corner[k]);
            for (size_t j = 0; j < n; j++) {
                float top = corner[0][j] + (corner[1][j] - corner[0][j]) * wx, bottom = corner[2][j] + (corner[3][j] - corner[2][j]) * wx;
                corner[0][j] = top + (bottom - top) * wy;
            }
            wick_xnn_lane_store(&r->lane_y, r->uk, r->y, i * (size_t)r->c + (size_t)c, n, corner[0]);
        }
    }
}

static wick_status run_resize(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_xnn_unary *s = state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 2);
    struct wick_xnn_sizes in = wick_xnn_sizes_of(x), out = wick_xnn_sizes_of(y);
    struct resize r = {.uk = run->ukernels, .align = params_of(args)[2] != 0, .x = x->data, .y = y->data};
    r.lane_x = s ? s->x : wick_xnn_lane_of(x->shape.dtype);
    r.lane_y = s ? s->y : wick_xnn_lane_of(y->shape.dtype);
    r.h = in.size[1], r.w = in.size[2], r.c = in.size[3], r.oh = out.size[1], r.ow = out.size[2];
    wick_xnn_ranges(run->pool, wick_xnn_sizes_product(&out, 0, 3), RESIZE_GRAIN / ((size_t)r.c + 1) + 1, resize_pixels, &r);
    return WICK_OK;
}

static const struct wick_opmeta resize_meta = {"xnn::resize_bilinear", "TT>T", WICK_ALIAS_NONE, infer_resize};
const struct wick_op wick_xnn_op_resize_bilinear = {.meta = &resize_meta, .run = run_resize};
