/* export/decoder.h - the graph of a Llama-type decoder; families call it with what sets them apart. Its parts are in decoder/. */
#ifndef WICK_EXPORT_DECODER_H
#define WICK_EXPORT_DECODER_H

#include "export/weights.h"
#include "graph/graph.h"

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
    wick_error *err;
};

/* Builds: tokens (1, S) i64 [, input_pos (1) i64] -> logits (1, vocab) or (1, S, vocab) f32. Failures stick in g. */
wick_status wick_decoder_build(struct wick_graph *g, const struct wick_model_build *build);

#endif
