/* ops/llama/attention.h - attention over cached keys and values, for any head layout and element type.
 *
 * One order of additions: keys in chunks of WICK_ATTENTION_CHUNK from key 0 on. Within a chunk all scores of a row are
 * made, then exponentials against the chunk's maximum, then the weighted sum of values, keys ascending. Chunks are merged in
 * ascending order. A row's result therefore depends on its own query and the keys it sees, and on nothing else: not on how
 * many rows come with it, how a prompt is cut, or the number of threads. */
#ifndef WICK_OPS_LLAMA_ATTENTION_H
#define WICK_OPS_LLAMA_ATTENTION_H

#include "runtime/op.h"

enum { WICK_ATTENTION_CHUNK = 256 };

/* Rows of head_dim adjacent elements of `dtype`: f32, f16, bf16, or i8 with a scale and zero point a row. Strides are in
 * elements (rows for the parameters). */
struct wick_attention_rows {
    const void *data;
    int dtype;
    size_t batch, position, head; /* strides of data */
    const float *scales;          /* i8 only */
    const int8_t *zero_points;    /* i8 only */
    size_t param_batch, param_position, param_head;
};

struct wick_attention {
    struct wick_attention_rows query, key, value;
    void *out; /* f32, f16 or bf16 rows */
    int out_dtype;
    size_t out_batch, out_position, out_head;
    size_t batch, heads, kv_heads, queries, keys, head_dim; /* heads % kv_heads == 0 */
    float scale;
    /* causal: query s sees keys [0, start + s + 1); else all. start + queries <= keys when causal. */
    bool causal;
    size_t start;
    const float *mask; /* added after scaling; [queries, keys], NULL: none */
    size_t mask_stride;
};

/* out[b, s, h] = sum_t softmax_t(scale * q . k_t + mask) v_t. A row that sees no key, or whose mask is -inf everywhere,
 * is NaN. Probabilities are rounded to the type of value when that is f16 or bf16. Scratch from run->temp. */
wick_status wick_attention_run(const struct wick_attention *attention, struct wick_run *run);

#endif
