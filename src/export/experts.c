/* export/experts.c - see experts.h. One expert is read at a time; its blocks of 8 rows go to the pool. Next: emit.c. */
#include "export/experts.h"

#include "graph/quantized.h"
#include "ukernel/experts.h"

#include <math.h>
#include <stdlib.h>

enum { PARTS_MAX = 2 };

struct packed {
    struct wick_source *parts[PARTS_MAX];
    size_t part_count;
    struct wick_expert_matrix matrix; /* of one expert */
};

struct packing {
    const struct wick_expert_matrix *matrix;
    const float *weights; /* (rows, columns) of the expert */
    uint8_t *blob;
    int8_t *values; /* (threads, 8, columns) */
    float *scales;  /* (threads, 8, groups) */
    const struct wick_ukernels *ukernels;
};

/* Item: 8 rows. */
static void pack_block(void *user, size_t block, unsigned thread)
{
    const struct packing *p = user;
    const struct wick_expert_matrix *m = p->matrix;
    size_t first = block * WICK_EXPERT_ROWS, rows = WICK_MIN(m->rows - first, (size_t)WICK_EXPERT_ROWS), groups = m->columns / m->group;
    int8_t *values = p->values + thread * WICK_EXPERT_ROWS * m->columns;
    float *scales = p->scales + thread * WICK_EXPERT_ROWS * groups, low = -(float)(1 << (m->bits - 1));
    for (size_t i = 0; i < rows * groups; i++) {
        const float *w = p->weights + first * m->columns + i * m->group;
        scales[i] = wick_quant_scale_max(p->ukernels, w, m->group, m->bits);
        float inverse = 1.0f / scales[i];
        for (size_t k = 0; k < m->group; k++) values[i * m->group + k] = (int8_t)rintf(fminf(fmaxf(w[k] * inverse, low), -low - 1));
    }
    wick_expert_pack_block(m, values, scales, rows, p->blob + WICK_EXPERT_HEADER + block * (size_t)wick_expert_block_bytes(m));
}

static wick_status read_expert(const struct packed *p, size_t expert, size_t experts, float *weights, wick_error *err)
{
    for (size_t i = 0; i < p->part_count; i++) {
        size_t rows = (size_t)p->parts[i]->shape.sizes[0] / experts;
        WICK_TRY(p->parts[i]->rows(p->parts[i], expert * rows, rows, weights, err));
        weights += rows * p->matrix.columns;
    }
    return WICK_OK;
}

static wick_status produce(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    const struct packed *p = source->data;
    const struct wick_expert_matrix *m = &p->matrix;
    size_t experts = (size_t)source->shape.sizes[0], bytes = (size_t)source->shape.sizes[1], threads = wick_pool_threads(to->pool);
    float *weights = malloc(m->rows * m->columns * sizeof *weights);
    struct packing packing = {m, weights, calloc(1, bytes), malloc(threads * WICK_EXPERT_ROWS * m->columns),
                              malloc(threads * WICK_EXPERT_ROWS * (m->columns / m->group) * sizeof(float)), to->ukernels};
    wick_status status = weights && packing.blob && packing.values && packing.scales ? WICK_OK : wick_fail_oom(err, m->rows * m->columns * sizeof *weights, "an expert");
    for (size_t e = 0; e < experts && status == WICK_OK; e++) {
        status = read_expert(p, e, experts, weights, err);
        if (status != WICK_OK) break;
        wick_expert_pack_header(m, packing.blob);
        wick_pool_run(to->pool, (m->rows + WICK_EXPERT_ROWS - 1) / WICK_EXPERT_ROWS, pack_block, &packing);
        status = to->sink(to->user, packing.blob, bytes, err);
    }
    free(weights);
    free(packing.blob);
    free(packing.values);
    free(packing.scales);
    for (size_t i = 0; i < p->part_count; i++)
        if (p->parts[i]->done) p->parts[i]->done(p->parts[i]);
    return status;
}

wick_status wick_experts_pack(struct wick_source **out, struct wick_arena *arena, struct wick_source *const *parts, size_t part_count, size_t experts, int group,
                              int bits, wick_error *err)
{
    struct packed *p = WICK_NEW(arena, struct packed);
    *out = WICK_NEW(arena, struct wick_source);
    if (!p || !*out || part_count == 0 || part_count > PARTS_MAX || experts == 0) return wick_fail(err, WICK_OUT_OF_MEMORY, "no memory for the sources of experts");
    *p = (struct packed){.part_count = part_count, .matrix = {.columns = wick_source_columns(parts[0]), .group = group > 0 ? (size_t)group : 0, .bits = bits}};
    for (size_t i = 0; i < part_count; i++) {
        p->parts[i] = parts[i];
        p->matrix.rows += (size_t)parts[i]->shape.sizes[0] / experts;
        if ((size_t)parts[i]->shape.sizes[0] % experts || wick_source_columns(parts[i]) != p->matrix.columns)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "the matrices of %zu experts do not go together", experts);
    }
    if (p->matrix.group == 0 || p->matrix.group % WICK_EXPERT_STEP || p->matrix.columns % p->matrix.group)
        return wick_fail(err, WICK_INVALID_CONFIG, "quantization.group_size: experts of %zu columns want a multiple of 16 that divides them, not %d; 32 is usual",
                         p->matrix.columns, group);
    uint64_t bytes = wick_expert_blob_bytes(&p->matrix);
    if (bytes > INT32_MAX) return wick_fail(err, WICK_NOT_SUPPORTED, "experts of %zu x %zu: not supported (over 2 GiB each)", p->matrix.rows, p->matrix.columns);
    const int32_t sizes[2] = {(int32_t)experts, (int32_t)bytes};
    **out = (struct wick_source){.shape = wick_shape_make(WICK_DTYPE_U8, 2, sizes), .produce = produce, .stored_dtype = WICK_DTYPE_U8, .data = p};
    return WICK_OK;
}
