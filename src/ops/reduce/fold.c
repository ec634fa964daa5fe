/* ops/reduce/fold.c - reductions to one value a position: sums, means, products, extremes, any, variances.
 *
 * Floats are accumulated in double (sums of rows of f32 by the micro-kernel), integers in i64. Large work is shared among threads by positions, so
 * that the order of additions in a position does not depend on their number. */
#include "ops/reduce/walk.h"

/* What a position accumulates. */
struct fold {
    double d, mean;
    int64_t i;
    size_t count; /* elements seen */
    int64_t at;   /* where the extreme is, as an index of elements */
};

/* A reduction: begin clears, step_* take elements, finish_* leave the result in d or i. */
struct folding {
    struct fold begin;
    wick_step_fn *step_f64, *step_i64;
    void (*finish)(struct fold *fold, size_t elements); /* NULL: nothing to do */
    bool needs_elements;                                /* an extreme of nothing does not exist */
};

#define STEP(name, type, statement)                         \
    static void name(void *state, const void *x_, size_t n) \
    {                                                       \
        struct fold *fold = state;                          \
        const type *values = x_;                            \
        for (size_t k = 0; k < n; k++) {                    \
            type x = values[k];                             \
            statement;                                      \
        }                                                   \
        fold->count += n;                                   \
    }

STEP(sum_f64, double, fold->d += x)
STEP(sum_i64, int64_t, fold->i = (int64_t)((uint64_t)fold->i + (uint64_t)x))
STEP(product_f64, double, fold->d *= x)
STEP(product_i64, int64_t, fold->i = (int64_t)((uint64_t)fold->i * (uint64_t)x))
STEP(any_f64, double, fold->i |= x != 0; fold->d = (double)fold->i)
STEP(any_i64, int64_t, fold->i |= x != 0)
STEP(spread_f64, double, fold->d += (x - fold->mean) * (x - fold->mean))

/* The first of equal extremes counts, and a NaN is more extreme than any number. */
#define EXTREME(name, op)                                                                         \
    STEP(                                                                                         \
        name##_f64, double, if (fold->at < 0 || x op fold->d || (x != x && fold->d == fold->d)) { \
            fold->d = x;                                                                          \
            fold->at = (int64_t)(fold->count + k);                                                \
        })                                                                                        \
    STEP(                                                                                         \
        name##_i64, int64_t, if (fold->at < 0 || x op fold->i) {                                  \
            fold->i = x;                                                                          \
            fold->at = (int64_t)(fold->count + k);                                                \
        })
EXTREME(max, >)
EXTREME(min, <)

static void divide(struct fold *fold, size_t elements) { fold->d /= (double)elements; }

static const struct folding sum_folding = {.step_f64 = sum_f64, .step_i64 = sum_i64};
static const struct folding mean_folding = {.step_f64 = sum_f64, .finish = divide};
static const struct folding product_folding = {.begin = {.d = 1, .i = 1}, .step_f64 = product_f64, .step_i64 = product_i64};
static const struct folding any_folding = {.step_f64 = any_f64, .step_i64 = any_i64};
static const struct folding max_folding = {.begin = {.at = -1}, .step_f64 = max_f64, .step_i64 = max_i64, .needs_elements = true};
static const struct folding min_folding = {.begin = {.at = -1}, .step_f64 = min_f64, .step_i64 = min_i64, .needs_elements = true};

struct job {
    struct wick_walk walk;
    const struct folding *folding;
    enum wick_compute compute;
    struct wick_tensor *value, *index; /* NULL: not wanted */
    const struct wick_ukernels *ukernels;
};

static void fold_positions(void *user, size_t begin, size_t end)
{
    const struct job *job = user;
    bool floats = job->compute == WICK_COMPUTE_F64;
    for (size_t position = begin; position < end; position++) {
        struct fold fold = job->folding->begin;
        wick_walk_visit(&job->walk, position, job->compute, floats ? job->folding->step_f64 : job->folding->step_i64, &fold);
        if (job->folding->finish) job->folding->finish(&fold, job->walk.elements);
        if (job->value) wick_walk_store(&job->walk, job->value, position, job->compute, floats ? (void *)&fold.d : (void *)&fold.i);
        if (job->index) wick_walk_store(&job->walk, job->index, position, WICK_COMPUTE_I64, &fold.at);
    }
}

/* Sums and means of f32 in one run, into f32: in WICK_LANES partial sums of the micro-kernel. */
static void sum_rows(void *user, size_t begin, size_t end)
{
    const struct job *job = user;
    for (size_t position = begin; position < end; position++) {
        struct fold fold = {.d = job->ukernels->reduce_sum(job->walk.elements, (const float *)(const void *)wick_walk_at(&job->walk, position))};
        if (job->folding->finish) job->folding->finish(&fold, job->walk.elements);
        wick_walk_store(&job->walk, job->value, position, WICK_COMPUTE_F64, &fold.d);
    }
}

