/* models/smollm2/family.c - SmolLM2 (135M by default). Source: the model card of HuggingFaceTB/SmolLM2-135M; executorch examples/models/smollm2. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"smollm2", NULL};
static const char *const none[] = {NULL};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    h->dim = 576;
    h->hidden_dim = 1536;
    h->n_layers = 30;
    h->n_heads = 9;
    h->n_kv_heads = 3;
    h->vocab_size = 49152;
    h->norm_eps = 1e-5;
    h->rope_theta = 100000;
    h->tied_embeddings = true;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_smollm2 = {.name = "smollm2", .model_classes = model_classes, .hf_types = none, .gguf_types = none,
                                                .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
