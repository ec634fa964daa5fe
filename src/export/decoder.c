/* export/decoder.c - a Llama-type decoder as operator calls. Shapes: S tokens, H query heads, K kv heads, D head dim, C context.
 * Next: quantize.c, partition.c. */
#include "export/decoder.h"

#include "export/rope.h"

#include <math.h>

struct decoder {
    struct wick_graph *g;
    const struct wick_model_build *b;
    const struct wick_hparams *h;
    uint32_t start;         /* INT value: position of the first token of the call (kv cache) */
    uint32_t end;           /* INT: start + S */
    uint32_t positions;     /* (S) i64: rows of the cache the call writes (plain attention) */
    uint32_t cos, sin;      /* (1, S, 1, D/2) */
    uint32_t visible;       /* (S, C or S) bool: keys a query may see (plain attention) */
    uint32_t minus_infinity;
};

static struct wick_value int_value(int64_t v) { return (struct wick_value){.tag = WICK_TAG_INT, .as.i = v}; }

/* A float weight as a constant in the model's dtype. */
static uint32_t weight(struct decoder *d, int layer, const char *name, int64_t rows, int64_t columns)
{
    struct wick_source *source = NULL;
    wick_error err;
    if (d->g->status != WICK_OK) return WICK_NO_VALUE;
    if (wick_weights_find(d->b->weights, layer, name, rows, columns, &source, &err) != WICK_OK) {
        wick_graph_fail(d->g, err.status, "%s", err.message);
        return WICK_NO_VALUE;
    }
    const char *full = layer >= 0 ? wick_graph_name(d->g, "layers.%d.%s", layer, name) : name;
    return wick_graph_constant(d->g, full, wick_source_cast(&d->g->arena, source, WICK_DTYPE_F32));
}

static uint32_t table(struct decoder *d, const char *name, int dtype, int rows, int columns, void *data)
{
    int32_t sizes[2] = {rows, columns};
    struct wick_shape shape = wick_shape_make(dtype, 2, sizes);
    return wick_graph_constant(d->g, name, wick_source_of_bytes(&d->g->arena, &shape, data));
}

/* x * rsqrt(mean(x^2) + eps) * w over the last dim. */
static uint32_t rms_norm(struct decoder *d, uint32_t x, uint32_t w)
{
    struct wick_graph *g = d->g;
    uint32_t square = wick_graph_call(g, "aten::mul.out", 2, x, x);
    uint32_t mean = wick_graph_call(g, "aten::mean.out", 4, square, wick_graph_ints(g, 1, (int64_t)-1), wick_graph_bool(g, true), wick_graph_none(g));
    uint32_t moved = wick_graph_call(g, "aten::add.Scalar_out", 3, mean, wick_graph_double(g, d->h->norm_eps), wick_graph_int(g, 1));
    uint32_t scale = wick_graph_call(g, "aten::rsqrt.out", 1, moved);
    uint32_t scaled = wick_graph_call(g, "aten::mul.out", 2, x, scale);
    return wick_graph_call(g, "aten::mul.out", 2, scaled, w);
}

static uint32_t linear(struct decoder *d, uint32_t x, uint32_t w) { return wick_graph_call(d->g, "aten::linear.out", 3, x, w, wick_graph_none(d->g)); }

/* (1, S, heads * D) to (1, S, heads, D). -1 stands for S: the view is right for any number of tokens. */
static uint32_t split_heads(struct decoder *d, uint32_t x, int64_t heads)
{
    return wick_graph_call(d->g, "aten::view_copy.out", 2, x, wick_graph_ints(d->g, 4, (int64_t)1, (int64_t)-1, heads, d->h->head_dim));
}

static uint32_t half_of_pairs(struct decoder *d, uint32_t pairs, int64_t which)
{
    return wick_graph_call(d->g, "aten::select_copy.int_out", 3, pairs, wick_graph_int(d->g, -1), wick_graph_int(d->g, which));
}

