/* ops/llama/cache.h - writing rows into a cache [B, L, H, D]. */
#ifndef WICK_OPS_LLAMA_CACHE_H
#define WICK_OPS_LLAMA_CACHE_H

#include "runtime/op.h"

/* value [B, S, ..] into rows start.. of cache [B, L, ..], or into rows indices[b, s] (i64). INVALID_ARGUMENT for rows outside. */
wick_status wick_cache_write(const struct wick_tensor *value, const struct wick_tensor *cache, int64_t start, const struct wick_tensor *indices,
                             struct wick_run *run);

#endif
