/* checkpoint/zip.c - owns the zip container of .pth files: finds and verifies the directory, hands out the bytes of
 * stored entries in place. They go on to torch.c. Layout: PKWARE's APPNOTE, sections 4.3 to 4.5. */
#include "checkpoint/zip.h"

#include "base/checked.h"
#include "checkpoint/limits.h"
#include "checkpoint/table.h"

#include <stdlib.h>

enum {
    LOCAL_SIGNATURE = 0x04034b50, DIRECTORY_SIGNATURE = 0x02014b50, END_SIGNATURE = 0x06054b50,
    END64_SIGNATURE = 0x06064b50, LOCATOR64_SIGNATURE = 0x07064b50,
    LOCAL_BYTES = 30, DIRECTORY_BYTES = 46, END_BYTES = 22, END64_BYTES = 56, LOCATOR64_BYTES = 20,
    COMMENT_MAX = 65535, EXTRA64 = 1,
    FLAG_ENCRYPTED = 1, FLAG_SIZES_LATER = 8, METHOD_STORED = 0, METHOD_DEFLATE = 8,
};

/* ---- the end record: where the directory is ---- */

struct directory {
    uint64_t offset, bytes, count, limit; /* limit: where the end records begin */
};

static wick_status find_end(const uint8_t *data, size_t size, size_t *at, wick_error *err)
{
    if (size >= END_BYTES) {
        size_t lowest = size - END_BYTES > COMMENT_MAX ? size - END_BYTES - COMMENT_MAX : 0;
        for (size_t i = size - END_BYTES + 1; i-- > lowest;) {
            if (wick_ckpt_u32(data + i) != END_SIGNATURE || wick_ckpt_u16(data + i + 20) != size - i - END_BYTES) continue;
            *at = i;
            return WICK_OK;
        }
    }
    return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: no end record in the %zu bytes: the file is truncated or damaged", size);
}

/* The zip64 end record, which a locator before the end record points to. */
static wick_status read_end64(const uint8_t *data, size_t end, struct directory *dir, wick_error *err)
{
    size_t locator = end - LOCATOR64_BYTES;
    uint64_t at = wick_ckpt_u64(data + locator + 8);
    if (!wick_range_ok(at, END64_BYTES, locator) || wick_ckpt_u32(data + at) != END64_SIGNATURE)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: offset %zu: locator points to %llu, where no zip64 end record is", locator,
                         (unsigned long long)at);
    if (wick_ckpt_u32(data + at + 16) != 0 || wick_ckpt_u32(data + at + 20) != 0)
        return wick_fail(err, WICK_NOT_SUPPORTED, "zip: offset %llu: archives of several disks are not read", (unsigned long long)at);
    *dir = (struct directory){wick_ckpt_u64(data + at + 48), wick_ckpt_u64(data + at + 40), wick_ckpt_u64(data + at + 32), at};
    return WICK_OK;
}

static wick_status find_directory(const uint8_t *data, size_t size, struct directory *dir, wick_error *err)
{
    size_t end = 0;
    WICK_TRY(find_end(data, size, &end, err));
    const uint8_t *p = data + end;
    if (end >= LOCATOR64_BYTES && wick_ckpt_u32(p - LOCATOR64_BYTES) == LOCATOR64_SIGNATURE) {
        WICK_TRY(read_end64(data, end, dir, err));
    } else {
        *dir = (struct directory){wick_ckpt_u32(p + 16), wick_ckpt_u32(p + 12), wick_ckpt_u16(p + 10), end};
        if (wick_ckpt_u16(p + 4) != 0 || wick_ckpt_u16(p + 6) != 0)
            return wick_fail(err, WICK_NOT_SUPPORTED, "zip: offset %zu: archives of several disks are not read", end);
    }
    if (!wick_range_ok(dir->offset, dir->bytes, dir->limit))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: directory at %llu of %llu bytes is outside the file", (unsigned long long)dir->offset,
                         (unsigned long long)dir->bytes);
    if (dir->count > WICK_CKPT_ENTRIES_MAX || dir->count > dir->bytes / DIRECTORY_BYTES)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: directory at %llu of %llu bytes cannot hold %llu entries",
                         (unsigned long long)dir->offset, (unsigned long long)dir->bytes, (unsigned long long)dir->count);
    return WICK_OK;
}

