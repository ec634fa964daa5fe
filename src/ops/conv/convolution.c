/* ops/conv/convolution.c - aten::convolution: 1-D and 2-D, grouped, depthwise, transposed.
 *
 * Item of work: one output plane (image, channel). It is made in scratch by adding input rows, each scaled by one
 * weight; then written to out in its own type and dim order. Computes in f32, or in f64 for f64 tensors. */
#include "base/checked.h"
#include "ops/conv/geometry.h"
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/ops.h"
#include "ukernel/ukernels.h"

struct job {
    struct wick_convolution c;
    const struct wick_ukernels *ukernels;
    int type; /* F32 or F64: of in, weight, bias and scratch */
    size_t element;
    const char *in, *weight, *bias; /* contiguous; bias NULL: none */
    struct wick_tensor *out;
    char *scratch; /* a plane a thread */
    size_t plane;  /* elements of an output plane */
};

/* out[i * out_stride] += weight * in[i * in_stride], i < n; offsets and strides in elements. */
static void add_row(const struct job *job, char *out, int64_t out_stride, const char *in, int64_t in_stride, int64_t n, double weight)
{
    if (job->type == WICK_DTYPE_F64) {
        double *to = (double *)(void *)out;
        const double *from = (const double *)(const void *)in;
        for (int64_t i = 0; i < n; i++) to[i * out_stride] += weight * from[i * in_stride];
        return;
    }
    float *to = (float *)(void *)out, factor = (float)weight;
    const float *from = (const float *)(const void *)in;
    if (out_stride == 1 && in_stride == 1) {
        job->ukernels->axpy((size_t)n, factor, from, to);
        return;
    }
    for (int64_t i = 0; i < n; i++) to[i * out_stride] += factor * from[i * in_stride];
}

/* i in [*from, *to) are those of [0, count) for which i * step + offset lies in [0, limit). */
static void clip(int64_t count, int64_t step, int64_t offset, int64_t limit, int64_t *from, int64_t *to)
{
    *from = offset < 0 ? (-offset + step - 1) / step : 0;
    *to = offset >= limit ? 0 : WICK_MIN(count, (limit - 1 - offset) / step + 1);
}

/* Adds one input plane through one kernel plane. The side that the kernel slides over has `count` steps of `stride`:
 * out for a plain convolution, in for a transposed one. */
static void add_plane(const struct job *job, char *out, const char *in, const char *weight)
{
    const struct wick_window *h = &job->c.height, *w = &job->c.width;
    bool transposed = job->c.transposed;
    int64_t e = (int64_t)job->element;
    if (!transposed && h->kernel * w->kernel == 1 && h->stride * w->stride == 1 && h->pad + w->pad == 0) {
        add_row(job, out, 1, in, 1, h->out * w->out, wick_element_double(weight, job->type, 0));
        return;
    }
    int64_t rows = transposed ? h->in : h->out, columns = transposed ? w->in : w->out;
    int64_t far_rows = transposed ? h->out : h->in, far_columns = transposed ? w->out : w->in;
    for (int64_t ky = 0; ky < h->kernel; ky++) {
        for (int64_t kx = 0; kx < w->kernel; kx++) {
            double factor = wick_element_double(weight, job->type, (size_t)(ky * w->kernel + kx));
            int64_t down = ky * h->dilation - h->pad, right = kx * w->dilation - w->pad, y0, y1, x0, x1;
            clip(rows, h->stride, down, far_rows, &y0, &y1);
            clip(columns, w->stride, right, far_columns, &x0, &x1);
            for (int64_t y = y0; x0 < x1 && y < y1; y++) {
                int64_t near = y * columns + x0, far = (y * h->stride + down) * far_columns + x0 * w->stride + right;
                if (transposed) add_row(job, out + far * e, w->stride, in + near * e, 1, x1 - x0, factor);
                else add_row(job, out + near * e, 1, in + far * e, w->stride, x1 - x0, factor);
            }
        }
    }
}

