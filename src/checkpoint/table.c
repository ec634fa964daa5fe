/* checkpoint/table.c - owns the table of tensors and metadata that every format fills: shapes made and checked, names
 * made unique and searchable. Data goes on to read.c (elements) and meta.c (values). */
#include "checkpoint/table.h"

#include "base/checked.h"
#include "checkpoint/limits.h"

#include <stdlib.h>

static const struct {
    const char *name;
    unsigned block, bytes;
} storages[WICK_CKPT_STORAGE_COUNT] = {
#define STORAGE_ROW(id, word, elements, size) [WICK_CKPT_##id] = {word, elements, size},
    WICK_CKPT_STORAGE_LIST(STORAGE_ROW)
#undef STORAGE_ROW
};

const char *wick_ckpt_storage_name(enum wick_ckpt_storage storage) { return storages[storage].name; }
unsigned wick_ckpt_storage_block(enum wick_ckpt_storage storage) { return storages[storage].block; }
unsigned wick_ckpt_storage_bytes(enum wick_ckpt_storage storage) { return storages[storage].bytes; }
int wick_ckpt_storage_dtype(enum wick_ckpt_storage storage)
{
    return storages[storage].block == 1 ? wick_dtype_by_word(storages[storage].name) : -1;
}

bool wick_ckpt_name_ok(const char *data, size_t size)
{
    if (size == 0 || size > WICK_CKPT_NAME_MAX) return false;
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t step = wick_utf8_next(data + at, size - at, &code);
        if (step == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
        at += step;
    }
    return true;
}

wick_status wick_ckpt_shape_set(struct wick_ckpt_tensor *tensor, enum wick_ckpt_storage storage, size_t rank, const int64_t *sizes,
                                const char *what, wick_error *err)
{
    if (rank > WICK_RANK_MAX) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%s: rank %zu is above %d", what, rank, WICK_RANK_MAX);
    /* The product of the non-zero sizes bounds the strides, so that a zero elsewhere hides no overflow. */
    uint64_t span = 1;
    bool empty = false;
    for (size_t i = 0; i < rank; i++) {
        if (sizes[i] < 0 || sizes[i] > INT32_MAX)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "%s: size %lld of dim %zu is out of range", what, (long long)sizes[i], i);
        if (sizes[i] == 0) empty = true;
        else if (wick_mul_ovf(span, (uint64_t)sizes[i], &span) || span > WICK_CKPT_NUMEL_MAX)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "%s: more than %llu elements", what, (unsigned long long)WICK_CKPT_NUMEL_MAX);
        tensor->sizes[i] = (int32_t)sizes[i];
    }
    tensor->storage = storage;
    tensor->rank = (uint8_t)rank;
    tensor->numel = empty ? 0 : span;
    tensor->contiguous = true;
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
        tensor->strides[i] = stride;
        stride *= WICK_MAX(tensor->sizes[i], 1);
    }
    unsigned block = storages[storage].block;
    uint64_t row = rank ? (uint64_t)tensor->sizes[rank - 1] : 1;
    if (row % block != 0)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "%s: rows of %llu elements are no whole blocks of %u (%s)", what, (unsigned long long)row,
                         block, storages[storage].name);
    uint64_t nbytes = tensor->numel / block * storages[storage].bytes; /* at most 2^43 */
    if (nbytes > SIZE_MAX) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%s: larger than the address space", what);
    tensor->nbytes = (size_t)nbytes;
    return WICK_OK;
}

wick_status wick_ckpt_add_tensor(struct wick_checkpoint *ckpt, struct wick_str name, const struct wick_ckpt_tensor *tensor, wick_error *err)
{
    if (!wick_ckpt_name_ok(name.data, name.size))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "name of tensor %zu (%zu bytes) is no printable text of 1 to %u bytes", ckpt->tensor_count,
                         name.size, WICK_CKPT_NAME_MAX);
    if (ckpt->tensor_count >= WICK_CKPT_TENSORS_MAX) return wick_fail(err, WICK_INVALID_CHECKPOINT, "more than %u tensors", WICK_CKPT_TENSORS_MAX);
    struct wick_ckpt_tensor *list = wick_ckpt_list_room(&ckpt->arena, ckpt->tensors, ckpt->tensor_count, &ckpt->tensor_capacity, sizeof *list);
    char *copy = wick_arena_copy(&ckpt->arena, name.data, name.size);
    if (list) ckpt->tensors = list;
    if (!list || !copy) return wick_fail_oom(err, sizeof *list + name.size, "table of tensors");
    list[ckpt->tensor_count] = *tensor;
    list[ckpt->tensor_count++].name = copy;
    return WICK_OK;
}

