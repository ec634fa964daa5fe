/* export/decoder/delta_net.c - a layer whose mixer is gated linear attention by the delta rule: no cache of keys, one matrix a head instead.
 *
 * Hk key heads of Dk, Hv value heads of Dv; Hv / Hk value heads share a query and a key. All arithmetic is in float32, as the kept state is. */
#include "export/decoder/parts.h"

#include "graph/derived.h"

#include <math.h>

static uint32_t columns(struct wick_decoder *d, uint32_t x, int64_t start, int64_t end)
{
    return wick_decoder_rows(d, x, 2, wick_graph_int(d->g, start), wick_graph_int(d->g, end));
}

static uint32_t view4(struct wick_decoder *d, uint32_t x, int64_t heads, int64_t dim)
{
    return wick_graph_call(d->g, "aten::view_copy.out", 2, x, wick_graph_ints(d->g, 4, (int64_t)1, (int64_t)-1, heads, dim));
}

static uint32_t permute(struct wick_decoder *d, uint32_t x, int rank)
{
    uint32_t order = rank == 4 ? wick_graph_ints(d->g, 4, (int64_t)0, (int64_t)2, (int64_t)1, (int64_t)3) : wick_graph_ints(d->g, 3, (int64_t)0, (int64_t)2, (int64_t)1);
    return wick_graph_call(d->g, "aten::permute_copy.out", 2, x, order);
}

static uint32_t wide_weight(struct wick_decoder *d, int layer, const char *name, int64_t size)
{
    return wick_decoder_wide_constant(d, wick_graph_name(d->g, "layers.%d.%s", layer, name), wick_decoder_source(d, layer, name, size, 0));
}

static uint32_t silu(struct wick_decoder *d, uint32_t x)
{
    return wick_graph_call(d->g, "aten::mul.out", 2, x, wick_graph_call(d->g, "aten::sigmoid.out", 1, x));
}

/* rsqrt(mean(x^2) + eps) over the last dim, kept. */
static uint32_t inverse_rms(struct wick_decoder *d, uint32_t x, double eps)
{
    struct wick_graph *g = d->g;
    uint32_t square = wick_graph_call(g, "aten::mul.out", 2, x, x);
    uint32_t mean = wick_graph_call(g, "aten::mean.out", 4, square, wick_graph_ints(g, 1, (int64_t)-1), wick_graph_bool(g, true), wick_graph_none(g));
    return wick_graph_call(g, "aten::rsqrt.out", 1, wick_graph_call(g, "aten::add.Scalar_out", 3, mean, wick_graph_double(g, eps), wick_graph_int(g, 1)));
}

/* (1, S, Hk * Dk) of unit length per head, times `factor`: (1, Hv, S, Dk). x / sqrt(sum + eps) is x rsqrt(mean + eps / Dk) / sqrt(Dk). */
static uint32_t unit_heads(struct wick_decoder *d, uint32_t x, double factor)
{
    struct wick_graph *g = d->g;
    int64_t heads = d->h->linear_num_key_heads, dim = d->h->linear_key_head_dim, repeat = d->h->linear_num_value_heads / heads;
    x = view4(d, x, heads, dim);
    uint32_t scale = wick_graph_call(g, "aten::mul.Scalar_out", 2, inverse_rms(d, x, 1e-6 / (double)dim), wick_graph_double(g, factor / sqrt((double)dim)));
    x = wick_graph_call(g, "aten::mul.out", 2, x, scale);
    if (repeat > 1) {
        x = wick_graph_call(g, "aten::unsqueeze_copy.out", 2, x, wick_graph_int(g, 3));
        x = wick_graph_call(g, "aten::expand_copy.out", 3, x, wick_graph_ints(g, 5, (int64_t)-1, (int64_t)-1, (int64_t)-1, repeat, (int64_t)-1), wick_graph_bool(g, false));
        x = view4(d, x, heads * repeat, dim);
    }
    return permute(d, x, 4);
}

static float minus_exp(float x) { return -expf(x); }

