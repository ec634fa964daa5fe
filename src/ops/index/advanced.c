/* ops/index/advanced.c - index, index_put: several index tensors at once, as numpy does it.
 *
 * Index tensors become rows of int64 positions (masks: the places of their true elements); for every position the block of
 * dims that are kept whole is copied, added, or written. */
#include "ops/copy/cast.h"
#include "ops/copy/strided.h"
#include "ops/index/add.h"
#include "ops/index/layout.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

struct walk {
    struct wick_index_layout layout;
    const int64_t *positions[WICK_RANK_MAX]; /* for an addressed dim of self: wrapped, checked, one an index element */
    size_t count;                            /* index elements */
    /* The block of sliced dims: sizes, strides in self and in the result. */
    int block_rank;
    int32_t block_sizes[WICK_RANK_MAX];
    int64_t block_self[WICK_RANK_MAX], block_out[WICK_RANK_MAX];
};

/* The k-th coordinate of every true element of a mask. */
static void mask_positions(const struct wick_tensor *mask, int component, int64_t *positions)
{
    int32_t at[WICK_RANK_MAX] = {0};
    size_t numel = wick_tensor_numel(mask), found = 0;
    for (size_t i = 0; i < numel; i++) {
        int64_t offset = 0;
        for (int d = 0; d < mask->shape.rank; d++) offset += (int64_t)at[d] * mask->strides[d];
        if (((const uint8_t *)mask->data)[offset]) positions[found++] = at[component];
        for (int d = mask->shape.rank - 1; d >= 0 && ++at[d] == mask->shape.sizes[d]; d--) at[d] = 0;
    }
}

/* Positions of one addressed dim, broadcast to the index dims. */
static wick_status fill_positions(struct walk *walk, int dim, const struct wick_tensor *index, int64_t size, int64_t *positions, struct wick_run *run)
{
    const struct wick_index_layout *layout = &walk->layout;
    int64_t from[WICK_RANK_MAX], to[WICK_RANK_MAX];
    wick_strides_contiguous(layout->index_sizes, layout->index_rank, to);
    if (wick_index_is_mask(index)) {
        /* One row of places, which may stand beside integers of other shapes. */
        size_t found = wick_mask_count(index);
        int64_t *row = wick_arena_array(run->temp, found, sizeof *row, 8);
        if (!row) return wick_fail_oom(run->err, found * sizeof *row, "the places of a mask");
        mask_positions(index, layout->component[dim], row);
        for (int d = 0; d < layout->index_rank; d++) from[d] = d == layout->index_rank - 1 && found != 1;
        wick_strided_copy(positions, to, row, from, layout->index_sizes, layout->index_rank, sizeof *positions);
        return WICK_OK;
    }
    int lead = layout->index_rank - index->shape.rank;
    for (int d = 0; d < layout->index_rank; d++) from[d] = d >= lead && index->shape.sizes[d - lead] != 1 ? index->strides[d - lead] : 0;
    wick_strided_cast(positions, WICK_DTYPE_I64, to, index->data, index->shape.dtype, from, layout->index_sizes, layout->index_rank);
    for (size_t i = 0; i < walk->count; i++) {
        if (positions[i] < -size || positions[i] >= size)
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "index %lld is outside dim %d of size %lld", (long long)positions[i], dim,
                             (long long)size);
        if (positions[i] < 0) positions[i] += size;
    }
    return WICK_OK;
}

static wick_status walk_open(struct walk *walk, const struct wick_args *args, const struct wick_tensor *self, const int64_t *out_strides,
                             struct wick_run *run)
{
    const struct wick_index_layout *layout = &walk->layout;
    walk->count = 1;
    walk->block_rank = 0;
    for (int i = 0; i < layout->index_rank; i++) walk->count *= (size_t)layout->index_sizes[i];
    for (int d = 0; d < layout->rank; d++) {
        if (layout->item[d] == WICK_INDEX_SLICED) {
            int at = walk->block_rank++;
            walk->block_sizes[at] = self->shape.sizes[d];
            walk->block_self[at] = self->strides[d];
            walk->block_out[at] = out_strides[at < layout->index_dim ? at : at + layout->index_rank];
            continue;
        }
        int64_t *positions = wick_arena_array(run->temp, walk->count, sizeof *positions, 8);
        if (!positions) return wick_fail_oom(run->err, walk->count * sizeof *positions, "index positions");
        if (walk->count > 0) WICK_TRY(fill_positions(walk, d, wick_arg_tensor_at(args, 1, layout->item[d]), self->shape.sizes[d], positions, run));
        walk->positions[d] = positions;
    }
    return WICK_OK;
}

/* Element offset in self of index element i. */
static int64_t self_offset(const struct walk *walk, const struct wick_tensor *self, size_t i)
{
    int64_t offset = 0;
    for (int d = 0; d < walk->layout.rank; d++) {
        if (walk->layout.item[d] != WICK_INDEX_SLICED) offset += walk->positions[d][i] * self->strides[d];
    }
    return offset;
}

