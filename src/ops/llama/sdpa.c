/* ops/llama/sdpa.c - llama::custom_sdpa, sdpa_with_kv_cache and custom_quantized_sdpa: checks, then attention.c. */
#include "ops/llama/attention.h"
#include "ops/llama/cache.h"
#include "ops/ops.h"

#include <math.h>

/* [B, S, H, D] rows of a contiguous tensor; heads_first: [B, H, S, D]. */
static struct wick_attention_rows rows_of(const struct wick_tensor *t, bool heads_first)
{
    const int32_t *n = t->shape.sizes;
    size_t d = (size_t)n[3], inner = (size_t)n[2] * d;
    return (struct wick_attention_rows){.data = t->data,
                                        .dtype = t->shape.dtype,
                                        .batch = (size_t)n[1] * inner,
                                        .position = heads_first ? d : inner,
                                        .head = heads_first ? inner : d};
}

static wick_status refuse(struct wick_run *run, const char *why) { return wick_fail(run->err, WICK_INVALID_ARGUMENT, "attention: %s", why); }

static wick_status check_tensors(const struct wick_tensor *q, const struct wick_tensor *k, const struct wick_tensor *v, bool heads_first,
                                 struct wick_run *run)
{
    int head = heads_first ? 1 : 2, position = heads_first ? 2 : 1;
    const int32_t *nq = q->shape.sizes, *nk = k->shape.sizes;
    if (q->shape.rank != 4 || k->shape.rank != 4 || !wick_shape_same_sizes(&k->shape, &v->shape))
        return refuse(run, "query, key and value are not of rank 4, key and value alike");
    if (q->shape.dtype != k->shape.dtype || k->shape.dtype != v->shape.dtype) return refuse(run, "query, key and value differ in type");
    if (!wick_shape_is_contiguous(&q->shape) || !wick_shape_is_contiguous(&k->shape) || !wick_shape_is_contiguous(&v->shape))
        return refuse(run, "a tensor is not contiguous");
    if (nq[0] != nk[0] || nq[3] != nk[3] || nk[head] == 0 || nq[head] % nk[head] != 0 || nk[position] < 0)
        return refuse(run, "sizes of query and key do not fit");
    return WICK_OK;
}

/* start: position of the first query; keys that count are [0, start + queries), or all with a mask. */
static wick_status set_range(struct wick_attention *a, int64_t start, const struct wick_tensor *mask, bool causal, struct wick_run *run)
{
    if (mask && causal) return refuse(run, "a mask together with is_causal");
    if (mask) {
        const int32_t *n = mask->shape.sizes;
        if (mask->shape.rank != 2 || mask->shape.dtype != WICK_DTYPE_F32 || (size_t)n[0] < a->queries || (size_t)n[1] != a->keys ||
            !wick_shape_is_contiguous(&mask->shape))
            return refuse(run, "the mask is not a float matrix of queries x keys");
        a->mask = mask->data;
        a->mask_stride = (size_t)n[1];
        return WICK_OK;
    }
    if (start < 0 || (uint64_t)start > a->keys || a->queries > a->keys - (size_t)start)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "attention: %zu positions from %lld on are outside a cache of %zu", a->queries,
                         (long long)start, a->keys);
    a->start = (size_t)start;
    a->keys = a->start + a->queries;
    a->causal = causal;
    return WICK_OK;
}

static void set_sizes(struct wick_attention *a, const struct wick_tensor *q, const struct wick_tensor *k, struct wick_tensor *out, bool heads_first)
{
    int head = heads_first ? 1 : 2, position = heads_first ? 2 : 1;
    struct wick_attention_rows rows = rows_of(out, heads_first);
    a->out = out->data;
    a->out_dtype = out->shape.dtype;
    a->out_batch = rows.batch, a->out_position = rows.position, a->out_head = rows.head;
    a->batch = (size_t)q->shape.sizes[0];
    a->heads = (size_t)q->shape.sizes[head];
    a->kv_heads = (size_t)k->shape.sizes[head];
    a->queries = (size_t)q->shape.sizes[position];
    a->keys = (size_t)k->shape.sizes[position];
    a->head_dim = (size_t)q->shape.sizes[3];
    a->scale = 1.0f / sqrtf((float)a->head_dim);
}

