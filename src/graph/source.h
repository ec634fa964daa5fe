/* graph/source.h - where the bytes of a constant come from: made when they are written, never all at once. */
#ifndef WICK_GRAPH_SOURCE_H
#define WICK_GRAPH_SOURCE_H

#include "base/arena.h"
#include "base/os.h"
#include "tensor/tensor.h"

/* Receives the bytes in order. */
typedef wick_status (*wick_sink_fn)(void *user, const void *data, size_t size, wick_error *err);

/* What production may use. */
struct wick_ukernels; /* ukernel/ukernels.h */

struct wick_production {
    struct wick_pool *pool;
    wick_sink_fn sink;
    void *user;
    const struct wick_ukernels *ukernels; /* what transforms of weights compute with */
};

/* A constant's bytes, by kind. produce writes exactly wick_shape_nbytes(&shape) bytes to the sink; it may be called
 * more than once and must give the same bytes each time. Lives in an arena. */
struct wick_source {
    struct wick_shape shape;
    wick_status (*produce)(struct wick_source *source, const struct wick_production *to, wick_error *err);
    /* Whole-tensor float32 view for stages that transform weights: rows [first, first + count) of a matrix
     * (rows, columns) = (sizes[0], product of the rest). NULL: not a float matrix. */
    wick_status (*rows)(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err);
    /* Says that the source will not be read again soon (mapped pages may go). NULL allowed. */
    void (*done)(struct wick_source *source);
    int stored_dtype; /* element type as the checkpoint holds it: f32, f16 or bf16 */
    void *data;
};

static inline size_t wick_source_columns(const struct wick_source *s)
{
    return s->shape.rank == 0 || s->shape.sizes[0] == 0 ? 0 : wick_shape_numel(&s->shape) / (size_t)s->shape.sizes[0];
}

/* Bytes that are computed now and kept (small tables: rope, masks). Copies nothing: data must live as long. */
struct wick_source *wick_source_of_bytes(struct wick_arena *arena, const struct wick_shape *shape, const void *data);
/* A float source cast to dtype when written (f32, f16, bf16). */
struct wick_source *wick_source_cast(struct wick_arena *arena, struct wick_source *inner, int dtype);

#endif
