/* export/weights_experts.c - the matrices of a layer's experts, whether a checkpoint has them in one tensor (Meta, GGUF) or one by one (Hugging Face). */
#include "export/weight_names.h"
#include "graph/derived.h"

#include <stdio.h>

enum { EXPERTS_MAX = 4096 };

/* w1, w2, w3 under the names of families, %d: layer and expert. */
static const char *const single_names[][3] = {
    {"layers.%d.mlp.experts.%d.gate_proj.weight", "layers.%d.mlp.experts.%d.down_proj.weight", "layers.%d.mlp.experts.%d.up_proj.weight"},
    {"layers.%d.block_sparse_moe.experts.%d.w1.weight", "layers.%d.block_sparse_moe.experts.%d.w2.weight", "layers.%d.block_sparse_moe.experts.%d.w3.weight"},
};

static void single_name(const struct wick_weights *w, const char *format, int layer, int expert, char out[WICK_WEIGHT_NAME_MAX])
{
    int used = snprintf(out, WICK_WEIGHT_NAME_MAX, "%s", w->inner_prefix ? w->inner_prefix : "model.");
    snprintf(out + used, WICK_WEIGHT_NAME_MAX - (size_t)used, format, layer, expert);
}

static wick_status one_by_one(struct wick_weights *w, int layer, int which, int64_t experts, int64_t hidden, int64_t dim, struct wick_source **source, wick_error *err)
{
    char text[WICK_WEIGHT_NAME_MAX];
    const char *format = single_names[0][which];
    for (size_t i = 0; i < WICK_ARRAY_SIZE(single_names); i++) {
        single_name(w, single_names[i][which], layer, 0, text);
        if (wick_checkpoint_find(w->checkpoint, text)) format = single_names[i][which];
    }
    struct wick_source **parts = WICK_NEW_ARRAY(w->arena, struct wick_source *, (size_t)experts);
    if (!parts) return wick_fail_oom(err, (size_t)experts * sizeof *parts, "experts");
    for (int e = 0; e < experts; e++) {
        single_name(w, format, layer, e, text);
        WICK_TRY(wick_weights_named(w, text, which == 1 ? dim : hidden, which == 1 ? hidden : dim, &parts[e], err));
    }
    *source = wick_source_stacked(w->arena, parts, (size_t)experts);
    return *source ? WICK_OK : wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: the experts of layer %d do not go together", layer);
}

wick_status wick_weights_experts(struct wick_weights *w, int layer, int which, int64_t experts, int64_t hidden, int64_t dim, struct wick_source **source, bool *by_hidden,
                                 wick_error *err)
{
    static const char *const meta[] = {"layers.%d.block_sparse_moe.cond_ffn.w1", "layers.%d.block_sparse_moe.cond_ffn.w2", "layers.%d.block_sparse_moe.cond_ffn.w3"};
    static const char *const gguf[] = {"blk.%d.ffn_gate_exps.weight", "blk.%d.ffn_down_exps.weight", "blk.%d.ffn_up_exps.weight"};
    char text[WICK_WEIGHT_NAME_MAX];
    if (experts < 1 || experts > EXPERTS_MAX) return wick_fail(err, WICK_NOT_SUPPORTED, "%lld experts: not supported (1 to %d are)", (long long)experts, EXPERTS_MAX);
    *by_hidden = w->naming == WICK_NAMING_META;
    if (w->naming == WICK_NAMING_HF) return one_by_one(w, layer, which, experts, hidden, dim, source, err);
    snprintf(text, sizeof text, w->naming == WICK_NAMING_META ? meta[which] : gguf[which], layer);
    bool narrowing = which == 1 && !*by_hidden;
    return wick_weights_named(w, text, experts * (narrowing ? dim : hidden), narrowing ? hidden : dim, source, err);
}
