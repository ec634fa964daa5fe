/* tensor/tensor.c - shapes, strides and resizing; see tensor.h. */
#include "tensor/tensor.h"

#include "base/checked.h"

#include <stdio.h>
#include <string.h>

size_t wick_shape_numel(const struct wick_shape *shape)
{
    size_t numel = 1;
    for (int i = 0; i < shape->rank; i++) numel *= (size_t)shape->sizes[i];
    return numel;
}

bool wick_shape_valid(const struct wick_shape *shape, uint64_t *nbytes)
{
    uint64_t total = wick_dtype_size(shape->dtype);
    if (total == 0 || shape->rank > WICK_RANK_MAX) return false;
    uint32_t seen = 0;
    bool empty = false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->sizes[i] < 0 || shape->dim_order[i] >= shape->rank || (seen >> shape->dim_order[i] & 1)) return false;
        seen |= 1u << shape->dim_order[i];
        /* A zero elsewhere must not hide an overflow: strides are products that skip it. */
        if (shape->sizes[i] == 0) empty = true;
        else if (wick_mul_ovf(total, (uint64_t)shape->sizes[i], &total) || total > INT64_MAX) return false;
    }
    if (total / wick_dtype_size(shape->dtype) > INT32_MAX && shape->rank > 0 && empty) return false;
    if (nbytes) *nbytes = empty ? 0 : total;
    return true;
}

bool wick_shape_same_sizes(const struct wick_shape *a, const struct wick_shape *b)
{
    return a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof a->sizes[0]) == 0;
}

bool wick_shape_is_contiguous(const struct wick_shape *shape)
{
    int last = -1;
    for (int i = 0; i < shape->rank; i++) {
        int dim = shape->dim_order[i];
        if (shape->sizes[dim] == 1) continue;
        if (dim < last) return false;
        last = dim;
    }
    return true;
}

void wick_shape_set_contiguous(struct wick_shape *shape)
{
    for (int i = 0; i < WICK_RANK_MAX; i++) shape->dim_order[i] = (uint8_t)i;
}

struct wick_shape wick_shape_make(int dtype, int rank, const int32_t *sizes)
{
    struct wick_shape shape = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
    wick_shape_set_contiguous(&shape);
    if (rank > 0) memcpy(shape.sizes, sizes, (size_t)rank * sizeof *sizes);
    return shape;
}

void wick_shape_strides(const struct wick_shape *shape, int32_t *strides)
{
    int64_t stride = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        int dim = shape->dim_order[i];
        strides[dim] = (int32_t)stride;
        stride *= shape->sizes[dim] ? shape->sizes[dim] : 1;
    }
}

void wick_shape_text(const struct wick_shape *shape, char out[128])
{
    int used = snprintf(out, 128, "%s [", wick_dtype_word(shape->dtype));
    for (int i = 0; i < shape->rank && used < 112; i++) used += snprintf(out + used, 128 - (size_t)used, i ? ", %d" : "%d", (int)shape->sizes[i]);
    snprintf(out + used, 128 - (size_t)used, "]");
}

wick_status wick_tensor_resize(struct wick_tensor *t, const int32_t *sizes, int rank, wick_error *err)
{
    if (rank == t->shape.rank && (rank == 0 || memcmp(t->shape.sizes, sizes, (size_t)rank * sizeof *sizes) == 0)) return WICK_OK;
    struct wick_shape want = t->shape;
    char from[128], to[128];
    uint64_t nbytes = 0;
    bool fits = rank == t->shape.rank && t->dynamism != WICK_STATIC;
    if (fits) {
        memcpy(want.sizes, sizes, (size_t)rank * sizeof *sizes);
        fits = wick_shape_valid(&want, &nbytes) && nbytes <= t->capacity;
    }
    if (!fits) {
        wick_shape_text(&t->shape, from);
        want.rank = (uint8_t)WICK_MIN(rank, WICK_RANK_MAX);
        if (rank > 0) memcpy(want.sizes, sizes, want.rank * sizeof *sizes);
        wick_shape_text(&want, to);
        return wick_fail(err, WICK_NOT_SUPPORTED, "cannot resize %s tensor %s (room for %zu bytes) to %s",
                         t->dynamism == WICK_STATIC ? "static" : "bounded", from, t->capacity, to);
    }
    t->shape = want;
    wick_shape_strides(&t->shape, t->strides);
    return WICK_OK;
}
