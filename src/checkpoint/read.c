/* checkpoint/read.c - owns reading ranges of elements out of a mapped tensor: contiguous, by block, or gathered through
 * strides. Tensors were verified by the format that added them; what is read goes to the exporter's weight transforms. */
#include "checkpoint/blocks.h"
#include "checkpoint/table.h"

#include "base/checked.h"

/* A plain element has at most 8 bytes; a strided range is gathered this many elements at a time. */
enum { GATHER_ELEMENTS = 256, ELEMENT_BYTES_MAX = 8 };

static wick_status check_range(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, wick_error *err)
{
    if (wick_range_ok(first, count, tensor->numel)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_ARGUMENT, "tensor '%.200s': elements %llu + %llu are outside its %llu", tensor->name,
                     (unsigned long long)first, (unsigned long long)count, (unsigned long long)tensor->numel);
}

/* Walks the logical row-major order of a strided tensor, one run of the innermost dim at a time. */
struct walk {
    const struct wick_ckpt_tensor *tensor;
    int64_t index[WICK_RANK_MAX];
    int64_t offset; /* of the current element, in elements from data */
};

static void walk_start(struct walk *walk, const struct wick_ckpt_tensor *tensor, uint64_t first)
{
    *walk = (struct walk){.tensor = tensor};
    for (int dim = tensor->rank; dim-- > 0;) {
        uint64_t size = (uint64_t)tensor->sizes[dim];
        walk->index[dim] = (int64_t)(first % size);
        walk->offset += walk->index[dim] * tensor->strides[dim];
        first /= size;
    }
}

/* Moves `run` elements on; run does not leave the current row. */
static void walk_step(struct walk *walk, int64_t run)
{
    const struct wick_ckpt_tensor *t = walk->tensor;
    int dim = t->rank - 1;
    walk->index[dim] += run;
    walk->offset += run * t->strides[dim];
    while (dim > 0 && walk->index[dim] == t->sizes[dim]) {
        walk->offset += t->strides[dim - 1] - walk->index[dim] * t->strides[dim];
        walk->index[dim--] = 0;
        walk->index[dim]++;
    }
}

/* Copies up to `limit` elements of the current row to out and moves on; returns how many. */
static size_t gather(struct walk *walk, size_t limit, unsigned bytes, uint8_t *out)
{
    const struct wick_ckpt_tensor *t = walk->tensor;
    int dim = t->rank - 1;
    size_t run = (size_t)(t->sizes[dim] - walk->index[dim]);
    run = WICK_MIN(run, limit);
    const uint8_t *from = t->data + walk->offset * bytes;
    size_t step = (size_t)t->strides[dim] * bytes;
    if (step == bytes) memcpy(out, from, run * bytes);
    else
        for (size_t i = 0; i < run; i++) memcpy(out + i * bytes, from + i * step, bytes);
    walk_step(walk, (int64_t)run);
    return run;
}

/* Blocks may be cut at both ends; whole ones are decoded in place. */
static void read_blocks(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, float *out)
{
    const unsigned block = wick_ckpt_storage_block(tensor->storage), bytes = wick_ckpt_storage_bytes(tensor->storage);
    float cut[WICK_CKPT_BLOCK_MAX];
    while (count > 0) {
        const uint8_t *from = tensor->data + (size_t)(first / block) * bytes;
        size_t skip = (size_t)(first % block), take = (size_t)(count - count % block);
        if (skip == 0 && take > 0) {
            wick_ckpt_decode(tensor->storage, from, take / block, out);
        } else {
            take = (size_t)WICK_MIN(count, (uint64_t)(block - skip));
            wick_ckpt_decode(tensor->storage, from, 1, cut);
            memcpy(out, cut + skip, take * sizeof *out);
        }
        first += take;
        count -= take;
        out += take;
    }
}

typedef wick_status (*read_fn)(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, void *out, wick_error *err);

/* Run by run: the elements from `first` on lie in one piece until its run ends, then in the next one. */
static wick_status read_pieces(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, size_t bytes, read_fn read, void *out, wick_error *err)
{
    const uint64_t run = tensor->piece_run, turn = run * tensor->piece_count;
    for (uint8_t *to = out; count > 0;) {
        uint64_t within = first % turn, offset = within % run, take = WICK_MIN(count, run - offset);
        WICK_TRY(read(&tensor->pieces[within / run], first / turn * run + offset, take, to, err));
        first += take;
        count -= take;
        to += (size_t)take * bytes;
    }
    return WICK_OK;
}

static wick_status read_f32(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, void *out, wick_error *err)
{
    return wick_ckpt_read_f32(tensor, first, count, out, err);
}

wick_status wick_ckpt_read_f32(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, float *out, wick_error *err)
{
    WICK_TRY(check_range(tensor, first, count, err));
    if (count == 0) return WICK_OK;
    if (tensor->piece_count) return read_pieces(tensor, first, count, sizeof *out, read_f32, out, err);
    if (tensor->contiguous) {
        read_blocks(tensor, first, count, out);
        return WICK_OK;
    }
    uint8_t gathered[GATHER_ELEMENTS * ELEMENT_BYTES_MAX];
    struct walk walk;
    walk_start(&walk, tensor, first);
    while (count > 0) {
        size_t run = gather(&walk, (size_t)WICK_MIN(count, (uint64_t)GATHER_ELEMENTS), wick_ckpt_storage_bytes(tensor->storage), gathered);
        wick_ckpt_decode(tensor->storage, gathered, run, out);
        count -= run;
        out += run;
    }
    return WICK_OK;
}

wick_status wick_ckpt_read_raw(const struct wick_ckpt_tensor *tensor, uint64_t first, uint64_t count, void *out, wick_error *err)
{
    WICK_TRY(check_range(tensor, first, count, err));
    if (wick_ckpt_storage_block(tensor->storage) != 1)
        return wick_fail(err, WICK_INVALID_TYPE, "tensor '%.200s': %s has no single elements to read", tensor->name,
                         wick_ckpt_storage_name(tensor->storage));
    if (count == 0) return WICK_OK;
    const unsigned bytes = wick_ckpt_storage_bytes(tensor->storage);
    if (tensor->piece_count) return read_pieces(tensor, first, count, bytes, wick_ckpt_read_raw, out, err);
    if (tensor->contiguous) {
        memcpy(out, tensor->data + (size_t)first * bytes, (size_t)count * bytes);
        return WICK_OK;
    }
    uint8_t *to = out;
    struct walk walk;
    walk_start(&walk, tensor, first);
    while (count > 0) {
        size_t run = gather(&walk, (size_t)WICK_MIN(count, (uint64_t)SIZE_MAX), bytes, to);
        count -= run;
        to += run * bytes;
    }
    return WICK_OK;
}

void wick_ckpt_tensor_done(const struct wick_checkpoint *ckpt, const struct wick_ckpt_tensor *tensor)
{
    const struct wick_map *map = &ckpt->files[tensor->file].map;
    for (uint32_t i = 0; i < tensor->piece_count; i++) wick_ckpt_tensor_done(ckpt, &tensor->pieces[i]);
    if (tensor->piece_count) return;
    if (tensor->nbytes > 0) wick_map_release_range(map, (size_t)(tensor->data - map->data), tensor->nbytes);
}
