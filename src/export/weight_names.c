/* export/weight_names.c - tables of weight_names.h. Next: weights.c. */
#include "export/weight_names.h"

#include <stdio.h>

struct names {
    const char *meta, *hf, *gguf; /* NULL: the convention has it under another row, or not at all */
};

static const struct names layer_names[] = {
    {"attention.wq.weight", "self_attn.q_proj.weight", "attn_q.weight"},
    {"attention.wk.weight", "self_attn.k_proj.weight", "attn_k.weight"},
    {"attention.wv.weight", "self_attn.v_proj.weight", "attn_v.weight"},
    {"attention.wo.weight", "self_attn.o_proj.weight", "attn_output.weight"},
    {"attention.wo.weight", "self_attn.out_proj.weight", NULL},
    {"attention.wqkv.weight", "self_attn.qkv_proj.weight", "attn_qkv.weight"},
    {"attention.wo.bias", "self_attn.o_proj.bias", "attn_output.bias"},
    {"attention.wq.bias", "self_attn.q_proj.bias", "attn_q.bias"},
    {"attention.wk.bias", "self_attn.k_proj.bias", "attn_k.bias"},
    {"attention.wv.bias", "self_attn.v_proj.bias", "attn_v.bias"},
    {"attention.q_norm_fn.weight", "self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"attention.k_norm_fn.weight", "self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"attention.q_norm_fn.weight", "self_attn.q_layernorm.weight", NULL},
    {"attention.k_norm_fn.weight", "self_attn.k_layernorm.weight", NULL},
    {"attention_norm.weight", "input_layernorm.weight", "attn_norm.weight"},
    {"attention_norm.weight", "operator_norm.weight", NULL},
    {"ffn_norm.weight", "pre_feedforward_layernorm.weight", "ffn_norm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight", NULL},
    {"ffn_norm.weight", "ffn_norm.weight", "post_attention_norm.weight"},
    {"post_attention_norm.weight", "post_attention_layernorm.weight", "post_attention_norm.weight"},
    {"post_ffn_norm.weight", "post_feedforward_layernorm.weight", "post_ffw_norm.weight"},
    {"attention.og.weight", NULL, NULL},
    {"add_attn.gate", NULL, NULL},
    {"add_ffn.gate", NULL, NULL},
    {"feed_forward.w1.weight", "mlp.gate_proj.weight", "ffn_gate.weight"},
    {"feed_forward.w2.weight", "mlp.down_proj.weight", "ffn_down.weight"},
    {"feed_forward.w3.weight", "mlp.up_proj.weight", "ffn_up.weight"},
    {"feed_forward.w13.weight", "mlp.gate_up_proj.weight", "ffn_up.weight"},
    {"feed_forward.w1.bias", "mlp.gate_proj.bias", "ffn_gate.bias"},
    {"feed_forward.w2.bias", "mlp.down_proj.bias", "ffn_down.bias"},
    {"feed_forward.w3.bias", "mlp.up_proj.bias", "ffn_up.bias"},
    {"feed_forward.w1.weight", "feed_forward.w1.weight", NULL},
    {"feed_forward.w2.weight", "feed_forward.w2.weight", NULL},
    {"feed_forward.w3.weight", "feed_forward.w3.weight", NULL},
    /* Short convolutions. */
    {"conv.B_proj.weight", NULL, NULL},
    {"conv.C_proj.weight", NULL, NULL},
    {"conv.x_proj.weight", NULL, NULL},
    {"conv.in_proj.weight", "conv.in_proj.weight", "shortconv.in_proj.weight"},
    {"conv.conv.weight", "conv.conv.weight", "shortconv.conv.weight"},
    {"conv.out_proj.weight", "conv.out_proj.weight", "shortconv.out_proj.weight"},
    /* Linear attention. */
    {"attention.in_proj_qkv.weight", "linear_attn.in_proj_qkv.weight", NULL},
    {"attention.in_proj_z.weight", "linear_attn.in_proj_z.weight", NULL},
    {"attention.in_proj_b.weight", "linear_attn.in_proj_b.weight", NULL},
    {"attention.in_proj_a.weight", "linear_attn.in_proj_a.weight", NULL},
    {"attention.conv1d.weight", "linear_attn.conv1d.weight", NULL},
    {"attention.dt_bias", "linear_attn.dt_bias", NULL},
    {"attention.A_log", "linear_attn.A_log", NULL},
    {"attention.norm.weight", "linear_attn.norm.weight", NULL},
    {"attention.out_proj.weight", "linear_attn.out_proj.weight", NULL},
    /* Mixtures of experts; Hugging Face's experts are tensors of their own: weights_experts.c. */
    {"block_sparse_moe.gate.weight", "mlp.gate.weight", "ffn_gate_inp.weight"},
    {"block_sparse_moe.gate.weight", "block_sparse_moe.gate.weight", NULL},
    {"block_sparse_moe.expert_bias", "mlp.gate.e_score_correction_bias", "exp_probs_b.bias"},
    {"block_sparse_moe.shared_expert.w1.weight", "mlp.shared_expert.gate_proj.weight", "ffn_gate_shexp.weight"},
    {"block_sparse_moe.shared_expert.w2.weight", "mlp.shared_expert.down_proj.weight", "ffn_down_shexp.weight"},
    {"block_sparse_moe.shared_expert.w3.weight", "mlp.shared_expert.up_proj.weight", "ffn_up_shexp.weight"},
};

