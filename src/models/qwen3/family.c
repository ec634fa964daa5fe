/* models/qwen3/family.c - Qwen3, dense: q and k normed per head before they turn. Source: the model cards of Qwen/Qwen3-*; executorch
 * examples/models/qwen3. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"qwen3_0_6b", "qwen3_1_7b", "qwen3_4b", NULL};
static const char *const hf_types[] = {"qwen3", NULL};
static const char *const gguf_types[] = {"qwen3", NULL};

static const struct {
    int64_t dim, hidden_dim, n_heads, n_layers;
} sizes[] = {{1024, 3072, 16, 28}, {2048, 6144, 16, 28}, {2560, 9728, 32, 36}};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    size_t which = 0;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(sizes); i++)
        if (strcmp(model_classes[i], model_class) == 0) which = i;
    h->dim = sizes[which].dim;
    h->hidden_dim = sizes[which].hidden_dim;
    h->n_heads = sizes[which].n_heads;
    h->n_kv_heads = 8;
    h->head_dim = 128;
    h->n_layers = sizes[which].n_layers;
    h->vocab_size = 151936;
    h->norm_eps = 1e-6;
    h->rope_theta = 1e6;
    h->use_hf_rope = h->use_qk_norm = h->qk_norm_before_rope = true;
    h->tied_embeddings = true;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_qwen3 = {.name = "qwen3", .model_classes = model_classes, .hf_types = hf_types, .gguf_types = gguf_types,
                                              .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
