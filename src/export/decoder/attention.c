/* export/decoder/attention.c - grouped-query attention of one layer. */
#include "export/decoder/parts.h"

/* The norm of a head's vector (.., D), q or k. */
static uint32_t head_norm(struct wick_decoder *d, int layer, const char *name, uint32_t x)
{
    return d->h->qk_norm_affine ? wick_decoder_norm(d, layer, name, x, d->h->head_dim) : wick_decoder_scaleless_norm(d, x);
}

static uint32_t q_norm(struct wick_decoder *d, int layer, uint32_t q)
{
    q = head_norm(d, layer, "attention.q_norm_fn", q);
    return d->h->scale_query_by == 1 ? q : wick_graph_call(d->g, "aten::mul.Scalar_out", 2, q, wick_graph_double(d->g, d->h->scale_query_by));
}

/* (1, S, heads * D) to (1, S, heads, D), normed and rotated. */
static uint32_t place(struct wick_decoder *d, int layer, uint32_t x, int64_t heads, bool is_q)
{
    const struct wick_hparams *h = d->h;
    if (h->use_qk_norm && h->qk_norm_before_rope) {
        x = wick_decoder_split_heads(d, x, heads);
        x = is_q ? q_norm(d, layer, x) : head_norm(d, layer, "attention.k_norm_fn", x);
    }
    x = wick_decoder_rotate(d, x, heads);
    if (h->use_qk_norm && !h->qk_norm_before_rope) x = is_q ? q_norm(d, layer, x) : head_norm(d, layer, "attention.k_norm_fn", x);
    return x;
}

/* Queries (1, S, H * D) and, with use_q_gate, what gates the mixture (1, S, H * D): per head D channels of each. */
static uint32_t queries(struct wick_decoder *d, int layer, uint32_t x, uint32_t *gate)
{
    struct wick_graph *g = d->g;
    const struct wick_hparams *h = d->h;
    int64_t rows = h->n_heads * h->head_dim;
    *gate = WICK_NO_VALUE;
    if (!h->use_q_gate) return wick_decoder_linear(d, layer, "attention.wq", x, rows, h->dim, h->attention_qkv_bias);
    uint32_t both = wick_decoder_linear(d, layer, "attention.wq", x, 2 * rows, h->dim, h->attention_qkv_bias), middle = wick_graph_int(g, h->head_dim);
    both = wick_graph_call(g, "aten::view_copy.out", 2, both, wick_graph_ints(g, 4, (int64_t)1, (int64_t)-1, h->n_heads, 2 * h->head_dim));
    uint32_t flat = wick_graph_ints(g, 3, (int64_t)1, (int64_t)-1, rows);
    *gate = wick_graph_call(g, "aten::view_copy.out", 2, wick_decoder_rows(d, both, 3, middle, wick_graph_int(g, 2 * h->head_dim)), flat);
    return wick_graph_call(g, "aten::view_copy.out", 2, wick_decoder_rows(d, both, 3, wick_graph_int(g, 0), middle), flat);
}

uint32_t wick_decoder_attention(struct wick_decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    int64_t q_rows = h->n_heads * h->head_dim, kv_rows = h->n_kv_heads * h->head_dim;
    wick_graph_scope(d->g, "layers.%d.attention", layer);
    uint32_t gate, q = queries(d, layer, x, &gate);
    uint32_t k = wick_decoder_linear(d, layer, "attention.wk", x, kv_rows, h->dim, h->attention_qkv_bias);
    uint32_t v = wick_decoder_linear(d, layer, "attention.wv", x, kv_rows, h->dim, h->attention_qkv_bias);
    q = place(d, layer, q, h->n_heads, true);
    k = place(d, layer, k, h->n_kv_heads, false);
    v = wick_decoder_split_heads(d, v, h->n_kv_heads);
    uint32_t mixed = wick_decoder_attend(d, layer, q, k, v);
    mixed = wick_graph_call(d->g, "aten::view_copy.out", 2, mixed, wick_graph_ints(d->g, 3, (int64_t)1, (int64_t)-1, q_rows));
    if (gate != WICK_NO_VALUE) mixed = wick_graph_call(d->g, "aten::mul.out", 2, mixed, wick_graph_call(d->g, "aten::sigmoid.out", 1, gate));
    return wick_decoder_linear(d, layer, "attention.wo", mixed, h->dim, q_rows, h->attention_output_bias);
}