static bool is_sum_in_rows(const struct job *job)
{
    bool floats = job->walk.in->shape.dtype == WICK_DTYPE_F32 && job->value && job->value->shape.dtype == WICK_DTYPE_F32;
    return floats && job->folding->step_f64 == sum_f64 && job->walk.rank == 1 && job->walk.strides[0] == 1 && job->walk.elements > 0;
}

/* Reduces arg 0 over mask into value and index. `computed`: the type of the result. */
static wick_status fold_into(const struct wick_args *args, uint32_t mask, const struct folding *folding, int computed, struct wick_tensor *value,
                             struct wick_tensor *index, struct wick_run *run)
{
    struct job job = {.folding = folding, .value = value, .index = index, .ukernels = run->ukernels};
    wick_walk_make(&job.walk, wick_arg_tensor(args, 0), mask);
    job.compute = wick_dtype_is_float(computed) ? WICK_COMPUTE_F64 : WICK_COMPUTE_I64;
    if (value) WICK_TRY(wick_walk_check_out(&job.walk, value, false, run->err));
    if (index) {
        WICK_TRY(wick_walk_check_out(&job.walk, index, false, run->err));
        if (index->shape.dtype != WICK_DTYPE_I64) return wick_fail(run->err, WICK_INVALID_TYPE, "indices must be LONG");
    }
    if (job.compute == WICK_COMPUTE_I64 && !folding->step_i64)
        return wick_fail(run->err, WICK_INVALID_TYPE, "the result of this reduction is a float");
    if (folding->needs_elements && job.walk.elements == 0 && job.walk.positions > 0)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "a reduction over no elements has no result");
    wick_for_range(run, job.walk.positions, job.walk.elements, is_sum_in_rows(&job) ? sum_rows : fold_positions, &job);
    return WICK_OK;
}

/* ---- operators by how they name dims ---- */

enum dims { ALL, LIST, ONE, ONE_OR_ALL };

static wick_status mask_of(const struct wick_args *args, enum dims dims, uint32_t *mask, wick_error *err)
{
    int rank = wick_arg_tensor(args, 0)->shape.rank, dim;
    *mask = (1u << rank) - 1;
    if (dims == ALL || (dims == ONE_OR_ALL && wick_arg_is_none(args, 1))) return WICK_OK;
    if (dims == LIST) return wick_rule_dim_mask(args, 1, rank, mask, err);
    WICK_TRY(wick_rule_dim(wick_arg_int(args, 1), rank, &dim, err));
    *mask = 1u << dim;
    return WICK_OK;
}

/* The value is computed in out's type: sums and products, whose out says how wide. */
static wick_status run_sum(const struct wick_args *args, struct wick_run *run, const struct folding *folding, enum dims dims, uint32_t at)
{
    struct wick_tensor *out = wick_arg_tensor(args, at);
    int in = wick_arg_tensor(args, 0)->shape.dtype;
    uint32_t mask;
    WICK_TRY(mask_of(args, dims, &mask, run->err));
    WICK_TRY(wick_out_check(wick_dtype_is_float(in) ? in : WICK_DTYPE_I64, out, run->err));
    return fold_into(args, mask, folding, out->shape.dtype, out, NULL, run);
}

/* The value is computed in the input's type; out is of any type that holds `result`. */
static wick_status run_value(const struct wick_args *args, struct wick_run *run, const struct folding *folding, enum dims dims,
                             enum wick_result result, uint32_t at)
{
    struct wick_tensor *out = wick_arg_tensor(args, at);
    int in = wick_arg_tensor(args, 0)->shape.dtype;
    uint32_t mask;
    WICK_TRY(mask_of(args, dims, &mask, run->err));
    WICK_TRY(wick_out_check(wick_result_dtype(in, result), out, run->err));
    return fold_into(args, mask, folding, in, out, NULL, run);
}

static wick_status run_index(const struct wick_args *args, struct wick_run *run, const struct folding *folding)
{
    uint32_t mask;
    WICK_TRY(mask_of(args, ONE_OR_ALL, &mask, run->err));
    return fold_into(args, mask, folding, wick_arg_tensor(args, 0)->shape.dtype, NULL, wick_arg_tensor(args, 3), run);
}

static wick_status run_extreme(const struct wick_args *args, struct wick_run *run, const struct folding *folding)
{
    struct wick_tensor *value = wick_arg_tensor(args, 3);
    int in = wick_arg_tensor(args, 0)->shape.dtype;
    uint32_t mask;
    WICK_TRY(mask_of(args, ONE, &mask, run->err));
    WICK_TRY(wick_out_check(in, value, run->err));
    return fold_into(args, mask, folding, in, value, wick_arg_tensor(args, 4), run);
}

