/* ops/llama/delta.c - the gated delta rule: linear attention whose memory is one matrix a head.
 *
 * For every token, with S [K, V] the memory of a key head: S = diag(decay) S; S += k (beta (v - S^T k))^T; the query heads
 * of the group read o = S^T q. Tokens are taken one by one, so that the result does not depend on how a sequence is cut. */
#include "ops/ops.h"
#include "ukernel/ukernels.h"

struct delta {
    const float *query, *key, *value, *decay, *beta;
    float *out, *state; /* [B, Hq, T, V], [B, Hkv, K, V] */
    const struct wick_ukernels *ukernels;
    size_t batch, heads, kv_heads, tokens, dim_k, dim_v;
    bool channelwise; /* decay [B, Hkv, T, K], else [B, Hkv, T] */
    float *scratch;   /* [threads, V] */
};

/* Item: one (batch, key head). */
static void run_head(void *user, size_t index, unsigned thread)
{
    const struct delta *d = user;
    size_t group = d->heads / d->kv_heads, batch = index / d->kv_heads, head = index % d->kv_heads;
    float *state = d->state + index * d->dim_k * d->dim_v, *read = d->scratch + thread * d->dim_v;
    for (size_t t = 0; t < d->tokens; t++) {
        size_t token = index * d->tokens + t;
        const float *key = d->key + token * d->dim_k, *value = d->value + token * d->dim_v;
        memset(read, 0, d->dim_v * sizeof *read);
        for (size_t k = 0; k < d->dim_k; k++) {
            float *row = state + k * d->dim_v;
            d->ukernels->mul_scalar(d->dim_v, row, d->decay[d->channelwise ? token * d->dim_k + k : token], row);
            d->ukernels->axpy(d->dim_v, key[k], row, read);
        }
        d->ukernels->sub(d->dim_v, value, read, read);
        d->ukernels->mul_scalar(d->dim_v, read, d->beta[token], read);
        for (size_t k = 0; k < d->dim_k; k++) d->ukernels->axpy(d->dim_v, key[k], read, state + k * d->dim_v);
        for (size_t g = 0; g < group; g++) {
            size_t row = (batch * d->heads + head * group + g) * d->tokens + t;
            const float *query = d->query + row * d->dim_k;
            float *out = d->out + row * d->dim_v;
            memset(out, 0, d->dim_v * sizeof *out);
            for (size_t k = 0; k < d->dim_k; k++) d->ukernels->axpy(d->dim_v, query[k], state + k * d->dim_v, out);
        }
    }
}

static bool has_sizes(const struct wick_tensor *t, int rank, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t want[4] = {a, b, c, d};
    return t->shape.dtype == WICK_DTYPE_F32 && t->shape.rank == rank && memcmp(t->shape.sizes, want, (size_t)rank * sizeof *want) == 0 &&
           wick_shape_is_contiguous(&t->shape);
}

/* (query, key, value, decay, beta, initial_state; out, final_state_out) */
static wick_status check(const struct wick_args *args, struct wick_run *run)
{
    const struct wick_tensor *q = wick_arg_tensor(args, 0), *k = wick_arg_tensor(args, 1), *v = wick_arg_tensor(args, 2),
                             *decay = wick_arg_tensor(args, 3);
    if (q->shape.rank != 4 || k->shape.rank != 4 || v->shape.rank != 4)
        return wick_fail(run->err, WICK_INVALID_ARGUMENT, "query, key and value are not of rank 4");
    int32_t batch = q->shape.sizes[0], heads = q->shape.sizes[1], tokens = q->shape.sizes[2], dim_k = q->shape.sizes[3];
    int32_t kv_heads = k->shape.sizes[1], dim_v = v->shape.sizes[3];
    if (kv_heads == 0 || heads % kv_heads != 0) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "%d query heads for %d key heads", heads, kv_heads);
    bool fits =
        has_sizes(q, 4, batch, heads, tokens, dim_k) && has_sizes(k, 4, batch, kv_heads, tokens, dim_k) &&
        has_sizes(v, 4, batch, kv_heads, tokens, dim_v) && has_sizes(decay, decay->shape.rank == 3 ? 3 : 4, batch, kv_heads, tokens, dim_k) &&
        has_sizes(wick_arg_tensor(args, 4), 3, batch, kv_heads, tokens, 0) && has_sizes(wick_arg_tensor(args, 5), 4, batch, kv_heads, dim_k, dim_v) &&
        has_sizes(wick_arg_tensor(args, 6), 4, batch, heads, tokens, dim_v) && has_sizes(wick_arg_tensor(args, 7), 4, batch, kv_heads, dim_k, dim_v);
    if (!fits) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "the tensors are not contiguous FLOAT of sizes that go together");
    const struct wick_tensor *first = wick_arg_tensor(args, 5), *last = wick_arg_tensor(args, 7);
    const char *a = first->data, *b = last->data;
    size_t bytes = wick_tensor_nbytes(first);
    if (bytes > 0 && a < b + bytes && b < a + bytes) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "final_state_out overlaps initial_state");
    return WICK_OK;
}

static wick_status run_delta(const struct wick_args *args, struct wick_run *run)
{
    WICK_TRY(check(args, run));
    const struct wick_tensor *q = wick_arg_tensor(args, 0), *k = wick_arg_tensor(args, 1), *v = wick_arg_tensor(args, 2),
                             *state = wick_arg_tensor(args, 5);
    struct delta d = {.query = q->data,
                      .key = k->data,
                      .value = v->data,
                      .decay = wick_arg_tensor(args, 3)->data,
                      .beta = wick_arg_tensor(args, 4)->data,
                      .out = wick_arg_tensor(args, 6)->data,
                      .state = wick_arg_tensor(args, 7)->data,
                      .ukernels = run->ukernels,
                      .batch = (size_t)q->shape.sizes[0],
                      .heads = (size_t)q->shape.sizes[1],
                      .kv_heads = (size_t)k->shape.sizes[1],
                      .tokens = (size_t)q->shape.sizes[2],
                      .dim_k = (size_t)q->shape.sizes[3],
                      .dim_v = (size_t)v->shape.sizes[3],
                      .channelwise = wick_arg_tensor(args, 3)->shape.rank == 4};
    unsigned threads = wick_pool_threads(run->pool);
    d.scratch = wick_arena_array(run->temp, threads, d.dim_v * sizeof *d.scratch, 64);
    if (!d.scratch) return wick_fail_oom(run->err, threads * d.dim_v * sizeof *d.scratch, "the delta rule");
    if (wick_tensor_nbytes(state) > 0) memcpy(d.state, state->data, wick_tensor_nbytes(state));
    if (d.dim_v == 0) return WICK_OK;
    bool small = d.batch * d.heads * d.tokens * d.dim_k * d.dim_v < 32768;
    wick_pool_run(small ? NULL : run->pool, d.batch * d.kv_heads, run_head, &d);
    return WICK_OK;
}

static wick_status run_llama_gated_delta_rule_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return run_delta(args, run);
}

static wick_status run_llama_channelwise_gated_delta_rule_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return run_delta(args, run);
}

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}
OP(llama_gated_delta_rule_out);
OP(llama_channelwise_gated_delta_rule_out);
