/* export/decoder/attention.c - grouped-query attention of one layer. */
#include "export/decoder/parts.h"

#include <math.h>

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
    x = wick_decoder_rotate(d, layer, x, heads);
    if (h->use_qk_norm && !h->qk_norm_before_rope) x = is_q ? q_norm(d, layer, x) : head_norm(d, layer, "attention.k_norm_fn", x);
    return wick_decoder_turn_heads(d, x);
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

/* q times what makes 1/sqrt(D), which attention multiplies by, the model's own factor. */
static uint32_t scaled_query(struct wick_decoder *d, uint32_t q)
{
    double factor = d->h->attention_multiplier * sqrt((double)d->h->head_dim);
    if (!(d->h->attention_multiplier > 0) || fabs(factor - 1) < 1e-9) return q;
    return wick_graph_call(d->g, "aten::mul.Scalar_out", 2, q, wick_graph_double(d->g, factor));
}

/* Whether the layer attends over the keys and values of a layer before it. */
static bool shares(const struct wick_hparams *h, int layer) { return h->num_kv_shared_layers > 0 && layer >= h->n_layers - h->num_kv_shared_layers; }

/* What may follow the mixture (1, S, H * D): a norm of each head, gates by the layer's input and by the query projection. */
static uint32_t gated(struct wick_decoder *d, int layer, uint32_t mixed, uint32_t x, uint32_t q_gate)
{
    struct wick_graph *g = d->g;
    const struct wick_hparams *h = d->h;
    int64_t rows = h->n_heads * h->head_dim;
    if (h->use_attn_o_norm) mixed = wick_decoder_scaleless_norm(d, mixed);
    mixed = wick_graph_call(g, "aten::view_copy.out", 2, mixed, wick_graph_ints(g, 3, (int64_t)1, (int64_t)-1, rows));
    if (h->use_attn_o_gate) {
        uint32_t gate = wick_decoder_linear(d, layer, "attention.og", x, rows, h->dim, false);
        mixed = wick_graph_call(g, "aten::mul.out", 2, wick_graph_call(g, "aten::sigmoid.out", 1, gate), mixed);
    }
    return q_gate == WICK_NO_VALUE ? mixed : wick_graph_call(g, "aten::mul.out", 2, mixed, wick_graph_call(g, "aten::sigmoid.out", 1, q_gate));
}

uint32_t wick_decoder_attention(struct wick_decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    int64_t q_rows = h->n_heads * h->head_dim, kv_rows = h->n_kv_heads * h->head_dim;
    wick_graph_scope(d->g, "layers.%d.attention", layer);
    uint32_t gate, q = queries(d, layer, x, &gate), k = WICK_NO_VALUE, v = WICK_NO_VALUE;
    if (!shares(h, layer)) {
        k = wick_decoder_linear(d, layer, "attention.wk", x, kv_rows, h->dim, h->attention_qkv_bias);
        v = wick_decoder_linear(d, layer, "attention.wv", x, kv_rows, h->dim, h->attention_qkv_bias);
        k = place(d, layer, k, h->n_kv_heads, false);
        v = wick_decoder_split_heads(d, v, h->n_kv_heads);
    }
    q = scaled_query(d, place(d, layer, q, h->n_heads, true));
    uint32_t mixed = gated(d, layer, wick_decoder_attend(d, layer, q, k, v), x, gate);
    return wick_decoder_linear(d, layer, "attention.wo", mixed, h->dim, q_rows, h->attention_output_bias);
}
