/* export/rotations.c - which rotation turns which side of which weight. Next: decoder/build.c, which asks for each weight here.
 *
 * x is a row. The stream x becomes x R1; its RMS does not change, and norms' weights move into the linears that follow, so that they commute. A linear
 * y = x W^T that reads the stream becomes W R1, one that writes it R1^T W. Heads: wv becomes R2^T wv, wo becomes wo R2. w2 becomes w2 R4 and takes x R4. */
#include "export/rotations.h"

#include "graph/derived.h"

#include <stdio.h>

enum { SEED = 1, R4_LEAST = 8 };

static bool has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += size)
        if ((at == list || at[-1] == ',' || at[-1] == ' ') && (at[size] == 0 || at[size] == ',' || at[size] == ' ')) return true;
    return false;
}

static wick_status check_words(const char *list, wick_error *err)
{
    static const char *const words[] = {"r1", "r2", "r3", "r4"};
    for (const char *at = list; *at;) {
        size_t size = strcspn(at, ", ");
        bool known = size == 0;
        for (size_t i = 0; i < WICK_ARRAY_SIZE(words); i++) known |= size == 2 && strncmp(at, words[i], 2) == 0;
        if (!known) return wick_fail(err, WICK_INVALID_CONFIG, "wick.quantization.rotations: '%.*s' is none of r1, r2, r3, r4", (int)WICK_MIN(size, (size_t)32), at);
        at += size + (at[size] != 0);
    }
    return WICK_OK;
}

/* ---- matrices ---- */

static wick_status read_matrix(const struct wick_checkpoint *file, const char *name, size_t n, struct wick_arena *arena, const struct wick_rotator **r, wick_error *err)
{
    const struct wick_ckpt_tensor *t = wick_checkpoint_find(file, name);
    if (!t) return wick_fail(err, WICK_INVALID_CHECKPOINT, "wick.quantization.rotation_file: %s is missing", name);
    if (t->rank != 2 || (size_t)t->sizes[0] != n || (size_t)t->sizes[1] != n)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "wick.quantization.rotation_file: %s is not [%zu, %zu]", name, n, n);
    float *matrix = WICK_NEW_ARRAY(arena, float, n * n);
    if (!matrix) return wick_fail_oom(err, n * n * sizeof *matrix, name);
    WICK_TRY(wick_ckpt_read_f32(t, 0, n * n, matrix, err));
    return wick_rotator_given(r, arena, n, matrix, name, err);
}

static wick_status read_file(struct wick_rotations *r, const struct wick_checkpoint *file, bool r1, bool r2, const struct wick_hparams *h, struct wick_arena *arena, wick_error *err)
{
    char name[64];
    if (r1) WICK_TRY(read_matrix(file, "R1", (size_t)h->dim, arena, &r->r1, err));
    for (int layer = 0; r2 && layer < (int)h->n_layers; layer++) {
        snprintf(name, sizeof name, "model.layers.%d.self_attn.R2", layer);
        WICK_TRY(read_matrix(file, name, (size_t)h->head_dim, arena, &r->r2[layer], err));
    }
    return WICK_OK;
}

static wick_status make_hadamard(struct wick_rotations *r, bool r1, bool r2, const struct wick_hparams *h, struct wick_arena *arena, wick_error *err)
{
    if (r1) WICK_TRY(wick_rotator_hadamard(&r->r1, arena, (size_t)h->dim, SEED, err));
    for (int layer = 0; r2 && layer < (int)h->n_layers; layer++) WICK_TRY(wick_rotator_hadamard(&r->r2[layer], arena, (size_t)h->head_dim, (uint64_t)layer + SEED + 1, err));
    return WICK_OK;
}

static wick_status make_online(struct wick_rotations *r, const char *words, const struct wick_hparams *h, struct wick_arena *arena, wick_error *err)
{
    r->r3 = has_word(words, "r3");
    if (r->r3 && (h->head_dim & (h->head_dim - 1)) != 0)
        return wick_fail(err, WICK_NOT_SUPPORTED, "wick.quantization.rotations: r3 with heads of %lld channels, which is not 2^n: not supported", (long long)h->head_dim);
    if (!has_word(words, "r4")) return WICK_OK;
    for (r->r4_block = 1; h->hidden_dim % (r->r4_block * 2) == 0; r->r4_block *= 2) continue;
    if (r->r4_block < R4_LEAST)
        return wick_fail(err, WICK_NOT_SUPPORTED, "wick.quantization.rotations: r4 with a feed-forward of %lld channels: not supported; leave r4 out", (long long)h->hidden_dim);
    return wick_rotator_hadamard(&r->r4, arena, (size_t)r->r4_block, 0, err);
}

/* Features of a model that a rotation would not commute with. */
static wick_status check_model(const struct wick_config *config, bool r2, const struct wick_hparams *h, wick_error *err)
{
    const char *what = h->moe ? "mixtures of experts" : wick_config_text(config, WICK_KEY_BASE_PREQ_MODE) ? "a checkpoint that is quantized already" : NULL;
    if (r2 && (h->use_q_gate || h->use_attn_o_gate)) what = "r2 and gates over what attention gives";
    if (wick_config_text(config, WICK_KEY_QUANTIZATION_USE_SPIN_QUANT)) what = "quantization.use_spin_quant, whose checkpoint is rotated already";
    return what ? wick_fail(err, WICK_NOT_SUPPORTED, "wick.quantization.rotations with %s: not supported", what) : WICK_OK;
}

