/* export/decoder/rope.c - rotary positions: slices of the tables for a call, and the rotation. The tables' numbers are export/rope.c's. */
#include "export/decoder/parts.h"

#include "export/rope.h"

/* The rows of a table (rows, heads * half) that the call's positions have: (1, S, heads, half). */
static uint32_t table_rows(struct wick_decoder *d, const char *name, int rows, int heads, int half, const float *values)
{
    struct wick_graph *g = d->g;
    uint32_t table = wick_decoder_table(d, name, WICK_DTYPE_F32, rows, heads * half, values), taken;
    /* With sinks positions turn as their slots lie, as the original has it: far positions need no longer table. */
    if (d->b->sink_window) taken = wick_graph_call(g, "aten::index.Tensor_out", 2, table, wick_graph_optional_tensors(g, &d->spans[0].slots, 1));
    else taken = wick_decoder_rows(d, table, 0, d->start, d->end);
    return wick_graph_call(g, "aten::view_copy.out", 2, taken, wick_graph_ints(g, 4, (int64_t)1, (int64_t)-1, (int64_t)heads, (int64_t)half));
}

/* Every row `heads` times. */
static float *expanded(struct wick_decoder *d, const float *values, int rows, int heads, int half)
{
    float *out = WICK_NEW_ARRAY(&d->g->arena, float, (size_t)rows * (size_t)heads * (size_t)half);
    for (long row = 0; out && row < rows; row++)
        for (long head = 0; head < heads; head++) memcpy(out + (row * heads + head) * half, values + row * half, (size_t)half * sizeof *out);
    return out;
}

static void make_tables(struct wick_decoder *d, int which, const struct wick_rope_spec *spec, const char *cos_name, const char *sin_name)
{
    struct wick_graph *g = d->g;
    int rows = spec->rows, half = wick_hparams_rotated(d->h) / 2, heads = d->b->expand_rope ? (int)d->h->n_heads : 1;
    size_t count = (size_t)rows * (size_t)half;
    float *cos_table = WICK_NEW_ARRAY(&g->arena, float, count), *sin_table = WICK_NEW_ARRAY(&g->arena, float, count);
    if (cos_table && sin_table) {
        wick_rope_table(d->h, spec, cos_table, sin_table);
        /* The original keeps the tables in the model's dtype. */
        wick_decoder_round(d, cos_table, count);
        wick_decoder_round(d, sin_table, count);
        if (heads > 1) cos_table = expanded(d, cos_table, rows, heads, half), sin_table = expanded(d, sin_table, rows, heads, half);
    }
    if (!cos_table || !sin_table) {
        wick_graph_fail(g, WICK_OUT_OF_MEMORY, "no memory for rope tables of %d rows", rows);
        return;
    }
    d->cos[which] = table_rows(d, cos_name, rows, heads, half, cos_table);
    d->sin[which] = table_rows(d, sin_name, rows, heads, half, sin_table);
}

void wick_decoder_rope_tables(struct wick_decoder *d)
{
    const struct wick_hparams *h = d->h;
    int rows = WICK_MAX(d->b->context, d->b->sink_window ? d->b->sink + 2 * d->b->sink_window : 0);
    /* The original doubles the table of checkpoints that say an ffn_dim_multiplier, and that length is what chooses longrope's factors. */
    struct wick_rope_spec spec = wick_rope_spec_of(h, rows, h->ffn_dim_multiplier > 0 ? d->b->context * 2 : d->b->context);
    if (d->g->status != WICK_OK) return;
    make_tables(d, 0, &spec, "rope.freqs_cos", "rope.freqs_sin");
    if (!(h->local_rope_theta > 0)) return;
    spec.theta = h->local_rope_theta;
    spec.scaling = WICK_ROPE_PLAIN;
    make_tables(d, 1, &spec, "rope.local_freqs_cos", "rope.local_freqs_sin");
}

/* -1 stands for S: the view is right for any number of tokens. */
uint32_t wick_decoder_split_heads(struct wick_decoder *d, uint32_t x, int64_t heads)
{
    return wick_graph_call(d->g, "aten::view_copy.out", 2, x, wick_graph_ints(d->g, 4, (int64_t)1, (int64_t)-1, heads, d->h->head_dim));
}

