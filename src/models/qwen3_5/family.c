/* models/qwen3_5/family.c - Qwen 3.5, the text part: three gated delta layers, then one of gated attention. Source: the model cards of Qwen/Qwen3.5-0.8B,
 * -2B, -4B; executorch examples/models/qwen3_5. */
#include "export/decoder.h"
#include "export/family.h"

static const char *const model_classes[] = {"qwen3_5_0_8b", "qwen3_5_2b", "qwen3_5_4b", NULL};
static const char *const hf_types[] = {"qwen3_5_text", "qwen3_5", NULL};
static const char *const none[] = {NULL};

static void defaults(const char *model_class, struct wick_hparams *h)
{
    static const struct {
        const char *model_class;
        int64_t dim, hidden_dim, n_heads, n_kv_heads, n_layers, value_heads;
    } sizes[] = {{"qwen3_5_0_8b", 1024, 3584, 8, 2, 24, 16}, {"qwen3_5_2b", 2048, 6144, 8, 2, 24, 16}, {"qwen3_5_4b", 2560, 9216, 16, 4, 32, 32}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(sizes); i++) {
        if (i > 0 && strcmp(sizes[i].model_class, model_class) != 0) continue;
        h->dim = sizes[i].dim;
        h->hidden_dim = sizes[i].hidden_dim;
        h->n_heads = sizes[i].n_heads;
        h->n_kv_heads = sizes[i].n_kv_heads;
        h->n_layers = sizes[i].n_layers;
        h->linear_num_value_heads = sizes[i].value_heads;
    }
    h->head_dim = 256;
    h->vocab_size = 248320;
    h->norm_eps = 1e-6;
    h->rope_theta = 1e7;
    h->partial_rotary_factor = 0.25;
    h->use_hf_rope = h->use_qk_norm = h->qk_norm_before_rope = h->use_q_gate = h->rms_norm_add_unit_offset = true;
    h->linear_conv_kernel_dim = 4;
    h->linear_key_head_dim = h->linear_value_head_dim = 128;
    h->linear_num_key_heads = 16;
    h->tied_embeddings = true;
    h->layer_kind_count = (int)h->n_layers;
    for (int i = 0; i < h->layer_kind_count; i++) h->layer_kinds[i] = (i + 1) % 4 ? WICK_LAYER_LINEAR_ATTENTION : WICK_LAYER_ATTENTION;
}

static void adjust(const char *model_class, struct wick_hparams *h)
{
    (void)model_class;
    (void)h;
}

const struct wick_family wick_family_qwen3_5 = {.name = "qwen3_5", .model_classes = model_classes, .hf_types = hf_types, .gguf_types = none,
                                                .defaults = defaults, .adjust = adjust, .build = wick_decoder_build};
