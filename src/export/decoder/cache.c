/* export/decoder/cache.c - the KV cache of a layer and attention over it, by the custom operators or by portable ones. */
#include "export/decoder/parts.h"

#include <math.h>

static uint32_t permute(struct wick_decoder *d, uint32_t x, int a, int b, int c, int e)
{
    return wick_graph_call(d->g, "aten::permute_copy.out", 2, x, wick_graph_ints(d->g, 4, (int64_t)a, (int64_t)b, (int64_t)c, (int64_t)e));
}

static uint32_t cache(struct wick_decoder *d, int layer, const char *name, int64_t a, int64_t b)
{
    int32_t sizes[4] = {1, (int32_t)a, (int32_t)b, (int32_t)d->h->head_dim};
    struct wick_shape shape = wick_shape_make(d->b->dtype, 4, sizes);
    return wick_decoder_state(d, layer, name, &shape);
}

/* Writes x (1, S, K, D) into a cache (1, rows, K, D) in place. */
static uint32_t write_custom(struct wick_decoder *d, int layer, const struct wick_decoder_span *span, const char *name, uint32_t x)
{
    uint32_t to = cache(d, layer, name, span->rows, d->h->n_kv_heads);
    if (span->ring) wick_graph_call(d->g, "llama::update_cache_with_indices.out", 4, x, to, d->start, span->indices);
    else wick_graph_call(d->g, "llama::update_cache.out", 3, x, to, d->start);
    return to;
}

/* By the custom operators, over the caches that are written in place. The original's operator takes f32 and bf16 only; a mask says all that the start
 * and causality would. */
static uint32_t custom_attention(struct wick_decoder *d, const struct wick_decoder_span *span, uint32_t q)
{
    struct wick_graph *g = d->g;
    int dtype = d->b->dtype == WICK_DTYPE_BF16 ? WICK_DTYPE_BF16 : WICK_DTYPE_F32;
    uint32_t k = wick_decoder_cast(d, d->shared_k, dtype), v = wick_decoder_cast(d, d->shared_v, dtype), none = wick_graph_none(g);
    uint32_t mixed = wick_graph_call(g, "llama::custom_sdpa.out", 8, wick_decoder_cast(d, q, dtype), k, v, span->ring ? wick_graph_int(g, 0) : d->start,
                                     span->ring ? span->mask : none, wick_graph_double(g, 0.0), wick_graph_bool(g, !span->ring), none);
    return wick_decoder_cast(d, mixed, d->b->dtype);
}

/* Writes x (1, K, S, D) into the span's rows of a cache (1, K, rows, D) and gives the whole cache. */
static uint32_t write_plain(struct wick_decoder *d, int layer, const struct wick_decoder_span *span, const char *name, uint32_t x)
{
    struct wick_graph *g = d->g;
    uint32_t to = cache(d, layer, name, d->h->n_kv_heads, span->rows);
    const uint32_t where[3] = {WICK_NO_VALUE, WICK_NO_VALUE, span->slots};
    uint32_t written = wick_graph_call(g, "aten::index_put.out", 4, to, wick_graph_optional_tensors(g, where, 3), x, wick_graph_bool(g, false));
    wick_graph_effect(g, "aten::copy_", 3, to, written, wick_graph_bool(g, false));
    return written;
}

/* scores (K, H/K * S, T) hidden where a query may not see, normalised. As (H, S, T) they meet the mask (S, T). */
static uint32_t masked_softmax(struct wick_decoder *d, const struct wick_decoder_span *span, uint32_t scores)
{
    struct wick_graph *g = d->g;
    uint32_t sizes[3] = {wick_graph_int(g, d->h->n_heads), wick_graph_int(g, -1), 0};
    sizes[2] = d->b->kv_cache ? wick_graph_int(g, span->rows)
                              : wick_graph_number(g, "aten::sym_size.int", wick_decoder_int(d->b->tokens), 2, span->visible, wick_graph_int(g, 1));
    scores = wick_graph_call(g, "aten::view_copy.out", 2, scores, wick_graph_int_list(g, sizes, 3));
    scores = wick_graph_call(g, "aten::where.self_out", 3, span->visible, scores, d->minus_infinity);
    scores = wick_graph_call(g, "aten::_softmax.out", 3, scores, wick_graph_int(g, -1), wick_graph_bool(g, false));
    sizes[0] = wick_graph_int(g, d->h->n_kv_heads);
    return wick_graph_call(g, "aten::view_copy.out", 2, scores, wick_graph_int_list(g, sizes, 3));
}