/* Steps through the index dims of the result in step with i. */
static int64_t out_offset(const struct walk *walk, const int64_t *out_strides, int32_t *at)
{
    const struct wick_index_layout *layout = &walk->layout;
    int64_t offset = 0;
    for (int d = 0; d < layout->index_rank; d++) offset += at[d] * out_strides[layout->index_dim + d];
    for (int d = layout->index_rank - 1; d >= 0 && ++at[d] == layout->index_sizes[d]; d--) at[d] = 0;
    return offset;
}

static wick_status run_aten_index_Tensor_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_tensor *out = wick_arg_tensor(args, 2);
    struct walk walk;
    WICK_TRY(wick_index_layout_make(&walk.layout, args, 1, run->err));
    WICK_TRY(wick_tensor_resize(out, walk.layout.out_sizes, walk.layout.out_rank, run->err));
    if (self->shape.dtype != out->shape.dtype)
        return wick_fail(run->err, WICK_INVALID_TYPE, "out is %s, the input %s", wick_dtype_name(out->shape.dtype),
                         wick_dtype_name(self->shape.dtype));
    int64_t strides[WICK_RANK_MAX];
    wick_strides_of(out, strides);
    WICK_TRY(walk_open(&walk, args, self, strides, run));
    if (wick_tensor_numel(out) == 0) return WICK_OK;
    int64_t element = (int64_t)wick_dtype_size(self->shape.dtype);
    int32_t at[WICK_RANK_MAX] = {0};
    for (size_t i = 0; i < walk.count; i++) {
        const char *from = (const char *)self->data + self_offset(&walk, self, i) * element;
        char *to = (char *)out->data + out_offset(&walk, strides, at) * element;
        wick_strided_copy(to, walk.block_out, from, walk.block_self, walk.block_sizes, walk.block_rank, (size_t)element);
    }
    return WICK_OK;
}

/* Adds a block; element by element, since positions may repeat. */
static void add_block(const struct walk *walk, char *to, const char *from, int dtype)
{
    int64_t element = (int64_t)wick_dtype_size(dtype);
    int32_t at[WICK_RANK_MAX] = {0};
    for (int i = 0; i < walk->block_rank; i++) {
        if (walk->block_sizes[i] == 0) return;
    }
    for (;;) {
        int64_t a = 0, b = 0;
        for (int d = 0; d < walk->block_rank; d++) {
            a += at[d] * walk->block_self[d];
            b += at[d] * walk->block_out[d];
        }
        wick_element_add(to + a * element, from + b * element, dtype);
        int d = walk->block_rank - 1;
        for (; d >= 0 && ++at[d] == walk->block_sizes[d]; d--) at[d] = 0;
        if (d < 0) return;
    }
}

/* target[indices] = or += values. */
static wick_status put(const struct wick_args *args, struct wick_tensor *target, struct wick_run *run)
{
    const struct wick_tensor *values = wick_arg_tensor(args, 2);
    struct walk walk;
    int64_t strides[WICK_RANK_MAX];
    int dtype = target->shape.dtype;
    bool accumulate = wick_arg_bool(args, 3);
    double zero = 0;
    WICK_TRY(wick_index_layout_make(&walk.layout, args, 1, run->err));
    if (values->shape.dtype != dtype)
        return wick_fail(run->err, WICK_INVALID_TYPE, "values are %s, the tensor %s", wick_dtype_name(values->shape.dtype), wick_dtype_name(dtype));
    if (accumulate && !wick_element_add(&zero, &zero, dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "%s does not accumulate", wick_dtype_name(dtype));
    int extra = values->shape.rank - walk.layout.out_rank;
    for (int v = 0; v < extra; v++) {
        if (values->shape.sizes[v] != 1) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "values have %d dims too many", extra);
    }
    for (int d = 0; d < walk.layout.out_rank; d++) {
        int v = d + extra;
        int32_t have = v >= 0 ? values->shape.sizes[v] : 1;
        if (have != 1 && have != walk.layout.out_sizes[d])
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "dim %d of the values has size %d where the indices address %d", v, have,
                             walk.layout.out_sizes[d]);
        strides[d] = have != 1 ? values->strides[v] : 0;
    }
    WICK_TRY(walk_open(&walk, args, target, strides, run));
    int64_t element = (int64_t)wick_dtype_size(dtype);
    int32_t at[WICK_RANK_MAX] = {0};
    if (wick_tensor_numel(target) == 0 || wick_tensor_numel(values) == 0) return WICK_OK;
    for (size_t i = 0; i < walk.count; i++) {
        char *to = (char *)target->data + self_offset(&walk, target, i) * element;
        const char *from = (const char *)values->data + out_offset(&walk, strides, at) * element;
        if (accumulate) add_block(&walk, to, from, dtype);
        else wick_strided_copy(to, walk.block_self, from, walk.block_out, walk.block_sizes, walk.block_rank, (size_t)element);
    }
    return WICK_OK;
}

static wick_status run_aten_index_put_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct wick_view view;
    struct wick_tensor *out = wick_arg_tensor(args, 4);
    wick_view_of(wick_arg_tensor(args, 0), &view);
    WICK_TRY(wick_view_copy(out, &view, wick_arg_tensor(args, 0), false, run->err));
    return put(args, out, run);
}

static wick_status run_aten_index_put_(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return put(args, wick_arg_tensor(args, 0), run);
}

OP(aten_index_Tensor_out);
OP(aten_index_put_out);
OP(aten_index_put_);
