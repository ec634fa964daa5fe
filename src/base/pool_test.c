/* The fork-join pool: every item once, whoever takes it, for jobs that follow each other at once. */
#include "fixture.h"

#include "base/os.h"

#include <stdatomic.h>
#include <string.h>

enum { ITEMS = 1000, JOBS = 3000 };

struct job {
    atomic_uint taken[ITEMS];
    atomic_uint highest_thread;
    size_t sum; /* of what the items wrote, read after the job without atomics */
    size_t written[ITEMS];
};

static wick_error err;

static void take(void *user, size_t item, unsigned thread)
{
    struct job *job = user;
    unsigned highest = atomic_load(&job->highest_thread);
    atomic_fetch_add(&job->taken[item], 1);
    job->written[item] = item + 1;
    while (thread > highest && !atomic_compare_exchange_weak(&job->highest_thread, &highest, thread)) continue;
}

/* threads may be more than there are cores: some workers then come too late for most jobs. */
static void run_jobs(unsigned threads)
{
    static const size_t counts[] = {ITEMS, 1, 2, 3, 7, 64};
    static struct job job;
    struct wick_pool *pool;
    WICK_ASSERT_OK(wick_pool_create(&pool, threads, &err), &err);
    assert_int_equal(wick_pool_threads(pool), threads);
    for (int j = 0; j < JOBS; j++) {
        size_t count = counts[(size_t)j % (sizeof counts / sizeof *counts)];
        memset(job.written, 0, sizeof job.written);
        for (size_t i = 0; i < ITEMS; i++) atomic_store_explicit(&job.taken[i], 0, memory_order_relaxed);
        wick_pool_run(pool, count, take, &job);
        for (size_t i = 0; i < ITEMS; i++) {
            if (atomic_load(&job.taken[i]) != (i < count) || job.written[i] != (i < count ? i + 1 : 0))
                fail_msg("%u threads, job %d of %zu items: item %zu taken %u times", threads, j, count, i, atomic_load(&job.taken[i]));
        }
    }
    assert_true(atomic_load(&job.highest_thread) < threads);
    wick_pool_destroy(pool);
}

static void every_item_once(void **state)
{
    (void)state;
    run_jobs(1);
    run_jobs(2);
    run_jobs(7);
}

static void no_pool_runs_in_the_caller(void **state)
{
    (void)state;
    static struct job job;
    wick_pool_run(NULL, 5, take, &job);
    for (size_t i = 0; i < 5; i++) assert_int_equal(job.written[i], i + 1);
    assert_int_equal(job.written[5], 0);
    assert_int_equal(wick_pool_threads(NULL), 1);
    wick_pool_destroy(NULL);
}

static void unused_pools_end(void **state)
{
    (void)state;
    struct wick_pool *pool;
    for (int i = 0; i < 20; i++) {
        WICK_ASSERT_OK(wick_pool_create(&pool, 4, &err), &err);
        wick_pool_destroy(pool);
    }
    assert_int_equal(wick_pool_create(&pool, 100000, &err), WICK_INVALID_ARGUMENT);
    assert_null(pool);
}

/* The end may come while a worker is between two looks at the pool. */
static void pools_end_after_a_job(void **state)
{
    (void)state;
    static struct job job;
    struct wick_pool *pool;
    for (int i = 0; i < 1500; i++) {
        WICK_ASSERT_OK(wick_pool_create(&pool, 3, &err), &err);
        wick_pool_run(pool, 1 + (size_t)i % 4, take, &job);
        wick_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_once),
        cmocka_unit_test(no_pool_runs_in_the_caller),
        cmocka_unit_test(unused_pools_end),
        cmocka_unit_test(pools_end_after_a_job),
    };
    return WICK_TEST_MAIN(tests);
}
