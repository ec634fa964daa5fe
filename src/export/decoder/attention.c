/* export/decoder/attention.c - grouped-query attention of one layer. */
#include "export/decoder/parts.h"

uint32_t wick_decoder_attention(struct wick_decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    int64_t q_rows = h->n_heads * h->head_dim, kv_rows = h->n_kv_heads * h->head_dim;
    wick_graph_scope(d->g, "layers.%d.attention", layer);
    uint32_t q = wick_decoder_linear(d, layer, "attention.wq", x, q_rows, h->dim, h->attention_qkv_bias);
    uint32_t k = wick_decoder_linear(d, layer, "attention.wk", x, kv_rows, h->dim, h->attention_qkv_bias);
    uint32_t v = wick_decoder_linear(d, layer, "attention.wv", x, kv_rows, h->dim, h->attention_qkv_bias);
    q = wick_decoder_rotate(d, q, h->n_heads);
    k = wick_decoder_rotate(d, k, h->n_kv_heads);
    v = wick_decoder_split_heads(d, v, h->n_kv_heads);
    uint32_t mixed = wick_decoder_attend(d, layer, q, k, v);
    mixed = wick_graph_call(d->g, "aten::view_copy.out", 2, mixed, wick_graph_ints(d->g, 3, (int64_t)1, (int64_t)-1, q_rows));
    return wick_decoder_linear(d, layer, "attention.wo", mixed, h->dim, q_rows, false);
}