/* ---- directory entries ---- */

/* Fields that do not fit 32 bits are 0xffffffff and follow, in this order, in the extra field of id 1. */
static bool apply_extra64(struct wick_zip_entry *entry, const uint8_t *extra, size_t bytes)
{
    uint64_t *fields[] = {&entry->size, &entry->stored, &entry->local};
    while (bytes >= 4) {
        size_t id = wick_ckpt_u16(extra), size = wick_ckpt_u16(extra + 2);
        if (size > bytes - 4) return false;
        if (id == EXTRA64) {
            const uint8_t *p = extra + 4;
            for (size_t i = 0; i < WICK_ARRAY_SIZE(fields); i++) {
                if (*fields[i] != UINT32_MAX) continue;
                if (size < 8) return false;
                *fields[i] = wick_ckpt_u64(p);
                p += 8;
                size -= 8;
            }
            return true;
        }
        extra += 4 + size;
        bytes -= 4 + size;
    }
    return entry->size != UINT32_MAX && entry->stored != UINT32_MAX && entry->local != UINT32_MAX;
}

static wick_status read_entry(const struct wick_zip *zip, const struct directory *dir, uint64_t *at, struct wick_zip_entry *entry, wick_error *err)
{
    const uint8_t *p = zip->data + *at;
    uint64_t left = dir->offset + dir->bytes - *at;
    if (left < DIRECTORY_BYTES || wick_ckpt_u32(p) != DIRECTORY_SIGNATURE)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: offset %llu: no directory entry", (unsigned long long)*at);
    size_t name = wick_ckpt_u16(p + 28), extra = wick_ckpt_u16(p + 30), comment = wick_ckpt_u16(p + 32);
    if (name + extra + comment > left - DIRECTORY_BYTES)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: offset %llu: directory entry is cut off", (unsigned long long)*at);
    *entry = (struct wick_zip_entry){
        .name = {(const char *)p + DIRECTORY_BYTES, name},
        .local = wick_ckpt_u32(p + 42), .size = wick_ckpt_u32(p + 24), .stored = wick_ckpt_u32(p + 20),
        .method = wick_ckpt_u16(p + 10), .flags = wick_ckpt_u16(p + 8),
    };
    if (!wick_ckpt_name_ok(entry->name.data, name))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: offset %llu: entry's name is no printable text", (unsigned long long)*at);
    if (!apply_extra64(entry, p + DIRECTORY_BYTES + name, extra))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: offset %llu: entry '%.*s' has a damaged zip64 field", (unsigned long long)*at,
                         (int)WICK_MIN(name, (size_t)200), entry->name.data);
    if (!wick_range_ok(entry->local, LOCAL_BYTES, dir->offset) || !wick_range_ok(entry->local + LOCAL_BYTES, entry->stored, dir->offset))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: entry '%.*s' at %llu of %llu bytes is outside the file",
                         (int)WICK_MIN(name, (size_t)200), entry->name.data, (unsigned long long)entry->local, (unsigned long long)entry->stored);
    *at += DIRECTORY_BYTES + name + extra + comment;
    return WICK_OK;
}

