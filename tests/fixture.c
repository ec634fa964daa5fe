/* tests/fixture.c - see fixture.h. */
#define _GNU_SOURCE
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *slot(void)
{
    static char slots[8][4096];
    static unsigned next;
    return slots[next++ % 8];
}

const char *wick_test_repo(const char *relative)
{
    char *path = slot();
    snprintf(path, 4096, "%s/%s", WICK_REPO, relative);
    return path;
}

const char *wick_test_golden(const char *relative)
{
    char *path = slot();
    const char *root = getenv("WICK_GOLDEN");
    if (root) {
        snprintf(path, 4096, "%s/%s", root, relative);
        if (access(path, R_OK) == 0) return path;
    }
    snprintf(path, 4096, "%s/tests/data/golden/%s", WICK_REPO, relative);
    if (access(path, R_OK) == 0) return path;
    snprintf(path, 4096, "%s/../shared/golden/%s", WICK_REPO, relative);
    return access(path, R_OK) == 0 ? path : NULL;
}

static char folder[64];

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "cannot remove %s\n", folder);
}

const char *wick_test_temp(const char *name)
{
    if (!folder[0]) {
        strcpy(folder, "/tmp/wick-test-XXXXXX");
        if (!mkdtemp(folder)) abort();
        atexit(remove_folder);
    }
    char *path = slot();
    snprintf(path, 4096, "%s/%s", folder, name);
    return path;
}

uint64_t wick_test_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Dull;
}

float wick_test_uniform(uint64_t *state) { return (float)(wick_test_random(state) >> 40) * 0x1p-23f - 1.0f; }

int wick_test_mutations(int usual)
{
    const char *set = getenv("WICK_FUZZ_COUNT");
    int count = set ? atoi(set) : 0;
    return count > 0 ? count : usual;
}

int wick_test_run(const char *name, const struct CMUnitTest *tests, size_t count)
{
    /* cmocka counts skips only in its report; ask for the machine-readable one through a pipe would be more than this
     * needs: a test binary whose fixtures are all missing skips in every test, which it says on standard output. */
    int failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    return failed;
}

void *wick_test_guarded(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
    char *base = mmap(NULL, (pages + 2) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || (pages && mprotect(base + page, pages * page, PROT_READ | PROT_WRITE) != 0)) abort();
    memset(base + page, 0xa5, pages * page);
    return base + page + pages * page - bytes;
}

void wick_test_guarded_free(void *block, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
    char *end = (char *)block + bytes;
    munmap(end - (pages + 1) * page, (pages + 2) * page);
}
