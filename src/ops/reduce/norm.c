/* ops/reduce/norm.c - layer, group and batch normalisation.
 *
 * All are out = (x - mean) * rstd * weight + bias with the five broadcast against a view of x; they differ in what
 * shares a mean. Statistics are taken in double by reduce/walk, the formula runs through ops/elementwise. */
#include "ops/reduce/walk.h"

#define NORM_KERNEL(name, type)                                                                  \
    static void name(void *out, const void *const *in, size_t n, struct wick_params *params)     \
    {                                                                                            \
        type *to = out;                                                                          \
        const type *x = in[0], *mean = in[1], *rstd = in[2], *weight = in[3], *bias = in[4];     \
        (void)params;                                                                            \
        for (size_t i = 0; i < n; i++) to[i] = (x[i] - mean[i]) * rstd[i] * weight[i] + bias[i]; \
    }
NORM_KERNEL(norm_f32, float)
NORM_KERNEL(norm_f64, double)

static const struct wick_vectors norm_vectors = {{norm_f32, norm_f64, NULL}};

/* A contiguous tensor over data that is someone else's. */
static struct wick_tensor tensor_over(int dtype, void *data, int rank, const int32_t *sizes)
{
    struct wick_tensor t = {.shape = wick_shape_make(dtype, rank, sizes), .data = data};
    wick_shape_strides(&t.shape, t.strides);
    return t;
}

/* An optional weight or bias as a tensor of `sizes`; `absent` (a value of rank 0) if there is none. */
static wick_status parameter(const struct wick_tensor *t, const char *what, int rank, const int32_t *sizes, const struct wick_tensor *absent,
                             struct wick_tensor *view, wick_error *err)
{
    if (!t) {
        *view = *absent;
        return WICK_OK;
    }
    *view = tensor_over(t->shape.dtype, t->data, rank, sizes);
    if (wick_tensor_numel(view) == wick_tensor_numel(t) && wick_shape_is_contiguous(&t->shape)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_ARGUMENT, "%s has %zu elements, %zu are needed", what, wick_tensor_numel(t), wick_tensor_numel(view));
}

struct moments {
    double sum, spread, mean;
};

static void add_values(void *state, const void *x, size_t n)
{
    struct moments *moments = state;
    for (size_t k = 0; k < n; k++) moments->sum += ((const double *)x)[k];
}

static void add_spread(void *state, const void *x, size_t n)
{
    struct moments *moments = state;
    for (size_t k = 0; k < n; k++) {
        double off = ((const double *)x)[k] - moments->mean;
        moments->spread += off * off;
    }
}

struct moments_job {
    struct wick_walk walk;
    double eps, *mean, *rstd;
};

static void moments_positions(void *user, size_t begin, size_t end)
{
    const struct moments_job *job = user;
    for (size_t position = begin; position < end; position++) {
        struct moments moments = {0};
        wick_walk_visit(&job->walk, position, WICK_COMPUTE_F64, add_values, &moments);
        moments.mean = moments.sum / (double)job->walk.elements;
        wick_walk_visit(&job->walk, position, WICK_COMPUTE_F64, add_spread, &moments);
        job->mean[position] = moments.mean;
        job->rstd[position] = 1 / sqrt(moments.spread / (double)job->walk.elements + job->eps);
    }
}

/* Mean and 1 / sqrt(variance + eps) of x over the dims of mask, as doubles in temporary memory. */
static wick_status take_moments(const struct wick_tensor *x, uint32_t mask, double eps, double **mean, double **rstd, struct wick_run *run)
{
    struct moments_job job = {.eps = eps};
    wick_walk_make(&job.walk, x, mask);
    job.mean = *mean = WICK_NEW_ARRAY(run->temp, double, job.walk.positions);
    job.rstd = *rstd = WICK_NEW_ARRAY(run->temp, double, job.walk.positions);
    if (!*mean || !*rstd) return wick_fail_oom(run->err, job.walk.positions * sizeof(double), "normalisation");
    wick_for_range(run, job.walk.positions, 2 * job.walk.elements, moments_positions, &job);
    return WICK_OK;
}

static wick_status check_floats(const struct wick_args *args, uint32_t at, wick_error *err)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    for (uint32_t k = at; k < at + 3; k++)
        if (!wick_dtype_is_float(wick_arg_tensor(args, k)->shape.dtype) || !wick_dtype_is_float(in->shape.dtype))
            return wick_fail(err, WICK_INVALID_TYPE, "normalisation is of floats");
    if (wick_shape_same_sizes(&in->shape, &wick_arg_tensor(args, at)->shape)) return WICK_OK;
    return wick_fail(err, WICK_INTERNAL, "out does not have the input's shape");
}

