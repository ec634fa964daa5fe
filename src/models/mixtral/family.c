/* models/mixtral/family.c - Mixtral: Llama with 8 experts, 2 a token. Source: the model card of mistralai/Mixtral-8x7B-v0.1. In GGUF it calls itself llama. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const names[] = {"mixtral", NULL};
static const char *const none[] = {NULL};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    h->dim = 4096;
    h->hidden_dim = 14336;
    h->n_layers = 32;
    h->n_heads = 32;
    h->n_kv_heads = 8;
    h->vocab_size = 32000;
    h->norm_eps = 1e-5;
    h->rope_theta = 1e6;
    h->moe = true;
    h->num_experts = 8;
    h->num_activated_experts = 2;
    h->moe_score_func = WICK_MOE_SOFTMAX;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_mixtral = {.name = "mixtral", .model_classes = names, .hf_types = names, .gguf_types = none,
                                                .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
