/* export/weights.c - names of the three conventions and the source that reads a checkpoint's rows. Next: decoder.c. */
#include "export/weights.h"

#include "tensor/half.h"

#include <stdio.h>
#include <stdlib.h>

/* The same weight under three conventions; %d is the layer. */
static const struct {
    const char *meta, *hf, *gguf;
} layer_names[] = {
    {"attention.wq.weight", "self_attn.q_proj.weight", "attn_q.weight"},
    {"attention.wk.weight", "self_attn.k_proj.weight", "attn_k.weight"},
    {"attention.wv.weight", "self_attn.v_proj.weight", "attn_v.weight"},
    {"attention.wo.weight", "self_attn.o_proj.weight", "attn_output.weight"},
    {"attention.wq.bias", "self_attn.q_proj.bias", "attn_q.bias"},
    {"attention.wk.bias", "self_attn.k_proj.bias", "attn_k.bias"},
    {"attention.wv.bias", "self_attn.v_proj.bias", "attn_v.bias"},
    {"attention_norm.weight", "input_layernorm.weight", "attn_norm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight", "ffn_norm.weight"},
    {"feed_forward.w1.weight", "mlp.gate_proj.weight", "ffn_gate.weight"},
    {"feed_forward.w2.weight", "mlp.down_proj.weight", "ffn_down.weight"},
    {"feed_forward.w3.weight", "mlp.up_proj.weight", "ffn_up.weight"},
}, top_names[] = {
    {"tok_embeddings.weight", "model.embed_tokens.weight", "token_embd.weight"},
    {"norm.weight", "model.norm.weight", "output_norm.weight"},
    {"output.weight", "lm_head.weight", "output.weight"},
};

static const char *convention(const char *meta, const char *hf, const char *gguf, enum wick_naming naming)
{
    return naming == WICK_NAMING_META ? meta : naming == WICK_NAMING_HF ? hf : gguf;
}

static bool name_in(const struct wick_weights *w, int layer, const char *name, char out[128])
{
    static const char *const prefixes[] = {"layers.%d.", "model.layers.%d.", "blk.%d."};
    out[0] = 0;
    int used = 0;
    if (layer >= 0) used = snprintf(out, 128, prefixes[w->naming], layer);
    size_t n = layer >= 0 ? WICK_ARRAY_SIZE(layer_names) : WICK_ARRAY_SIZE(top_names);
    for (size_t i = 0; i < n; i++) {
        const char *meta = layer >= 0 ? layer_names[i].meta : top_names[i].meta;
        if (strcmp(meta, name) != 0) continue;
        const char *text = layer >= 0 ? convention(meta, layer_names[i].hf, layer_names[i].gguf, w->naming) : convention(meta, top_names[i].hf, top_names[i].gguf, w->naming);
        snprintf(out + used, 128 - (size_t)used, "%s", text);
        return true;
    }
    return false;
}

wick_status wick_weights_init(struct wick_weights *w, struct wick_arena *arena, struct wick_checkpoint *checkpoint, const struct wick_hparams *h, wick_error *err)
{
    *w = (struct wick_weights){.arena = arena, .checkpoint = checkpoint, .hparams = h, .rounding = -1};
    for (int naming = WICK_NAMING_META; naming <= WICK_NAMING_GGUF; naming++) {
        w->naming = (enum wick_naming)naming;
        if (wick_weights_has(w, -1, "tok_embeddings.weight")) return WICK_OK;
    }
    return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: none of tok_embeddings.weight, model.embed_tokens.weight, token_embd.weight is in it; its naming is not known");
}

bool wick_weights_has(const struct wick_weights *w, int layer, const char *name)
{
    char text[128];
    return name_in(w, layer, name, text) && wick_checkpoint_find(w->checkpoint, text) != NULL;
}

/* A matrix of the checkpoint. half: rows of each head of this many are read from halves order (Hugging Face) into
 * interleaved order; 0: as they are. */
struct checkpoint_rows {
    struct wick_checkpoint *checkpoint;
    const struct wick_ckpt_tensor *tensor;
    size_t head_dim;
    int rounding;
};

static size_t source_row(const struct checkpoint_rows *c, size_t row)
{
    if (c->head_dim == 0) return row;
    size_t head = row / c->head_dim, p = row % c->head_dim;
    return head * c->head_dim + (p % 2) * (c->head_dim / 2) + p / 2;
}

