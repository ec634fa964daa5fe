/* graph/source.c - the two plain sources: bytes at hand, and a cast of another source. */
#include "graph/source.h"

#include "tensor/half.h"

#include <stdlib.h>
#include <string.h>

static wick_status bytes_produce(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    return to->sink(to->user, source->data, wick_shape_nbytes(&source->shape), err);
}

struct wick_source *wick_source_of_bytes(struct wick_arena *arena, const struct wick_shape *shape, const void *data)
{
    struct wick_source *source = WICK_NEW(arena, struct wick_source);
    if (source) *source = (struct wick_source){.shape = *shape, .produce = bytes_produce, .stored_dtype = shape->dtype, .data = (void *)(uintptr_t)data};
    return source;
}

/* Rows of about this many bytes pass through at once. */
enum { SLAB_BYTES = 1 << 20 };

static void cast_row(const float *in, void *out, size_t n, int dtype)
{
    uint16_t *half = out;
    if (dtype == WICK_DTYPE_F32) memcpy(out, in, n * sizeof *in);
    else if (dtype == WICK_DTYPE_F16)
        for (size_t i = 0; i < n; i++) half[i] = wick_f16_from_f32(in[i]);
    else
        for (size_t i = 0; i < n; i++) half[i] = wick_bf16_from_f32(in[i]);
}

static wick_status cast_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    struct wick_source *inner = source->data;
    WICK_TRY(inner->rows(inner, first, count, out, err));
    size_t n = count * wick_source_columns(source);
    if (source->shape.dtype == WICK_DTYPE_BF16)
        for (size_t i = 0; i < n; i++) out[i] = wick_f32_from_bf16(wick_bf16_from_f32(out[i]));
    else if (source->shape.dtype == WICK_DTYPE_F16)
        for (size_t i = 0; i < n; i++) out[i] = wick_f32_from_f16(wick_f16_from_f32(out[i]));
    return WICK_OK;
}

static wick_status cast_produce(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    struct wick_source *inner = source->data;
    size_t columns = wick_source_columns(source), rows = columns ? (size_t)source->shape.sizes[0] : 0;
    size_t step = WICK_MAX((size_t)1, SLAB_BYTES / (columns * sizeof(float) + 1));
    float *slab = malloc(step * columns * sizeof *slab + 1);
    if (!slab) return wick_fail_oom(err, step * columns * sizeof *slab, "casting a weight");
    wick_status status = WICK_OK;
    for (size_t r = 0; r < rows && status == WICK_OK; r += step) {
        size_t n = WICK_MIN(step, rows - r);
        status = inner->rows(inner, r, n, slab, err);
        /* In place: the half at i lies at or before the float at i. */
        if (status == WICK_OK) cast_row(slab, slab, n * columns, source->shape.dtype);
        if (status == WICK_OK) status = to->sink(to->user, slab, n * columns * wick_dtype_size(source->shape.dtype), err);
    }
    free(slab);
    if (inner->done) inner->done(inner);
    return status;
}

static void cast_done(struct wick_source *source)
{
    struct wick_source *inner = source->data;
    if (inner->done) inner->done(inner);
}

struct wick_source *wick_source_cast(struct wick_arena *arena, struct wick_source *inner, int dtype)
{
    struct wick_source *source = WICK_NEW(arena, struct wick_source);
    if (!source) return NULL;
    *source = (struct wick_source){.shape = inner->shape, .produce = cast_produce, .rows = cast_rows, .done = cast_done,
                                   .stored_dtype = inner->stored_dtype, .data = inner};
    source->shape.dtype = (uint8_t)dtype;
    return source;
}
