/* export/decoder/cache_int8.c - KV caches of 8-bit integers, (1, C, K, D), and attention over them.
 *
 * Dynamic: each token and head has a scale and a zero point, found when it is written and kept beside it, (1, C, K, 1). With the
 * custom operators attention reads the integers; else all of the cache is dequantized in each call. Static: one scale for all. */
#include "export/decoder/parts.h"

/* Rows (1, S, heads, D) of 8-bit integers, with what turns them back. */
struct int8_rows {
    uint32_t values, scales, zeros; /* i8; f32 and i8 (1, S, heads, 1) */
};

static uint32_t made(struct wick_decoder *d, uint32_t like, int dtype, bool last_is_one)
{
    if (d->g->status != WICK_OK) return WICK_NO_VALUE;
    struct wick_shape shape = *wick_graph_shape(d->g, like);
    shape.dtype = (uint8_t)dtype;
    if (last_is_one) shape.sizes[shape.rank - 1] = 1;
    return wick_graph_tensor(d->g, &shape);
}

static struct int8_rows quantize_rows(struct wick_decoder *d, uint32_t x)
{
    struct wick_graph *g = d->g;
    uint32_t i8 = wick_graph_int(g, WICK_DTYPE_I8), low = wick_graph_int(g, -128), high = wick_graph_int(g, 127);
    x = wick_decoder_cast(d, x, WICK_DTYPE_F32);
    uint32_t scales = made(d, x, WICK_DTYPE_F64, true), zeros = made(d, x, WICK_DTYPE_I64, true);
    wick_graph_effect(g, "quantized_decomposed::choose_qparams_per_token_asymmetric.out", 4, x, i8, scales, zeros);
    uint32_t values = wick_graph_call(g, "quantized_decomposed::quantize_per_token.out", 6, x, scales, zeros, low, high, i8);
    return (struct int8_rows){values, wick_decoder_cast(d, scales, WICK_DTYPE_F32), wick_decoder_cast(d, zeros, WICK_DTYPE_I8)};
}

/* A buffer (1, C, K, columns) of the layer with `rows` (1, S, K, columns) written from the call's start. */
static uint32_t write_rows(struct wick_decoder *d, int layer, const char *name, uint32_t rows)
{
    if (d->g->status != WICK_OK) return WICK_NO_VALUE;
    struct wick_shape shape = *wick_graph_shape(d->g, rows);
    shape.sizes[1] = d->b->context;
    uint32_t buffer = wick_decoder_state(d, layer, wick_graph_name(d->g, "attention.kv_cache.%s", name), &shape);
    wick_graph_call(d->g, "llama::update_cache.out", 3, rows, buffer, d->start);
    return buffer;
}

/* Quantizes x (1, S, K, D) into the caches `which`: the whole of them. */
static struct int8_rows write_int8(struct wick_decoder *d, int layer, const char *which, uint32_t x)
{
    struct wick_graph *g = d->g;
    struct int8_rows rows = quantize_rows(d, x);
    return (struct int8_rows){write_rows(d, layer, wick_graph_name(g, "%s_cache", which), rows.values),
                              write_rows(d, layer, wick_graph_name(g, "%s_cache_scales", which), rows.scales),
                              write_rows(d, layer, wick_graph_name(g, "%s_cache_zero_points", which), rows.zeros)};
}

uint32_t wick_decoder_attend_int8(struct wick_decoder *d, int layer, uint32_t q, uint32_t k, uint32_t v)
{
    struct wick_graph *g = d->g;
    struct int8_rows keys = write_int8(d, layer, "k", k), values = write_int8(d, layer, "v", v), queries = quantize_rows(d, q);
    uint32_t none = wick_graph_none(g), no = wick_graph_bool(g, false), ids[16] = {
        queries.values, keys.values, values.values, d->start, none, wick_graph_double(g, 0.0), wick_graph_bool(g, true), none,
        queries.zeros, queries.scales, keys.zeros, keys.scales, values.zeros, values.scales, no};
    const struct wick_opmeta *op = g->status == WICK_OK ? wick_graph_find_op(g, "llama::custom_quantized_sdpa.out") : NULL;
    return wick_decoder_cast(d, wick_graph_call_meta(g, op, ids, 15), d->b->dtype);
}

/* ---- read back as floats ---- */

static uint32_t dequantized(struct wick_decoder *d, const struct int8_rows *cache)
{
    struct wick_graph *g = d->g;
    return wick_graph_call(g, "quantized_decomposed::dequantize_per_token.out", 7, cache->values, wick_decoder_cast(d, cache->scales, WICK_DTYPE_F64),
                           wick_decoder_cast(d, cache->zeros, WICK_DTYPE_I64), wick_graph_int(g, -128), wick_graph_int(g, 127), wick_graph_int(g, WICK_DTYPE_I8),
                           wick_graph_int(g, WICK_DTYPE_F32));
}

/* The one scale, for every channel: (1, 1, 1, D). */
static uint32_t static_scales(struct wick_decoder *d)
{
    int32_t sizes[4] = {1, 1, 1, (int32_t)d->h->head_dim};
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 4, sizes);
    float *scales = WICK_NEW_ARRAY(&d->g->arena, float, (size_t)d->h->head_dim);
    for (int64_t i = 0; scales && i < d->h->head_dim; i++) scales[i] = d->b->cache_scale;
    return wick_graph_constant(d->g, "attention.kv_cache.scales", scales ? wick_source_of_bytes(&d->g->arena, &shape, scales) : NULL);
}

/* round(x / s) in -128..127, written; and all of the cache times s. */
static uint32_t static_rows(struct wick_decoder *d, int layer, const char *which, uint32_t x)
{
    struct wick_graph *g = d->g;
    uint32_t scales = static_scales(d);
    uint32_t steps = wick_graph_call(g, "aten::round.out", 1, wick_graph_call(g, "aten::div.out", 2, x, scales));
    steps = wick_graph_call(g, "aten::clamp.out", 3, steps, wick_graph_int(g, -128), wick_graph_int(g, 127));
    uint32_t cache = write_rows(d, layer, wick_graph_name(g, "%s_cache", which), wick_decoder_cast(d, steps, WICK_DTYPE_I8));
    return wick_graph_call(g, "aten::mul.out", 2, wick_decoder_cast(d, cache, WICK_DTYPE_F32), scales);
}

uint32_t wick_decoder_int8_rows(struct wick_decoder *d, int layer, const char *name, uint32_t x)
{
    uint32_t all, rows = wick_decoder_cast(d, x, WICK_DTYPE_F32);
    if (d->b->cache == WICK_CACHE_INT8_STATIC) all = static_rows(d, layer, name, rows);
    else {
        struct int8_rows cache = write_int8(d, layer, name, rows);
        all = dequantized(d, &cache);
    }
    wick_graph_call(d->g, "llama::update_cache.out", 3, rows, all, d->start);
    return wick_decoder_cast(d, all, d->b->dtype);
}
