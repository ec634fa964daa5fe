/* ops/elementwise.c - the engine of elementwise.h: operands to a walk, the walk to runs, runs to vector kernels. */
#include "ops/elementwise.h"

/* Stride of an input along out's dim `dim`: 0 where it broadcasts; -1 if sizes do not fit. */
static int64_t broadcast_stride(const struct wick_tensor *in, const struct wick_tensor *out, int dim)
{
    int at = dim - (out->shape.rank - in->shape.rank);
    if (at < 0 || in->shape.sizes[at] == 1) return 0;
    return in->shape.sizes[at] == out->shape.sizes[dim] ? in->strides[at] : -1;
}

/* Appends a dim, or widens the last one if for every operand the two are one run. */
static void append_dim(struct wick_loop *loop, int64_t size, const int64_t *strides)
{
    bool merges = loop->rank > 0;
    for (int k = 0; merges && k < loop->operands; k++) merges = loop->strides[k][loop->rank - 1] == strides[k] * size;
    int at = merges ? loop->rank - 1 : loop->rank++;
    loop->sizes[at] = merges ? loop->sizes[at] * size : size;
    for (int k = 0; k < loop->operands; k++) loop->strides[k][at] = strides[k];
}

static wick_status misfit(const struct wick_tensor *in, const struct wick_tensor *out, wick_error *err)
{
    char text_in[128], text_out[128];
    wick_shape_text(&in->shape, text_in);
    wick_shape_text(&out->shape, text_out);
    return wick_fail(err, WICK_INVALID_ARGUMENT, "an input of shape %s does not broadcast to out, %s", text_in, text_out);
}

wick_status wick_loop_make(struct wick_loop *loop, const struct wick_tensor *out, const struct wick_tensor *const *ins, int count, wick_error *err)
{
    loop->rank = 0;
    loop->operands = count + 1;
    for (int k = 0; k < count; k++) {
        int extra = ins[k]->shape.rank - out->shape.rank;
        for (int d = 0; d < extra; d++)
            if (ins[k]->shape.sizes[d] != 1) return misfit(ins[k], out, err);
    }
    for (int i = 0; i < out->shape.rank; i++) {
        int dim = out->shape.dim_order[i];
        int64_t strides[WICK_INPUTS_MAX + 1] = {out->strides[dim]};
        for (int k = 0; k < count; k++) {
            strides[k + 1] = broadcast_stride(ins[k], out, dim);
            if (strides[k + 1] < 0) return misfit(ins[k], out, err);
        }
        if (out->shape.sizes[dim] != 1) append_dim(loop, out->shape.sizes[dim], strides);
    }
    if (loop->rank == 0) {
        const int64_t zeros[WICK_INPUTS_MAX + 1] = {0};
        append_dim(loop, 1, zeros);
    }
    return WICK_OK;
}

/* One call of wick_elementwise. Operand 0 is out. */
struct job {
    struct wick_loop loop;
    wick_vector_fn *kernel;
    wick_load_fn *loads[WICK_INPUTS_MAX + 1]; /* NULL: contiguous and of the compute type, passed in place */
    wick_store_fn *store;
    char *data[WICK_INPUTS_MAX + 1];
    size_t element[WICK_INPUTS_MAX + 1];
    struct wick_params *params;
};

/* The compute-type copies of one thread. A broadcast operand (stride 0) is filled once for as long as it stays. */
struct buffers {
    double block[WICK_INPUTS_MAX + 1][WICK_CHUNK];
    const char *filled[WICK_INPUTS_MAX + 1];
    size_t filled_count[WICK_INPUTS_MAX + 1];
};

/* n elements along the innermost dim, from `at` (one pointer an operand). */
static void run_row(const struct job *job, struct buffers *buffers, char *const *at, size_t n)
{
    int last = job->loop.rank - 1, operands = job->loop.operands;
    bool in_place = true;
    for (int k = 0; k < operands; k++) in_place = in_place && (k ? job->loads[k] == NULL : job->store == NULL);
    size_t step = in_place ? n : WICK_CHUNK;
    for (size_t done = 0; done < n; done += step) {
        size_t count = WICK_MIN(step, n - done);
        const void *ins[WICK_INPUTS_MAX];
        for (int k = 1; k < operands; k++) {
            int64_t stride = job->loop.strides[k][last];
            char *from = at[k] + (int64_t)done * stride * (int64_t)job->element[k];
            ins[k - 1] = job->loads[k] ? (void *)buffers->block[k] : from;
            if (!job->loads[k] || (stride == 0 && buffers->filled[k] == from && buffers->filled_count[k] >= count)) continue;
            job->loads[k](buffers->block[k], from, stride, count);
            buffers->filled[k] = stride == 0 ? from : NULL;
            buffers->filled_count[k] = count;
        }
        int64_t stride = job->loop.strides[0][last];
        char *to = at[0] + (int64_t)done * stride * (int64_t)job->element[0];
        job->kernel(job->store ? (void *)buffers->block[0] : to, ins, count, job->params);
        if (job->store) job->store(to, stride, buffers->block[0], count);
    }
}