/* Stores doubles in a contiguous statistics out; an empty out takes none. */
static wick_status put_statistics(struct wick_tensor *out, const double *values, size_t count, wick_error *err)
{
    if (wick_tensor_numel(out) == 0) return WICK_OK;
    if (wick_tensor_numel(out) != count)
        return wick_fail(err, WICK_INTERNAL, "a statistics out has %zu elements, not %zu", wick_tensor_numel(out), count);
    wick_storer(out->shape.dtype, WICK_COMPUTE_F64)(out->data, 1, values, count);
    return WICK_OK;
}

/* What one normalisation works on: x and out seen as `rank` dims, statistics and parameters with 1 where they are shared. */
struct norm {
    struct wick_tensor x, out;
    int rank;
    int32_t stat_sizes[WICK_RANK_MAX], weight_sizes[WICK_RANK_MAX];
};

static wick_status apply(const struct norm *norm, double *mean, double *rstd, const struct wick_tensor *weight, const struct wick_tensor *bias,
                         struct wick_run *run)
{
    double one = 1, zero = 0;
    struct wick_tensor none_weight = tensor_over(WICK_DTYPE_F64, &one, 0, NULL), none_bias = tensor_over(WICK_DTYPE_F64, &zero, 0, NULL), w, b;
    struct wick_tensor m = tensor_over(WICK_DTYPE_F64, mean, norm->rank, norm->stat_sizes);
    struct wick_tensor r = tensor_over(WICK_DTYPE_F64, rstd, norm->rank, norm->stat_sizes);
    WICK_TRY(parameter(weight, "weight", norm->rank, norm->weight_sizes, &none_weight, &w, run->err));
    WICK_TRY(parameter(bias, "bias", norm->rank, norm->weight_sizes, &none_bias, &b, run->err));
    const struct wick_tensor *ins[5] = {&norm->x, &m, &r, &w, &b};
    struct wick_tensor out = norm->out;
    struct wick_params params = {0};
    return wick_elementwise(&norm_vectors, wick_compute_of(norm->x.shape.dtype), ins, 5, &out, &params, run);
}

/* (input, normalized_shape, weight, bias, eps; out, mean, rstd) */
static wick_status run_layer_norm(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct norm norm = {.x = *in, .out = *wick_arg_tensor(args, 5), .rank = in->shape.rank};
    uint32_t count = wick_arg_count(args, 1), mask = 0;
    double *mean, *rstd;
    (void)state;
    WICK_TRY(check_floats(args, 5, run->err));
    if (count > in->shape.rank) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "normalized_shape has more dims than the input");
    for (int dim = 0; dim < norm.rank; dim++) {
        bool normalized = dim >= norm.rank - (int)count;
        mask |= (uint32_t)normalized << dim;
        norm.stat_sizes[dim] = normalized ? 1 : in->shape.sizes[dim];
        norm.weight_sizes[dim] = normalized ? in->shape.sizes[dim] : 1;
    }
    WICK_TRY(take_moments(in, mask, wick_arg_double(args, 4), &mean, &rstd, run));
    WICK_TRY(apply(&norm, mean, rstd, wick_arg_tensor(args, 2), wick_arg_tensor(args, 3), run));
    size_t positions = 1;
    for (int dim = 0; dim < norm.rank - (int)count; dim++) positions *= (size_t)in->shape.sizes[dim];
    WICK_TRY(put_statistics(wick_arg_tensor(args, 6), mean, positions, run->err));
    return put_statistics(wick_arg_tensor(args, 7), rstd, positions, run->err);
}
const struct wick_op wick_op_aten_native_layer_norm_out = {.meta = &wick_opmeta_aten_native_layer_norm_out, .run = run_layer_norm};

/* (input, weight, bias, N, C, HxW, group, eps; out, mean, rstd): x is [N, group, C / group, HxW]. */
static wick_status run_group_norm(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0), *out = wick_arg_tensor(args, 8);
    int64_t n = wick_arg_int(args, 3), c = wick_arg_int(args, 4), plane = wick_arg_int(args, 5), groups = wick_arg_int(args, 6);
    double *mean, *rstd;
    (void)state;
    WICK_TRY(check_floats(args, 8, run->err));
    if (!wick_shape_is_contiguous(&in->shape) || !wick_shape_is_contiguous(&out->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "group normalisation of a layout that is not contiguous");
    const int32_t sizes[4] = {(int32_t)n, (int32_t)groups, (int32_t)(c / groups), (int32_t)plane};
    struct norm norm = {.x = tensor_over(in->shape.dtype, in->data, 4, sizes),
                        .out = tensor_over(out->shape.dtype, out->data, 4, sizes),
                        .rank = 4,
                        .stat_sizes = {sizes[0], sizes[1], 1, 1},
                        .weight_sizes = {1, sizes[1], sizes[2], 1}};
    WICK_TRY(take_moments(&norm.x, 1u << 2 | 1u << 3, wick_arg_double(args, 7), &mean, &rstd, run));
    WICK_TRY(apply(&norm, mean, rstd, wick_arg_tensor(args, 1), wick_arg_tensor(args, 2), run));
    WICK_TRY(put_statistics(wick_arg_tensor(args, 9), mean, (size_t)(n * groups), run->err));
    return put_statistics(wick_arg_tensor(args, 10), rstd, (size_t)(n * groups), run->err);
}
const struct wick_op wick_op_aten_native_group_norm_out = {.meta = &wick_opmeta_aten_native_group_norm_out, .run = run_group_norm};

