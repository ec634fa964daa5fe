/* export/decoder/causal_conv.c - depthwise convolution over the last tokens, with the tokens before the call kept between calls.
 *
 * u and the kept rows are (1, rows, channels): a tap is a row vector times a slice, so nothing is transposed and a back-end can take all of it. All is f32. Without a
 * cache every call is a sequence of its own and begins with zeros. */
#include "export/decoder/parts.h"

#include "graph/derived.h"

static uint32_t slice(struct wick_decoder *d, uint32_t x, int64_t start, int64_t end)
{
    return wick_decoder_rows(d, x, 1, wick_graph_int(d->g, start), wick_graph_int(d->g, end));
}

static uint32_t tap(struct wick_decoder *d, int layer, const char *name, struct wick_source *taps, int64_t i)
{
    return wick_decoder_wide_constant(d, wick_graph_name(d->g, "layers.%d.%s.%lld", layer, name, (long long)i), wick_source_column(&d->g->arena, taps, (size_t)i));
}

uint32_t wick_decoder_causal_conv(struct wick_decoder *d, int layer, const char *weight, const char *state, uint32_t u, int64_t channels, int64_t kernel)
{
    struct wick_graph *g = d->g;
    int64_t before = kernel - 1;
    u = wick_decoder_wide(d, u);
    struct wick_source *taps = wick_decoder_source(d, layer, weight, channels, kernel);
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 3, (const int32_t[]){1, (int32_t)before, (int32_t)channels});
    uint32_t kept = d->b->kv_cache ? wick_decoder_state(d, layer, state, &shape) : WICK_NO_VALUE;
    uint32_t parts[2] = {d->b->kv_cache ? wick_decoder_since_start(d, kept) : wick_decoder_zeros(d, &shape), u};
    uint32_t all = wick_graph_call(g, "aten::cat.out", 2, wick_graph_tensors(g, parts, 2), wick_graph_int(g, 1)), one = wick_graph_int(g, 1), sum = WICK_NO_VALUE;
    if (d->b->kv_cache) wick_graph_effect(g, "aten::copy_", 3, kept, slice(d, all, -before, INT64_MAX), wick_graph_bool(g, false));
    for (int64_t i = 0; i < kernel && g->status == WICK_OK; i++) {
        /* rows i .. i + S of the S + before */
        uint32_t rows = i < before ? slice(d, all, i, i - before) : u;
        uint32_t term = wick_graph_call(g, "aten::mul.out", 2, rows, tap(d, layer, weight, taps, i));
        sum = i == 0 ? term : wick_graph_call(g, "aten::add.out", 3, sum, term, one);
    }
    return sum;
}