static wick_status check_out(const struct wick_tensor *q, const struct wick_tensor *out, struct wick_run *run)
{
    if (!wick_dtype_is_float(out->shape.dtype) || out->shape.dtype == WICK_DTYPE_F64 || !wick_shape_same_sizes(&q->shape, &out->shape) ||
        !wick_shape_is_contiguous(&out->shape))
        return refuse(run, "the out is not a float tensor like the query");
    return WICK_OK;
}

/* Arguments from k on: start_pos, attn_mask, dropout, is_causal, scale. */
static wick_status attend(const struct wick_args *args, uint32_t k_query, uint32_t k_key, uint32_t k, int64_t start, struct wick_tensor *out,
                          struct wick_run *run)
{
    const struct wick_tensor *q = wick_arg_tensor(args, k_query), *key = wick_arg_tensor(args, k_key), *value = wick_arg_tensor(args, k_key + 1);
    struct wick_attention a = {0};
    WICK_TRY(check_tensors(q, key, value, false, run));
    WICK_TRY(check_out(q, out, run));
    if (!wick_dtype_is_float(q->shape.dtype) || q->shape.dtype == WICK_DTYPE_F64) return refuse(run, "the query is not f32, f16 or bf16");
    set_sizes(&a, q, key, out, false);
    a.query = rows_of(q, false), a.key = rows_of(key, false), a.value = rows_of(value, false);
    if (!wick_arg_is_none(args, k + 3)) a.scale = (float)wick_arg_double(args, k + 3);
    WICK_TRY(set_range(&a, start, wick_arg_tensor(args, k), wick_arg_bool(args, k + 2), run));
    return wick_attention_run(&a, run);
}

static wick_status run_llama_custom_sdpa_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return attend(args, 0, 1, 4, wick_arg_int(args, 3), wick_arg_tensor(args, 8), run);
}

/* (query, key, value, key_cache!, value_cache!, start_pos, seq_len, mask, dropout, is_causal, scale; out) */
static wick_status run_llama_sdpa_with_kv_cache_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    int64_t start = wick_arg_int(args, 5), length = wick_arg_int(args, 6);
    const struct wick_tensor *cache = wick_arg_tensor(args, 3);
    if (cache->shape.rank != 4 || start < 0 || length < 0 || start >= cache->shape.sizes[1] || length > cache->shape.sizes[1] - start)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "attention: %lld positions from %lld do not fit the cache", (long long)length,
                         (long long)start);
    WICK_TRY(wick_cache_write(wick_arg_tensor(args, 1), wick_arg_tensor(args, 3), start, NULL, run));
    WICK_TRY(wick_cache_write(wick_arg_tensor(args, 2), wick_arg_tensor(args, 4), start, NULL, run));
    return attend(args, 0, 3, 7, start, wick_arg_tensor(args, 11), run);
}

static wick_status add_params(struct wick_attention_rows *rows, const struct wick_tensor *t, const struct wick_tensor *zero,
                              const struct wick_tensor *scale, bool heads_first, struct wick_run *run)
{
    const int32_t *n = t->shape.sizes;
    if (!zero || !scale || zero->shape.dtype != WICK_DTYPE_I8 || scale->shape.dtype != WICK_DTYPE_F32 || zero->shape.rank != 4 ||
        !wick_shape_same_sizes(&zero->shape, &scale->shape) || memcmp(zero->shape.sizes, n, 3 * sizeof *n) != 0 || zero->shape.sizes[3] != 1)
        return refuse(run, "int8 tensors need a float scale and an int8 zero point a row");
    rows->scales = scale->data;
    rows->zero_points = zero->data;
    rows->param_batch = (size_t)n[1] * (size_t)n[2];
    rows->param_position = heads_first ? 1 : (size_t)n[2];
    rows->param_head = heads_first ? (size_t)n[2] : 1;
    return WICK_OK;
}