wick_status wick_ckpt_add_meta(struct wick_checkpoint *ckpt, struct wick_str key, const struct wick_meta *meta, wick_error *err)
{
    if (!wick_ckpt_name_ok(key.data, key.size))
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "metadata key %zu (%zu bytes) is no printable text of 1 to %u bytes", ckpt->meta_count,
                         key.size, WICK_CKPT_NAME_MAX);
    struct wick_meta *list = wick_ckpt_list_room(&ckpt->arena, ckpt->metas, ckpt->meta_count, &ckpt->meta_capacity, sizeof *list);
    char *copy = wick_arena_copy(&ckpt->arena, key.data, key.size);
    if (list) ckpt->metas = list;
    if (!list || !copy) return wick_fail_oom(err, sizeof *list + key.size, "metadata");
    list[ckpt->meta_count] = *meta;
    list[ckpt->meta_count++].key = copy;
    return WICK_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct wick_ckpt_name *)a)->name, ((const struct wick_ckpt_name *)b)->name);
}

/* Sorting instead of hashing: chosen names cannot make it slow. */
static wick_status sort_names(struct wick_ckpt_name *names, size_t count, const char *what, wick_error *err)
{
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1].name, names[i].name) == 0)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "duplicate %s '%.200s'", what, names[i].name);
    return WICK_OK;
}

wick_status wick_ckpt_table_seal(struct wick_checkpoint *ckpt, wick_error *err)
{
    ckpt->tensor_names = WICK_NEW_ARRAY(&ckpt->arena, struct wick_ckpt_name, ckpt->tensor_count);
    ckpt->meta_names = WICK_NEW_ARRAY(&ckpt->arena, struct wick_ckpt_name, ckpt->meta_count);
    if (!ckpt->tensor_names || !ckpt->meta_names)
        return wick_fail_oom(err, (ckpt->tensor_count + ckpt->meta_count) * sizeof(struct wick_ckpt_name), "names");
    for (size_t i = 0; i < ckpt->tensor_count; i++) ckpt->tensor_names[i] = (struct wick_ckpt_name){ckpt->tensors[i].name, i};
    for (size_t i = 0; i < ckpt->meta_count; i++) ckpt->meta_names[i] = (struct wick_ckpt_name){ckpt->metas[i].key, i};
    WICK_TRY(sort_names(ckpt->tensor_names, ckpt->tensor_count, "tensor", err));
    return sort_names(ckpt->meta_names, ckpt->meta_count, "metadata key", err);
}

static const struct wick_ckpt_name *find(const struct wick_ckpt_name *names, size_t count, const char *name)
{
    struct wick_ckpt_name key = {name, 0};
    return count ? bsearch(&key, names, count, sizeof *names, by_name) : NULL;
}

size_t wick_checkpoint_count(const struct wick_checkpoint *ckpt) { return ckpt->tensor_count; }
const struct wick_ckpt_tensor *wick_checkpoint_tensor(const struct wick_checkpoint *ckpt, size_t i) { return &ckpt->tensors[i]; }

const struct wick_ckpt_tensor *wick_checkpoint_find(const struct wick_checkpoint *ckpt, const char *name)
{
    const struct wick_ckpt_name *found = find(ckpt->tensor_names, ckpt->tensor_count, name);
    return found ? &ckpt->tensors[found->index] : NULL;
}

const struct wick_meta *wick_ckpt_find_meta(const struct wick_checkpoint *ckpt, const char *key)
{
    const struct wick_ckpt_name *found = find(ckpt->meta_names, ckpt->meta_count, key);
    return found ? &ckpt->metas[found->index] : NULL;
}
