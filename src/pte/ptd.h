/* pte/ptd.h - opening a .ptd tensor data file: named blobs outside a program, with the layout of tensors. */
#ifndef WICK_PTE_PTD_H
#define WICK_PTE_PTD_H

#include "pte/pte.h"
#include "pte/ptd_schema.h"

enum {
    WICK_PTD_HEADER_BYTES = 40, /* from byte 8 */
    WICK_PTD_BLOCK_BYTES = 48   /* as written: the header rounded up to 16 */
};

/* An open data file. Borrows the caller's bytes. Immutable; may be shared by threads. */
struct wick_ptd_file {
    const uint8_t *data;
    size_t size;
    struct flat_table root; /* PTD_TABLE_ROOT */
    uint64_t flatbuffer_offset, flatbuffer_size, segment_base, segment_bytes;
};

struct wick_ptd_entry {
    struct wick_str key;
    struct wick_pte_blob blob;
    bool has_layout; /* a tensor; a backend's blob may come without */
    struct wick_shape shape;
    uint64_t nbytes; /* of shape; at most blob.size */
};

/* Opens and judges a file of `size` bytes at `data`, which is aligned to 16 and outlives it. Afterwards all entries have a key, a segment
 * within the file, and a layout that passes wick_shape_valid and fits its segment, if any. Every fault is INVALID_EXTERNAL_DATA. */
wick_status wick_ptd_open(struct wick_ptd_file *file, const void *data, size_t size, wick_error *err) WICK_MUST_CHECK;

uint32_t wick_ptd_count(const struct wick_ptd_file *file);
/* Entry `index` < count; cannot fail after wick_ptd_open. */
wick_status wick_ptd_entry_at(const struct wick_ptd_file *file, uint32_t index, struct wick_ptd_entry *entry, wick_error *err) WICK_MUST_CHECK;
/* By key, compared exactly, first match; NOT_FOUND names the key. A linear search. */
wick_status wick_ptd_find(const struct wick_ptd_file *file, struct wick_str key, struct wick_ptd_entry *entry, wick_error *err) WICK_MUST_CHECK;

#endif
