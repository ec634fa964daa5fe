/* models/qwen3_moe/family.c - Qwen 3 with experts (30B-A3B by default). Source: the model card of Qwen/Qwen3-30B-A3B. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const hf_types[] = {"qwen3_moe", NULL};
static const char *const gguf_types[] = {"qwen3moe", NULL};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    h->dim = 2048;
    h->hidden_dim = 6144;
    h->n_layers = 48;
    h->n_heads = 32;
    h->n_kv_heads = 4;
    h->head_dim = 128;
    h->vocab_size = 151936;
    h->norm_eps = 1e-6;
    h->rope_theta = 1e6;
    h->use_hf_rope = h->use_qk_norm = h->qk_norm_before_rope = true;
    h->moe = true;
    h->num_experts = 128;
    h->num_activated_experts = 8;
    h->moe_hidden_dim = 768;
    h->moe_score_func = WICK_MOE_SOFTMAX;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_qwen3_moe = {.name = "qwen3_moe", .model_classes = hf_types, .hf_types = hf_types, .gguf_types = gguf_types,
                                                  .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
