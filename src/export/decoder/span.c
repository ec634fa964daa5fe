/* export/decoder/span.c - how far back the layers see: everything, or a window, whose positions wrap around in a ring of the cache, if the program
 * has one. What layers of the same span share - slots to write, the mask - is made once.
 *
 * A ring of R rows holds position p in row p mod R; with attention sinks the first positions keep rows of their own before the ring. Which position a
 * row holds is kept in an i64 state (R), since a mask must know: rows at and behind a call's start are forgotten (-1) when a sequence begins again. */
#include "export/decoder/parts.h"

#include <math.h>

static uint32_t scalar_f32(struct wick_decoder *d, const char *name, float x)
{
    float *value = WICK_NEW(&d->g->arena, float);
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 0, NULL);
    if (value) *value = x;
    return wick_graph_constant(d->g, name, value ? wick_source_of_bytes(&d->g->arena, &shape, value) : NULL);
}

/* first, first + 1, ..; count 0: the one number first, of rank 0. */
static uint32_t numbers_i64(struct wick_decoder *d, const char *name, int64_t first, int32_t count)
{
    int64_t *values = WICK_NEW_ARRAY(&d->g->arena, int64_t, (size_t)count + 1);
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, count ? 1 : 0, &count);
    for (int32_t i = 0; values && i <= count; i++) values[i] = first + i;
    return wick_graph_constant(d->g, name, values ? wick_source_of_bytes(&d->g->arena, &shape, values) : NULL);
}

/* Rows of a ring for a window: twice the window as the original has it, and more where a call writes so much that its first token would not find
 * the window before it. A cache of the whole context is never too small. */
static int ring_rows(const struct wick_model_build *b, int window)
{
    int wanted = b->most_tokens > window + 1 ? WICK_MAX(2 * window, window + b->most_tokens - 1) : 2 * window;
    return WICK_MIN(wanted, WICK_MAX(b->context, 2 * window));
}

static struct wick_decoder_span span_for(const struct wick_decoder *d, int layer)
{
    const struct wick_model_build *b = d->b;
    if (b->sink_window) return (struct wick_decoder_span){.sink = b->sink, .window = b->sink_window, .rows = b->sink + 2 * b->sink_window, .ring = true};
    int window = b->local_global_count ? b->local_global[layer % b->local_global_count] : d->h->layer_windows[layer];
    /* A window of the model that no position of the program leaves hides nothing. */
    if (!b->local_global_count && window >= b->context) window = 0;
    if (!window) return (struct wick_decoder_span){.rows = b->context};
    int rows = b->kv_cache ? ring_rows(b, window) : b->context;
    return (struct wick_decoder_span){.window = window, .rows = b->local_global_count ? rows : WICK_MIN(rows, b->context), .ring = b->kv_cache};
}

/* The rows of the cache that positions (S) are written to. */
static uint32_t slots_of(struct wick_decoder *d, const struct wick_decoder_span *span)
{
    struct wick_graph *g = d->g;
    uint32_t one = wick_graph_int(g, 1), ring = wick_graph_int(g, span->rows - span->sink), sink = wick_graph_int(g, span->sink);
    if (!span->sink) return wick_graph_call(g, "aten::remainder.Scalar_out", 2, d->where, ring);
    uint32_t behind = wick_graph_call(g, "aten::remainder.Scalar_out", 2, wick_graph_call(g, "aten::sub.Scalar_out", 3, d->where, sink, one), ring);
    uint32_t wrapped = wick_graph_call(g, "aten::add.Scalar_out", 3, behind, sink, one);
    return wick_graph_call(g, "aten::where.self_out", 3, wick_graph_call(g, "aten::lt.Scalar_out", 2, d->where, sink), d->where, wrapped);
}

/* The positions that the rows hold after this call: (rows) i64. */
static uint32_t held_positions(struct wick_decoder *d, const struct wick_decoder_span *span)
{
    struct wick_graph *g = d->g;
    int32_t rows = span->rows;
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_I64, 1, &rows);
    uint32_t state = wick_graph_state(g, wick_graph_name(g, "attention.cache_positions.%d.%d", span->sink, span->window), &shape);
    uint32_t all = numbers_i64(d, wick_graph_name(g, "attention.rows.%d", rows), 0, rows), none = numbers_i64(d, "attention.no_position", -1, 0);
    uint32_t kept = wick_graph_call(g, "aten::where.self_out", 3, wick_graph_call(g, "aten::lt.Scalar_out", 2, all, d->start), state, none);
    uint32_t held = wick_graph_call(g, "aten::index_put.out", 4, kept, wick_graph_optional_tensors(g, &span->slots, 1), d->where, wick_graph_bool(g, false));
    wick_graph_effect(g, "aten::copy_", 3, state, held, wick_graph_bool(g, false));
    return held;
}

