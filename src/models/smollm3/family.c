/* models/smollm3/family.c - SmolLM3: a Llama whose every fourth layer does not turn its queries and keys. Source: the model card and config.json of
 * HuggingFaceTB/SmolLM3-3B; transformers' modeling_smollm3. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"smollm3", NULL};
static const char *const hf_types[] = {"smollm3", NULL};
static const char *const gguf_types[] = {"smollm3", NULL};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    h->dim = 2048;
    h->hidden_dim = 11008;
    h->n_layers = 36;
    h->n_heads = 16;
    h->n_kv_heads = 4;
    h->vocab_size = 128256;
    h->norm_eps = 1e-6;
    h->rope_theta = 5e6;
    h->tied_embeddings = true;
    for (int i = 0; i < WICK_LAYERS_MAX; i++) h->layer_no_rope[i] = i % 4 == 3;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_smollm3 = {.name = "smollm3", .model_classes = model_classes, .hf_types = hf_types, .gguf_types = gguf_types,
                                                .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
