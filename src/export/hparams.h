/* export/hparams.h - a decoder's hyper-parameters: the original's ModelArgs, from params.json, a Hugging Face config.json or GGUF metadata. */
#ifndef WICK_EXPORT_HPARAMS_H
#define WICK_EXPORT_HPARAMS_H

#include "base/error.h"

struct wick_checkpoint;

struct wick_hparams {
    int64_t dim, n_layers, n_heads, n_kv_heads, head_dim, hidden_dim, vocab_size, multiple_of;
    double ffn_dim_multiplier; /* 0: absent */
    double norm_eps, rope_theta;
    bool use_scaled_rope;      /* Llama 3.1's frequency scaling */
    double rope_scale_factor, low_freq_factor, high_freq_factor, old_context;
    bool rope_scale_given;     /* the checkpoint itself says the factor (Hugging Face), not the model class */
    int rope_factor_count;     /* divisors of the frequencies, stored by the checkpoint (GGUF); 0: none */
    float rope_factors[512];
    bool tied_embeddings;      /* the head is the embedding when the checkpoint has no head of its own */
};

/* The defaults of ModelArgs. */
void wick_hparams_init(struct wick_hparams *h);
/* Reads params.json. Unknown keys are refused by name; keys that ask for what this build has not (MoE, qk-norm, biases ...) are refused when
 * set. */
wick_status wick_hparams_load(struct wick_hparams *h, const char *path, wick_error *err);
/* Reads a Hugging Face config.json (rope_scaling in its old and new spellings; unknown kinds refused by name). */
wick_status wick_hparams_load_hf(struct wick_hparams *h, const char *path, wick_error *err);
/* Reads `<arch>.*` metadata of a GGUF checkpoint. */
wick_status wick_hparams_load_gguf(struct wick_hparams *h, const struct wick_checkpoint *ckpt, wick_error *err);
/* Derived values (n_kv_heads, head_dim, hidden_dim) and limits. */
wick_status wick_hparams_finish(struct wick_hparams *h, wick_error *err);
/* Parameters of the model, embedding and head once each. */
uint64_t wick_hparams_parameters(const struct wick_hparams *h, bool separate_head);

#endif
