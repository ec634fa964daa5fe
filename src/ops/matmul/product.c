/* ops/matmul/product.c - matrix products: f32 in rows goes to the GEMM micro-kernels, everything else through a plain
 * kernel that keeps a strip of a row of out in an accumulator. */
#include "ops/matmul/product.h"

/* Columns of out that are accumulated at once. */
enum { STRIP = WICK_CHUNK };

#define STRIP_KERNEL(name, type)                                                                   \
    static void name(void *sums_, const void *w_, const void *a_, size_t n)                        \
    {                                                                                              \
        type *sums = sums_;                                                                        \
        const type *w = w_, a = *(const type *)a_;                                                 \
        for (size_t j = 0; j < n; j++) sums[j] = (type)(sums[j] + a * w[j]);                       \
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

wick_status wick_product_run(const struct wick_product *p, struct wick_run *run)
{
    struct job job = {.product = p, .compute = wick_compute_of(p->dtype), .strips = (p->n + STRIP - 1) / STRIP};
    if (!wick_dtype_is_arithmetic(p->dtype)) return wick_fail(run->err, WICK_INVALID_TYPE, "a matrix product of %s", wick_dtype_name(p->dtype));
    wick_for_range(run, p->batch * p->m * job.strips, p->k * WICK_MIN(p->n, (size_t)STRIP), run_strips, &job);
    return WICK_OK;
}