static void run_plane(void *user, size_t index, unsigned thread)
{
    const struct job *job = user;
    const struct wick_convolution *c = &job->c;
    size_t image = index / (size_t)c->out_channels, channel = index % (size_t)c->out_channels;
    size_t in_group = (size_t)(c->in_channels / c->groups), out_group = (size_t)(c->out_channels / c->groups), group = channel / out_group;
    size_t in_plane = (size_t)(c->height.in * c->width.in), kernel = (size_t)(c->height.kernel * c->width.kernel);
    char *plane = job->scratch + thread * job->plane * job->element;
    double bias = job->bias ? wick_element_double(job->bias, job->type, channel) : 0;
    for (size_t i = 0; i < job->plane; i++) {
        if (job->type == WICK_DTYPE_F64) ((double *)(void *)plane)[i] = bias;
        else ((float *)(void *)plane)[i] = (float)bias;
    }
    for (size_t k = 0; k < in_group; k++) {
        size_t from = group * in_group + k;
        size_t at = c->transposed ? from * out_group + channel % out_group : channel * in_group + k;
        add_plane(job, plane, job->in + (image * (size_t)c->in_channels + from) * in_plane * job->element, job->weight + at * kernel * job->element);
    }
    struct wick_tensor *out = job->out;
    int64_t to[2] = {c->spatial == 2 ? out->strides[2] : 0, out->strides[c->spatial + 1]}, flat[2] = {c->width.out, 1};
    const int32_t sizes[2] = {(int32_t)c->height.out, (int32_t)c->width.out};
    int64_t offset = (int64_t)image * out->strides[0] + (int64_t)channel * out->strides[1];
    wick_strided_cast((char *)out->data + offset * (int64_t)wick_dtype_size(out->shape.dtype), out->shape.dtype, to, plane, job->type, flat, sizes,
                      2);
}

/* The tensor's elements, contiguous and of the job's type: its own bytes, or a copy in scratch. */
static wick_status gather(const struct wick_tensor *t, int type, const char **data, struct wick_run *run)
{
    *data = t->data;
    if (t->shape.dtype == type && wick_shape_is_contiguous(&t->shape)) return WICK_OK;
    size_t numel = wick_tensor_numel(t);
    int64_t from[WICK_RANK_MAX], to[WICK_RANK_MAX];
    void *copy = wick_arena_array(run->temp, numel, wick_dtype_size(type), 64);
    if (!copy) return wick_fail_oom(run->err, numel * wick_dtype_size(type), "a tensor in contiguous order");
    wick_strides_of(t, from);
    wick_strides_contiguous(t->shape.sizes, t->shape.rank, to);
    wick_strided_cast(copy, type, to, t->data, t->shape.dtype, from, t->shape.sizes, t->shape.rank);
    *data = copy;
    return WICK_OK;
}

static wick_status run_aten_convolution_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *input = wick_arg_tensor(args, 0), *weight = wick_arg_tensor(args, 1), *bias = wick_arg_tensor(args, 2);
    struct job job = {.ukernels = run->ukernels, .out = wick_arg_tensor(args, 9), .type = WICK_DTYPE_F32, .element = sizeof(float)};
    WICK_TRY(wick_convolution_read(&job.c, args, run->err));
    if (!wick_dtype_is_float(input->shape.dtype) || !wick_dtype_is_float(weight->shape.dtype) || !wick_dtype_is_float(job.out->shape.dtype) ||
        (bias && !wick_dtype_is_float(bias->shape.dtype)))
        return wick_fail(run->err, WICK_INVALID_TYPE, "convolution of %s with %s", wick_dtype_name(input->shape.dtype),
                         wick_dtype_name(weight->shape.dtype));
    const int32_t *sizes = job.out->shape.sizes;
    if (job.out->shape.rank != input->shape.rank || sizes[0] != job.c.batch || sizes[1] != job.c.out_channels ||
        sizes[job.c.spatial + 1] != job.c.width.out || (job.c.spatial == 2 && sizes[2] != job.c.height.out))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "out has other sizes");
    if (input->shape.dtype == WICK_DTYPE_F64) job.type = WICK_DTYPE_F64, job.element = sizeof(double);
    WICK_TRY(gather(input, job.type, &job.in, run));
    WICK_TRY(gather(weight, job.type, &job.weight, run));
    if (bias) WICK_TRY(gather(bias, job.type, &job.bias, run));
    job.plane = (size_t)(job.c.height.out * job.c.width.out);
    unsigned threads = wick_pool_threads(run->pool);
    size_t bytes;
    if (wick_mul_size(job.plane, job.element, &bytes) || !(job.scratch = wick_arena_array(run->temp, threads, bytes, 64)))
        return wick_fail_oom(run->err, job.plane * job.element * threads, "convolution planes");
    size_t count = (size_t)(job.c.batch * job.c.out_channels);
    wick_pool_run(count * job.plane > 8192 ? run->pool : NULL, count, run_plane, &job);
    return WICK_OK;
}

const struct wick_op wick_op_aten_convolution_out = {.meta = &wick_opmeta_aten_convolution_out, .run = run_aten_convolution_out};
