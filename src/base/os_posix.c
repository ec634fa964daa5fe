/* base/os_posix.c - files, time and processors on Linux, Android, macOS, iOS. Threads: pool_posix.c. */
#define _GNU_SOURCE
#include "base/os.h"

#include "base/checked.h"
#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

static void *heap_alloc(void *user, size_t bytes)
{
    (void)user;
    void *memory = NULL;
    return posix_memalign(&memory, 64, bytes) == 0 ? memory : NULL;
}

static void heap_free(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

const struct wick_allocator wick_allocator_heap = {heap_alloc, heap_free, NULL};

static wick_status os_fail(wick_error *err, const char *what, const char *path)
{
    int code = errno;
    wick_status status = code == ENOENT ? WICK_NOT_FOUND : code == ENOMEM ? WICK_OUT_OF_MEMORY : WICK_ACCESS_FAILED;
    return wick_fail(err, status, "%s: cannot %s: %s", path, what, strerror(code));
}

wick_status wick_map_open(struct wick_map *map, const char *path, wick_error *err)
{
    *map = (struct wick_map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return os_fail(err, "open", path);
    struct stat info;
    wick_status status = WICK_OK;
    if (fstat(fd, &info) != 0) status = os_fail(err, "stat", path);
    else if (!S_ISREG(info.st_mode)) status = wick_fail(err, WICK_ACCESS_FAILED, "%s: not a regular file", path);
    else if ((uint64_t)info.st_size > SIZE_MAX) status = wick_fail(err, WICK_OUT_OF_MEMORY, "%s: larger than the address space", path);
    else if (info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) status = os_fail(err, "map", path);
        else *map = (struct wick_map){data, (size_t)info.st_size};
    }
    close(fd);
    return status;
}

void wick_map_close(struct wick_map *map)
{
    if (map->data) munmap((void *)(uintptr_t)map->data, map->size);
    *map = (struct wick_map){0};
}

void wick_map_release_range(const struct wick_map *map, size_t offset, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!map->data || !wick_range_ok(offset, size, map->size)) return;
    size_t first = (size_t)wick_align_up(offset, page), last = (offset + size) & ~(page - 1);
    if (last > first) madvise((void *)(uintptr_t)(map->data + first), last - first, MADV_DONTNEED);
}

/* ---- atomic writer ---- */

struct wick_writer {
    int fd;
    uint64_t position;
    char *path, *temporary;
};

/* Names a signal handler may unlink. Slots are claimed by a single store of a pointer that stays valid until cleared. */
enum { OPEN_WRITERS_MAX = 16 };
static char *volatile open_temporaries[OPEN_WRITERS_MAX];