static const struct names top_names[] = {
    {"tok_embeddings.weight", "embed_tokens.weight", "token_embd.weight"},
    {"norm.weight", "norm.weight", "output_norm.weight"},
    {"norm.weight", "embedding_norm.weight", "token_embd_norm.weight"},
    {"output.weight", "lm_head.weight", "output.weight"},
};

/* torchtune renames parts of Meta's names, and keeps the order of rows. */
static const struct {
    const char *meta, *tune;
} tune_names[] = {
    {"attention.wq.", "attn.q_proj."}, {"attention.wk.", "attn.k_proj."}, {"attention.wv.", "attn.v_proj."}, {"attention.wo.", "attn.output_proj."},
    {"attention.q_norm_fn.weight", "attn.q_norm.scale"}, {"attention.k_norm_fn.weight", "attn.k_norm.scale"},
    {"attention_norm.weight", "sa_norm.scale"}, {"ffn_norm.weight", "mlp_norm.scale"}, {"feed_forward.", "mlp."}, {"norm.weight", "norm.scale"},
};

static bool tune_name(const char *meta, char *out, size_t size)
{
    for (size_t i = 0; i < WICK_ARRAY_SIZE(tune_names); i++) {
        size_t n = strlen(tune_names[i].meta);
        if (strncmp(meta, tune_names[i].meta, n) == 0) return snprintf(out, size, "%s%s", tune_names[i].tune, meta + n) > 0;
    }
    return snprintf(out, size, "%s", meta) > 0;
}

/* Parts that lie one below the other. */
static const struct {
    const char *name, *whole;
    int index, count; /* equal parts; count 0: q, k and v, as many rows as they have heads */
} cuts[] = {
    {"conv.B_proj.weight", "conv.in_proj.weight", 0, 3},
    {"conv.C_proj.weight", "conv.in_proj.weight", 1, 3},
    {"conv.x_proj.weight", "conv.in_proj.weight", 2, 3},
    {"attention.wq.weight", "attention.wqkv.weight", 0, 0},
    {"attention.wk.weight", "attention.wqkv.weight", 1, 0},
    {"attention.wv.weight", "attention.wqkv.weight", 2, 0},
    {"feed_forward.w1.weight", "feed_forward.w13.weight", 0, 2},
    {"feed_forward.w3.weight", "feed_forward.w13.weight", 1, 2},
};

static const char *in_convention(const struct names *n, enum wick_naming naming)
{
    return naming == WICK_NAMING_META ? n->meta : naming == WICK_NAMING_HF ? n->hf : n->gguf;
}

/* Hugging Face puts a model inside a multi-modal one under another prefix; the head stands outside of both. */
static const char *prefix(const struct wick_weights *w, const char *text)
{
    if (w->naming != WICK_NAMING_HF || strncmp(text, "lm_head", 7) == 0) return "";
    return w->inner_prefix ? w->inner_prefix : "model.";
}

bool wick_weight_name(const struct wick_weights *w, int layer, const char *name, size_t i, char out[WICK_WEIGHT_NAME_MAX])
{
    const struct names *table = layer >= 0 ? layer_names : top_names;
    size_t n = layer >= 0 ? WICK_ARRAY_SIZE(layer_names) : WICK_ARRAY_SIZE(top_names);
    out[0] = 0;
    if (w->naming == WICK_NAMING_TUNE) {
        int begin = layer >= 0 ? snprintf(out, WICK_WEIGHT_NAME_MAX, "layers.%d.", layer) : 0;
        return i == 0 && tune_name(name, out + begin, WICK_WEIGHT_NAME_MAX - (size_t)begin);
    }
    for (size_t k = 0; k < n; k++) {
        const char *text = strcmp(table[k].meta, name) == 0 ? in_convention(&table[k], w->naming) : NULL;
        if (!text || i-- > 0) continue;
        if (layer < 0) snprintf(out, WICK_WEIGHT_NAME_MAX, "%s%s", prefix(w, text), text);
        else snprintf(out, WICK_WEIGHT_NAME_MAX, "%s%s.%d.%s", prefix(w, text), w->naming == WICK_NAMING_GGUF ? "blk" : "layers", layer, text);
        return true;
    }
    return false;
}

bool wick_weight_cut(const struct wick_weights *w, const char *name, int64_t rows, const char **whole, int64_t *first, int64_t *total)
{
    const struct wick_hparams *h = w->hparams;
    int64_t q = h->n_heads * h->head_dim, kv = h->n_kv_heads * h->head_dim;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cuts); i++) {
        if (strcmp(cuts[i].name, name) != 0) continue;
        *whole = cuts[i].whole;
        *first = cuts[i].count ? cuts[i].index * rows : cuts[i].index == 0 ? 0 : q + (cuts[i].index - 1) * kv;
        *total = cuts[i].count ? cuts[i].count * rows : q + 2 * kv;
        return true;
    }
    return false;
}
