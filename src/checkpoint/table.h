/* checkpoint/table.h - the checkpoint while it is being built: files, tensors, metadata, names. Internal to the folder. */
#ifndef WICK_CHECKPOINT_TABLE_H
#define WICK_CHECKPOINT_TABLE_H

#include "base/arena.h"
#include "base/os.h"
#include "checkpoint/checkpoint.h"

struct wick_ckpt_file {
    const char *path;
    struct wick_map map;
};

/* A name and what it stands for; sorted by name once the table is sealed. */
struct wick_ckpt_name {
    const char *name;
    size_t index;
};

struct wick_checkpoint {
    struct wick_arena arena; /* owns everything below and the checkpoint itself */
    const char *format;
    struct wick_ckpt_file *files;
    size_t file_count, file_capacity;
    struct wick_ckpt_tensor *tensors;
    size_t tensor_count, tensor_capacity;
    struct wick_meta *metas;
    size_t meta_count, meta_capacity;
    struct wick_ckpt_name *tensor_names, *meta_names;
};

/* As wick_checkpoint_open, with the memory from `source`. */
wick_status wick_ckpt_open_in(struct wick_checkpoint **ckpt, const char *path, const struct wick_allocator *source, wick_error *err) WICK_MUST_CHECK;

/* A list in an arena: room for one more element of `size` bytes behind `count` of them. Returns the (maybe moved) list,
 * NULL if there is no memory. */
static inline void *wick_ckpt_list_room(struct wick_arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return items;
    size_t more = *capacity ? *capacity * 2 : 16; /* counts are bounded by limits.h: no overflow */
    void *moved = wick_arena_array(arena, more, size, _Alignof(max_align_t));
    if (!moved) return NULL;
    if (count) memcpy(moved, items, count * size);
    *capacity = more;
    return moved;
}

/* True for text that can be a tensor's name or a key: 1 to WICK_CKPT_NAME_MAX bytes of UTF-8 without control characters. */
bool wick_ckpt_name_ok(const char *data, size_t size);

/* Fills storage, rank, sizes, numel, and strides and nbytes of the row-major layout. `what` opens the error text.
 * Refuses a rank above WICK_RANK_MAX, sizes outside int32, too many elements, and rows of block types that are not whole blocks. */
wick_status wick_ckpt_shape_set(struct wick_ckpt_tensor *tensor, enum wick_ckpt_storage storage, size_t rank, const int64_t *sizes,
                                const char *what, wick_error *err) WICK_MUST_CHECK;

/* Adds a tensor; everything but the name must be filled in and verified. The name is checked and copied. */
wick_status wick_ckpt_add_tensor(struct wick_checkpoint *ckpt, struct wick_str name, const struct wick_ckpt_tensor *tensor,
                                 wick_error *err) WICK_MUST_CHECK;
/* Adds a metadata value whose strings live as long as the checkpoint. The key is checked and copied. */
wick_status wick_ckpt_add_meta(struct wick_checkpoint *ckpt, struct wick_str key, const struct wick_meta *meta, wick_error *err) WICK_MUST_CHECK;

/* Sorts the names and refuses duplicates, naming them. The table is immutable from here on. */
wick_status wick_ckpt_table_seal(struct wick_checkpoint *ckpt, wick_error *err) WICK_MUST_CHECK;
const struct wick_meta *wick_ckpt_find_meta(const struct wick_checkpoint *ckpt, const char *key);

/* Little-endian loads from unaligned bytes. */
static inline uint16_t wick_ckpt_u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t wick_ckpt_u32(const uint8_t *p) { return wick_ckpt_u16(p) | (uint32_t)wick_ckpt_u16(p + 2) << 16; }
static inline uint64_t wick_ckpt_u64(const uint8_t *p) { return wick_ckpt_u32(p) | (uint64_t)wick_ckpt_u32(p + 4) << 32; }

#endif