static void remember(char *from, char *to)
{
    for (int i = 0; i < OPEN_WRITERS_MAX; i++) {
        char *expected = from;
        if (__atomic_compare_exchange_n(&open_temporaries[i], &expected, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
    }
}

void wick_writer_discard_all_signal(void)
{
    for (int i = 0; i < OPEN_WRITERS_MAX; i++)
        if (open_temporaries[i]) unlink(open_temporaries[i]);
}

wick_status wick_writer_open(struct wick_writer **writer, const char *path, wick_error *err)
{
    *writer = NULL;
    struct wick_writer *w = calloc(1, sizeof *w);
    size_t size = strlen(path);
    if (w) {
        w->path = malloc(size + 1);
        w->temporary = malloc(size + 16);
    }
    if (!w || !w->path || !w->temporary) {
        if (w) free(w->path), free(w->temporary);
        free(w);
        return wick_fail_oom(err, size, path);
    }
    memcpy(w->path, path, size + 1);
    snprintf(w->temporary, size + 16, "%s.XXXXXX", path);
    w->fd = mkstemp(w->temporary);
    if (w->fd < 0) {
        wick_status status = os_fail(err, "create a file beside", path);
        free(w->path), free(w->temporary), free(w);
        return status;
    }
    remember(NULL, w->temporary);
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(w->fd, 0666 & ~mask);
    *writer = w;
    return WICK_OK;
}

wick_status wick_writer_write_at(struct wick_writer *w, uint64_t offset, const void *data, size_t size, wick_error *err)
{
    const char *bytes = data;
    while (size > 0) {
        /* Some systems refuse or cut writes above 2 GiB. */
        ssize_t done = pwrite(w->fd, bytes, WICK_MIN(size, (size_t)1 << 30), (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return os_fail(err, "write", w->path);
        bytes += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return WICK_OK;
}

wick_status wick_writer_write(struct wick_writer *w, const void *data, size_t size, wick_error *err)
{
    WICK_TRY(wick_writer_write_at(w, w->position, data, size, err));
    w->position += size;
    return WICK_OK;
}

void wick_writer_seek(struct wick_writer *w, uint64_t offset) { w->position = offset; }
uint64_t wick_writer_tell(const struct wick_writer *w) { return w->position; }

static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) : 0;
    char *folder = malloc(size + 2);
    if (!folder) return;
    memcpy(folder, path, size);
    memcpy(folder + size, slash ? (size ? "" : "/") : ".", slash && size ? 1 : 2);
    int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

wick_status wick_writer_commit(struct wick_writer *w, wick_error *err)
{
    wick_status status = WICK_OK;
    if (fsync(w->fd) != 0) status = os_fail(err, "sync", w->path);
    if (close(w->fd) != 0 && status == WICK_OK) status = os_fail(err, "close", w->path);
    w->fd = -1;
    if (status == WICK_OK && rename(w->temporary, w->path) != 0) status = os_fail(err, "rename onto", w->path);
    if (status != WICK_OK) {
        wick_writer_discard(w);
        return status;
    }
    remember(w->temporary, NULL);
    sync_folder(w->path);
    free(w->path), free(w->temporary), free(w);
    return WICK_OK;
}

void wick_writer_discard(struct wick_writer *w)
{
    if (!w) return;
    if (w->fd >= 0) close(w->fd);
    unlink(w->temporary);
    remember(w->temporary, NULL);
    free(w->path), free(w->temporary), free(w);
}

bool wick_path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool wick_path_exists(const char *path) { return access(path, F_OK) == 0; }

wick_status wick_folder_each(const char *folder, void (*each)(void *user, const char *name), void *user, wick_error *err)
{
    DIR *entries = opendir(folder);
    if (!entries) return os_fail(err, "list the folder", folder);
    for (struct dirent *entry; (entry = readdir(entries));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) each(user, entry->d_name);
    closedir(entries);
    return WICK_OK;
}

wick_status wick_make_folder(const char *path, wick_error *err)
{
    size_t size = strlen(path);
    char *copy = malloc(size + 1);
    if (!copy) return wick_fail_oom(err, size + 1, path);
    memcpy(copy, path, size + 1);
    wick_status status = WICK_OK;
    for (size_t i = 1; i <= size && status == WICK_OK; i++) {
        if (copy[i] != '/' && copy[i] != 0) continue;
        char keep = copy[i];
        copy[i] = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) status = os_fail(err, "create the folder", copy);
        copy[i] = keep;
    }
    free(copy);
    return status;
}

/* ---- time, memory, processors ---- */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t wick_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
uint64_t wick_wall_ms(void) { return clock_ns(CLOCK_REALTIME) / 1000000u; }

size_t wick_local_time_text(const char *format, char *out, size_t room)
{
    time_t now = time(NULL);
    struct tm parts;
    if (!localtime_r(&now, &parts)) return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return strftime(out, room, format, &parts);
#pragma GCC diagnostic pop
}

uint64_t wick_peak_rss_bytes(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
    return (uint64_t)usage.ru_maxrss;
#else
    return (uint64_t)usage.ru_maxrss * 1024u;
#endif
}

#if defined(__linux__)
/* On big.LITTLE parts a barrier waits for the slowest core, so only cores near the highest maximum frequency count. */
static unsigned long core_max_khz(int core)
{
    char path[80];
    unsigned long khz = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", core);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%lu", &khz) != 1) khz = 0;
    fclose(file);
    return khz;
}

unsigned wick_core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    unsigned long best = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) best = WICK_MAX(best, core_max_khz(i));
    unsigned count = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) count += best == 0 || core_max_khz(i) >= best - best / 4;
    return count ? count : 1;
}
#else
unsigned wick_core_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}
#endif