static uint32_t half_of_pairs(struct wick_decoder *d, uint32_t pairs, int64_t which)
{
    return wick_graph_call(d->g, "aten::select_copy.int_out", 3, pairs, wick_graph_int(d->g, -1), wick_graph_int(d->g, which));
}

/* (a, b) turned by the positions' angles. */
static void turn(struct wick_decoder *d, int layer, uint32_t a, uint32_t b, uint32_t out[2])
{
    struct wick_graph *g = d->g;
    uint32_t one = wick_graph_int(g, 1);
    int which = d->h->local_rope_theta > 0 && d->h->layer_windows[layer] ? 1 : 0;
    uint32_t a_cos = wick_graph_call(g, "aten::mul.out", 2, a, d->cos[which]), b_sin = wick_graph_call(g, "aten::mul.out", 2, b, d->sin[which]);
    out[0] = wick_graph_call(g, "aten::sub.out", 3, a_cos, b_sin, one);
    uint32_t a_sin = wick_graph_call(g, "aten::mul.out", 2, a, d->sin[which]), b_cos = wick_graph_call(g, "aten::mul.out", 2, b, d->cos[which]);
    out[1] = wick_graph_call(g, "aten::add.out", 3, a_sin, b_cos, one);
}

static uint32_t channels(struct wick_decoder *d, uint32_t x, int64_t first, int64_t last)
{
    return wick_decoder_rows(d, x, -1, wick_graph_int(d->g, first), wick_graph_int(d->g, last));
}

/* Halves: pair (x[i], x[i + rd/2]) of the first rd channels turns, the others pass. */
static uint32_t rotate_halves(struct wick_decoder *d, int layer, uint32_t x, int64_t heads)
{
    struct wick_graph *g = d->g;
    int64_t rotated = wick_hparams_rotated(d->h), half = rotated / 2, dim = d->h->head_dim;
    uint32_t parts[3];
    x = wick_decoder_cast(d, x, WICK_DTYPE_F32);
    if (g->status == WICK_OK && wick_graph_shape(g, x)->rank != 4) x = wick_decoder_split_heads(d, x, heads);
    uint32_t a = channels(d, x, 0, half), b = channels(d, x, half, rotated);
    turn(d, layer, a, b, parts);
    if (rotated < dim) parts[2] = channels(d, x, rotated, dim);
    uint32_t joined = wick_graph_call(g, "aten::cat.out", 2, wick_graph_tensors(g, parts, rotated < dim ? 3 : 2), wick_graph_int(g, -1));
    return wick_decoder_cast(d, joined, d->b->dtype);
}

/* Interleaved: pair (x[2i], x[2i+1]) turns by its position's angle. */
static uint32_t rotate_pairs(struct wick_decoder *d, int layer, uint32_t x, int64_t heads)
{
    struct wick_graph *g = d->g;
    int64_t half = d->h->head_dim / 2;
    x = wick_decoder_cast(d, x, WICK_DTYPE_F32);
    uint32_t pairs = wick_graph_call(g, "aten::view_copy.out", 2, x, wick_graph_ints(g, 5, (int64_t)1, (int64_t)-1, heads, half, (int64_t)2));
    uint32_t turned[2];
    turn(d, layer, half_of_pairs(d, pairs, 0), half_of_pairs(d, pairs, 1), turned);
    uint32_t parts[2] = {wick_graph_call(g, "aten::unsqueeze_copy.out", 2, turned[0], wick_graph_int(g, -1)),
                         wick_graph_call(g, "aten::unsqueeze_copy.out", 2, turned[1], wick_graph_int(g, -1))};
    uint32_t joined = wick_graph_call(g, "aten::cat.out", 2, wick_graph_tensors(g, parts, 2), wick_graph_int(g, -1));
    return wick_decoder_cast(d, wick_decoder_split_heads(d, joined, heads), d->b->dtype);
}

uint32_t wick_decoder_rotate(struct wick_decoder *d, int layer, uint32_t x, int64_t heads)
{
    if (d->h->layer_no_rope[layer]) return wick_decoder_split_heads(d, x, heads);
    return d->h->use_hf_rope ? rotate_halves(d, layer, x, heads) : rotate_pairs(d, layer, x, heads);
}
