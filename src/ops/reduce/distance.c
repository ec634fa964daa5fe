/* ops/reduce/distance.c - p-norm distances between vectors. */
#include "ops/reduce/walk.h"

/* Distance of two vectors of n elements given as doubles. p: 0 counts differences, inf takes the largest. */
static double distance(const double *a, const double *b, size_t n, double p)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double off = fabs(a[i] - b[i]);
        if (p == 0) sum += off != 0;
        else if (p == 1) sum += off;
        else if (p == 2) sum += off * off;
        else if (isinf(p)) sum = off > sum || off != off ? off : sum;
        else sum += pow(off, p);
    }
    return p == 2 ? sqrt(sum) : p == 0 || p == 1 || isinf(p) ? sum : pow(sum, 1 / p);
}

static wick_status check(const struct wick_tensor *t, double p, wick_error *err)
{
    if (!(p >= 0)) return wick_fail(err, WICK_INVALID_ARGUMENT, "p is %g, a norm needs p >= 0", p);
    if (!wick_dtype_is_float(t->shape.dtype)) return wick_fail(err, WICK_INVALID_TYPE, "distances of %s", wick_dtype_name(t->shape.dtype));
    if (!wick_shape_is_contiguous(&t->shape)) return wick_fail(err, WICK_NOT_SUPPORTED, "distances in a layout that is not contiguous");
    return WICK_OK;
}

/* Loads vector `row` of t as doubles. */
static void load_vector(const struct wick_tensor *t, size_t row, size_t length, double *to)
{
    const char *from = (const char *)t->data + row * length * wick_dtype_size(t->shape.dtype);
    wick_loader(t->shape.dtype, WICK_COMPUTE_F64)(to, from, 1, length);
}

static void put(struct wick_tensor *out, size_t at, double value)
{
    wick_storer(out->shape.dtype, WICK_COMPUTE_F64)((char *)out->data + at * wick_dtype_size(out->shape.dtype), 1, &value, 1);
}

/* The matrix of t that broadcasts to batch `index` (row-major over out's leading dims). */
static size_t batch_of(const struct wick_tensor *t, const struct wick_tensor *out, size_t index)
{
    size_t batch = 0, scale = 1;
    for (int i = out->shape.rank - 3, at = t->shape.rank - 3; i >= 0; i--, at--) {
        size_t size = (size_t)out->shape.sizes[i], own = at >= 0 ? (size_t)t->shape.sizes[at] : 1;
        if (own != 1) batch += index % size * scale;
        scale *= own;
        index /= size;
    }
    return batch;
}

/* (x1 [.., P, M], x2 [.., R, M], p, compute_mode; out [.., P, R]) */
static wick_status run_cdist(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *a = wick_arg_tensor(args, 0), *b = wick_arg_tensor(args, 1);
    struct wick_tensor *out = wick_arg_tensor(args, 4);
    double p = wick_arg_double(args, 2);
    (void)state;
    WICK_TRY(check(a, p, run->err));
    WICK_TRY(check(b, p, run->err));
    WICK_TRY(check(out, p, run->err));
    size_t rows = (size_t)out->shape.sizes[out->shape.rank - 2], columns = (size_t)out->shape.sizes[out->shape.rank - 1];
    size_t length = (size_t)a->shape.sizes[a->shape.rank - 1], total = wick_tensor_numel(out);
    double *left = WICK_NEW_ARRAY(run->temp, double, length), *right = WICK_NEW_ARRAY(run->temp, double, length);
    if (!left || !right) return wick_fail_oom(run->err, length * sizeof *left, "cdist");
    for (size_t i = 0; i < total; i++) {
        size_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
        if (column == 0) load_vector(a, batch_of(a, out, batch) * rows + row, length, left);
        load_vector(b, batch_of(b, out, batch) * columns + column, length, right);
        put(out, i, distance(left, right, length, p));
    }
    return WICK_OK;
}
const struct wick_op wick_op_aten__cdist_forward_out = {.meta = &wick_opmeta_aten__cdist_forward_out, .run = run_cdist};

/* (self [N, M], p; out [N (N - 1) / 2]): pairs (0,1) (0,2) .. (N-2,N-1) */
static wick_status run_pdist(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    double p = wick_arg_double(args, 1);
    (void)state;
    WICK_TRY(check(in, p, run->err));
    WICK_TRY(check(out, p, run->err));
    if (in->shape.rank != 2) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "the input has rank %d, not 2", in->shape.rank);
    size_t n = (size_t)in->shape.sizes[0], length = (size_t)in->shape.sizes[1], at = 0;
    if (wick_tensor_numel(out) != (n ? n * (n - 1) / 2 : 0)) return wick_fail(run->err, WICK_INTERNAL, "out does not have one element a pair");
    double *left = WICK_NEW_ARRAY(run->temp, double, length), *right = WICK_NEW_ARRAY(run->temp, double, length);
    if (!left || !right) return wick_fail_oom(run->err, length * sizeof *left, "pdist");
    for (size_t i = 0; i + 1 < n; i++) {
        load_vector(in, i, length, left);
        for (size_t j = i + 1; j < n; j++) {
            load_vector(in, j, length, right);
            put(out, at++, distance(left, right, length, p));
        }
    }
    return WICK_OK;
}
const struct wick_op wick_op_aten__pdist_forward_out = {.meta = &wick_opmeta_aten__pdist_forward_out, .run = run_pdist};
