/* checkpoint/zip.h - entries of a zip archive in memory (zip64 too), stored ones only. */
#ifndef WICK_CHECKPOINT_ZIP_H
#define WICK_CHECKPOINT_ZIP_H

#include "base/arena.h"
#include "base/str.h"

struct wick_zip_entry {
    struct wick_str name;  /* into the archive */
    uint64_t local;        /* offset of its local header */
    uint64_t size, stored; /* bytes unpacked and in the file */
    uint16_t method, flags;
};

struct wick_zip {
    const uint8_t *data;
    size_t size;
    uint64_t directory;             /* offset of the central directory: entries end before it */
    struct wick_zip_entry *entries; /* sorted by name, no two alike */
    size_t count;
};

/* Reads the central directory; the list lives in the arena, names in data. Entries may not overlap each other or the directory. */
wick_status wick_zip_open(struct wick_zip *zip, const uint8_t *data, size_t size, struct wick_arena *arena, wick_error *err) WICK_MUST_CHECK;
/* NULL if there is none. */
const struct wick_zip_entry *wick_zip_find(const struct wick_zip *zip, struct wick_str name);
/* The bytes of an entry, after its local header agrees with the directory. A compressed or encrypted one is refused by name. */
wick_status wick_zip_data(const struct wick_zip *zip, const struct wick_zip_entry *entry, const uint8_t **data, wick_error *err) WICK_MUST_CHECK;

#endif
