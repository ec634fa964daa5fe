/* base/pool_posix.c - the fork-join pool and the lock over POSIX threads.
 *
 * One generation counter starts a job: workers watch it, spinning a little (a token's kernels follow each other
 * within microseconds) and then sleeping on a condition variable. Items are claimed with one atomic add. */
#include "base/os.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* About 20-50 us on current cores: longer than the gap between two kernels, short enough not to heat an idle phone. */
enum { SPINS = 4000 };

struct worker {
    struct wick_pool *pool;
    pthread_t thread;
    unsigned index;
};

struct wick_pool {
    unsigned threads;
    struct worker *workers; /* threads - 1 */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Alignas(64) atomic_uint generation;
    atomic_uint sleepers;
    atomic_bool stop;
    _Alignas(64) atomic_size_t next;
    size_t count;
    wick_task_fn task;
    void *user;
    _Alignas(64) atomic_uint running;
};

void wick_thread_yield(void) { sched_yield(); }

static void relax(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void drain(struct wick_pool *pool, unsigned thread)
{
    size_t i;
    while ((i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->count) pool->task(pool->user, i, thread);
}

static void wait_for_job(struct wick_pool *pool, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool->generation, memory_order_acquire) != seen) return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    struct wick_pool *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        wait_for_job(pool, seen);
        seen = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (atomic_load(&pool->stop)) return NULL;
        drain(pool, self->index);
        atomic_fetch_sub_explicit(&pool->running, 1, memory_order_release);
    }
}

static void start_generation(struct wick_pool *pool)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) == 0) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

wick_status wick_pool_create(struct wick_pool **out, unsigned threads, wick_error *err)
{
    *out = NULL;
    struct wick_pool *pool = NULL;
    if (threads < 1) threads = 1;
    if (threads > 256) return wick_fail(err, WICK_INVALID_ARGUMENT, "threads: %u is more than 256", threads);
    if (posix_memalign((void **)&pool, 64, sizeof *pool) != 0) return wick_fail_oom(err, sizeof *pool, "thread pool");
    *pool = (struct wick_pool){.threads = 1};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->workers = calloc(threads, sizeof *pool->workers);
    if (!pool->workers) {
        wick_pool_destroy(pool);
        return wick_fail_oom(err, threads * sizeof *pool->workers, "thread pool");
    }
    for (unsigned i = 1; i < threads; i++) {
        struct worker *worker = &pool->workers[i - 1];
        *worker = (struct worker){.pool = pool, .index = i};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            wick_pool_destroy(pool);
            return wick_fail(err, WICK_OUT_OF_RESOURCES, "threads: the system refused to start number %u", i);
        }
        pool->threads = i + 1;
    }
    *out = pool;
    return WICK_OK;
}

void wick_pool_destroy(struct wick_pool *pool)
{
    if (!pool) return;
    atomic_store(&pool->stop, true);
    start_generation(pool);
    for (unsigned i = 1; i < pool->threads; i++) pthread_join(pool->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

unsigned wick_pool_threads(const struct wick_pool *pool) { return pool ? pool->threads : 1; }

void wick_pool_run(struct wick_pool *pool, size_t count, wick_task_fn task, void *user)
{
    if (!pool || pool->threads == 1 || count <= 1) {
        for (size_t i = 0; i < count; i++) task(user, i, 0);
        return;
    }
    pool->count = count;
    pool->task = task;
    pool->user = user;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->running, pool->threads - 1, memory_order_relaxed);
    start_generation(pool);
    drain(pool, 0);
    /* Workers that found nothing left must also be past their drain before the fields may change. Yield after a
     * while: with more threads than cores the last worker may be waiting for this very core. */
    for (unsigned spins = 0; atomic_load_explicit(&pool->running, memory_order_acquire) != 0; spins++) {
        relax();
        if (spins > SPINS) wick_thread_yield();
    }
}

struct wick_mutex {
    pthread_mutex_t lock;
};

wick_status wick_mutex_create(struct wick_mutex **out, wick_error *err)
{
    struct wick_mutex *mutex = *out = malloc(sizeof *mutex);
    if (!mutex) return wick_fail_oom(err, sizeof *mutex, "lock");
    pthread_mutex_init(&mutex->lock, NULL);
    return WICK_OK;
}

void wick_mutex_destroy(struct wick_mutex *mutex)
{
    if (!mutex) return;
    pthread_mutex_destroy(&mutex->lock);
    free(mutex);
}

void wick_mutex_lock(struct wick_mutex *mutex) { pthread_mutex_lock(&mutex->lock); }
void wick_mutex_unlock(struct wick_mutex *mutex) { pthread_mutex_unlock(&mutex->lock); }
