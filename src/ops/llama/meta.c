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