/* Interleaved rotation of (1, S, heads, D): pair (x[2i], x[2i+1]) turns by its position's angle. */
static uint32_t rotate(struct decoder *d, uint32_t x, int64_t heads)
{
    struct wick_graph *g = d->g;
    int64_t half = d->h->head_dim / 2;
    uint32_t pairs = wick_graph_call(g, "aten::view_copy.out", 2, x, wick_graph_ints(g, 5, (int64_t)1, (int64_t)-1, heads, half, (int64_t)2));
    uint32_t a = half_of_pairs(d, pairs, 0), b = half_of_pairs(d, pairs, 1), one = wick_graph_int(g, 1);
    uint32_t real = wick_graph_call(g, "aten::sub.out", 3, wick_graph_call(g, "aten::mul.out", 2, a, d->cos), wick_graph_call(g, "aten::mul.out", 2, b, d->sin), one);
    uint32_t imaginary = wick_graph_call(g, "aten::add.out", 3, wick_graph_call(g, "aten::mul.out", 2, a, d->sin), wick_graph_call(g, "aten::mul.out", 2, b, d->cos), one);
    uint32_t parts[2] = {wick_graph_call(g, "aten::unsqueeze_copy.out", 2, real, wick_graph_int(g, -1)),
                         wick_graph_call(g, "aten::unsqueeze_copy.out", 2, imaginary, wick_graph_int(g, -1))};
    uint32_t joined = wick_graph_call(g, "aten::cat.out", 2, wick_graph_tensors(g, parts, 2), wick_graph_int(g, -1));
    return split_heads(d, joined, heads);
}

static uint32_t permute(struct decoder *d, uint32_t x, int a, int b, int c, int e)
{
    return wick_graph_call(d->g, "aten::permute_copy.out", 2, x, wick_graph_ints(d->g, 4, (int64_t)a, (int64_t)b, (int64_t)c, (int64_t)e));
}

static uint32_t state(struct decoder *d, int layer, const char *name, int32_t a, int32_t b, int32_t c)
{
    int32_t sizes[4] = {1, a, b, c};
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 4, sizes);
    return wick_graph_state(d->g, wick_graph_name(d->g, "layers.%d.attention.%s", layer, name), &shape);
}

/* Attention by the custom operators: caches (1, C, K, D), written and read in place. q, k, v: (1, S, heads, D). */
static uint32_t custom_attention(struct decoder *d, int layer, uint32_t q, uint32_t k, uint32_t v)
{
    struct wick_graph *g = d->g;
    int32_t kv = (int32_t)d->h->n_kv_heads, dim = (int32_t)d->h->head_dim;
    uint32_t k_cache = state(d, layer, "kv_cache.k_cache", d->b->context, kv, dim), v_cache = state(d, layer, "kv_cache.v_cache", d->b->context, kv, dim);
    wick_graph_call(g, "llama::update_cache.out", 3, k, k_cache, d->start);
    wick_graph_call(g, "llama::update_cache.out", 3, v, v_cache, d->start);
    return wick_graph_call(g, "llama::custom_sdpa.out", 8, q, k_cache, v_cache, d->start, wick_graph_none(g), wick_graph_double(g, 0.0), wick_graph_bool(g, true),
                           wick_graph_none(g));
}

/* Writes x (1, K, S, D) into rows `positions` of a cache (1, K, C, D) and gives the whole cache. */
static uint32_t write_cache(struct decoder *d, uint32_t cache, uint32_t x)
{
    struct wick_graph *g = d->g;
    const uint32_t where[3] = {WICK_NO_VALUE, WICK_NO_VALUE, d->positions};
    uint32_t written = wick_graph_call(g, "aten::index_put.out", 4, cache, wick_graph_optional_tensors(g, where, 3), x, wick_graph_bool(g, false));
    wick_graph_effect(g, "aten::copy_", 3, cache, written, wick_graph_bool(g, false));
    return written;
}

