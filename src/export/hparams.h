/* export/hparams.h - a decoder's hyper-parameters: the original's ModelArgs, from params.json, a Hugging Face config.json or GGUF metadata. */
#ifndef WICK_EXPORT_HPARAMS_H
#define WICK_EXPORT_HPARAMS_H

#include "base/error.h"

struct wick_checkpoint;

#define WICK_LAYERS_MAX 1024

/* What stands in the first half of a layer: params.json's layer_types. */
enum wick_layer_kind { WICK_LAYER_ATTENTION, WICK_LAYER_CONV, WICK_LAYER_LINEAR_ATTENTION, WICK_LAYER_SKIP_ATTENTION, WICK_LAYER_KIND_COUNT };
enum wick_ffn_kind { WICK_FFN_DENSE, WICK_FFN_MOE };
/* How the frequencies of rotary positions are changed for contexts longer than those of training. */
enum wick_rope_scaling { WICK_ROPE_PLAIN, WICK_ROPE_LLAMA3, WICK_ROPE_LINEAR, WICK_ROPE_DYNAMIC, WICK_ROPE_YARN, WICK_ROPE_LONG, WICK_ROPE_FACTORS };
enum wick_activation { WICK_SILU, WICK_GELU, WICK_GELU_TANH };
/* How experts' scores become their weights. */
enum wick_moe_score { WICK_MOE_SOFTMAX, WICK_MOE_SIGMOID, WICK_MOE_SOFTMAX_ALL };

struct wick_hparams {
    int64_t dim, n_layers, n_heads, n_kv_heads, head_dim, hidden_dim, vocab_size, multiple_of;
    double ffn_dim_multiplier; /* 0: absent */
    double norm_eps;
    bool rms_norm_add_unit_offset; /* norms multiply by 1 + weight */
    enum wick_activation act_fn;

    /* Rotary positions. Interleaved pairs (x[2i], x[2i+1]) as Meta has them, or halves (x[i], x[i+rd/2]) as Hugging Face has. */
    bool use_hf_rope;
    double rope_theta, partial_rotary_factor; /* rd = head_dim * factor channels turn (halves only) */
    bool use_scaled_rope;      /* Llama 3.1's frequency scaling */
    bool rope_scale_given;     /* the checkpoint itself says the factor (Hugging Face), not the model class */
    enum wick_rope_scaling rope_scaling;
    double rope_scale_factor, low_freq_factor, high_freq_factor;
    double old_context;        /* positions of training, before scaling; 0: absent */
    int64_t max_position_embeddings; /* 0: absent */
    double rope_attention_factor; /* of cos and sin; 0: derived from the kind of scaling */
    double yarn_beta_fast, yarn_beta_slow, yarn_mscale, yarn_mscale_all_dim;
    bool yarn_truncate;
    int rope_factor_count, rope_long_count; /* divisors of the frequencies: WICK_ROPE_FACTORS (GGUF), or short and long ones; 0: none */
    float rope_factors[512], rope_long_factors[512];

    bool use_qk_norm, qk_norm_before_rope, qk_norm_affine;
    double scale_query_by;     /* of q after its norm; without that norm it has no effect */
    bool use_q_gate, use_attn_o_gate, use_attn_o_norm, use_residual_gate, use_ffn_learnable_scales;
    bool post_attention_norm, post_ffn_norm; /* norms of what each half adds */
    double embedding_scale_factor;     /* of the embedded tokens */
    double attention_multiplier;       /* of q k^T; 0: 1 / sqrt(head_dim) */
    double attn_logit_softcapping, final_logit_softcapping; /* tanh(x / cap) * cap of scores and logits; 0: none */
    double residual_multiplier;        /* of what each half adds; 0: 1 */
    double logits_scaling;             /* logits are divided by it; 0: 1 */
    int32_t layer_windows[WICK_LAYERS_MAX]; /* positions back that a layer sees, its own included; 0: all */
    uint8_t layer_no_rope[WICK_LAYERS_MAX]; /* 1: the layer does not turn */
    double local_rope_theta;           /* base of layers with a window; 0: the same */
    int64_t num_kv_shared_layers; /* the last layers, which read the cache of the one before them */
    bool attention_qkv_bias, attention_output_bias, mlp_bias;
    uint8_t layer_kinds[WICK_LAYERS_MAX]; /* enum wick_layer_kind */
    int layer_kind_count;      /* 0: every layer is attention */
    bool moe;
    int64_t num_experts, num_activated_experts, moe_hidden_dim, moe_shared_expert_hidden_dim; /* hidden dims: 0 absent */
    bool moe_use_expert_bias;
    enum wick_moe_score moe_score_func;
    double moe_route_scale;
    int64_t linear_conv_kernel_dim, linear_key_head_dim, linear_value_head_dim, linear_num_key_heads, linear_num_value_heads; /* 0: head_dim, n_heads */
    int64_t quantized_group, adapter_rank; /* of a checkpoint of quantized weights, and of adapters trained beside them; 0: it says none */
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
struct json_t;
/* A list of positive numbers into divisors of rope's frequencies. False: it is no such list, or too long. */
bool wick_hparams_set_factors(float factors[512], int *count, const struct json_t *value);
/* Derived values (n_kv_heads, head_dim, hidden_dim) and limits. */
wick_status wick_hparams_finish(struct wick_hparams *h, wick_error *err);
/* Channels of a head that turn with the position. */
int wick_hparams_rotated(const struct wick_hparams *h);
enum wick_layer_kind wick_hparams_layer_kind(const struct wick_hparams *h, int layer);
/* The kind of a name in layer_types: anything unknown is attention, as the original has it. */
enum wick_layer_kind wick_layer_kind_of(const char *name);
const char *wick_layer_kind_name(enum wick_layer_kind kind);
/* Of config.json (a jansson object) and of GGUF: what concerns experts and layers that are not attention; and those that are. */
struct json_t;
wick_status wick_hparams_hf_mixers(struct wick_hparams *h, const char *path, const struct json_t *root, wick_error *err);
wick_status wick_hparams_hf_attention(struct wick_hparams *h, const char *path, const struct json_t *root, wick_error *err);
wick_status wick_hparams_gguf_mixers(struct wick_hparams *h, const struct wick_checkpoint *ckpt, wick_error *err);
/* Of it: what concerns mixtures of experts and layers that are not attention. */
wick_status wick_hparams_finish_mixers(struct wick_hparams *h, wick_error *err);
/* Parameters of one layer. */
uint64_t wick_hparams_layer_parameters(const struct wick_hparams *h, int layer);
/* Parameters of the model, embedding and head once each. */
uint64_t wick_hparams_parameters(const struct wick_hparams *h, bool separate_head);

#endif
