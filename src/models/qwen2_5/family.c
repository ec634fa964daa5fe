/* models/qwen2_5/family.c - Qwen2 and Qwen2.5: biased q, k and v. Source: the model cards of Qwen/Qwen2.5-*; executorch examples/models/qwen2_5. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"qwen2_5_0_5b", "qwen2_5_1_5b", "qwen2_5_coder_32b", NULL};
static const char *const hf_types[] = {"qwen2", NULL};
static const char *const gguf_types[] = {"qwen2", NULL};

static const struct {
    int64_t dim, hidden_dim, n_heads, n_kv_heads, n_layers, vocab_size;
    bool tied;
} sizes[] = {{896, 4864, 14, 2, 24, 151936, true}, {1536, 8960, 12, 2, 28, 151936, true}, {5120, 27648, 40, 8, 64, 152064, false}};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    size_t which = 0;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(sizes); i++)
        if (strcmp(model_classes[i], model_class) == 0) which = i;
    h->dim = sizes[which].dim;
    h->hidden_dim = sizes[which].hidden_dim;
    h->n_heads = sizes[which].n_heads;
    h->n_kv_heads = sizes[which].n_kv_heads;
    h->n_layers = sizes[which].n_layers;
    h->vocab_size = sizes[which].vocab_size;
    h->tied_embeddings = sizes[which].tied;
    h->norm_eps = 1e-6;
    h->rope_theta = 1e6;
    h->use_hf_rope = true;
    h->attention_qkv_bias = true;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_qwen2_5 = {.name = "qwen2_5", .model_classes = model_classes, .hf_types = hf_types, .gguf_types = gguf_types,
                                                .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
