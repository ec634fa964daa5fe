/* base/os.h - everything that asks the operating system. One source per system: os_posix.c, os_none.c (bare).
 * A port is one such file. */
#ifndef WICK_BASE_OS_H
#define WICK_BASE_OS_H

#include "base/error.h"

/* ---- files ---- */

/* A whole file, mapped read-only (or read into memory where mapping is not possible). size 0: data is NULL. */
struct wick_map {
    const uint8_t *data;
    size_t size;
};

/* Errors name the path and the system's reason: NOT_FOUND, ACCESS_FAILED, OUT_OF_MEMORY. */
wick_status wick_map_open(struct wick_map *map, const char *path, wick_error *err) WICK_MUST_CHECK;
void wick_map_close(struct wick_map *map);
/* Says that [offset, offset+size) will not be read soon; its pages may be dropped. Only whole pages inside are. */
void wick_map_release_range(const struct wick_map *map, size_t offset, size_t size);

/* Writes a file so that `path` either keeps its old content or gets all of the new: a temporary name in the
 * same folder, fsync, rename. Threads: one at a time. */
struct wick_writer;
wick_status wick_writer_open(struct wick_writer **writer, const char *path, wick_error *err) WICK_MUST_CHECK;
wick_status wick_writer_write(struct wick_writer *writer, const void *data, size_t size, wick_error *err) WICK_MUST_CHECK;
/* Writes at an absolute offset (which may leave a hole that reads as zeros); does not move the append position. */
wick_status wick_writer_write_at(struct wick_writer *writer, uint64_t offset, const void *data, size_t size, wick_error *err) WICK_MUST_CHECK;
/* Moves the append position. */
void wick_writer_seek(struct wick_writer *writer, uint64_t offset);
uint64_t wick_writer_tell(const struct wick_writer *writer);
/* Commits and frees; on failure the old content stands. */
wick_status wick_writer_commit(struct wick_writer *writer, wick_error *err) WICK_MUST_CHECK;
/* Removes the temporary file and frees; NULL allowed. */
void wick_writer_discard(struct wick_writer *writer);
/* Unlinks every temporary file still open; async-signal-safe, for a Ctrl-C handler that will exit. */
void wick_writer_discard_all_signal(void);

bool wick_path_is_folder(const char *path);
bool wick_path_exists(const char *path);
/* Calls each(user, name) for every entry of a folder but "." and "..", in no order. */
wick_status wick_folder_each(const char *folder, void (*each)(void *user, const char *name), void *user, wick_error *err) WICK_MUST_CHECK;
/* Creates the folder and its parents. */
wick_status wick_make_folder(const char *path, wick_error *err) WICK_MUST_CHECK;

/* ---- time, memory, processors ---- */

uint64_t wick_now_ns(void);         /* monotonic */
uint64_t wick_wall_ms(void);        /* since 1970 */
/* The local date and time by a strftime format; the bytes written, 0 if they do not fit. */
size_t wick_local_time_text(const char *format, char *out, size_t room);
uint64_t wick_peak_rss_bytes(void); /* 0 if unknown */
unsigned wick_core_count(void);     /* performance cores this process may use; at least 1 */

/* ---- threads ---- */

/* A fork-join pool. `threads` counts the caller: 1 starts none. Owned by one caller at a time. */
struct wick_pool;
wick_status wick_pool_create(struct wick_pool **pool, unsigned threads, wick_error *err) WICK_MUST_CHECK;
void wick_pool_destroy(struct wick_pool *pool); /* NULL allowed */
unsigned wick_pool_threads(const struct wick_pool *pool); /* NULL: 1 */

/* Runs task(user, i, thread) for every i in [0, count), the caller taking part; returns when all are done.
 * thread is in [0, wick_pool_threads). pool NULL or count 1: runs in the caller. No allocation, no locks in the
 * steady state: workers spin briefly before they sleep. Items are handed out dynamically. */
typedef void (*wick_task_fn)(void *user, size_t index, unsigned thread);
void wick_pool_run(struct wick_pool *pool, size_t count, wick_task_fn task, void *user);
/* Gives the core to another thread. */
void wick_thread_yield(void);

/* A lock between threads; not recursive. */
struct wick_mutex;
wick_status wick_mutex_create(struct wick_mutex **mutex, wick_error *err) WICK_MUST_CHECK;
void wick_mutex_destroy(struct wick_mutex *mutex); /* NULL allowed */
void wick_mutex_lock(struct wick_mutex *mutex);
void wick_mutex_unlock(struct wick_mutex *mutex);

#endif
