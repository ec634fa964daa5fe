/* export/decoder/linear.c - the linear layers of a decoder, and adapters beside them. */
#include "export/decoder/parts.h"

#include "graph/derived.h"
#include "tensor/half.h"

uint32_t wick_decoder_low_rank(struct wick_decoder *d, uint32_t x, uint32_t y, struct wick_source *low, struct wick_source *high,
                               const char *const names[2], float scale)
{
    struct wick_graph *g = d->g;
    const int32_t one = 1;
    struct wick_shape shape = wick_shape_make(d->b->dtype, 1, &one);
    void *bytes = wick_arena_alloc(&g->arena, sizeof scale, 4);
    if (!bytes) return wick_graph_fail(g, WICK_OUT_OF_MEMORY, "out of memory for an adapter"), WICK_NO_VALUE;
    const uint16_t half = d->b->dtype == WICK_DTYPE_F16 ? wick_f16_from_f32(scale) : wick_bf16_from_f32(scale);
    if (d->b->dtype == WICK_DTYPE_F32) memcpy(bytes, &scale, sizeof scale);
    else memcpy(bytes, &half, sizeof half);
    uint32_t factor = wick_graph_constant(g, "lora.scale", wick_source_of_bytes(&g->arena, &shape, bytes));
    uint32_t rank = wick_graph_call(g, "aten::linear.out", 3, x, wick_decoder_constant(d, names[0], low), wick_graph_none(g));
    uint32_t wide = wick_graph_call(g, "aten::linear.out", 3, rank, wick_decoder_constant(d, names[1], high), wick_graph_none(g));
    return wick_graph_call(g, "aten::add.out", 3, y, wick_graph_call(g, "aten::mul.out", 2, wide, factor), wick_graph_int(g, 1));
}

/* The weight with its adapter added; WICK_NO_VALUE: it has none, or adapters are not merged. "lora" in its name keeps it out of what methods with other
 * adapters have, and puts it into the adapter's data file. */
static uint32_t merged(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns)
{
    struct wick_source *low = NULL, *high = NULL;
    wick_error err = {0};
    if (!d->b->adapter || !d->b->adapter->merge || d->g->status != WICK_OK) return WICK_NO_VALUE;
    if (wick_adapter_find(d->b->adapter, layer, name, rows, columns, &low, &high, &err) != WICK_OK) {
        wick_graph_fail(d->g, err.status, "%s", err.message);
        return WICK_NO_VALUE;
    }
    if (!low) return WICK_NO_VALUE;
    if (d->b->prequantized.on) {
        wick_graph_fail(d->g, WICK_NOT_SUPPORTED, "wick.lora.merge: into weights that are quantized already (base.preq_mode): not supported");
        return WICK_NO_VALUE;
    }
    struct wick_source *weight = wick_decoder_source(d, layer, wick_graph_name(d->g, "%s.weight", name), rows, columns);
    struct wick_source *sum = weight ? wick_source_low_rank_sum(d->b->weights->arena, weight, low, high, d->b->adapter->scale) : NULL;
    return wick_decoder_constant(d, wick_graph_name(d->g, "layers.%d.%s.lora_merged.weight", layer, name), sum);
}

static uint32_t adapted(struct wick_decoder *d, int layer, const char *name, uint32_t x, uint32_t y, int64_t rows, int64_t columns)
{
    struct wick_source *low = NULL, *high = NULL;
    wick_error err = {0};
    if (!d->b->adapter || d->b->adapter->merge || d->g->status != WICK_OK) return y;
    if (wick_adapter_find(d->b->adapter, layer, name, rows, columns, &low, &high, &err) != WICK_OK) {
        wick_graph_fail(d->g, err.status, "%s", err.message);
        return WICK_NO_VALUE;
    }
    if (!low) return y;
    const char *names[2] = {wick_graph_name(d->g, "layers.%d.%s.lora_a.weight", layer, name),
                            wick_graph_name(d->g, "layers.%d.%s.lora_b.weight", layer, name)};
    return wick_decoder_low_rank(d, x, y, low, high, names, d->b->adapter->scale);
}

uint32_t wick_decoder_linear(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t rows, int64_t columns, bool bias)
{
    struct wick_graph *g = d->g;
    uint32_t weight = merged(d, layer, name, rows, columns);
    if (weight == WICK_NO_VALUE) weight = wick_decoder_weight(d, layer, wick_graph_name(g, "%s.weight", name), rows, columns);
    uint32_t added = bias ? wick_decoder_weight(d, layer, wick_graph_name(g, "%s.bias", name), rows, 0) : wick_graph_none(g);
    x = wick_decoder_cast(d, x, d->b->dtype);
    uint32_t y = wick_graph_call(g, "aten::linear.out", 3, x, weight, added);
    y = wick_decoder_trained_adapter(d, layer, name, x, y, rows, columns);
    return adapted(d, layer, name, x, y, rows, columns);
}
