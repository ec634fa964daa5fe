/* export/decoder/parts.h - what the parts of a decoder share while its graph is built. Shapes: S tokens of a call, H query heads, K kv heads,
 * D head dim, C context. Values are (1, S, dim) between parts. Failures stick in the graph: no part checks after each call. */
#ifndef WICK_EXPORT_DECODER_PARTS_H
#define WICK_EXPORT_DECODER_PARTS_H

#include "export/decoder.h"

enum { WICK_DECODER_SPANS_MAX = 8 };

/* How far back layers see, and where their caches are written. */
struct wick_decoder_span {
    int sink, window;  /* window 0: all positions */
    int rows;          /* of the cache */
    bool ring;         /* positions wrap around */
    uint32_t slots;    /* (S) i64: rows that the call writes (rings; plain attention) */
    uint32_t indices;  /* (1, S) i64: the same (rings) */
    uint32_t visible;  /* (S, rows or S) bool: keys a query may see (rings; plain attention) */
    uint32_t mask;     /* (S, rows) f32, 0 or -inf (rings, custom attention) */
};

struct wick_decoder {
    struct wick_graph *g;
    const struct wick_model_build *b;
    const struct wick_hparams *h;
    uint32_t tokens;         /* (1, S) i64: the input */
    uint32_t input_pos;      /* (1) i64: the second input (kv cache), else WICK_NO_VALUE */
    uint32_t start;          /* INT value: position of the first token of the call */
    uint32_t end;            /* INT: start + S */
    uint32_t length;         /* INT: S */
    uint32_t where;          /* (S) i64: positions of the tokens (rings); 0: not made */
    uint32_t cos[2], sin[2]; /* (1, S, 1 or heads, D/2); [1]: of layers with a window, where their base is another */
    bool custom;             /* attention by the custom operators */
    struct wick_decoder_span spans[WICK_DECODER_SPANS_MAX];
    int span_count;
    uint8_t layer_spans[WICK_LAYERS_MAX];
    uint32_t shared_k, shared_v; /* what the last layer that wrote a cache attends over */
    uint32_t minus_infinity; /* () of the model's dtype */
    uint32_t at_start, zero; /* (1) bool: the call begins a sequence, () f32; 0: not made yet (state.c) */
};

/* ---- build.c: names, constants, states ---- */

/* The value of a number at the bound sizes, for wick_graph_number. */
static inline struct wick_value wick_decoder_int(int64_t v) { return (struct wick_value){.tag = WICK_TAG_INT, .as.i = v}; }
/* A float weight (rows, columns), columns 0: a vector, as a constant; layer -1: of the whole model. */
uint32_t wick_decoder_weight(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns);
/* The same before it becomes a constant; NULL after a failure. */
struct wick_source *wick_decoder_source(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns);
/* A float source as a constant of the model's dtype; NULL fails the graph. */
uint32_t wick_decoder_constant(struct wick_decoder *d, const char *name, struct wick_source *source);
/* A matrix computed now; data lives in the graph's arena. */
uint32_t wick_decoder_table(struct wick_decoder *d, const char *name, int dtype, int rows, int columns, const void *data);
/* A mutable buffer of a layer, zero at first: "layers.N.<name>". */
uint32_t wick_decoder_state(struct wick_decoder *d, int layer, const char *name, const struct wick_shape *shape);
/* from[.., start:end, ..] along dim. */
uint32_t wick_decoder_rows(struct wick_decoder *d, uint32_t from, int64_t dim, uint32_t start, uint32_t end);

/* ---- numbers.c: element types ---- */

/* x in another element type; x itself if it is of that type. */
uint32_t wick_decoder_cast(struct wick_decoder *d, uint32_t x, int dtype);
/* The same in f32: what the parts that compute in f32 take. */
uint32_t wick_decoder_wide(struct wick_decoder *d, uint32_t x);
/* A float source as a constant of f32, whatever the model's dtype is. */
uint32_t wick_decoder_wide_constant(struct wick_decoder *d, const char *name, struct wick_source *source);
/* Rounds numbers to what the model's dtype can hold. */
void wick_decoder_round(const struct wick_decoder *d, float *x, size_t count);

/* ---- prequantized.c: checkpoints of quantized weights ---- */

/* Refuses configurations that the checkpoint is not made for. */
void wick_decoder_check_prequantized(struct wick_decoder *d);
/* A weight (rows, columns) that the checkpoint holds quantized, as a constant that the quantize stage keeps so; its source gives floats all the same.
 * WICK_NO_VALUE: it does not, or the graph has failed. */
uint32_t wick_decoder_prequantized(struct wick_decoder *d, int layer, const char *name, int64_t rows, int64_t columns);
/* y = linear "layers.N.<name>" of x, plus what the trained adapter beside it gives, if the checkpoint has one. */
uint32_t wick_decoder_trained_adapter(struct wick_decoder *d, int layer, const char *name, uint32_t x, uint32_t y, int64_t rows, int64_t columns);

/* ---- linear.c: every linear layer goes through here ---- */

/* x (.., columns) by the weight "layers.N.<name>.weight" (rows, columns): (.., rows). name without ".weight": "attention.wq", "output" (layer -1).
 * bias: "<name>.bias" (rows) is added. */
