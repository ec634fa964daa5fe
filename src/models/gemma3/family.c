/* models/gemma3/family.c - Gemma 3, text: norms of 1 + weight around both halves of a layer, embedded tokens times sqrt(dim), five layers with a window
 * for each that sees all, with bases of their own. Source: the model cards and config.json of google/gemma-3-*; transformers' modeling_gemma3. */
#include "export/decoder.h"
#include "export/family.h"

#include <math.h>

static const char *const model_classes[] = {"gemma3_270m", "gemma3_1b", NULL};
static const char *const hf_types[] = {"gemma3_text", "gemma3", NULL};
static const char *const gguf_types[] = {"gemma3", NULL};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    bool large = strcmp(model_class, "gemma3_1b") == 0;
    h->dim = large ? 1152 : 640;
    h->hidden_dim = large ? 6912 : 2048;
    h->n_layers = large ? 26 : 18;
    h->n_heads = 4;
    h->n_kv_heads = 1;
    h->head_dim = 256;
    h->vocab_size = 262144;
    h->norm_eps = 1e-6;
    h->rope_theta = 1e6;
    h->local_rope_theta = 1e4;
    h->act_fn = WICK_GELU_TANH;
    h->use_hf_rope = h->use_qk_norm = h->qk_norm_before_rope = h->rms_norm_add_unit_offset = true;
    h->post_attention_norm = h->post_ffn_norm = h->tied_embeddings = true;
    for (int i = 0; i < WICK_LAYERS_MAX; i++) h->layer_windows[i] = (i + 1) % 6 ? 512 : 0;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    h->embedding_scale_factor = sqrt((double)h->dim);
}

const struct wick_family wick_family_gemma3 = {.name = "gemma3", .model_classes = model_classes, .hf_types = hf_types, .gguf_types = gguf_types,
                                               .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
