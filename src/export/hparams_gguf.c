/* export/hparams_gguf.c - hyper-parameters from GGUF metadata. Next: the family's adjust, wick_hparams_finish. */
#include "export/hparams.h"

#include "checkpoint/checkpoint.h"

#include <stdio.h>

/* Llama 3.1's scaling is stored as one divisor a frequency. */
static wick_status read_rope_factors(struct wick_hparams *h, const struct wick_checkpoint *ckpt, wick_error *err)
{
    const struct wick_ckpt_tensor *factors = wick_checkpoint_find(ckpt, "rope_freqs.weight");
    h->rope_scaling = WICK_ROPE_PLAIN; /* a class's scaling is not this file's */
    h->rope_factor_count = h->rope_long_count = 0;
    if (!factors) return WICK_OK;
    if (factors->numel > WICK_ARRAY_SIZE(h->rope_factors)) return wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: rope_freqs.weight has %llu values", (unsigned long long)factors->numel);
    h->rope_factor_count = (int)factors->numel;
    h->rope_scaling = WICK_ROPE_FACTORS;
    return wick_ckpt_read_f32(factors, 0, factors->numel, h->rope_factors, err);
}

wick_status wick_hparams_load_gguf(struct wick_hparams *h, const struct wick_checkpoint *ckpt, wick_error *err)
{
    struct wick_str arch, scaling;
    char key[128];
    WICK_TRY(wick_checkpoint_meta_str(ckpt, "general.architecture", &arch, err));
    int n = (int)WICK_MIN(arch.size, (size_t)64);
    const struct {
        const char *name;
        int64_t *to;
    } ints[] = {{"embedding_length", &h->dim}, {"block_count", &h->n_layers}, {"attention.head_count", &h->n_heads}, {"attention.head_count_kv", &h->n_kv_heads},
                {"attention.key_length", &h->head_dim}, {"feed_forward_length", &h->hidden_dim}, {"vocab_size", &h->vocab_size}};
    /* Absent keys leave the defaults; finish() judges the values. */
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ints); i++) {
        snprintf(key, sizeof key, "%.*s.%s", n, arch.data, ints[i].name);
        (void)wick_checkpoint_meta_int(ckpt, key, ints[i].to, NULL);
    }
    int64_t window = 0;
    snprintf(key, sizeof key, "%.*s.attention.sliding_window", n, arch.data);
    if (wick_checkpoint_meta_int(ckpt, key, &window, NULL) == WICK_OK && window > 0 && window <= INT32_MAX)
        for (int i = 0; i < WICK_LAYERS_MAX; i++)
            if (h->layer_windows[i]) h->layer_windows[i] = (int32_t)window; /* the family says which layers slide */
    h->rms_norm_add_unit_offset = false; /* such files have it in the weights */
    snprintf(key, sizeof key, "%.*s.attention.layer_norm_rms_epsilon", n, arch.data);
    (void)wick_checkpoint_meta_float(ckpt, key, &h->norm_eps, NULL);
    snprintf(key, sizeof key, "%.*s.rope.freq_base", n, arch.data);
    (void)wick_checkpoint_meta_float(ckpt, key, &h->rope_theta, NULL);
    const struct wick_ckpt_tensor *embedding = wick_checkpoint_find(ckpt, "token_embd.weight");
    if (embedding && embedding->rank == 2) h->vocab_size = embedding->sizes[0];
    h->tied_embeddings = !wick_checkpoint_find(ckpt, "output.weight");
    snprintf(key, sizeof key, "%.*s.rope.scaling.type", n, arch.data);
    if (wick_checkpoint_meta_str(ckpt, key, &scaling, NULL) == WICK_OK && !wick_str_is(scaling, "none"))
        return wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: %s=%.*s: not supported", key, (int)WICK_MIN(scaling.size, (size_t)64), scaling.data);
    WICK_TRY(wick_hparams_gguf_mixers(h, ckpt, err));
    return read_rope_factors(h, ckpt, err);
}
