/* export/decoder.h - the graph of a Llama-type decoder; families call it with what sets them apart. Its parts are in decoder/. */
#ifndef WICK_EXPORT_DECODER_H
#define WICK_EXPORT_DECODER_H

#include "export/adapter.h"
#include "export/config.h"
#include "export/weights.h"
#include "graph/graph.h"

/* How a KV cache holds its numbers. */
enum wick_cache_kind {
    WICK_CACHE_FLOAT,       /* in the model's dtype */
    WICK_CACHE_INT8,        /* 8-bit integers with a scale and zero point for each token and head, found when they are written */
    WICK_CACHE_INT8_STATIC, /* 8-bit integers with one scale given at export, zero point 0 */
};

/* A checkpoint that holds its weights quantized. */
struct wick_prequantized {
    bool on;
    bool head_8bit;      /* the head in 8 bits with a scale a row; else as all linears */
    int group;           /* of the linears' 4 bits */
    int embedding_bits, embedding_group;
    int adapter_rank;    /* of trained adapters beside the linears; 0: none are looked for */
};

/* What a family's build gets. */
struct wick_model_build {
    const struct wick_hparams *hparams;
    struct wick_weights *weights;
    int tokens;           /* tokens in a call: the bound */
    int context;          /* rows of the caches and of the rope table */
    bool kv_cache;        /* stateful: a second input gives the position */
    bool custom_sdpa;     /* llama::custom_sdpa and llama::update_cache */
    bool full_logits;     /* logits of every position, not of the last */
    bool moe_quantized;   /* experts by llama::quantized_moe_ffn */
    int moe_group;        /* its group size; 0: 32 */
    int dtype;            /* of weights, caches and logits: f32, f16 or bf16; norms and rope compute in f32 all the same */
    enum wick_cache_kind cache;
    float cache_scale;    /* WICK_CACHE_INT8_STATIC */
    struct wick_prequantized prequantized;
    int most_tokens;      /* the largest number of tokens of any call, whatever `tokens` is */
    int sink, sink_window; /* every layer keeps the first `sink` positions and a window; sink_window 0: no */
    const int *local_global; /* windows of layers, repeated; 0: all positions */
    int local_global_count;
    bool expand_rope;     /* rope tables hold a row for every head */
    int32_t *input_ids, *output_ids; /* old id of each kept id; counts 0: all are kept */
    int input_id_count, output_id_count;
    bool hadamard_w2;     /* a Hadamard transform before w2, whose weights the checkpoint holds rotated */
    struct wick_adapter *adapter; /* beside linears, from a file of its own; NULL: none */
    struct wick_rotations *rotations; /* of weights; NULL or not on: none */
    wick_error *err;
};

/* Fills in what a configuration says about numbers: from dtype to hadamard_w2. */
void wick_model_build_numbers(struct wick_model_build *build, const struct wick_config *config);

/* Fills in what it says about attention and vocabulary, once tokens, context, kv_cache and hparams are set. Lists live in the arena. */
wick_status wick_model_build_options(struct wick_model_build *build, const struct wick_config *config, struct wick_arena *arena, wick_error *err);

/* Builds: tokens (1, S) i64 [, input_pos (1) i64] -> logits (1, vocab) or (1, S, vocab) in the build's dtype. Failures stick in g. */
wick_status wick_decoder_build(struct wick_graph *g, const struct wick_model_build *build);

#endif