/* visible (S, rows): what is held, not ahead of the query, and in its window or a sink. */
static void make_ring(struct wick_decoder *d, struct wick_decoder_span *span)
{
    struct wick_graph *g = d->g;
    uint32_t zero = wick_graph_int(g, 0), window = wick_graph_int(g, span->window);
    if (!d->where) d->where = wick_graph_call(g, "aten::arange.start_out", 3, d->start, d->end, wick_graph_int(g, 1));
    span->slots = slots_of(d, span);
    span->indices = wick_graph_call(g, "aten::view_copy.out", 2, span->slots, wick_graph_ints(g, 2, (int64_t)1, (int64_t)-1));
    uint32_t held = held_positions(d, span), queries = wick_graph_call(g, "aten::unsqueeze_copy.out", 2, d->where, wick_graph_int(g, -1));
    uint32_t back = wick_graph_call(g, "aten::sub.out", 3, queries, held, wick_graph_int(g, 1));
    uint32_t near = wick_graph_call(g, "aten::lt.Scalar_out", 2, back, window);
    if (span->sink) near = wick_graph_call(g, "aten::bitwise_or.Tensor_out", 2, near, wick_graph_call(g, "aten::lt.Scalar_out", 2, held, wick_graph_int(g, span->sink)));
    uint32_t past = wick_graph_call(g, "aten::bitwise_and.Tensor_out", 2, wick_graph_call(g, "aten::ge.Scalar_out", 2, back, zero),
                                    wick_graph_call(g, "aten::ge.Scalar_out", 2, held, zero));
    span->visible = wick_graph_call(g, "aten::bitwise_and.Tensor_out", 2, past, near);
    if (d->custom) span->mask = wick_graph_call(g, "aten::where.self_out", 3, span->visible, scalar_f32(d, "attention.seen", 0), scalar_f32(d, "attention.hidden", -INFINITY));
}

/* visible (S, C), or (S, S) without a cache: the band of the lower triangle. */
static void make_band(struct wick_decoder *d, struct wick_decoder_span *span)
{
    struct wick_graph *g = d->g;
    size_t c = (size_t)d->b->context, window = span->window ? (size_t)span->window : c;
    bool *band = WICK_NEW_ARRAY(&g->arena, bool, c * c);
    if (!band) {
        wick_graph_fail(g, WICK_OUT_OF_MEMORY, "no memory for a mask of %zu x %zu", c, c);
        return;
    }
    for (size_t row = 0; row < c; row++)
        for (size_t column = row + 1 > window ? row + 1 - window : 0; column <= row; column++) band[row * c + column] = true;
    const char *name = span->window ? wick_graph_name(g, "attention.mask.%d", span->window) : "attention.mask";
    span->visible = wick_decoder_rows(d, wick_decoder_table(d, name, WICK_DTYPE_BOOL, d->b->context, d->b->context, band), 0, d->start, d->end);
    if (!d->b->kv_cache) {
        span->visible = wick_decoder_rows(d, span->visible, 1, d->start, d->end);
        return;
    }
    span->slots = wick_decoder_rows(d, numbers_i64(d, "attention.rows", 0, d->b->context), 0, d->start, d->end);
}

static bool same_span(const struct wick_decoder_span *a, const struct wick_decoder_span *b) { return a->sink == b->sink && a->window == b->window; }

void wick_decoder_spans(struct wick_decoder *d)
{
    const struct wick_model_build *b = d->b;
    if (b->sink_window && b->most_tokens > 2 * b->sink_window) {
        wick_graph_fail(d->g, WICK_INVALID_CONFIG, "model.use_attention_sink=%d,%d: a call of %d tokens overwrites its own window; set export.max_seq_length to at most %d", b->sink,
                        b->sink_window, b->most_tokens, 2 * b->sink_window + 1);
        return;
    }
    for (int layer = 0; layer < (int)d->h->n_layers; layer++) {
        if (wick_hparams_layer_kind(d->h, layer) != WICK_LAYER_ATTENTION) continue;
        struct wick_decoder_span span = span_for(d, layer);
        int i = 0;
        while (i < d->span_count && !same_span(&d->spans[i], &span)) i++;
        d->layer_spans[layer] = (uint8_t)i;
        if (i < d->span_count) continue;
        if (i == WICK_DECODER_SPANS_MAX) {
            wick_graph_fail(d->g, WICK_NOT_SUPPORTED, "layers with more than %d different windows: not supported", WICK_DECODER_SPANS_MAX);
            return;
        }
        if (span.ring) make_ring(d, &span);
        else if (!d->custom) make_band(d, &span);
        d->spans[d->span_count++] = span;
    }
}
