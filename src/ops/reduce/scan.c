/* ops/reduce/scan.c - along one dim: running sums and the k largest or smallest. */
#include "ops/reduce/walk.h"

/* ---- cumsum ---- */

struct scan {
    double d;
    int64_t i;
    char *to;
    int64_t stride; /* bytes */
    enum wick_compute compute;
    wick_store_fn *store;
};

static void scan_f64(void *state, const void *x, size_t n)
{
    struct scan *scan = state;
    const double *values = x;
    for (size_t k = 0; k < n; k++, scan->to += scan->stride) {
        scan->d += values[k];
        scan->store(scan->to, 1, &scan->d, 1);
    }
}

static void scan_i64(void *state, const void *x, size_t n)
{
    struct scan *scan = state;
    const int64_t *values = x;
    for (size_t k = 0; k < n; k++, scan->to += scan->stride) {
        scan->i = (int64_t)((uint64_t)scan->i + (uint64_t)values[k]);
        scan->store(scan->to, 1, &scan->i, 1);
    }
}

struct scan_job {
    struct wick_walk walk;
    struct wick_tensor *out;
};

static void scan_positions(void *user, size_t begin, size_t end)
{
    const struct scan_job *job = user;
    int dtype = job->out->shape.dtype;
    int64_t bytes = (int64_t)wick_dtype_size(dtype);
    bool floats = wick_dtype_is_float(dtype);
    enum wick_compute compute = floats ? WICK_COMPUTE_F64 : WICK_COMPUTE_I64;
    for (size_t position = begin; position < end; position++) {
        struct scan scan = {.compute = compute, .store = wick_storer(dtype, compute), .stride = wick_walk_stride(&job->walk, job->out) * bytes};
        scan.to = (char *)job->out->data + wick_walk_offset(&job->walk, job->out, position) * bytes;
        wick_walk_visit(&job->walk, position, compute, floats ? scan_f64 : scan_i64, &scan);
    }
}

static wick_status run_cumsum(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct scan_job job = {.out = wick_arg_tensor(args, 3)};
    (void)state;
    WICK_TRY(wick_walk_along(&job.walk, in, wick_arg_int(args, 1), run->err));
    WICK_TRY(wick_walk_check_out(&job.walk, job.out, true, run->err));
    WICK_TRY(wick_out_check(in->shape.dtype, job.out, run->err));
    wick_for_range(run, job.walk.positions, job.walk.elements, scan_positions, &job);
    return WICK_OK;
}
const struct wick_op wick_op_aten_cumsum_out = {.meta = &wick_opmeta_aten_cumsum_out, .run = run_cumsum};

/* ---- topk ---- */

/* key orders like the value; larger is better. */
struct ranked {
    int64_t key, index;
};

static bool better(const struct ranked *a, const struct ranked *b) { return a->key != b->key ? a->key > b->key : a->index < b->index; }

/* Doubles as integers of the same order; every NaN above all numbers, -0 and 0 equal. */
static int64_t key_of(double value)
{
    int64_t bits;
    if (value != value) return INT64_MAX;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

struct gather {
    struct ranked *to;
    int64_t count;
    bool smallest;
};

static void gather_one(struct gather *gather, int64_t key)
{
    gather->to[gather->count] = (struct ranked){gather->smallest ? ~key : key, gather->count};
    gather->count++;
}

static void gather_f64(void *state, const void *x, size_t n)
{
    for (size_t k = 0; k < n; k++) gather_one(state, key_of(((const double *)x)[k]));
}

static void gather_i64(void *state, const void *x, size_t n)
{
    for (size_t k = 0; k < n; k++) gather_one(state, ((const int64_t *)x)[k]);
}

/* Restores the heap (best on top) below `at`. */
static void sift(struct ranked *heap, size_t count, size_t at)
{
    struct ranked moving = heap[at];
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && better(&heap[child + 1], &heap[child])) child++;
        if (!better(&heap[child], &moving)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* Best first, into values and indices. */
static void take_best(const struct wick_walk *walk, size_t position, struct ranked *heap, size_t k, struct wick_tensor *values,
                      struct wick_tensor *indices)
{
    size_t count = walk->elements, bytes = wick_dtype_size(values->shape.dtype);
    for (size_t at = count / 2; at-- > 0;) sift(heap, count, at);
    const char *from = wick_walk_at(walk, position);
    char *value = (char *)values->data + wick_walk_offset(walk, values, position) * (int64_t)bytes;
    int64_t *index = (int64_t *)indices->data + wick_walk_offset(walk, indices, position);
    int64_t from_stride = wick_walk_stride(walk, walk->in), value_stride = wick_walk_stride(walk, values),
            index_stride = wick_walk_stride(walk, indices);
    for (size_t i = 0; i < k; i++) {
        memcpy(value + (int64_t)i * value_stride * (int64_t)bytes, from + heap[0].index * from_stride * (int64_t)bytes, bytes);
        index[(int64_t)i * index_stride] = heap[0].index;
        heap[0] = heap[--count];
        if (count > 0) sift(heap, count, 0);
    }
}

static wick_status run_topk(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0);
    struct wick_tensor *values = wick_arg_tensor(args, 5), *indices = wick_arg_tensor(args, 6);
    int64_t k = wick_arg_int(args, 1);
    struct wick_walk walk;
    (void)state;
    WICK_TRY(wick_walk_along(&walk, in, wick_arg_int(args, 2), run->err));
    WICK_TRY(wick_element_check(in, "self", run->err));
    if (values->shape.dtype != in->shape.dtype || indices->shape.dtype != WICK_DTYPE_I64)
        return wick_fail(run->err, WICK_INVALID_TYPE, "values must have the input's type and indices be LONG");
    if (in->shape.rank == 0) k = 1; /* the only element, whatever k */
    if (k < 0 || (uint64_t)k > walk.elements)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "k is %lld of %zu elements", (long long)k, walk.elements);
    if (k == 0 || walk.positions == 0) return WICK_OK;
    if (wick_tensor_numel(values) != walk.positions * (size_t)k || wick_tensor_numel(indices) != walk.positions * (size_t)k)
        return wick_fail(run->err, WICK_INTERNAL, "outs do not have the shape of k = %lld", (long long)k);
    struct ranked *heap = WICK_NEW_ARRAY(run->temp, struct ranked, walk.elements);
    if (!heap) return wick_fail_oom(run->err, walk.elements * sizeof *heap, "topk");
    bool floats = wick_dtype_is_float(in->shape.dtype);
    for (size_t position = 0; position < walk.positions; position++) {
        struct gather gather = {.to = heap, .smallest = !wick_arg_bool(args, 3)};
        wick_walk_visit(&walk, position, floats ? WICK_COMPUTE_F64 : WICK_COMPUTE_I64, floats ? gather_f64 : gather_i64, &gather);
        take_best(&walk, position, heap, (size_t)k, values, indices);
    }
    return WICK_OK;
}
const struct wick_op wick_op_aten_topk_values = {.meta = &wick_opmeta_aten_topk_values, .run = run_topk};