wick_status wick_rotations_init(struct wick_rotations *r, const struct wick_config *config, const struct wick_hparams *h, struct wick_arena *arena, wick_error *err)
{
    const char *words = wick_config_text(config, WICK_KEY_WICK_QUANTIZATION_ROTATIONS), *path = wick_config_text(config, WICK_KEY_WICK_QUANTIZATION_ROTATION_FILE);
    *r = (struct wick_rotations){0};
    if (!words) return path ? wick_fail(err, WICK_INVALID_CONFIG, "wick.quantization.rotation_file: needs wick.quantization.rotations") : WICK_OK;
    bool r1 = has_word(words, "r1"), r2 = has_word(words, "r2");
    WICK_TRY(check_words(words, err));
    WICK_TRY(check_model(config, r2, h, err));
    r->on = true;
    WICK_TRY(make_online(r, words, h, arena, err));
    if (!path) return make_hadamard(r, r1, r2, h, arena, err);
    struct wick_checkpoint *file;
    WICK_TRY(wick_checkpoint_open(&file, path, err));
    wick_status status = read_file(r, file, r1, r2, h, arena, err);
    wick_checkpoint_close(file);
    return status;
}

void wick_rotations_release(struct wick_rotations *r) { wick_rotated_cache_release(&r->cache); }

/* ---- weights ---- */

enum side { NOTHING, STREAM, HEADS, HIDDEN };

/* What turns a weight: the norm before it, and what its columns (right) and its rows (left) are. */
static const struct {
    const char *name, *norm;
    uint8_t right, left;
} turns[] = {
    {"tok_embeddings.weight", NULL, STREAM, NOTHING},
    {"output.weight", "norm.weight", STREAM, NOTHING},
    {"output.bias", NULL, NOTHING, NOTHING},
    {"attention.wq.weight", "attention_norm.weight", STREAM, NOTHING},
    {"attention.wq.bias", NULL, NOTHING, NOTHING},
    {"attention.wk.weight", "attention_norm.weight", STREAM, NOTHING},
    {"attention.wk.bias", NULL, NOTHING, NOTHING},
    {"attention.wv.weight", "attention_norm.weight", STREAM, HEADS},
    {"attention.wv.bias", NULL, NOTHING, HEADS},
    {"attention.wo.weight", NULL, HEADS, STREAM},
    {"attention.wo.bias", NULL, NOTHING, STREAM},
    {"attention.og.weight", "attention_norm.weight", STREAM, NOTHING},
    {"attention.q_norm_fn.weight", NULL, NOTHING, NOTHING},
    {"attention.k_norm_fn.weight", NULL, NOTHING, NOTHING},
    {"feed_forward.w1.weight", "ffn_norm.weight", STREAM, NOTHING},
    {"feed_forward.w1.bias", NULL, NOTHING, NOTHING},
    {"feed_forward.w3.weight", "ffn_norm.weight", STREAM, NOTHING},
    {"feed_forward.w3.bias", NULL, NOTHING, NOTHING},
    {"feed_forward.w2.weight", NULL, HIDDEN, STREAM},
    {"feed_forward.w2.bias", NULL, NOTHING, STREAM},
};

static const struct wick_rotator *rotator(const struct wick_rotations *r, int layer, enum side side)
{
    return side == STREAM ? r->r1 : side == HEADS ? (layer >= 0 && layer < WICK_LAYERS_MAX ? r->r2[layer] : NULL) : side == HIDDEN ? r->r4 : NULL;
}

static float nothing(float w) { return (void)w, 0.0f; }
static float one(float w) { return (void)w, 1.0f; }

static bool is_folded_norm(const char *name)
{
    return strcmp(name, "norm.weight") == 0 || strcmp(name, "attention_norm.weight") == 0 || strcmp(name, "ffn_norm.weight") == 0;
}

wick_status wick_rotations_apply(struct wick_rotations *r, struct wick_weights *w, int layer, const char *name, struct wick_source **source, wick_error *err)
{
    if (!r->on) return WICK_OK;
    bool one_more = w->hparams->rms_norm_add_unit_offset;
    if (is_folded_norm(name)) {
        /* R1 alone wants the norms' weights out of the way. */
        if (r->r1) *source = wick_source_mapped(w->arena, *source, one_more ? nothing : one);
        return *source ? WICK_OK : wick_fail_oom(err, sizeof **source, name);
    }
    for (size_t i = 0; i < WICK_ARRAY_SIZE(turns); i++) {
        if (strcmp(turns[i].name, name) != 0) continue;
        struct wick_rotation how = {.one_more = one_more, .right = rotator(r, layer, (enum side)turns[i].right), .left = rotator(r, layer, (enum side)turns[i].left),
                                    .cache = &r->cache};
        if (r->r1 && turns[i].norm) WICK_TRY(wick_weights_find(w, layer, turns[i].norm, w->hparams->dim, 0, &how.scale, err));
        if (!how.scale && !how.right && !how.left) return WICK_OK;
        *source = wick_source_rotated(w->arena, *source, &how);
        return *source ? WICK_OK : wick_fail(err, WICK_NOT_SUPPORTED, "wick.quantization.rotations: the sizes of %s: not supported", name);
    }
    return wick_fail(err, WICK_NOT_SUPPORTED, "wick.quantization.rotations with a model that has %s: not supported", name);
}