/* Attention by portable operators. Query heads that share a kv head are rows of one product, so k and v are never repeated:
 * scores (K, H/K * S, T) = q (K, H/K * S, D) x k (K, D, T). */
static uint32_t plain_attention(struct decoder *d, int layer, uint32_t q, uint32_t k, uint32_t v)
{
    struct wick_graph *g = d->g;
    int64_t heads = d->h->n_heads, kv = d->h->n_kv_heads, dim = d->h->head_dim;
    q = permute(d, q, 0, 2, 1, 3);
    k = permute(d, k, 0, 2, 1, 3);
    v = permute(d, v, 0, 2, 1, 3);
    if (d->b->kv_cache) {
        k = write_cache(d, state(d, layer, "kv_cache.k_cache", (int32_t)kv, d->b->context, (int32_t)dim), k);
        v = write_cache(d, state(d, layer, "kv_cache.v_cache", (int32_t)kv, d->b->context, (int32_t)dim), v);
    }
    uint32_t keys = permute(d, k, 0, 1, 3, 2);
    uint32_t q3 = wick_graph_call(g, "aten::view_copy.out", 2, q, wick_graph_ints(g, 3, kv, (int64_t)-1, dim));
    uint32_t k3 = wick_graph_call(g, "aten::view_copy.out", 2, keys, wick_graph_ints(g, 3, kv, dim, (int64_t)-1));
    uint32_t v3 = wick_graph_call(g, "aten::view_copy.out", 2, v, wick_graph_ints(g, 3, kv, (int64_t)-1, dim));
    uint32_t scores = wick_graph_call(g, "aten::bmm.out", 2, q3, k3);
    scores = wick_graph_call(g, "aten::mul.Scalar_out", 2, scores, wick_graph_double(g, 1.0 / sqrt((double)dim)));
    /* (K, H/K * S, T) is (H, S, T): S is the mask's first size, T its second. */
    uint32_t sizes[3] = {wick_graph_int(g, heads), wick_graph_int(g, -1), 0};
    sizes[2] = d->b->kv_cache ? wick_graph_int(g, d->b->context)
                              : wick_graph_number(g, "aten::sym_size.int", int_value(d->b->tokens), 2, d->visible, wick_graph_int(g, 1));
    scores = wick_graph_call(g, "aten::view_copy.out", 2, scores, wick_graph_int_list(g, sizes, 3));
    scores = wick_graph_call(g, "aten::where.self_out", 3, d->visible, scores, d->minus_infinity);
    scores = wick_graph_call(g, "aten::_softmax.out", 3, scores, wick_graph_int(g, -1), wick_graph_bool(g, false));
    sizes[0] = wick_graph_int(g, kv);
    scores = wick_graph_call(g, "aten::view_copy.out", 2, scores, wick_graph_int_list(g, sizes, 3));
    uint32_t mixed = wick_graph_call(g, "aten::bmm.out", 2, scores, v3);
    mixed = wick_graph_call(g, "aten::view_copy.out", 2, mixed, wick_graph_ints(g, 4, (int64_t)1, heads, (int64_t)-1, dim));
    return permute(d, mixed, 0, 2, 1, 3);
}

static uint32_t attention(struct decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    int64_t q_rows = h->n_heads * h->head_dim, kv_rows = h->n_kv_heads * h->head_dim;
    wick_graph_scope(d->g, "layers.%d.attention", layer);
    uint32_t q = linear(d, x, weight(d, layer, "attention.wq.weight", q_rows, h->dim));
    uint32_t k = linear(d, x, weight(d, layer, "attention.wk.weight", kv_rows, h->dim));
    uint32_t v = linear(d, x, weight(d, layer, "attention.wv.weight", kv_rows, h->dim));
    q = rotate(d, q, h->n_heads);
    k = rotate(d, k, h->n_kv_heads);
    v = split_heads(d, v, h->n_kv_heads);
    uint32_t mixed = d->b->custom_sdpa ? custom_attention(d, layer, q, k, v) : plain_attention(d, layer, q, k, v);
    mixed = wick_graph_call(d->g, "aten::view_copy.out", 2, mixed, wick_graph_ints(d->g, 3, (int64_t)1, (int64_t)-1, q_rows));
    return linear(d, mixed, weight(d, layer, "attention.wo.weight", h->dim, q_rows));
}