uint32_t wick_decoder_linear(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t rows, int64_t columns, bool bias);
/* y + scale * high (low x); names: of the two constants. */
uint32_t wick_decoder_low_rank(struct wick_decoder *d, uint32_t x, uint32_t y, struct wick_source *low, struct wick_source *high, const char *const names[2], float scale);

/* ---- norm.c ---- */

/* x * rsqrt(mean(x^2) + eps) over the last dim. */
uint32_t wick_decoder_scaleless_norm(struct wick_decoder *d, uint32_t x);
/* The same of x * the weight "layers.N.<name>.weight". */
uint32_t wick_decoder_scaled_input_norm(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t size);
/* The norm times the weight "layers.N.<name>.weight" (size), or 1 + weight as the hyper-parameters say. */
uint32_t wick_decoder_norm(struct wick_decoder *d, int layer, const char *name, uint32_t x, int64_t size);

/* ---- positions.c: what all layers share about positions; made once, before the first layer ---- */

void wick_decoder_positions(struct wick_decoder *d);

/* ---- span.c ---- */

/* The spans of all layers: d->spans, d->layer_spans. */
void wick_decoder_spans(struct wick_decoder *d);

/* ---- rope.c ---- */

/* Slices of the rope tables for this call: d->cos, d->sin. */
void wick_decoder_rope_tables(struct wick_decoder *d);
/* (1, S, heads * D) rotated by its positions, unless the layer has none: (1, S, heads, D). */
uint32_t wick_decoder_rotate(struct wick_decoder *d, int layer, uint32_t x, int64_t heads);
/* (1, S, heads * D) to (1, S, heads, D). */
uint32_t wick_decoder_split_heads(struct wick_decoder *d, uint32_t x, int64_t heads);

/* ---- cache.c ---- */

/* q (1, S, H, D), k and v (1, S, K, D) of a call: writes the caches of the layer and gives the mixture (1, S, H, D). k WICK_NO_VALUE: the layer has no
 * keys and values of its own and attends over those of the last layer that has. */
uint32_t wick_decoder_attend(struct wick_decoder *d, int layer, uint32_t q, uint32_t k, uint32_t v);
/* tanh(x / cap) * cap */
uint32_t wick_decoder_softcap(struct wick_decoder *d, uint32_t x, double cap);
/* ---- cache_int8.c: the same with caches of 8-bit integers ---- */

/* By llama::custom_quantized_sdpa. */
uint32_t wick_decoder_attend_int8(struct wick_decoder *d, int layer, uint32_t q, uint32_t k, uint32_t v);
/* Writes x (1, S, K, D) into the cache `name` ("k" or "v") of the layer and gives all of it in the model's dtype, (1, C, K, D); the rows of this call
 * are x itself. */
uint32_t wick_decoder_int8_rows(struct wick_decoder *d, int layer, const char *name, uint32_t x);

/* ---- attention.c ---- */

/* The whole attention of a layer: projections, rope, attend, output projection. */
uint32_t wick_decoder_attention(struct wick_decoder *d, int layer, uint32_t x);

/* ---- feed_forward.c ---- */

/* silu or gelu, as the hyper-parameters say. */
uint32_t wick_decoder_activate(struct wick_decoder *d, uint32_t x);
/* w2(act(w1 x) * w3 x), or what layer.c says this layer has in its place. */
uint32_t wick_decoder_feed_forward(struct wick_decoder *d, int layer, uint32_t x);

/* ---- state.c: kept state that is no cache of positions ---- */

/* The kept tensor, or zeros when the call begins a sequence (input_pos 0). */
uint32_t wick_decoder_since_start(struct wick_decoder *d, uint32_t kept);
/* A constant of zeros. */
uint32_t wick_decoder_zeros(struct wick_decoder *d, const struct wick_shape *shape);

/* ---- causal_conv.c ---- */

/* Depthwise causal convolution of u (1, S, channels) by the weight "layers.N.<weight>" (channels, 1, kernel); the kernel - 1 rows before the call are kept in
 * "layers.N.<state>". */
uint32_t wick_decoder_causal_conv(struct wick_decoder *d, int layer, const char *weight, const char *state, uint32_t u, int64_t channels, int64_t kernel);

/* ---- short_conv.c, delta_net.c, moe.c: what stands in for attention or feed-forward ---- */

uint32_t wick_decoder_short_conv(struct wick_decoder *d, int layer, uint32_t x);
uint32_t wick_decoder_delta_net(struct wick_decoder *d, int layer, uint32_t x);
uint32_t wick_decoder_moe(struct wick_decoder *d, int layer, uint32_t x);

/* ---- hadamard.c ---- */

/* The orthonormal Walsh-Hadamard transform of the last dim of x, 2^n or 28 * 2^n elements (llama::fast_hadamard_transform); block: of each so many
 * elements of it, 0: of all. */
uint32_t wick_decoder_hadamard(struct wick_decoder *d, uint32_t x, int block);
/* Queries or keys (1, S, heads, D) after rope, turned by R3 if the configuration asks for it; what w2 takes, (1, S, hidden), by R4. */
uint32_t wick_decoder_turn_heads(struct wick_decoder *d, uint32_t x);
uint32_t wick_decoder_turn_hidden(struct wick_decoder *d, uint32_t x);

/* ---- layer.c: which mixer and which feed-forward a layer has ---- */

/* Residual block of one layer. */
uint32_t wick_decoder_layer(struct wick_decoder *d, int layer, uint32_t x);

#endif
