/* export/hparams_gguf_mixers.c - what GGUF metadata say about experts and layers that are not attention. */
#include "export/hparams.h"

#include "checkpoint/checkpoint.h"

#include <stdio.h>

static bool read_int(const struct wick_checkpoint *ckpt, struct wick_str arch, const char *name, int64_t *to)
{
    char key[128];
    snprintf(key, sizeof key, "%.*s.%s", (int)WICK_MIN(arch.size, (size_t)64), arch.data, name);
    return wick_checkpoint_meta_int(ckpt, key, to, NULL) == WICK_OK;
}

static wick_status read_experts(struct wick_hparams *h, const struct wick_checkpoint *ckpt, struct wick_str arch, wick_error *err)
{
    int64_t experts = 0, gating = 0, shared = 0;
    if (!read_int(ckpt, arch, "expert_count", &experts) || experts == 0) return WICK_OK;
    h->moe = true;
    h->num_experts = experts;
    (void)read_int(ckpt, arch, "expert_used_count", &h->num_activated_experts);
    (void)read_int(ckpt, arch, "expert_feed_forward_length", &h->moe_hidden_dim);
    if (read_int(ckpt, arch, "expert_gating_func", &gating) && gating > 1)
        return wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: expert_gating_func %lld: not supported (softmax, 1, is)", (long long)gating);
    if (read_int(ckpt, arch, "expert_shared_count", &shared) && shared > 0) return wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: shared experts: not supported");
    return WICK_OK;
}

/* Layers with a short convolution have its tensors, and no heads of keys: the number of heads is then a list. */
static wick_status read_short_conv(struct wick_hparams *h, const struct wick_checkpoint *ckpt, struct wick_str arch, wick_error *err)
{
    char name[128];
    int64_t width;
    struct wick_meta_array heads;
    if (!read_int(ckpt, arch, "shortconv.l_cache", &width)) return WICK_OK;
    if (width != 3) return wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: shortconv.l_cache %lld: not supported (3 is)", (long long)width);
    if (h->n_layers < 1 || h->n_layers > WICK_LAYERS_MAX) return wick_fail(err, WICK_INVALID_CONFIG, "GGUF: block_count %lld", (long long)h->n_layers);
    h->layer_kind_count = (int)h->n_layers;
    for (int i = 0; i < h->layer_kind_count; i++) {
        snprintf(name, sizeof name, "blk.%d.shortconv.conv.weight", i);
        h->layer_kinds[i] = wick_checkpoint_find(ckpt, name) ? WICK_LAYER_CONV : WICK_LAYER_ATTENTION;
    }
    snprintf(name, sizeof name, "%.*s.attention.head_count_kv", (int)WICK_MIN(arch.size, (size_t)64), arch.data);
    if (wick_checkpoint_meta_array(ckpt, name, WICK_META_INTS, &heads, NULL) != WICK_OK) return WICK_OK;
    for (size_t i = 0; i < heads.count; i++)
        if (wick_meta_array_int(&heads, i) > 0) h->n_kv_heads = wick_meta_array_int(&heads, i);
    return WICK_OK;
}

wick_status wick_hparams_gguf_mixers(struct wick_hparams *h, const struct wick_checkpoint *ckpt, wick_error *err)
{
    struct wick_str arch;
    WICK_TRY(wick_checkpoint_meta_str(ckpt, "general.architecture", &arch, err));
    WICK_TRY(read_experts(h, ckpt, arch, err));
    return read_short_conv(h, ckpt, arch, err);
}
