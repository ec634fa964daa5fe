/* ops/llama/meta.c - rules of llama::* and preprocess::tile_crop. */
#include "ops/copy/view.h"
#include "ops/rules.h"

#define OP(id, wire, sig, rule) const struct wick_opmeta wick_opmeta_##id = {.name = wire, .signature = sig, .infer = rule}

/* ---- attention: the result is like the query ---- */

static wick_status infer_sdpa(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *query = &wick_arg_tensor(args, 0)->shape;
    if (query->rank != 4) return wick_fail(err, WICK_INVALID_ARGUMENT, "the query has rank %u, not 4", query->rank);
    outs[0] = *query;
    return WICK_OK;
}

static wick_status infer_quantized_sdpa(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    WICK_TRY(infer_sdpa(args, outs, err));
    outs[0].dtype = WICK_DTYPE_F32;
    return WICK_OK;
}

OP(llama_custom_sdpa_out, "llama::custom_sdpa.out", "TTTItFBf>T", infer_sdpa);
OP(llama_sdpa_with_kv_cache_out, "llama::sdpa_with_kv_cache.out", "TTTMMIItFBf>T", infer_sdpa);
OP(llama_custom_quantized_sdpa_out, "llama::custom_quantized_sdpa.out", "TTTItFBfttttttB>T", infer_quantized_sdpa);

/* ---- caches: out is a single element that nobody writes ---- */

static wick_status infer_update_cache(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const int32_t one = 1;
    (void)err;
    outs[0] = wick_shape_make(wick_arg_tensor(args, 0)->shape.dtype, 1, &one);
    return WICK_OK;
}

OP(llama_update_cache_out, "llama::update_cache.out", "TMI>T", infer_update_cache);
OP(llama_update_cache_with_indices_out, "llama::update_cache_with_indices.out", "TMIT>T", infer_update_cache);

OP(llama_fast_hadamard_transform_out, "llama::fast_hadamard_transform.out", "T>T", wick_infer_like);
OP(llama_fallback_out, "llama::fallback.out", "T>T", wick_infer_like);

/* ---- gated delta rule: query [B, Hq, T, K], key [B, Hkv, T, K], value [B, Hkv, T, V], state [B, Hkv, K, V] ---- */

static wick_status infer_delta_rule(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *query = &wick_arg_tensor(args, 0)->shape, *value = &wick_arg_tensor(args, 2)->shape;
    if (query->rank != 4 || value->rank != 4)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "query and value have ranks %u and %u, not 4", query->rank, value->rank);
    outs[0] = wick_shape_make(query->dtype, 4, query->sizes);
    outs[0].sizes[3] = value->sizes[3];
    outs[1] = wick_arg_tensor(args, 5)->shape;
    return WICK_OK;
}

OP(llama_gated_delta_rule_out, "llama::gated_delta_rule.out", "TTTTTT>TT", infer_delta_rule);
OP(llama_channelwise_gated_delta_rule_out, "llama::channelwise_gated_delta_rule.out", "TTTTTT>TT", infer_delta_rule);

/* ---- experts: x [T, D]; the packed weights have one row an expert ---- */

static wick_status infer_moe(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *x = &wick_arg_tensor(args, 0)->shape;
    if (x->rank != 2 || x->sizes[1] != wick_arg_int(args, 8)) return wick_fail(err, WICK_INVALID_ARGUMENT, "x is not [T, %lld]", (long long)wick_arg_int(args, 8));
    outs[0] = wick_shape_make(WICK_DTYPE_F32, 2, x->sizes);
    return WICK_OK;
}

OP(llama_quantized_moe_ffn_out, "llama::quantized_moe_ffn.out", "TTTTTIIIIIICF>T", infer_moe);

/* [C, H, W] in tiles of t x t: [(H/t)(W/t), C, t, t]. */
static wick_status infer_tile_crop(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *self = &wick_arg_tensor(args, 0)->shape;
    int64_t tile = wick_arg_int(args, 1);
    if (self->rank != 3 || tile < 1 || tile > INT32_MAX || self->sizes[1] % tile != 0 || self->sizes[2] % tile != 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "tiles of %lld do not fill the input", (long long)tile);
    int64_t count = (self->sizes[1] / tile) * (self->sizes[2] / tile);
    if (count > INT32_MAX) return wick_fail(err, WICK_INVALID_ARGUMENT, "%lld tiles", (long long)count);
    const int32_t sizes[4] = {(int32_t)count, self->sizes[0], (int32_t)tile, (int32_t)tile};
    outs[0] = wick_shape_make(self->dtype, 4, sizes);
    return WICK_OK;
}

OP(preprocess_tile_crop_out, "preprocess::tile_crop.out", "TI>T", infer_tile_crop);
