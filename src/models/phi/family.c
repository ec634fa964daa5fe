/* models/phi/family.c - Phi-3, Phi-3.5 and Phi-4 mini: fused projections in Hugging Face's checkpoints, positions for long contexts. Source: the
 * model cards and config.json of microsoft/Phi-4-mini-instruct and microsoft/Phi-3-mini-*-instruct; executorch examples/models/phi_4_mini. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"phi_4_mini", "phi_3_mini", NULL};
static const char *const hf_types[] = {"phi3", NULL};
static const char *const gguf_types[] = {"phi3", NULL};

/* Phi-4-mini's long context; the factors of the short one are all 1. */
static const float long_factors[48] = {
    1.0f,         1.118320672f, 1.250641126f, 1.398617824f, 1.564103225f, 1.74916897f,  1.956131817f, 2.187582649f, 2.446418898f, 2.735880826f, 3.059592084f, 3.421605075f,
    3.826451687f, 4.279200023f, 4.785517845f, 5.351743533f, 5.984965424f, 6.693110555f, 7.485043894f, 8.370679318f, 9.36110372f,  10.4687158f,  11.70738129f, 13.09260651f,
    14.64173252f, 16.37415215f, 18.31155283f, 20.47818807f, 22.90118105f, 25.61086418f, 28.64115884f, 32.03f,       32.1f,        32.13f,       32.23f,       32.6f,
    32.61f,       32.64f,       32.66f,       32.7f,        32.71f,       32.93f,       32.97f,       33.28f,       33.49f,       33.5f,        44.16f,       47.77f};

static void phi_4_mini(struct wick_hparams *h)
{
    h->n_heads = 24;
    h->n_kv_heads = 8;
    h->vocab_size = 200064;
    h->partial_rotary_factor = 0.75;
    h->rope_scaling = WICK_ROPE_LONG;
    h->old_context = 4096;
    h->max_position_embeddings = 131072;
    h->rope_factor_count = h->rope_long_count = (int)WICK_ARRAY_SIZE(long_factors);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(long_factors); i++) h->rope_factors[i] = 1;
    memcpy(h->rope_long_factors, long_factors, sizeof long_factors);
    h->tied_embeddings = true;
}

static void defaults(const char *model_class, struct wick_hparams *h)
{
    h->dim = 3072;
    h->hidden_dim = 8192;
    h->n_layers = 32;
    h->norm_eps = 1e-5;
    h->rope_theta = 10000;
    h->use_hf_rope = true;
    for (int i = 0; i < WICK_LAYERS_MAX; i++) h->layer_windows[i] = INT32_MAX; /* a window that the file gives is every layer's */
    if (strcmp(model_class, "phi_3_mini") != 0) {
        phi_4_mini(h);
        return;
    }
    h->n_heads = h->n_kv_heads = 32;
    h->vocab_size = 32064;
    h->max_position_embeddings = 4096;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_phi = {.name = "phi", .model_classes = model_classes, .hf_types = hf_types, .gguf_types = gguf_types,
                                            .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
