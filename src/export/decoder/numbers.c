/* export/decoder/numbers.c - element types of a decoder: what a configuration asks for, and casts between types. */
#include "export/decoder/parts.h"

#include "graph/irops.h"
#include "tensor/half.h"

#include <stdlib.h>

void wick_model_build_numbers(struct wick_model_build *build, const struct wick_config *config)
{
    build->dtype = wick_config_is(config, WICK_KEY_MODEL_DTYPE_OVERRIDE, "fp16")   ? WICK_DTYPE_F16
                   : wick_config_is(config, WICK_KEY_MODEL_DTYPE_OVERRIDE, "bf16") ? WICK_DTYPE_BF16
                                                                                   : WICK_DTYPE_F32;
    build->cache = wick_config_bool(config, WICK_KEY_MODEL_QUANTIZE_KV_CACHE)          ? WICK_CACHE_INT8
                   : wick_config_bool(config, WICK_KEY_MODEL_STATIC_QUANTIZE_KV_CACHE) ? WICK_CACHE_INT8_STATIC
                                                                                       : WICK_CACHE_FLOAT;
    build->cache_scale = (float)config->values[WICK_KEY_MODEL_STATIC_QUANTIZE_KV_CACHE_SCALE].d;
    build->hadamard_w2 = wick_config_is(config, WICK_KEY_QUANTIZATION_USE_SPIN_QUANT, "native");
    const char *embedding = wick_config_text(config, WICK_KEY_BASE_PREQ_EMBEDDING_QUANTIZE), *comma = embedding ? strchr(embedding, ',') : NULL;
    build->prequantized = (struct wick_prequantized){
        .on = wick_config_text(config, WICK_KEY_BASE_PREQ_MODE) != NULL,
        .head_8bit = wick_config_is(config, WICK_KEY_BASE_PREQ_MODE, "preq_8da4w_out_8da8w"),
        .group = (int)wick_config_int(config, WICK_KEY_BASE_PREQ_GROUP_SIZE),
        /* config_check.c has judged the text; a group of none or None is 0. */
        .embedding_bits = embedding ? (int)strtol(embedding, NULL, 10) : 8,
        .embedding_group = comma ? (int)strtol(comma + 1, NULL, 10) : 0,
        .adapter_rank = (int)wick_config_int(config, WICK_KEY_BASE_USE_LORA),
    };
}

uint32_t wick_decoder_cast(struct wick_decoder *d, uint32_t x, int dtype)
{
    return wick_graph_cast(d->g, x, dtype);
}

uint32_t wick_decoder_wide(struct wick_decoder *d, uint32_t x) { return wick_decoder_cast(d, x, WICK_DTYPE_F32); }

uint32_t wick_decoder_wide_constant(struct wick_decoder *d, const char *name, struct wick_source *source)
{
    return wick_graph_constant(d->g, name, source ? wick_source_cast(&d->g->arena, source, WICK_DTYPE_F32) : NULL);
}

void wick_decoder_round(const struct wick_decoder *d, float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (d->b->dtype == WICK_DTYPE_F16) x[i] = wick_f32_from_f16(wick_f16_from_f32(x[i]));
        else if (d->b->dtype == WICK_DTYPE_BF16) x[i] = wick_f32_from_bf16(wick_bf16_from_f32(x[i]));
}