/* w2(silu(w1 x) * w3 x) */
static uint32_t feed_forward(struct decoder *d, int layer, uint32_t x)
{
    const struct wick_hparams *h = d->h;
    wick_graph_scope(d->g, "layers.%d.feed_forward", layer);
    uint32_t gate = linear(d, x, weight(d, layer, "feed_forward.w1.weight", h->hidden_dim, h->dim));
    uint32_t up = linear(d, x, weight(d, layer, "feed_forward.w3.weight", h->hidden_dim, h->dim));
    uint32_t silu = wick_graph_call(d->g, "aten::mul.out", 2, gate, wick_graph_call(d->g, "aten::sigmoid.out", 1, gate));
    return linear(d, wick_graph_call(d->g, "aten::mul.out", 2, silu, up), weight(d, layer, "feed_forward.w2.weight", h->dim, h->hidden_dim));
}

static uint32_t rows_of(struct decoder *d, uint32_t from, int64_t dim, uint32_t start, uint32_t end)
{
    struct wick_graph *g = d->g;
    return wick_graph_call(g, "aten::slice_copy.Tensor_out", 5, from, wick_graph_int(g, dim), start, end, wick_graph_int(g, 1));
}

/* Tables and position values that all layers share. */
static void prepare_positions(struct decoder *d, uint32_t tokens)
{
    struct wick_graph *g = d->g;
    int rows = d->b->context, half = (int)d->h->head_dim / 2, s = d->b->tokens;
    wick_graph_scope(g, "positions");
    uint32_t length = wick_graph_number(g, "aten::sym_size.int", int_value(s), 2, tokens, wick_graph_int(g, 1));
    if (d->b->kv_cache) {
        int32_t one = 1;
        struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 1, &one);
        uint32_t position = wick_graph_input(g, "input_pos", &shape);
        uint32_t first = wick_graph_call(g, "aten::select_copy.int_out", 3, position, wick_graph_int(g, 0), wick_graph_int(g, 0));
        d->start = wick_graph_number(g, "aten::_local_scalar_dense", int_value(0), 1, first);
        d->end = wick_graph_number(g, "executorch_prim::add.Scalar", int_value(s), 2, d->start, length);
    } else {
        d->start = wick_graph_int(g, 0);
        d->end = length;
    }
    float *cos_table = WICK_NEW_ARRAY(&g->arena, float, (size_t)rows * (size_t)half), *sin_table = WICK_NEW_ARRAY(&g->arena, float, (size_t)rows * (size_t)half);
    if (!cos_table || !sin_table) {
        wick_graph_fail(g, WICK_OUT_OF_MEMORY, "no memory for rope tables of %d rows", rows);
        return;
    }
    wick_rope_table(d->h, rows, cos_table, sin_table);
    uint32_t view = wick_graph_ints(g, 4, (int64_t)1, (int64_t)-1, (int64_t)1, (int64_t)half);
    d->cos = wick_graph_call(g, "aten::view_copy.out", 2, rows_of(d, table(d, "rope.cos", WICK_DTYPE_F32, rows, half, cos_table), 0, d->start, d->end), view);
    d->sin = wick_graph_call(g, "aten::view_copy.out", 2, rows_of(d, table(d, "rope.sin", WICK_DTYPE_F32, rows, half, sin_table), 0, d->start, d->end), view);
}

