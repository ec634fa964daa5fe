/* base/os_none.c - the `bare` profile: no operating system, no threads, no heap. Files cannot be opened: a host
 * hands over memory. */
#include "base/os.h"

wick_status wick_map_open(struct wick_map *map, const char *path, wick_error *err)
{
    *map = (struct wick_map){0};
    return wick_fail(err, WICK_NOT_SUPPORTED, "%s: this build has no files", path);
}

void wick_map_close(struct wick_map *map) { *map = (struct wick_map){0}; }

void wick_map_release_range(const struct wick_map *map, size_t offset, size_t size)
{
    (void)map;
    (void)offset;
    (void)size;
}

uint64_t wick_now_ns(void) { return 0; }
uint64_t wick_wall_ms(void) { return 0; }

size_t wick_local_time_text(const char *format, char *out, size_t room)
{
    (void)format;
    (void)out;
    (void)room;
    return 0;
}

uint64_t wick_peak_rss_bytes(void) { return 0; }
unsigned wick_core_count(void) { return 1; }

wick_status wick_pool_create(struct wick_pool **pool, unsigned threads, wick_error *err)
{
    *pool = NULL;
    return threads <= 1 ? WICK_OK : wick_fail(err, WICK_NOT_SUPPORTED, "threads: this build has none");
}

void wick_pool_destroy(struct wick_pool *pool) { (void)pool; }

unsigned wick_pool_threads(const struct wick_pool *pool)
{
    (void)pool;
    return 1;
}

void wick_pool_run(struct wick_pool *pool, size_t count, wick_task_fn task, void *user)
{
    (void)pool;
    for (size_t i = 0; i < count; i++) task(user, i, 0);
}

void wick_thread_yield(void) {}

/* One thread needs no lock. */
wick_status wick_mutex_create(struct wick_mutex **mutex, wick_error *err)
{
    (void)err;
    *mutex = NULL;
    return WICK_OK;
}

void wick_mutex_destroy(struct wick_mutex *mutex) { (void)mutex; }
void wick_mutex_lock(struct wick_mutex *mutex) { (void)mutex; }
void wick_mutex_unlock(struct wick_mutex *mutex) { (void)mutex; }