/* (q, k, v, start_pos, mask, dropout, is_causal, scale, q_zero, q_scale, k_zero, k_scale, v_zero, v_scale, is_seq_at_dim_2; out) */
static wick_status run_llama_custom_quantized_sdpa_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *q = wick_arg_tensor(args, 0), *k = wick_arg_tensor(args, 1), *v = wick_arg_tensor(args, 2);
    struct wick_tensor *out = wick_arg_tensor(args, 15);
    bool heads_first = wick_arg_bool(args, 14);
    struct wick_attention a = {0};
    WICK_TRY(check_tensors(q, k, v, heads_first, run));
    WICK_TRY(check_out(q, out, run));
    if (q->shape.dtype != WICK_DTYPE_I8) return refuse(run, "quantized tensors are not int8");
    set_sizes(&a, q, k, out, heads_first);
    a.query = rows_of(q, heads_first), a.key = rows_of(k, heads_first), a.value = rows_of(v, heads_first);
    WICK_TRY(add_params(&a.query, q, wick_arg_tensor(args, 8), wick_arg_tensor(args, 9), heads_first, run));
    WICK_TRY(add_params(&a.key, k, wick_arg_tensor(args, 10), wick_arg_tensor(args, 11), heads_first, run));
    WICK_TRY(add_params(&a.value, v, wick_arg_tensor(args, 12), wick_arg_tensor(args, 13), heads_first, run));
    if (!wick_arg_is_none(args, 7)) a.scale = (float)wick_arg_double(args, 7);
    WICK_TRY(set_range(&a, wick_arg_int(args, 3), wick_arg_tensor(args, 4), wick_arg_bool(args, 6), run));
    return wick_attention_run(&a, run);
}

/* Scores and sums over `seen` positions of keys and values. */
static void count_attention(const struct wick_tensor *q, const struct wick_tensor *k, uint64_t seen, bool heads_first, struct wick_work *work)
{
    uint64_t kv_heads = (uint64_t)k->shape.sizes[heads_first ? 1 : 2], dim = (uint64_t)k->shape.sizes[3], batch = (uint64_t)k->shape.sizes[0];
    work->multiply_adds = 2 * wick_tensor_numel(q) * seen;
    work->bytes = 2 * batch * seen * kv_heads * dim * wick_dtype_size(k->shape.dtype);
}

/* With a start position a query sees the keys up to its own: half of the new ones on average. */
static uint64_t seen_from(int64_t start, int32_t queries) { return (uint64_t)start + ((uint64_t)queries + 1) / 2; }

static void count_llama_custom_sdpa_out(const struct wick_args *args, const void *state, struct wick_work *work)
{
    const struct wick_tensor *q = wick_arg_tensor(args, 0), *k = wick_arg_tensor(args, 1);
    (void)state;
    count_attention(q, k, wick_arg_bool(args, 6) ? seen_from(wick_arg_int(args, 3), q->shape.sizes[1]) : (uint64_t)k->shape.sizes[1], false, work);
}

static void count_llama_sdpa_with_kv_cache_out(const struct wick_args *args, const void *state, struct wick_work *work)
{
    const struct wick_tensor *q = wick_arg_tensor(args, 0);
    (void)state;
    count_attention(q, wick_arg_tensor(args, 3), seen_from(wick_arg_int(args, 5), q->shape.sizes[1]), false, work);
}

static void count_llama_custom_quantized_sdpa_out(const struct wick_args *args, const void *state, struct wick_work *work)
{
    const struct wick_tensor *q = wick_arg_tensor(args, 0), *k = wick_arg_tensor(args, 1);
    bool heads_first = wick_arg_bool(args, 14);
    int position = heads_first ? 2 : 1;
    (void)state;
    count_attention(q, k, wick_arg_bool(args, 6) ? seen_from(wick_arg_int(args, 3), q->shape.sizes[position]) : (uint64_t)k->shape.sizes[position], heads_first, work);
}

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id, .work = count_##id}
OP(llama_custom_sdpa_out);
OP(llama_sdpa_with_kv_cache_out);
OP(llama_custom_quantized_sdpa_out);