/* The lower triangle's rows of this call, and the row numbers that the cache writes. */
static void prepare_mask(struct decoder *d)
{
    struct wick_graph *g = d->g;
    size_t c = (size_t)d->b->context;
    bool *triangle = WICK_NEW_ARRAY(&g->arena, bool, c * c);
    float *infinity = WICK_NEW(&g->arena, float);
    if (!triangle || !infinity) {
        wick_graph_fail(g, WICK_OUT_OF_MEMORY, "no memory for a mask of %zu x %zu", c, c);
        return;
    }
    for (size_t row = 0; row < c; row++)
        for (size_t column = 0; column <= row; column++) triangle[row * c + column] = true;
    d->visible = rows_of(d, table(d, "attention.mask", WICK_DTYPE_BOOL, d->b->context, d->b->context, triangle), 0, d->start, d->end);
    if (d->b->kv_cache) {
        int64_t *count = WICK_NEW_ARRAY(&g->arena, int64_t, c);
        for (size_t i = 0; count && i < c; i++) count[i] = (int64_t)i;
        int32_t size = d->b->context;
        struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 1, &size);
        uint32_t all = count ? wick_graph_constant(g, "attention.rows", wick_source_of_bytes(&g->arena, &shape, count)) : WICK_NO_VALUE;
        d->positions = rows_of(d, all, 0, d->start, d->end);
    } else {
        d->visible = rows_of(d, d->visible, 1, d->start, d->end);
    }
    *infinity = -INFINITY;
    struct wick_shape scalar = wick_shape_make(WICK_DTYPE_F32, 0, NULL);
    d->minus_infinity = wick_graph_constant(g, "attention.minus_infinity", wick_source_of_bytes(&g->arena, &scalar, infinity));
}

static uint32_t embed(struct decoder *d, uint32_t tokens)
{
    struct wick_graph *g = d->g;
    wick_graph_scope(g, "tok_embeddings");
    uint32_t table_id = weight(d, -1, "tok_embeddings.weight", d->h->vocab_size, d->h->dim);
    return wick_graph_call(g, "aten::embedding.out", 5, table_id, tokens, wick_graph_int(g, -1), wick_graph_bool(g, false), wick_graph_bool(g, false));
}

wick_status wick_decoder_build(struct wick_graph *g, const struct wick_model_build *build)
{
    struct decoder d = {.g = g, .b = build, .h = build->hparams};
    const struct wick_hparams *h = build->hparams;
    int32_t sizes[2] = {1, build->tokens};
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 2, sizes);
    uint32_t tokens = wick_graph_input(g, "tokens", &shape), one = wick_graph_int(g, 1);
    prepare_positions(&d, tokens);
    if (!build->custom_sdpa) prepare_mask(&d);
    uint32_t x = embed(&d, tokens);
    for (int layer = 0; layer < (int)h->n_layers && g->status == WICK_OK; layer++) {
        wick_graph_scope(g, "layers.%d", layer);
        uint32_t normed = rms_norm(&d, x, weight(&d, layer, "attention_norm.weight", h->dim, 0));
        x = wick_graph_call(g, "aten::add.out", 3, x, attention(&d, layer, normed), one);
        wick_graph_scope(g, "layers.%d", layer);
        normed = rms_norm(&d, x, weight(&d, layer, "ffn_norm.weight", h->dim, 0));
        x = wick_graph_call(g, "aten::add.out", 3, x, feed_forward(&d, layer, normed), one);
    }
    wick_graph_scope(g, "output");
    if (!build->full_logits) x = wick_graph_call(g, "aten::select_copy.int_out", 3, x, wick_graph_int(g, 1), wick_graph_int(g, -1));
    x = rms_norm(&d, x, weight(&d, -1, "norm.weight", h->dim, 0));
    wick_graph_output(g, linear(&d, x, weight(&d, -1, "output.weight", h->vocab_size, h->dim)));
    return wick_graph_status(g, build->err);
}
