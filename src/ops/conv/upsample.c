/* ops/conv/upsample.c - resampling planes: bilinear, nearest, and bilinear with antialiasing. Positions are computed in f32, as torch does. */
#include "ops/conv/geometry.h"
#include "ops/conv/planes.h"
#include "ops/ops.h"

#include <math.h>

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

struct axis {
    int64_t in, out;
    bool align_corners;
    float step; /* input elements an output element */
};

static struct axis axis_of(int64_t in, int64_t out, bool align_corners, double factor)
{
    struct axis axis = {.in = in, .out = out, .align_corners = align_corners};
    if (align_corners) axis.step = out > 1 ? (float)(in - 1) / (float)(out - 1) : 0.0f;
    else axis.step = factor > 0 ? (float)(1.0 / factor) : (float)in / (float)out;
    return axis;
}

/* Output i lies between *low and *high, *part of the way. */
static void between(const struct axis *axis, int64_t i, int64_t *low, int64_t *high, double *part)
{
    float at = axis->align_corners ? axis->step * (float)i : axis->step * ((float)i + 0.5f) - 0.5f;
    at = at > 0 ? at : 0;
    int64_t whole = (int64_t)at;
    *low = WICK_MIN(whole, axis->in - 1);
    *high = WICK_MIN(*low + 1, axis->in - 1);
    float rest = at - (float)*low;
    *part = (double)(rest < 0 ? 0 : rest > 1 ? 1 : rest);
}

static void bilinear(const void *user, size_t plane, const double *in, double *const *outs)
{
    (void)plane;
    const struct axis *h = user, *w = h + 1;
    double *out = outs[0];
    for (int64_t y = 0; y < h->out; y++) {
        int64_t y0, y1, x0, x1;
        double down, right;
        between(h, y, &y0, &y1, &down);
        for (int64_t x = 0; x < w->out; x++) {
            between(w, x, &x0, &x1, &right);
            const double *a = in + y0 * w->in, *b = in + y1 * w->in;
            *out++ = (1 - down) * ((1 - right) * a[x0] + right * a[x1]) + down * ((1 - right) * b[x0] + right * b[x1]);
        }
    }
}

static int64_t nearest_place(const struct axis *axis, int64_t i)
{
    if (axis->out == axis->in) return i;
    int64_t place = axis->out == 2 * axis->in ? i / 2 : (int64_t)floorf((float)i * axis->step);
    return WICK_MIN(place, axis->in - 1);
}

static void nearest(const void *user, size_t plane, const double *in, double *const *outs)
{
    (void)plane;
    const struct axis *h = user, *w = h + 1;
    double *out = outs[0];
    for (int64_t y = 0; y < h->out; y++) {
        const double *row = in + nearest_place(h, y) * w->in;
        for (int64_t x = 0; x < w->out; x++) *out++ = row[nearest_place(w, x)];
    }
}

static wick_status resample(const struct wick_args *args, struct wick_tensor *out, struct axis axes[2],
                            void (*compute)(const void *, size_t, const double *, double *const *), struct wick_run *run)
{
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    if (out->shape.rank != 4 || out->shape.sizes[2] != axes[0].out || out->shape.sizes[3] != axes[1].out)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
    return wick_planes_run(&(struct wick_planes){.in = self, .outs = {out}, .spatial = 2, .compute = compute, .user = axes}, run);
}

static wick_status run_aten_upsample_bilinear2d_vec_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    int32_t size[2];
    double scales[2];
    struct axis axes[2];
    WICK_TRY(wick_upsample_read(args, 3, size, scales, run->err));
    for (int i = 0; i < 2; i++) axes[i] = axis_of(self->shape.sizes[2 + i], size[i], wick_arg_bool(args, 2), scales[i]);
    return resample(args, wick_arg_tensor(args, 4), axes, bilinear, run);
}

static wick_status run_aten_upsample_nearest2d_vec_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    int32_t size[2];
    double scales[2];
    struct axis axes[2];
    WICK_TRY(wick_upsample_read(args, 2, size, scales, run->err));
    for (int i = 0; i < 2; i++) axes[i] = axis_of(self->shape.sizes[2 + i], size[i], false, scales[i]);
    return resample(args, wick_arg_tensor(args, 3), axes, nearest, run);
}

/* The triangle of input elements that output i averages: [*from, *from + *count), centred at *centre, `reach` to each side. */
static void triangle(const struct axis *axis, int64_t i, int64_t *from, int64_t *count, float *centre, float *inverse)
{
    float reach = axis->step >= 1 ? axis->step : 1.0f;
    *inverse = axis->step >= 1 ? 1.0f / axis->step : 1.0f;
    *centre = axis->step * ((float)i + 0.5f);
    *from = WICK_MAX((int64_t)(*centre - reach + 0.5f), 0);
    *count = WICK_MIN((int64_t)(*centre + reach + 0.5f), axis->in) - *from;
}

static double triangle_weight(int64_t k, float centre, float inverse)
{
    float away = fabsf(((float)k - centre + 0.5f) * inverse);
    return away < 1 ? (double)(1 - away) : 0;
}

static void bilinear_aa(const void *user, size_t plane, const double *in, double *const *outs)
{
    (void)plane;
    const struct axis *h = user, *w = h + 1;
    double *out = outs[0];
    for (int64_t y = 0; y < h->out; y++) {
        int64_t y0, tall, x0, wide;
        float down, right, per_row, per_column;
        triangle(h, y, &y0, &tall, &down, &per_row);
        for (int64_t x = 0; x < w->out; x++) {
            triangle(w, x, &x0, &wide, &right, &per_column);
            double sum = 0, weights = 0;
            for (int64_t i = y0; i < y0 + tall; i++)
                for (int64_t j = x0; j < x0 + wide; j++) {
                    double weight = triangle_weight(i, down, per_row) * triangle_weight(j, right, per_column);
                    sum += weight * in[i * w->in + j];
                    weights += weight;
                }
            *out++ = weights > 0 ? sum / weights : 0;
        }
    }
}

static wick_status run_aten__upsample_bilinear2d_aa_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct axis axes[2];
    for (int i = 0; i < 2; i++) {
        double factor = wick_arg_is_none(args, 3 + (uint32_t)i) ? 0 : wick_arg_double(args, 3 + (uint32_t)i);
        if (!(factor >= 0 && factor < 0x1p31)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "scale factor %g", factor);
        axes[i] = axis_of(self->shape.sizes[2 + i], wick_window_item(args, 1, i, 1), wick_arg_bool(args, 2), factor);
        if (!(axes[i].step < 0x1p31f)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "scale factor %g", factor);
    }
    return resample(args, wick_arg_tensor(args, 5), axes, bilinear_aa, run);
}

OP(aten_upsample_bilinear2d_vec_out);
OP(aten_upsample_nearest2d_vec_out);
OP(aten__upsample_bilinear2d_aa_out);