/* Statistics of batch normalisation are one a channel, dim 1. */
static struct norm channel_norm(const struct wick_tensor *in, const struct wick_tensor *out)
{
    struct norm norm = {.x = *in, .out = *out, .rank = in->shape.rank};
    for (int dim = 0; dim < norm.rank; dim++) norm.stat_sizes[dim] = norm.weight_sizes[dim] = dim == 1 ? in->shape.sizes[1] : 1;
    return norm;
}

/* With the statistics of training. (input, weight, bias, running_mean, running_var ...), out at out_at, eps before it. */
static wick_status run_batch_norm(const struct wick_args *args, struct wick_run *run, uint32_t out_at)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0), *given_mean = wick_arg_tensor(args, 3), *given_var = wick_arg_tensor(args, 4);
    WICK_TRY(check_floats(args, out_at, run->err));
    struct norm norm = channel_norm(in, wick_arg_tensor(args, out_at));
    size_t channels = (size_t)in->shape.sizes[1];
    double *mean = WICK_NEW_ARRAY(run->temp, double, channels), *rstd = WICK_NEW_ARRAY(run->temp, double, channels);
    if (!mean || !rstd) return wick_fail_oom(run->err, channels * sizeof *mean, "normalisation");
    WICK_TRY(wick_element_check(given_mean, "running_mean", run->err));
    WICK_TRY(wick_element_check(given_var, "running_var", run->err));
    if (wick_tensor_numel(given_mean) != channels || wick_tensor_numel(given_var) != channels)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "running statistics do not have %zu elements, one a channel", channels);
    wick_loader(given_mean->shape.dtype, WICK_COMPUTE_F64)(mean, given_mean->data, 1, channels);
    wick_loader(given_var->shape.dtype, WICK_COMPUTE_F64)(rstd, given_var->data, 1, channels);
    double eps = wick_arg_double(args, out_at - 1);
    for (size_t i = 0; i < channels; i++) rstd[i] = 1 / sqrt(rstd[i] + eps);
    return apply(&norm, mean, rstd, wick_arg_tensor(args, 1), wick_arg_tensor(args, 2), run);
}

static wick_status run_batch_norm_legit(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    if (wick_arg_bool(args, 5)) return wick_fail(run->err, WICK_NOT_SUPPORTED, "training with running statistics");
    return run_batch_norm(args, run, 8);
}
const struct wick_op wick_op_aten__native_batch_norm_legit_out = {.meta = &wick_opmeta_aten__native_batch_norm_legit_out, .run = run_batch_norm_legit};
WICK_OP_RUN(aten__native_batch_norm_legit_no_training_out, run_batch_norm, 7)

/* With the batch's own statistics. (input, weight, bias, training, momentum, eps; out, mean, invstd) */
static wick_status run_batch_norm_own(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    double *mean, *rstd;
    (void)state;
    WICK_TRY(check_floats(args, 6, run->err));
    struct norm norm = channel_norm(in, wick_arg_tensor(args, 6));
    uint32_t mask = ((1u << norm.rank) - 1) & ~(1u << 1);
    WICK_TRY(take_moments(in, mask, wick_arg_double(args, 5), &mean, &rstd, run));
    WICK_TRY(apply(&norm, mean, rstd, wick_arg_tensor(args, 1), wick_arg_tensor(args, 2), run));
    WICK_TRY(put_statistics(wick_arg_tensor(args, 7), mean, (size_t)in->shape.sizes[1], run->err));
    return put_statistics(wick_arg_tensor(args, 8), rstd, (size_t)in->shape.sizes[1], run->err);
}
const struct wick_op wick_op_aten__native_batch_norm_legit_no_stats_out = {.meta = &wick_opmeta_aten__native_batch_norm_legit_no_stats_out,
                                                                           .run = run_batch_norm_own};
