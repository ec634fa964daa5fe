/* ops/llama/delta.c - the gated delta rule: linear attention whose memory is one matrix a head.
 *
 * For every token, with S [K, V] the memory of a key head: S = diag(decay) S; S += k (beta (v - S^T k))^T; the query heads
 * of the group read o = S^T q. Tokens are taken one by one, so that the result does not depend on how a sequence is cut; some columns of a memory stay
 * in the first cache for all of them. */
#include "base/checked.h"
#include "ops/ops.h"
#include "ukernel/ukernels.h"

struct delta {
    const float *query, *key, *value, *decay, *beta, *before;
    float *out, *state; /* [B, Hq, T, V], [B, Hkv, K, V] */
    const struct wick_ukernels *ukernels;
    size_t batch, heads, kv_heads, tokens, dim_k, dim_v, blocks;
    bool channelwise; /* decay [B, Hkv, T, K], else [B, Hkv, T] */
    float *scratch;   /* [threads, K, WICK_DELTA_WIDTH] */
};

/* Fewer tokens are worked on where the memory is. */
enum { FEW = 4 };

/* Item: some columns of one (batch, key head). Columns of the memory do not see each other. */
static void run_columns(void *user, size_t index, unsigned thread)
{
    const struct delta *d = user;
    size_t head = index / d->blocks, first = index % d->blocks * WICK_DELTA_WIDTH, group = d->heads / d->kv_heads, token = head * d->tokens;
    size_t query = (head / d->kv_heads * d->heads + head % d->kv_heads * group) * d->tokens;
    struct wick_delta_call call = {.tokens = d->tokens,
                                   .dim_k = d->dim_k,
                                   .width = WICK_MIN(d->dim_v - first, (size_t)WICK_DELTA_WIDTH),
                                   .groups = group,
                                   .key = d->key + token * d->dim_k,
                                   .query = d->query + query * d->dim_k,
                                   .decay = d->decay + token * (d->channelwise ? d->dim_k : 1),
                                   .beta = d->beta + token,
                                   .channelwise = d->channelwise,
                                   .value = d->value + token * d->dim_v + first,
                                   .out = d->out + query * d->dim_v + first,
                                   .value_stride = d->dim_v,
                                   .memory = d->scratch + thread * d->dim_k * WICK_DELTA_WIDTH};
    size_t at = head * d->dim_k * d->dim_v + first;
    call.before = d->before + at;
    call.before_stride = d->dim_v;
    call.memory_stride = WICK_DELTA_WIDTH;
    if (call.width == WICK_DELTA_WIDTH && d->tokens < FEW) {
        call.memory = d->state + at;
        call.memory_stride = d->dim_v;
        d->ukernels->delta_rule(&call);
        return;
    }
    if (call.width < WICK_DELTA_WIDTH) {
        for (size_t k = 0; k < d->dim_k; k++) {
            memcpy(call.memory + k * WICK_DELTA_WIDTH, call.before + k * d->dim_v, call.width * sizeof *d->state);
            memset(call.memory + k * WICK_DELTA_WIDTH + call.width, 0, (WICK_DELTA_WIDTH - call.width) * sizeof *d->state);
        }
        call.before = call.memory;
        call.before_stride = WICK_DELTA_WIDTH;
    }
    d->ukernels->delta_rule(&call);
    for (size_t k = 0; k < d->dim_k; k++) memcpy(d->state + at + k * d->dim_v, call.memory + k * WICK_DELTA_WIDTH, call.width * sizeof *d->state);
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
                      .before = state->data,
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
    size_t bytes;
    if (wick_mul_size(d.dim_k, WICK_DELTA_WIDTH * sizeof *d.scratch, &bytes)) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "keys of %zu", d.dim_k);
    d.scratch = wick_arena_array(run->temp, threads, bytes, 64);
    if (!d.scratch) return wick_fail_oom(run->err, threads * bytes, "the delta rule");
    d.blocks = (d.dim_v + WICK_DELTA_WIDTH - 1) / WICK_DELTA_WIDTH;
    bool small = d.batch * d.heads * d.tokens * d.dim_k * d.dim_v < 32768;
    wick_pool_run(small ? NULL : run->pool, d.batch * d.kv_heads * d.blocks, run_columns, &d);
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
