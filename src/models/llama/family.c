/* models/llama/family.c - Llama 2, 3, 3.1, 3.2 and what is built like them. Source: Meta's model cards; executorch examples/models/llama. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"llama2", "llama3", "llama3_1", "llama3_2", "stories110m", NULL};
static const char *const hf_types[] = {"llama", NULL};
static const char *const gguf_types[] = {"llama", NULL};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    if (strcmp(model_class, "stories110m") != 0) return;
    /* The one class whose checkpoint people have without a params.json. */
    h->dim = 768;
    h->n_layers = 12;
    h->n_heads = 12;
    h->vocab_size = 32000;
    h->multiple_of = 32;
}

/* The original takes the factor of the scaled rope from the class, not from the file: 32 but for llama3 and llama3_1. */
static void adjust(const char *model_class, struct wick_hparams *h)
{
    bool eight = strcmp(model_class, "llama3") == 0 || strcmp(model_class, "llama3_1") == 0;
    if (h->use_scaled_rope && !h->rope_scale_given && !eight) h->rope_scale_factor = 32;
}

const struct wick_family wick_family_llama = {.name = "llama", .model_classes = model_classes, .hf_types = hf_types, .gguf_types = gguf_types,
                                              .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