/* Elements [begin, end) of the walk, a row of the innermost dim at a time. */
static void run_range(void *user, size_t begin, size_t end)
{
    const struct job *job = user;
    const struct wick_loop *loop = &job->loop;
    struct buffers buffers;
    memset(buffers.filled, 0, sizeof buffers.filled);
    int64_t index[WICK_RANK_MAX], rest = (int64_t)begin;
    for (int d = loop->rank - 1; d >= 0; d--) {
        index[d] = rest % loop->sizes[d];
        rest /= loop->sizes[d];
    }
    char *at[WICK_INPUTS_MAX + 1];
    for (int k = 0; k < loop->operands; k++) {
        int64_t offset = 0;
        for (int d = 0; d < loop->rank; d++) offset += index[d] * loop->strides[k][d];
        at[k] = job->data[k] + offset * (int64_t)job->element[k];
    }
    int last = loop->rank - 1;
    for (size_t done = begin; done < end;) {
        size_t n = WICK_MIN((size_t)(loop->sizes[last] - index[last]), end - done);
        run_row(job, &buffers, at, n);
        done += n;
        if (done >= end) break;
        /* Only the first row can begin inside; from here on rows begin at 0. The odometer moves pointers by differences. */
        for (int k = 0; k < loop->operands; k++) at[k] -= index[last] * loop->strides[k][last] * (int64_t)job->element[k];
        index[last] = 0;
        for (int d = last - 1; d >= 0; d--) {
            bool wraps = ++index[d] == loop->sizes[d];
            int64_t move = wraps ? 1 - loop->sizes[d] : 1;
            for (int k = 0; k < loop->operands; k++) at[k] += move * loop->strides[k][d] * (int64_t)job->element[k];
            if (!wraps) break;
            index[d] = 0;
        }
    }
}

struct range_job {
    wick_range_fn *body;
    void *user;
    size_t count, block;
};

static void run_block(void *user, size_t index, unsigned thread)
{
    const struct range_job *job = user;
    size_t begin = index * job->block;
    (void)thread;
    job->body(job->user, begin, WICK_MIN(begin + job->block, job->count));
}

void wick_for_range(struct wick_run *run, size_t count, size_t cost, wick_range_fn *body, void *user)
{
    cost = WICK_MAX(cost, 1);
    unsigned threads = wick_pool_threads(run->pool);
    if (threads <= 1 || count < 2 || count < WICK_PARALLEL_MIN / cost) {
        if (count > 0) body(user, 0, count);
        return;
    }
    /* A few blocks a thread even out; a block is worth waking a thread. */
    size_t block = WICK_MAX(count / (4 * (size_t)threads), WICK_PARALLEL_MIN / 4 / cost);
    struct range_job job = {body, user, count, WICK_MAX(block, 1)};
    wick_pool_run(run->pool, (count + job.block - 1) / job.block, run_block, &job);
}

wick_status wick_elementwise(const struct wick_vectors *vectors, enum wick_compute compute, const struct wick_tensor *const *ins, int count,
                             struct wick_tensor *out, struct wick_params *params, struct wick_run *run)
{
    struct job job;
    job.kernel = vectors->by_compute[compute];
    job.params = params;
    if (!job.kernel) return wick_fail(run->err, WICK_NOT_SUPPORTED, "no kernel computes with %s", wick_dtype_word(wick_compute_dtype(compute)));
    WICK_TRY(wick_element_check(out, "out", run->err));
    WICK_TRY(wick_loop_make(&job.loop, out, ins, count, run->err));
    int last = job.loop.rank - 1, native = wick_compute_dtype(compute);
    for (int k = 0; k <= count; k++) {
        const struct wick_tensor *t = k ? ins[k - 1] : out;
        if (k) WICK_TRY(wick_element_check(t, "an input", run->err));
        job.data[k] = t->data;
        job.element[k] = wick_dtype_size(t->shape.dtype);
        bool in_place = t->shape.dtype == native && (job.loop.strides[k][last] == 1 || job.loop.sizes[last] == 1);
        if (k) job.loads[k] = in_place ? NULL : wick_loader(t->shape.dtype, compute);
        else job.store = in_place ? NULL : wick_storer(t->shape.dtype, compute);
    }
    params->ukernels = run->ukernels;
    atomic_init(&params->failed, false);
    size_t total = wick_tensor_numel(out);
    if (total == 0) return WICK_OK;
    wick_for_range(run, total, 1, run_range, &job);
    return WICK_OK;
}

const struct wick_tensor *wick_scalar_as_tensor(const struct wick_value *scalar, int dtype, struct wick_scalar_tensor *storage)
{
    int64_t integer = scalar->tag == WICK_TAG_INT ? scalar->as.i : scalar->tag == WICK_TAG_BOOL ? scalar->as.b : 0;
    if (scalar->tag == WICK_TAG_DOUBLE) dtype = WICK_DTYPE_F64;
    else if (wick_dtype_is_float(dtype)) dtype = WICK_DTYPE_I64;
    storage->tensor = (struct wick_tensor){.shape = wick_shape_make(dtype, 0, NULL), .data = &storage->value};
    if (dtype == WICK_DTYPE_F64) storage->value.d = scalar->as.d;
    else if (wick_dtype_is_arithmetic(dtype)) wick_storer(dtype, WICK_COMPUTE_I64)(&storage->value, 1, &integer, 1);
    return &storage->tensor;
}

wick_status wick_out_check(int from, const struct wick_tensor *out, wick_error *err)
{
    WICK_TRY(wick_element_check(out, "out", err));
    if (wick_dtype_can_cast(from, out->shape.dtype)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TYPE, "a result of type %s does not fit an out of type %s", wick_dtype_name(from),
                     wick_dtype_name(out->shape.dtype));
}