static void round_to(float *x, size_t n, int dtype)
{
    if (dtype == WICK_DTYPE_BF16)
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_bf16(wick_bf16_from_f32(x[i]));
    else if (dtype == WICK_DTYPE_F16)
        for (size_t i = 0; i < n; i++) x[i] = wick_f32_from_f16(wick_f16_from_f32(x[i]));
}

static wick_status read_rows(struct wick_source *source, size_t first, size_t count, float *out, wick_error *err)
{
    const struct checkpoint_rows *c = source->data;
    size_t columns = wick_source_columns(source);
    if (c->head_dim == 0) WICK_TRY(wick_ckpt_read_f32(c->tensor, first * columns, count * columns, out, err));
    else
        for (size_t r = 0; r < count; r++) WICK_TRY(wick_ckpt_read_f32(c->tensor, source_row(c, first + r) * columns, columns, out + r * columns, err));
    round_to(out, count * columns, c->rounding);
    return WICK_OK;
}

static void rows_done(struct wick_source *source)
{
    const struct checkpoint_rows *c = source->data;
    wick_ckpt_tensor_done(c->checkpoint, c->tensor);
}

static wick_status cannot_produce(struct wick_source *source, const struct wick_production *to, wick_error *err)
{
    (void)source;
    (void)to;
    return wick_fail(err, WICK_INTERNAL, "a checkpoint source is written through a cast");
}

static int stored_dtype(const struct wick_ckpt_tensor *tensor)
{
    return tensor->storage == WICK_CKPT_F16 ? WICK_DTYPE_F16 : tensor->storage == WICK_CKPT_BF16 ? WICK_DTYPE_BF16 : WICK_DTYPE_F32;
}

static wick_status check_shape(const struct wick_ckpt_tensor *t, const char *name, int64_t rows, int64_t columns, wick_error *err)
{
    bool fits = columns ? t->rank == 2 && t->sizes[0] == rows && t->sizes[1] == columns : t->rank == 1 && t->sizes[0] == rows;
    if (fits) return WICK_OK;
    char text[96] = "";
    int used = 0;
    for (int i = 0; i < (int)t->rank && used < 80; i++) used += snprintf(text + used, sizeof text - (size_t)used, i ? ", %lld" : "%lld", (long long)t->sizes[i]);
    return columns ? wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is [%s], the model wants [%lld, %lld]", name, text, (long long)rows, (long long)columns)
                   : wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is [%s], the model wants [%lld]", name, text, (long long)rows);
}

wick_status wick_weights_find(struct wick_weights *w, int layer, const char *name, int64_t rows, int64_t columns, struct wick_source **source, wick_error *err)
{
    char text[128];
    const struct wick_ckpt_tensor *tensor = name_in(w, layer, name, text) ? wick_checkpoint_find(w->checkpoint, text) : NULL;
    if (!tensor && layer < 0 && strcmp(name, "output.weight") == 0) return wick_weights_find(w, -1, "tok_embeddings.weight", rows, columns, source, err);
    if (!tensor) return wick_fail(err, WICK_INVALID_CHECKPOINT, "checkpoint: %s is missing", text[0] ? text : name);
    WICK_TRY(check_shape(tensor, text, rows, columns, err));
    struct checkpoint_rows *c = WICK_NEW(w->arena, struct checkpoint_rows);
    struct wick_source *s = WICK_NEW(w->arena, struct wick_source);
    if (!c || !s) return wick_fail_oom(err, sizeof *s, text);
    bool rotated = strcmp(name, "attention.wq.weight") == 0 || strcmp(name, "attention.wk.weight") == 0;
    *c = (struct checkpoint_rows){w->checkpoint, tensor, rotated && w->naming == WICK_NAMING_HF ? (size_t)w->hparams->head_dim : 0, w->rounding};
    int32_t sizes[2] = {(int32_t)rows, (int32_t)columns};
    *s = (struct wick_source){.shape = wick_shape_make(WICK_DTYPE_F32, columns ? 2 : 1, sizes), .produce = cannot_produce, .rows = read_rows, .done = rows_done,
                              .stored_dtype = w->rounding >= 0 ? w->rounding : stored_dtype(tensor), .data = c};
    *source = s;
    return WICK_OK;
}
