/* pte/golden_test.h - for tests: files of the golden set in memory, and the smallest complete program. */
#ifndef WICK_PTE_GOLDEN_H
#define WICK_PTE_GOLDEN_H

#include "fixture.h"

#include "base/os.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* forward(x) = x + 1 for three floats, 804 bytes: extended header, tables from 0x40, one segment (1.0f) at 0x320. Values: 0 the
 * constant, 1 the input [3] at planned offset 16, 2 the output [3] at 0, 3 the Int 1; KernelCall aten::add.out [1 0 3 2 2]. */
static const char golden_minimal_hex[] =
    "40000000455431326568303020000000180300000000000020030000000000000400000000000000000000000000000010001000000004000000000008000c00"
    "100000000c00000080020000ac020000010000001c000000160024000400000008000c001000140018001c00200000001800000020000000280000006c010000"
    "7001000074010000ec010000200200002402000007000000666f727761726400040000001c00000060000000c400000018010000080009000800040000000000"
    "0c0000001c000000050010001100100000000400080000000c000000000000001600000010000000100000000100000006000000000000000000000008000900"
    "08000400000000000c0000001c0000000500120011001000000004000800000000000c0000000000160000001000000014000000240000000600000001000000"
    "0300000001000000000008000c00040008000000000000000e00000001000000100000000800090008000400000000000c0000001c0000000500120011001000"
    "000004000800000000000c00000000001600000010000000140000001c0000000600000001000000030000000100000000000600080004000600000001000000"
    "0800090008000400080000000c000000020006001000080006000000000000000100000000000000010000000100000001000000020000000100000014000000"
    "0a001000040008000c00000000000000100000000c0000000c0000000c0000000000000000000000010000000c00000008000900080004000800000014000000"
    "010008000c00040008000000000000000e0000000000000004000000050000000100000000000000030000000200000002000000010000001000000008000c00"
    "04000800000000000c0000000800000014000000090000006174656e3a3a616464000000030000006f7574000000000000000000020000000000000000000000"
    "2000000000000000010000000c000000080018000800100008000000000000000000000000000000040000000000000008000c00040008000800000000000000"
    "04000000020000000000000000000000000000000000000000000000000000000000803f";

/* A copy of bytes in memory aligned to 64 that ends where they end; free() it. */
static inline uint8_t *golden_copy(const void *data, size_t size)
{
    void *copy = NULL;
    if (posix_memalign(&copy, 64, size ? size : 1) != 0) abort();
    if (size) memcpy(copy, data, size);
    return copy;
}

static inline uint8_t *golden_minimal(size_t *size)
{
    uint8_t bytes[sizeof golden_minimal_hex / 2];
    *size = sizeof bytes;
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned value = 0;
        if (sscanf(golden_minimal_hex + 2 * i, "%2x", &value) != 1) abort();
        bytes[i] = (uint8_t)value;
    }
    return golden_copy(bytes, sizeof bytes);
}

static inline uint8_t *golden_load(const char *path, size_t *size)
{
    struct wick_map map;
    wick_error err;
    WICK_ASSERT_OK(wick_map_open(&map, path, &err), &err);
    uint8_t *copy = golden_copy(map.data, map.size);
    *size = map.size;
    wick_map_close(&map);
    return copy;
}

typedef void (*golden_file_fn)(const char *path, void *user);

/* Calls fn for every file below `folder` whose name ends in `ending` and that has at most size_max bytes; returns how many. */
static inline int golden_walk(const char *folder, const char *ending, size_t size_max, golden_file_fn fn, void *user)
{
    DIR *dir = opendir(folder);
    int count = 0;
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[4096];
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (entry->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) continue;
        if (wick_path_is_folder(path)) {
            count += golden_walk(path, ending, size_max, fn, user);
        } else if (length > tail && strcmp(entry->d_name + length - tail, ending) == 0) {
            FILE *file = fopen(path, "rb");
            bool small = file && fseek(file, 0, SEEK_END) == 0 && (size_t)ftell(file) <= size_max;
            if (file) fclose(file);
            if (!small) continue;
            fn(path, user);
            count++;
        }
    }
    closedir(dir);
    return count;
}

/* The root of the golden set: the whole one if it can be had, else what the repository carries; NULL if neither. */
static inline const char *golden_root(void)
{
    static char root[4096];
    const char *whole = wick_test_golden("ops/index.json"), *part = wick_test_golden("programs/index.json");
    if (!whole && !part) return NULL;
    snprintf(root, sizeof root, "%s", whole ? whole : part);
    for (int i = 0; i < 2; i++) *strrchr(root, '/') = 0;
    return root;
}

#endif