static int compare_names(struct wick_str a, struct wick_str b)
{
    int order = memcmp(a.data, b.data, WICK_MIN(a.size, b.size));
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_name(const void *a, const void *b)
{
    return compare_names(((const struct wick_zip_entry *)a)->name, ((const struct wick_zip_entry *)b)->name);
}

static int by_offset(const void *a, const void *b)
{
    uint64_t x = ((const struct wick_zip_entry *)a)->local, y = ((const struct wick_zip_entry *)b)->local;
    return (x > y) - (x < y);
}

wick_status wick_zip_open(struct wick_zip *zip, const uint8_t *data, size_t size, struct wick_arena *arena, wick_error *err)
{
    *zip = (struct wick_zip){.data = data, .size = size};
    struct directory dir = {0};
    WICK_TRY(find_directory(data, size, &dir, err));
    struct wick_zip_entry *entries = WICK_NEW_ARRAY(arena, struct wick_zip_entry, (size_t)dir.count);
    if (!entries) return wick_fail_oom(err, (size_t)dir.count * sizeof *entries, "zip directory");
    uint64_t at = dir.offset;
    for (size_t i = 0; i < dir.count; i++) WICK_TRY(read_entry(zip, &dir, &at, &entries[i], err));
    zip->directory = dir.offset;
    zip->entries = entries;
    zip->count = (size_t)dir.count;
    qsort(entries, zip->count, sizeof *entries, by_offset);
    for (size_t i = 1; i < zip->count; i++) {
        const struct wick_zip_entry *before = &entries[i - 1], *here = &entries[i];
        if (here->local < before->local + LOCAL_BYTES + before->stored)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: entry '%.*s' at %llu overlaps '%.*s'", (int)WICK_MIN(here->name.size, 120),
                             here->name.data, (unsigned long long)here->local, (int)WICK_MIN(before->name.size, 120), before->name.data);
    }
    qsort(entries, zip->count, sizeof *entries, by_name);
    for (size_t i = 1; i < zip->count; i++)
        if (wick_str_equal(entries[i - 1].name, entries[i].name))
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: duplicate entry '%.*s'", (int)WICK_MIN(entries[i].name.size, 200),
                             entries[i].name.data);
    return WICK_OK;
}

const struct wick_zip_entry *wick_zip_find(const struct wick_zip *zip, struct wick_str name)
{
    struct wick_zip_entry key = {.name = name};
    return zip->count ? bsearch(&key, zip->entries, zip->count, sizeof key, by_name) : NULL;
}

wick_status wick_zip_data(const struct wick_zip *zip, const struct wick_zip_entry *entry, const uint8_t **data, wick_error *err)
{
    const int shown = (int)WICK_MIN(entry->name.size, 200);
    const char *name = entry->name.data;
    if (entry->flags & FLAG_ENCRYPTED) return wick_fail(err, WICK_NOT_SUPPORTED, "zip: entry '%.*s' is encrypted", shown, name);
    if (entry->method != METHOD_STORED)
        return wick_fail(err, WICK_NOT_SUPPORTED, "zip: entry '%.*s' is compressed (%s, method %u); only stored entries are read", shown, name,
                         entry->method == METHOD_DEFLATE ? "deflate" : "unknown", entry->method);
    if (entry->size != entry->stored) return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: stored entry '%.*s' has two sizes", shown, name);
    const uint8_t *p = zip->data + entry->local;
    if (wick_ckpt_u32(p) != LOCAL_SIGNATURE)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: offset %llu: no local header of entry '%.*s'", (unsigned long long)entry->local, shown,
                         name);
    size_t name_bytes = wick_ckpt_u16(p + 26), extra = wick_ckpt_u16(p + 28);
    uint64_t begin = entry->local + LOCAL_BYTES + name_bytes + extra;
    if (!wick_range_ok(begin, entry->size, zip->directory))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: entry '%.*s' at %llu of %llu bytes is outside the file", shown, name,
                         (unsigned long long)begin, (unsigned long long)entry->size);
    /* Sizes of the local header count unless they follow the data or are in its zip64 field. */
    uint32_t stored = wick_ckpt_u32(p + 18);
    bool size_differs = !(wick_ckpt_u16(p + 6) & FLAG_SIZES_LATER) && stored != UINT32_MAX && stored != entry->stored;
    if (size_differs || wick_ckpt_u16(p + 8) != METHOD_STORED ||
        !wick_str_equal(entry->name, (struct wick_str){(const char *)p + LOCAL_BYTES, name_bytes}))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "zip: offset %llu: local header disagrees with the directory about entry '%.*s'",
                         (unsigned long long)entry->local, shown, name);
    *data = zip->data + begin;
    return WICK_OK;
}