WICK_OP_RUN(aten_sum_IntList_out, run_sum, &sum_folding, LIST, 4)
WICK_OP_RUN(aten_mean_out, run_sum, &mean_folding, LIST, 4)
WICK_OP_RUN(aten_mean_dtype_out, run_sum, &mean_folding, ALL, 2)
WICK_OP_RUN(aten_prod_int_out, run_sum, &product_folding, ONE, 4)
WICK_OP_RUN(aten_prod_out, run_sum, &product_folding, ALL, 2)
WICK_OP_RUN(aten_amax_out, run_value, &max_folding, LIST, WICK_RESULT_SAME, 3)
WICK_OP_RUN(aten_amin_out, run_value, &min_folding, LIST, WICK_RESULT_SAME, 3)
WICK_OP_RUN(aten_max_unary_out, run_value, &max_folding, ALL, WICK_RESULT_SAME, 1)
WICK_OP_RUN(aten_min_unary_out, run_value, &min_folding, ALL, WICK_RESULT_SAME, 1)
WICK_OP_RUN(aten_any_all_out, run_value, &any_folding, ALL, WICK_RESULT_BOOL, 1)
WICK_OP_RUN(aten_any_out, run_value, &any_folding, ONE, WICK_RESULT_BOOL, 3)
WICK_OP_RUN(aten_any_dims_out, run_value, &any_folding, LIST, WICK_RESULT_BOOL, 3)
WICK_OP_RUN(aten_argmax_out, run_index, &max_folding)
WICK_OP_RUN(aten_argmin_out, run_index, &min_folding)
WICK_OP_RUN(aten_max_dim_max, run_extreme, &max_folding)
WICK_OP_RUN(aten_min_dim_min, run_extreme, &min_folding)

/* ---- variance: two passes ---- */

struct var_job {
    struct wick_walk walk;
    double correction;
    struct wick_tensor *variance, *mean; /* mean: NULL, not wanted */
};

static void var_positions(void *user, size_t begin, size_t end)
{
    const struct var_job *job = user;
    for (size_t position = begin; position < end; position++) {
        struct fold fold = {0};
        wick_walk_visit(&job->walk, position, WICK_COMPUTE_F64, sum_f64, &fold);
        fold = (struct fold){.mean = fold.d / (double)job->walk.elements};
        wick_walk_visit(&job->walk, position, WICK_COMPUTE_F64, spread_f64, &fold);
        double freedom = (double)job->walk.elements - job->correction;
        fold.d /= freedom > 0 ? freedom : 0; /* too few elements: NaN, or inf as torch has it */
        wick_walk_store(&job->walk, job->variance, position, WICK_COMPUTE_F64, &fold.d);
        if (job->mean) wick_walk_store(&job->walk, job->mean, position, WICK_COMPUTE_F64, &fold.mean);
    }
}

static wick_status run_var(const struct wick_args *args, struct wick_run *run, double correction, bool with_mean)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct var_job job = {.correction = correction, .variance = wick_arg_tensor(args, 4), .mean = with_mean ? wick_arg_tensor(args, 5) : NULL};
    uint32_t mask;
    WICK_TRY(mask_of(args, LIST, &mask, run->err));
    wick_walk_make(&job.walk, in, mask);
    WICK_TRY(wick_walk_check_out(&job.walk, job.variance, false, run->err));
    if (job.mean) WICK_TRY(wick_walk_check_out(&job.walk, job.mean, false, run->err));
    if (!wick_dtype_is_float(in->shape.dtype) || !wick_dtype_is_float(job.variance->shape.dtype) ||
        (job.mean && !wick_dtype_is_float(job.mean->shape.dtype)))
        return wick_fail(run->err, WICK_INVALID_TYPE, "a variance is of floats");
    wick_for_range(run, job.walk.positions, 2 * job.walk.elements, var_positions, &job);
    return WICK_OK;
}

static wick_status run_var_unbiased(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return run_var(args, run, wick_arg_bool(args, 2), false);
}

static wick_status run_var_correction(const struct wick_args *args, struct wick_run *run, bool with_mean)
{
    return run_var(args, run, wick_arg_is_none(args, 2) ? 1 : wick_arg_scalar(args, 2), with_mean);
}
const struct wick_op wick_op_aten_var_out = {.meta = &wick_opmeta_aten_var_out, .run = run_var_unbiased};
WICK_OP_RUN(aten_var_correction_out, run_var_correction, false)
WICK_OP_RUN(aten_var_mean_correction_out, run_var_correction, true)
