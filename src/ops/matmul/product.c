/* ops/matmul/product.c - matrix products: f32 in rows goes to the GEMM micro-kernels, everything else through a plain
 * kernel that keeps a strip of a row of out in an accumulator. */
#include "ops/matmul/product.h"

#include "base/checked.h"
#include "ops/matmul/gemm.h"

/* Columns of out that are accumulated at once. */
enum { STRIP = WICK_CHUNK };

#define STRIP_KERNEL(name, type)                                             \
    static void name(void *sums_, const void *w_, const void *a_, size_t n)  \
    {                                                                        \
        type *sums = sums_;                                                  \
        const type *w = w_, a = *(const type *)a_;                           \
        for (size_t j = 0; j < n; j++) sums[j] = (type)(sums[j] + a * w[j]); \
    }
STRIP_KERNEL(add_row_f32, float)
STRIP_KERNEL(add_row_f64, double)

/* Integers wrap. */
static void add_row_i64(void *sums_, const void *w_, const void *a_, size_t n)
{
    uint64_t *sums = sums_;
    const uint64_t *w = w_, a = *(const uint64_t *)a_;
    for (size_t j = 0; j < n; j++) sums[j] += a * w[j];
}

struct job {
    const struct wick_product *product;
    enum wick_compute compute;
    size_t strips; /* a row */
};

/* Strip `index` of all strips of all rows of all batches. */
static void run_strip(const struct job *job, size_t index)
{
    static void (*const add_row[WICK_COMPUTE_COUNT])(void *, const void *, const void *, size_t) = {add_row_f32, add_row_f64, add_row_i64};
    const struct wick_product *p = job->product;
    size_t begin = index % job->strips * STRIP, count = WICK_MIN((size_t)STRIP, p->n - begin);
    size_t row = index / job->strips % p->m, batch = index / job->strips / p->m;
    int64_t element = (int64_t)wick_dtype_size(p->dtype);
    wick_load_fn *load = wick_loader(p->dtype, job->compute);
    double sums[STRIP], values[STRIP], a[STRIP]; /* of the compute type */
    size_t a_element = wick_compute_size(job->compute);
    const char *a_data = (const char *)p->a + ((int64_t)batch * p->a_batch + (int64_t)row * p->a_row) * element;
    const char *w_data = (const char *)p->w + ((int64_t)batch * p->w_batch + (int64_t)begin * p->w_column) * element;
    memset(sums, 0, sizeof sums);
    if (p->bias) load(sums, (const char *)p->bias + (int64_t)begin * p->bias_stride * element, p->bias_stride, count);
    for (size_t k = 0; k < p->k; k++) {
        if (k % STRIP == 0) load(a, a_data + (int64_t)k * p->a_k * element, p->a_k, WICK_MIN((size_t)STRIP, p->k - k));
        load(values, w_data + (int64_t)k * p->w_k * element, p->w_column, count);
        add_row[job->compute](sums, values, (const char *)a + k % STRIP * a_element, count);
    }
    char *out = (char *)p->out + ((int64_t)batch * p->out_batch + (int64_t)row * p->out_row + (int64_t)begin * p->out_column) * element;
    wick_storer(p->dtype, job->compute)(out, p->out_column, sums, count);
}

static void run_strips(void *user, size_t begin, size_t end)
{
    for (size_t index = begin; index < end; index++) run_strip(user, index);
}

/* ---- f32 in rows: micro-kernels ---- */

/* Rows from which packing w pays. Both ways give the same bits: fma over k ascending from the bias. */
enum { PACK_ROWS = 4 };

static bool is_transposed(const struct wick_product *p) { return p->w_column == 1 && p->w_k == (int64_t)p->n; }

static bool suits_gemm(const struct wick_product *p)
{
    bool w_rows = is_transposed(p) || (p->w_k == 1 && p->w_column == (int64_t)p->k);
    bool some = p->k > 0 && p->n > 0 && p->m > 0 && p->batch > 0;
    return p->dtype == WICK_DTYPE_F32 && w_rows && some && (p->a_k == 1 || p->k == 1) && (p->out_column == 1 || p->n == 1) && p->a_row >= 0;
}

struct gemm_job {
    const struct wick_product *product;
    const struct wick_ukernels *u;
    const float *bias; /* n, or NULL */
    char *packed;      /* one matrix a thread */
    size_t packed_size;
};

static struct wick_gemm_weights weights_of(const struct gemm_job *job, size_t batch)
{
    const struct wick_product *p = job->product;
    return (struct wick_gemm_weights){
        .n = p->n, .k = p->k, .w = (const float *)p->w + (int64_t)batch * p->w_batch, .transposed = is_transposed(p), .bias = job->bias};
}

