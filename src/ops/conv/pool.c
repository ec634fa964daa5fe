/* ops/conv/pool.c - average and maximum over windows, plane by plane. */
#include "ops/conv/geometry.h"
#include "ops/conv/planes.h"
#include "ops/ops.h"

#include <math.h>

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

struct pool {
    struct wick_window windows[2];
    bool count_padding;
    int64_t divisor; /* 0: the window's elements */
};

/* Elements of the input that window i covers: [*from, *to) in steps of the dilation; *whole counts padding too. */
static void cover(const struct wick_window *w, int64_t i, int64_t *from, int64_t *to, int64_t *whole)
{
    int64_t start = i * w->stride - w->pad, end = start + (w->kernel - 1) * w->dilation + 1;
    *whole = WICK_MIN(end, w->in + w->pad) - start;
    while (start < 0) start += w->dilation;
    *from = start;
    *to = WICK_MIN(end, w->in);
}

static void average(const void *user, size_t plane, const double *in, double *const *outs)
{
    (void)plane;
    const struct pool *pool = user;
    const struct wick_window *h = &pool->windows[0], *w = &pool->windows[1];
    double *out = outs[0];
    for (int64_t y = 0; y < h->out; y++) {
        for (int64_t x = 0; x < w->out; x++) {
            int64_t y0, y1, x0, x1, tall, wide;
            double sum = 0;
            cover(h, y, &y0, &y1, &tall);
            cover(w, x, &x0, &x1, &wide);
            for (int64_t i = y0; i < y1; i++)
                for (int64_t j = x0; j < x1; j++) sum += in[i * w->in + j];
            bool empty = y0 >= y1 || x0 >= x1;
            int64_t count = pool->divisor ? pool->divisor : pool->count_padding ? tall * wide : (y1 - y0) * (x1 - x0);
            *out++ = empty ? 0 : sum / (double)count;
        }
    }
}

/* outs[1]: the place of the maximum in the plane. A NaN is the maximum of its window. */
static void maximum(const void *user, size_t plane, const double *in, double *const *outs)
{
    (void)plane;
    const struct pool *pool = user;
    const struct wick_window *h = &pool->windows[0], *w = &pool->windows[1];
    size_t at = 0;
    for (int64_t y = 0; y < h->out; y++) {
        for (int64_t x = 0; x < w->out; x++, at++) {
            int64_t y0, y1, x0, x1, unused;
            cover(h, y, &y0, &y1, &unused);
            cover(w, x, &x0, &x1, &unused);
            double best = -(double)INFINITY;
            int64_t place = y0 * w->in + x0;
            for (int64_t i = y0; i < y1; i += h->dilation)
                for (int64_t j = x0; j < x1; j += w->dilation) {
                    double value = in[i * w->in + j];
                    if (value > best || isnan(value)) {
                        best = value;
                        place = i * w->in + j;
                    }
                }
            outs[0][at] = best;
            outs[1][at] = (double)place;
        }
    }
}

static wick_status run_aten_avg_pool2d_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct pool pool = {.count_padding = wick_arg_bool(args, 5), .divisor = wick_arg_int_or(args, 6, 0)};
    WICK_TRY(wick_pool_read(pool.windows, args, 0, 4, run->err));
    return wick_planes_run(
        &(struct wick_planes){.in = wick_arg_tensor(args, 0), .outs = {wick_arg_tensor(args, 7)}, .spatial = 2, .compute = average, .user = &pool},
        run);
}

static wick_status run_aten_max_pool2d_with_indices_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct pool pool = {0};
    WICK_TRY(wick_pool_read(pool.windows, args, 4, 5, run->err));
    return wick_planes_run(&(struct wick_planes){.in = wick_arg_tensor(args, 0),
                                                 .outs = {wick_arg_tensor(args, 6), wick_arg_tensor(args, 7)},
                                                 .spatial = 2,
                                                 .compute = maximum,
                                                 .user = &pool},
                           run);
}

/* Window i covers [floor(i * in / out), ceil((i + 1) * in / out)). */
static void adaptive(const void *user, size_t plane, const double *in, double *const *outs)
{
    (void)plane;
    const struct wick_window *h = user, *w = h + 1;
    double *out = outs[0];
    for (int64_t y = 0; y < h->out; y++) {
        for (int64_t x = 0; x < w->out; x++) {
            int64_t y0 = y * h->in / h->out, y1 = ((y + 1) * h->in + h->out - 1) / h->out, x0 = x * w->in / w->out,
                    x1 = ((x + 1) * w->in + w->out - 1) / w->out;
            double sum = 0;
            for (int64_t i = y0; i < y1; i++)
                for (int64_t j = x0; j < x1; j++) sum += in[i * w->in + j];
            *out++ = sum / (double)((y1 - y0) * (x1 - x0));
        }
    }
}

static wick_status run_aten__adaptive_avg_pool2d_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    struct wick_window windows[2] = {0};
    for (int i = 0; i < 2; i++) {
        windows[i].in = self->shape.sizes[self->shape.rank - 2 + i];
        windows[i].out = out->shape.sizes[self->shape.rank - 2 + i];
    }
    return wick_planes_run(&(struct wick_planes){.in = self, .outs = {out}, .spatial = 2, .compute = adaptive, .user = windows}, run);
}

OP(aten_avg_pool2d_out);
OP(aten_max_pool2d_with_indices_out);
OP(aten__adaptive_avg_pool2d_out);
