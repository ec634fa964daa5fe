/* base/pool_posix.c - the fork-join pool and the lock over POSIX threads.
 *
 * One word holds the job's number, whether it is closed and how many workers are in it. Workers watch it, spinning a little (a token's
 * kernels follow each other within microseconds) and then sleeping on a condition variable. A worker enters an open job, claims items with
 * one atomic add each, and leaves. The caller claims too, then closes the job and waits only for those who are in it: a worker that the
 * system has not let run is not waited for. */
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
    _Alignas(64) _Atomic uint64_t job; /* number << 32 | CLOSED | workers in it */
    atomic_uint sleepers;
    atomic_bool stop;
    _Alignas(64) atomic_size_t next;
    size_t count;
    wick_task_fn task;
    void *user;
};

/* Bits of wick_pool.job. */
#define CLOSED ((uint64_t)1 << 31)
#define INSIDE (CLOSED - 1)

static uint32_t number_of(uint64_t job) { return (uint32_t)(job >> 32); }

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

/* A worker may have taken the number that comes with the end for a job's, between the two stores of it: so both are looked at. */
static bool is_over(struct wick_pool *pool, uint32_t seen) { return number_of(atomic_load(&pool->job)) != seen || atomic_load(&pool->stop); }

/* Until there is another job than number `seen`, or no more. */
static void wait_for_job(struct wick_pool *pool, uint32_t seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (is_over(pool, seen)) return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!is_over(pool, seen)) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

/* Joins the job that is open now; false if there is none any more. */
static bool enter(struct wick_pool *pool, uint32_t *seen)
{
    uint64_t job = atomic_load_explicit(&pool->job, memory_order_acquire);
    do {
        *seen = number_of(job);
        if (job & CLOSED) return false;
    } while (!atomic_compare_exchange_weak_explicit(&pool->job, &job, job + 1, memory_order_acquire, memory_order_acquire));
    return true;
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    struct wick_pool *pool = self->pool;
    uint32_t seen = 0;
    for (;;) {
        wait_for_job(pool, seen);
        if (atomic_load(&pool->stop)) return NULL;
        if (!enter(pool, &seen)) continue;
        drain(pool, self->index);
        atomic_fetch_sub_explicit(&pool->job, 1, memory_order_release);
    }
}

/* Nobody is in the last job and it is closed: its fields may change until this. */
static void open_job(struct wick_pool *pool)
{
    uint64_t number = (uint64_t)number_of(atomic_load_explicit(&pool->job, memory_order_relaxed)) + 1;
    atomic_store(&pool->job, number << 32);
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
    *pool = (struct wick_pool){.threads = 1, .job = CLOSED};
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
    open_job(pool);
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
    open_job(pool);
    drain(pool, 0);
    atomic_fetch_or_explicit(&pool->job, CLOSED, memory_order_relaxed);
    /* Yield after a while: with more threads than cores the last worker may be waiting for this very core. */
    for (unsigned spins = 0; (atomic_load_explicit(&pool->job, memory_order_acquire) & INSIDE) != 0; spins++) {
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
