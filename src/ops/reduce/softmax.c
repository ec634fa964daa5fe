/* ops/reduce/softmax.c - softmax and its logarithm along a dim.
 *
 * Three passes over a position (maximum, sum of exponentials, results) in double; rows of f32 in one run go to the
 * micro-kernel. */
#include "ops/reduce/walk.h"

struct softmax_job {
    struct wick_walk walk;
    struct wick_tensor *out;
    bool logarithm;
    const struct wick_ukernels *ukernels;
};

struct softmax {
    double max, sum;
    char *to;
    int64_t stride; /* elements of out */
    size_t bytes;   /* an element of out */
    wick_store_fn *store;
    bool logarithm;
};

static void take_max(void *state, const void *x, size_t n)
{
    struct softmax *softmax = state;
    const double *values = x;
    for (size_t k = 0; k < n; k++) softmax->max = values[k] > softmax->max ? values[k] : softmax->max;
}

static void add_exp(void *state, const void *x, size_t n)
{
    struct softmax *softmax = state;
    const double *values = x;
    for (size_t k = 0; k < n; k++) softmax->sum += exp(values[k] - softmax->max);
}

static void put_results(void *state, const void *x, size_t n)
{
    struct softmax *softmax = state;
    const double *values = x;
    double results[WICK_CHUNK], log_sum = softmax->logarithm ? log(softmax->sum) : 0;
    for (size_t done = 0; done < n; done += WICK_CHUNK) {
        size_t count = WICK_MIN(n - done, (size_t)WICK_CHUNK);
        for (size_t k = 0; k < count; k++) {
            double shifted = values[done + k] - softmax->max;
            results[k] = softmax->logarithm ? shifted - log_sum : exp(shifted) / softmax->sum;
        }
        softmax->store(softmax->to, softmax->stride, results, count);
        softmax->to += (int64_t)count * softmax->stride * (int64_t)softmax->bytes;
    }
}

static void softmax_positions(void *user, size_t begin, size_t end)
{
    const struct softmax_job *job = user;
    int dtype = job->out->shape.dtype;
    for (size_t position = begin; position < end; position++) {
        struct softmax softmax = {.max = -INFINITY,
                                  .stride = wick_walk_stride(&job->walk, job->out),
                                  .bytes = wick_dtype_size(dtype),
                                  .store = wick_storer(dtype, WICK_COMPUTE_F64),
                                  .logarithm = job->logarithm};
        softmax.to = (char *)job->out->data + wick_walk_offset(&job->walk, job->out, position) * (int64_t)softmax.bytes;
        wick_walk_visit(&job->walk, position, WICK_COMPUTE_F64, take_max, &softmax);
        wick_walk_visit(&job->walk, position, WICK_COMPUTE_F64, add_exp, &softmax);
        wick_walk_visit(&job->walk, position, WICK_COMPUTE_F64, put_results, &softmax);
    }
}

/* Rows of f32 in one run. */
static void softmax_rows(void *user, size_t begin, size_t end)
{
    const struct softmax_job *job = user;
    for (size_t position = begin; position < end; position++) {
        float *to = (float *)job->out->data + wick_walk_offset(&job->walk, job->out, position);
        job->ukernels->softmax(job->walk.elements, (const float *)(const void *)wick_walk_at(&job->walk, position), to);
    }
}

static bool is_in_rows(const struct softmax_job *job)
{
    const struct wick_tensor *in = job->walk.in;
    bool floats = in->shape.dtype == WICK_DTYPE_F32 && job->out->shape.dtype == WICK_DTYPE_F32;
    return floats && !job->logarithm && job->walk.strides[0] == 1 && wick_walk_stride(&job->walk, job->out) == 1;
}

static wick_status run_softmax(const struct wick_args *args, struct wick_run *run, bool logarithm)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct softmax_job job = {.out = wick_arg_tensor(args, 3), .logarithm = logarithm, .ukernels = run->ukernels};
    if (wick_arg_bool(args, 2)) return wick_fail(run->err, WICK_NOT_SUPPORTED, "half_to_float");
    WICK_TRY(wick_walk_along(&job.walk, in, wick_arg_int(args, 1), run->err));
    WICK_TRY(wick_walk_check_out(&job.walk, job.out, true, run->err));
    if (!wick_dtype_is_float(in->shape.dtype) || !wick_dtype_is_float(job.out->shape.dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "softmax of %s into %s", wick_dtype_name(in->shape.dtype),
                         wick_dtype_name(job.out->shape.dtype));
    if (job.walk.elements == 0) return WICK_OK;
    wick_for_range(run, job.walk.positions, 8 * job.walk.elements, is_in_rows(&job) ? softmax_rows : softmax_positions, &job);
    return WICK_OK;
}
WICK_OP_RUN(aten__softmax_out, run_softmax, false)
WICK_OP_RUN(aten__log_softmax_out, run_softmax, true)