/* exp(-exp(A_log) softplus(a + dt_bias)): (1, S, Hv) to (1, Hv, S). softplus(x) is x beyond 20, as torch has it. */
static uint32_t decay(struct wick_decoder *d, int layer, uint32_t a)
{
    struct wick_graph *g = d->g;
    int64_t heads = d->h->linear_num_value_heads;
    struct wick_source *rate = wick_source_mapped(&g->arena, wick_decoder_source(d, layer, "attention.A_log", heads, 0), minus_exp);
    uint32_t x = wick_graph_call(g, "aten::add.out", 3, wick_decoder_wide(d, a), wide_weight(d, layer, "attention.dt_bias", heads), wick_graph_int(g, 1));
    uint32_t soft = wick_graph_call(g, "aten::log1p.out", 1, wick_graph_call(g, "aten::exp.out", 1, x));
    soft = wick_graph_call(g, "aten::where.self_out", 3, wick_graph_call(g, "aten::gt.Scalar_out", 2, x, wick_graph_double(g, 20)), x, soft);
    uint32_t log = wick_graph_call(g, "aten::mul.out", 2, soft, wick_decoder_wide_constant(d, wick_graph_name(g, "layers.%d.attention.rate", layer), rate));
    return permute(d, wick_graph_call(g, "aten::exp.out", 1, log), 3);
}

/* The rule over the call's tokens; the memory (1, Hv, Dk, Dv) is read as it was and written as it is then. Gives (1, Hv, S, Dv). */
static uint32_t delta_rule(struct wick_decoder *d, int layer, const uint32_t inputs[5])
{
    struct wick_graph *g = d->g;
    const struct wick_hparams *h = d->h;
    int32_t heads = (int32_t)h->linear_num_value_heads, dim_k = (int32_t)h->linear_key_head_dim, dim_v = (int32_t)h->linear_value_head_dim;
    struct wick_shape memory = wick_shape_make(WICK_DTYPE_F32, 4, (const int32_t[]){1, heads, dim_k, dim_v});
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 4, (const int32_t[]){1, heads, d->b->tokens, dim_v});
    uint32_t kept = d->b->kv_cache ? wick_decoder_state(d, layer, "attention.recurrent_state", &memory) : WICK_NO_VALUE;
    uint32_t before = d->b->kv_cache ? wick_decoder_since_start(d, kept) : wick_decoder_zeros(d, &memory);
    uint32_t out = wick_graph_tensor(g, &shape), after = wick_graph_tensor(g, &memory);
    wick_graph_effect(g, "llama::gated_delta_rule.out", 8, inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], before, out, after);
    if (d->b->kv_cache) wick_graph_effect(g, "aten::copy_", 3, kept, after, wick_graph_bool(g, false));
    return out;
}

uint32_t wick_decoder_delta_net(struct wick_decoder *d, int layer, uint32_t x)
{
    struct wick_graph *g = d->g;
    const struct wick_hparams *h = d->h;
    int64_t heads = h->linear_num_value_heads, dim_v = h->linear_value_head_dim, keys = h->linear_num_key_heads * h->linear_key_head_dim, values = heads * dim_v;
    wick_graph_scope(g, "layers.%d.attention", layer);
    uint32_t qkv = wick_decoder_linear(d, layer, "attention.in_proj_qkv", x, 2 * keys + values, h->dim, false);
    uint32_t z = wick_decoder_linear(d, layer, "attention.in_proj_z", x, values, h->dim, false);
    uint32_t b = wick_decoder_linear(d, layer, "attention.in_proj_b", x, heads, h->dim, false);
    uint32_t a = wick_decoder_linear(d, layer, "attention.in_proj_a", x, heads, h->dim, false);
    qkv = silu(d, wick_decoder_causal_conv(d, layer, "attention.conv1d.weight", "attention.conv_state", qkv, 2 * keys + values, h->linear_conv_kernel_dim));
    const uint32_t inputs[5] = {
        unit_heads(d, columns(d, qkv, 0, keys), 1 / sqrt((double)h->linear_key_head_dim)),
        unit_heads(d, columns(d, qkv, keys, 2 * keys), 1),
        permute(d, view4(d, columns(d, qkv, 2 * keys, 2 * keys + values), heads, dim_v), 4),
        decay(d, layer, a),
        permute(d, wick_graph_call(g, "aten::sigmoid.out", 1, wick_decoder_wide(d, b)), 3),
    };
    uint32_t mixed = permute(d, delta_rule(d, layer, inputs), 4);
    mixed = wick_graph_call(g, "aten::mul.out", 2, mixed, inverse_rms(d, mixed, h->norm_eps));
    mixed = wick_graph_call(g, "aten::mul.out", 2, mixed, wide_weight(d, layer, "attention.norm.weight", dim_v));
    mixed = wick_graph_call(g, "aten::mul.out", 2, mixed, silu(d, view4(d, wick_decoder_wide(d, z), heads, dim_v)));
    mixed = wick_graph_call(g, "aten::view_copy.out", 2, mixed, wick_graph_ints(g, 3, (int64_t)1, (int64_t)-1, values));
    return wick_decoder_linear(d, layer, "attention.out_proj", mixed, h->dim, values, false);
}
