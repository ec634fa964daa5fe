/* ops/index/layout.c - see layout.h: pure arithmetic on shapes, but for counting masks. */
#include "ops/index/layout.h"

size_t wick_mask_count(const struct wick_tensor *mask)
{
    size_t numel = wick_tensor_numel(mask), count = 0;
    const uint8_t *data = mask->data;
    for (size_t i = 0; i < numel; i++) count += data[i] != 0;
    return count;
}

/* Makes item i address dims of self from *dim on, and gives its shape as an index. */
static wick_status add_item(struct wick_index_layout *layout, const struct wick_tensor *self, uint32_t i, const struct wick_tensor *index, int *dim,
                            struct wick_shape *shape, wick_error *err)
{
    bool mask = wick_index_is_mask(index);
    int dims = mask ? index->shape.rank : 1;
    if (!mask && index->shape.dtype != WICK_DTYPE_I64 && index->shape.dtype != WICK_DTYPE_I32)
        return wick_fail(err, WICK_INVALID_TYPE, "index %u is %s", i, wick_dtype_name(index->shape.dtype));
    if (dims == 0 || *dim + dims > layout->rank)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "index %u is beyond the %d dims of the tensor", i, layout->rank);
    for (int d = 0; d < dims; d++) {
        if (mask && index->shape.sizes[d] != self->shape.sizes[*dim + d])
            return wick_fail(err, WICK_INVALID_ARGUMENT, "mask %u has size %d where the tensor has %d", i, index->shape.sizes[d],
                             self->shape.sizes[*dim + d]);
        layout->item[*dim + d] = (uint8_t)i;
        layout->component[*dim + d] = (uint8_t)d;
    }
    *dim += dims;
    *shape = index->shape;
    if (mask) {
        size_t count = index->data || wick_tensor_numel(index) == 0 ? wick_mask_count(index) : wick_tensor_numel(index);
        if (count > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "mask %u has too many elements", i);
        shape->rank = 1;
        shape->sizes[0] = (int32_t)count;
        layout->masked = true;
    }
    return WICK_OK;
}

wick_status wick_index_layout_make(struct wick_index_layout *layout, const struct wick_args *args, uint32_t list, wick_error *err)
{
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_shape together = {0};
    int dim = 0, first = -1, last = -1, addressed = 0;
    *layout = (struct wick_index_layout){.rank = self->shape.rank};
    memset(layout->item, WICK_INDEX_SLICED, sizeof layout->item);
    for (uint32_t i = 0; i < wick_arg_count(args, list); i++) {
        const struct wick_tensor *index = wick_arg_tensor_at(args, list, i);
        int before = dim;
        if (!index) {
            if (++dim > layout->rank)
                return wick_fail(err, WICK_INVALID_ARGUMENT, "%u indices for a tensor of rank %d", wick_arg_count(args, list), layout->rank);
            continue;
        }
        struct wick_shape shape, sum = {0};
        WICK_TRY(add_item(layout, self, i, index, &dim, &shape, err));
        if (!wick_shape_broadcast(&together, &shape, &sum))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "index %u does not broadcast with those before it", i);
        together = sum;
        if (first < 0) first = before;
        last = dim;
        addressed += dim - before;
    }
    if (first < 0) return wick_fail(err, WICK_INVALID_ARGUMENT, "no index is given");
    layout->index_rank = together.rank;
    memcpy(layout->index_sizes, together.sizes, sizeof layout->index_sizes);
    layout->index_dim = last - first == addressed ? first : 0;
    layout->out_rank = layout->rank - addressed + layout->index_rank;
    if (layout->out_rank > WICK_RANK_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "the result has %d dims", layout->out_rank);
    int out = 0;
    for (int d = 0; d < layout->rank; d++) {
        if (layout->item[d] != WICK_INDEX_SLICED) continue;
        int at = out < layout->index_dim ? out : out + layout->index_rank;
        layout->out_sizes[at] = self->shape.sizes[d];
        out++;
    }
    for (int i = 0; i < layout->index_rank; i++) layout->out_sizes[layout->index_dim + i] = layout->index_sizes[i];
    return WICK_OK;
}