/* By portable operators. Query heads that share a kv head are rows of one product, so k and v are never repeated:
 * scores (K, H/K * S, T) = q (K, H/K * S, D) x k (K, D, T). */
static uint32_t plain_attention(struct wick_decoder *d, const struct wick_decoder_span *span, uint32_t q)
{
    struct wick_graph *g = d->g;
    int64_t heads = d->h->n_heads, kv = d->h->n_kv_heads, dim = d->h->head_dim;
    uint32_t keys = permute(d, d->shared_k, 0, 1, 3, 2);
    uint32_t q3 = wick_graph_call(g, "aten::view_copy.out", 2, permute(d, q, 0, 2, 1, 3), wick_graph_ints(g, 3, kv, (int64_t)-1, dim));
    uint32_t k3 = wick_graph_call(g, "aten::view_copy.out", 2, keys, wick_graph_ints(g, 3, kv, dim, (int64_t)-1));
    uint32_t v3 = wick_graph_call(g, "aten::view_copy.out", 2, d->shared_v, wick_graph_ints(g, 3, kv, (int64_t)-1, dim));
    uint32_t scores = wick_graph_call(g, "aten::bmm.out", 2, q3, k3);
    scores = wick_graph_call(g, "aten::mul.Scalar_out", 2, scores, wick_graph_double(g, 1.0 / sqrt((double)dim)));
    if (d->h->attn_logit_softcapping > 0) scores = wick_decoder_softcap(d, scores, d->h->attn_logit_softcapping);
    scores = masked_softmax(d, span, scores);
    uint32_t mixed = wick_graph_call(g, "aten::bmm.out", 2, scores, v3);
    mixed = wick_graph_call(g, "aten::view_copy.out", 2, mixed, wick_graph_ints(g, 4, (int64_t)1, heads, (int64_t)-1, dim));
    return permute(d, mixed, 0, 2, 1, 3);
}

/* What plain attention reads: (1, K, T, D). */
static void write_plain_caches(struct wick_decoder *d, int layer, const struct wick_decoder_span *span, uint32_t k, uint32_t v)
{
    if (d->b->cache != WICK_CACHE_FLOAT) {
        k = wick_decoder_int8_rows(d, layer, "k", k);
        v = wick_decoder_int8_rows(d, layer, "v", v);
    }
    d->shared_k = permute(d, k, 0, 2, 1, 3);
    d->shared_v = permute(d, v, 0, 2, 1, 3);
    if (!d->b->kv_cache || d->b->cache != WICK_CACHE_FLOAT) return;
    d->shared_k = write_plain(d, layer, span, "attention.kv_cache.k_cache", d->shared_k);
    d->shared_v = write_plain(d, layer, span, "attention.kv_cache.v_cache", d->shared_v);
}

uint32_t wick_decoder_softcap(struct wick_decoder *d, uint32_t x, double cap)
{
    struct wick_graph *g = d->g;
    uint32_t bent = wick_graph_call(g, "aten::tanh.out", 1, wick_graph_call(g, "aten::mul.Scalar_out", 2, x, wick_graph_double(g, 1.0 / cap)));
    return wick_graph_call(g, "aten::mul.Scalar_out", 2, bent, wick_graph_double(g, cap));
}

uint32_t wick_decoder_attend(struct wick_decoder *d, int layer, uint32_t q, uint32_t k, uint32_t v)
{
    const struct wick_decoder_span *span = &d->spans[d->layer_spans[layer]];
    if (d->b->cache != WICK_CACHE_FLOAT && (span->ring || k == WICK_NO_VALUE)) {
        wick_graph_fail(d->g, WICK_NOT_SUPPORTED, "layer %d: 8-bit caches %s: not supported", layer, span->ring ? "that wrap around" : "of another layer");
        return WICK_NO_VALUE;
    }
    if (d->custom && d->b->cache == WICK_CACHE_INT8) return wick_decoder_attend_int8(d, layer, q, k, v);
    if (k != WICK_NO_VALUE && d->custom) {
        d->shared_k = write_custom(d, layer, span, "attention.kv_cache.k_cache", k);
        d->shared_v = write_custom(d, layer, span, "attention.kv_cache.v_cache", v);
    } else if (k != WICK_NO_VALUE) {
        write_plain_caches(d, layer, span, k, v);
    }
    return d->custom ? custom_attention(d, span, q) : plain_attention(d, span, q);
}
