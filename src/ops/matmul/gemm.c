/* ops/matmul/gemm.c - splits a matrix product by columns (and rows, if columns are few) for the micro-kernels. */
#include "ops/matmul/gemm.h"

/* Multiply-adds from which waking a thread pays. */
enum { SHARE_MIN = 64 * 1024 };

struct job {
    const struct wick_gemm *gemm;
    const struct wick_gemm_weights *weights;
    const struct wick_gemm_call *call;
    void *packed;
    size_t first, n, columns; /* columns [first, n); a task: a multiple of nr */
    size_t rows;              /* rows a task */
    size_t tasks_across;
};

/* Columns a task when n are shared so that each does at least SHARE_MIN of `work` a column. */
static size_t columns_a_task(size_t n, size_t nr, size_t work, unsigned threads)
{
    size_t least = SHARE_MIN / WICK_MAX(work, 1) + 1, even = (n + 4 * (size_t)threads - 1) / (4 * (size_t)threads);
    size_t columns = threads == 1 ? n : WICK_MAX(least, even);
    return (columns + nr - 1) / nr * nr;
}

static void pack_task(void *user, size_t index, unsigned thread)
{
    const struct job *job = user;
    size_t begin = job->first + index * job->columns;
    (void)thread;
    /* Blocks are of equal size, so that a task's begin where they would in the whole. */
    job->gemm->pack(job->weights, begin, WICK_MIN(begin + job->columns, job->n), job->packed);
}

void wick_gemm_pack(const struct wick_gemm *gemm, const struct wick_gemm_weights *weights, void *packed, struct wick_pool *pool)
{
    struct job job = {.gemm = gemm, .weights = weights, .packed = packed, .n = weights->n};
    if (job.n == 0) return;
    job.columns = columns_a_task(job.n, gemm->nr, weights->k, wick_pool_threads(pool));
    wick_pool_run(pool, (job.n + job.columns - 1) / job.columns, pack_task, &job);
}

void wick_gemm_pack_constant(const struct wick_gemm *gemm, const struct wick_gemm_weights *weights, size_t element, void *packed,
                             const struct wick_bind *bind)
{
    enum { PIECE = 4 << 20 };
    size_t row = weights->k * element, step = WICK_MAX(PIECE / (row + 1) / gemm->nr, (size_t)1) * gemm->nr;
    for (size_t n = 0; n < weights->n; n += step) {
        struct job job = {.gemm = gemm, .weights = weights, .packed = packed, .first = n, .n = WICK_MIN(n + step, weights->n)};
        job.columns = columns_a_task(job.n - n, gemm->nr, weights->k, wick_pool_threads(bind->pool));
        wick_pool_run(bind->pool, (job.n - n + job.columns - 1) / job.columns, pack_task, &job);
        wick_bind_copied(bind, (const char *)weights->w + n * row, (job.n - n) * row);
    }
}

static void run_task(void *user, size_t index, unsigned thread)
{
    const struct job *job = user;
    size_t begin = index % job->tasks_across * job->columns, row = index / job->tasks_across * job->rows;
    struct wick_gemm_call call = *job->call;
    (void)thread;
    call.m = WICK_MIN(job->rows, call.m - row);
    call.a = (const float *)call.a + row * call.a_stride;
    call.c += row * call.c_stride;
    job->gemm->run(&call, begin, WICK_MIN(begin + job->columns, job->n));
}

/* The rows of a are f32. */
void wick_gemm_run(const struct wick_gemm *gemm, const struct wick_gemm_call *call, struct wick_pool *pool)
{
    struct job job = {.gemm = gemm, .call = call, .n = call->n, .rows = call->m};
    if (call->n == 0 || call->m == 0) return;
    unsigned threads = wick_pool_threads(pool);
    job.columns = columns_a_task(call->n, gemm->nr, call->m * call->k, threads);
    job.tasks_across = (call->n + job.columns - 1) / job.columns;
    if (threads > 1 && job.tasks_across < threads && call->m >= 2 * (size_t)gemm->mr && call->m * call->k * call->n >= 2 * (size_t)SHARE_MIN) {
        job.rows = (call->m + 2 * threads - 1) / (2 * threads);
        job.rows = (job.rows + gemm->mr - 1) / gemm->mr * gemm->mr;
    }
    wick_pool_run(pool, job.tasks_across * ((call->m + job.rows - 1) / job.rows), run_task, &job);
}
