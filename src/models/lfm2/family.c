/* models/lfm2/family.c - LFM2 and LFM2.5: short convolutions with attention in between. Source: the model cards of LiquidAI/LFM2-350M, -700M, -1.2B;
 * executorch examples/models/lfm2. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"lfm2_350m", "lfm2_700m", "lfm2_1_2b", "lfm2_5_350m", "lfm2_5_1_2b", NULL};
static const char *const names[] = {"lfm2", NULL};

/* Of every size; the rest are convolutions. */
static const uint8_t attention_layers[] = {2, 5, 8, 10, 12, 14};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    static const struct {
        const char *model_class;
        int64_t dim, hidden_dim, n_heads;
    } sizes[] = {{"lfm2_350m", 1024, 4608, 16}, {"lfm2_5_350m", 1024, 4608, 16}, {"lfm2_700m", 1536, 6912, 24}, {"lfm2_1_2b", 2048, 8192, 32}, {"lfm2_5_1_2b", 2048, 8192, 32}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(sizes); i++) {
        if (i > 0 && strcmp(sizes[i].model_class, model_class) != 0) continue;
        h->dim = sizes[i].dim;
        h->hidden_dim = sizes[i].hidden_dim;
        h->n_heads = sizes[i].n_heads;
    }
    h->n_kv_heads = 8;
    h->n_layers = h->layer_kind_count = 16;
    h->vocab_size = 65536;
    h->norm_eps = 1e-5;
    h->rope_theta = 1e6;
    h->ffn_dim_multiplier = 1;
    h->use_hf_rope = h->use_qk_norm = h->qk_norm_before_rope = true;
    h->tied_embeddings = true;
    for (int i = 0; i < h->layer_kind_count; i++) h->layer_kinds[i] = WICK_LAYER_CONV;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(attention_layers); i++) h->layer_kinds[attention_layers[i]] = WICK_LAYER_ATTENTION;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_lfm2 = {.name = "lfm2", .model_classes = model_classes, .hf_types = names, .gguf_types = names,
                                             .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