static struct wick_gemm_call call_of(const struct gemm_job *job, size_t batch, const void *packed)
{
    const struct wick_product *p = job->product;
    return (struct wick_gemm_call){.m = p->m,
                                   .n = p->n,
                                   .k = p->k,
                                   .a = (const float *)p->a + (int64_t)batch * p->a_batch,
                                   .a_stride = (size_t)p->a_row,
                                   .packed = packed,
                                   .c = (float *)p->out + (int64_t)batch * p->out_batch,
                                   .c_stride = (size_t)p->out_row,
                                   .min = -INFINITY,
                                   .max = INFINITY};
}

/* One matrix of a batch, packed and multiplied by one thread. */
static void multiply_one(void *user, size_t batch, unsigned thread)
{
    const struct gemm_job *job = user;
    char *packed = job->packed + thread * job->packed_size;
    struct wick_gemm_weights weights = weights_of(job, batch);
    struct wick_gemm_call call = call_of(job, batch, packed);
    job->u->gemm_f32.pack(&weights, 0, weights.n, packed);
    job->u->gemm_f32.run(&call, 0, call.n);
}

/* Few rows: each is a sum of w's rows, which are read once. */
static void sum_rows(void *user, size_t begin, size_t end)
{
    const struct gemm_job *job = user;
    const struct wick_product *p = job->product;
    for (size_t index = begin; index < end; index++) {
        size_t batch = index / p->m, row = index % p->m;
        const float *a = (const float *)p->a + (int64_t)batch * p->a_batch + (int64_t)row * p->a_row;
        const float *w = (const float *)p->w + (int64_t)batch * p->w_batch;
        float *out = (float *)p->out + (int64_t)batch * p->out_batch + (int64_t)row * p->out_row;
        if (job->bias) memcpy(out, job->bias, p->n * sizeof *out);
        else memset(out, 0, p->n * sizeof *out);
        for (size_t k = 0; k < p->k; k++) job->u->axpy(p->n, a[k], w + k * p->n, out);
    }
}

static wick_status run_gemm(const struct wick_product *p, struct wick_run *run)
{
    struct gemm_job job = {.product = p, .u = run->ukernels, .bias = p->bias};
    if (p->bias && p->bias_stride != 1) {
        float *bias = WICK_NEW_ARRAY(run->temp, float, p->n);
        if (!bias) return wick_fail_oom(run->err, p->n * sizeof *bias, "a matrix product");
        for (size_t j = 0; j < p->n; j++) bias[j] = ((const float *)p->bias)[(int64_t)j * p->bias_stride];
        job.bias = bias;
    }
    if (p->m < PACK_ROWS && is_transposed(p)) {
        wick_for_range(run, p->batch * p->m, p->k * p->n / 4, sum_rows, &job);
        return WICK_OK;
    }
    size_t bytes, copies = p->batch > 1 ? wick_pool_threads(run->pool) : 1;
    job.packed_size = job.u->gemm_f32.packed_size(p->n, p->k, 0);
    if (wick_mul_size(job.packed_size, copies, &bytes)) return wick_fail_oom(run->err, SIZE_MAX, "a matrix product");
    job.packed = wick_arena_alloc(run->temp, bytes, 64);
    if (!job.packed) return wick_fail_oom(run->err, bytes, "a matrix product");
    if (p->batch > 1) {
        wick_pool_run(run->pool, p->batch, multiply_one, &job);
        return WICK_OK;
    }
    struct wick_gemm_weights weights = weights_of(&job, 0);
    struct wick_gemm_call call = call_of(&job, 0, job.packed);
    wick_gemm_pack(&job.u->gemm_f32, &weights, job.packed, run->pool);
    wick_gemm_run(&job.u->gemm_f32, &call, run->pool);
    return WICK_OK;
}

wick_status wick_product_run(const struct wick_product *p, struct wick_run *run)
{
    struct job job = {.product = p, .compute = wick_compute_of(p->dtype), .strips = (p->n + STRIP - 1) / STRIP};
    if (!wick_dtype_is_arithmetic(p->dtype)) return wick_fail(run->err, WICK_INVALID_TYPE, "a matrix product of %s", wick_dtype_name(p->dtype));
    if (suits_gemm(p)) return run_gemm(p, run);
    wick_for_range(run, p->batch * p->m * job.strips, p->k * WICK_MIN(p->n, (size_t)STRIP), run_strips, &job);
    return WICK_OK;
}
