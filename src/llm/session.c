/* llm/session.c - feeding tokens to a program, whatever its conventions: with or without cache, any number of tokens a call or a fixed
 * one, a first position or one a token. Next: sample.c. */
#include "llm/session.h"

#include "base/checked.h"
#include "tensor/half.h"

static void *new_ids(struct wick_arena *arena, int dtype, int32_t count) { return wick_arena_array(arena, (size_t)count, wick_dtype_size(dtype), 8); }

wick_status wick_llm_session_init(struct wick_llm_session *s, const struct wick_llm_metadata *metadata, struct wick_instance *instance,
                                  struct wick_arena *arena, wick_error *err)
{
    *s = (struct wick_llm_session){.metadata = *metadata, .instance = instance};
    s->logits = WICK_NEW_ARRAY(arena, float, (size_t)metadata->vocab_size);
    s->tokens = WICK_NEW_ARRAY(arena, int64_t, (size_t)metadata->max_context_len);
    s->token_input = new_ids(arena, metadata->tokens_dtype, metadata->tokens_bound);
    s->position_input = metadata->has_position ? new_ids(arena, metadata->position_dtype, metadata->tokens_bound) : NULL;
    if (!s->logits || !s->tokens || !s->token_input || (metadata->has_position && !s->position_input))
        return wick_fail_oom(err, (size_t)metadata->vocab_size * sizeof *s->logits, "session");
    return WICK_OK;
}

static void put_id(void *to, int dtype, int32_t i, int64_t id)
{
    if (dtype == WICK_DTYPE_I64) ((int64_t *)to)[i] = id;
    else ((int32_t *)to)[i] = (int32_t)id;
}

/* Row `row` of the logits (or the only one) as float32. */
static wick_status take_logits(struct wick_llm_session *s, int32_t row, wick_error *err)
{
    const struct wick_value *value = wick_instance_output(s->instance, 0);
    const struct wick_tensor *t = value->tag == WICK_TAG_TENSOR ? value->as.tensor : NULL;
    size_t n = (size_t)s->metadata.vocab_size;
    if (!t || t->shape.sizes[t->shape.rank - 1] != s->metadata.vocab_size || !t->data || wick_tensor_numel(t) < n)
        return wick_fail(err, WICK_INVALID_PROGRAM, "the program gave no row of %zu logits", n);
    size_t rows = wick_tensor_numel(t) / n, at = (rows == 1 ? 0 : WICK_MIN((size_t)row, rows - 1)) * n;
    if (t->shape.dtype == WICK_DTYPE_F32) memcpy(s->logits, (const float *)t->data + at, n * sizeof(float));
    for (size_t i = 0; i < n && t->shape.dtype != WICK_DTYPE_F32; i++) {
        uint16_t half = t->shape.dtype == WICK_DTYPE_F64 ? 0 : ((const uint16_t *)t->data)[at + i];
        s->logits[i] = t->shape.dtype == WICK_DTYPE_F16 ? wick_f32_from_f16(half) : t->shape.dtype == WICK_DTYPE_BF16 ? wick_f32_from_bf16(half)
                                                                                       : (float)((const double *)t->data)[at + i];
    }
    return WICK_OK;
}

/* One call with `count` tokens at `ids`, the first at position `start`; padded up to `size`. Logits of token count - 1. */
static wick_status call(struct wick_llm_session *s, const int64_t *ids, int32_t count, int32_t size, int32_t start, bool want_logits, wick_error *err)
{
    const struct wick_llm_metadata *m = &s->metadata;
    for (int32_t i = 0; i < size; i++) put_id(s->token_input, m->tokens_dtype, i, i < count ? ids[i] : 0);
    const int32_t token_sizes[2] = {1, size};
    struct wick_shape shape = wick_shape_make(m->tokens_dtype, 2, token_sizes);
    WICK_TRY(wick_instance_set_tensor(s->instance, 0, &shape, s->token_input, err));
    if (m->has_position) {
        int32_t positions = m->position_vector ? size : 1;
        for (int32_t i = 0; i < positions; i++) put_id(s->position_input, m->position_dtype, i, start + i);
        shape = wick_shape_make(m->position_dtype, 1, &positions);
        WICK_TRY(wick_instance_set_tensor(s->instance, 1, &shape, s->position_input, err));
    }
    uint64_t begin = wick_now_ns();
    wick_status status = wick_instance_run(s->instance, s->tracer, err);
    s->run_ns += wick_now_ns() - begin;
    if (status == WICK_OK && want_logits) status = take_logits(s, count - 1, err);
    return status;
}

static wick_status judge(const struct wick_llm_session *s, const int64_t *ids, int32_t count, wick_error *err)
{
    const struct wick_llm_metadata *m = &s->metadata;
    if (count < 1) return wick_fail(err, WICK_INVALID_ARGUMENT, "no tokens to feed");
    if (count > m->max_context_len - s->position)
        return s->position == 0 ? wick_fail(err, WICK_CONTEXT_FULL, "prompt too long (%d > %lld tokens)", (int)count, (long long)m->max_context_len)
                                : wick_fail(err, WICK_CONTEXT_FULL, "context full: %d tokens in it, %d more do not fit %lld", (int)s->position, (int)count,
                                            (long long)m->max_context_len);
    for (int32_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= m->vocab_size)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "token %d: id %lld is outside the vocabulary of %lld", (int)i, (long long)ids[i], (long long)m->vocab_size);
    return WICK_OK;
}

/* Programs that keep no state see the whole sequence each time. */
static wick_status feed_whole(struct wick_llm_session *s, int32_t total, wick_error *err)
{
    const struct wick_llm_metadata *m = &s->metadata;
    int32_t size = m->tokens_static ? m->tokens_bound : total;
    /* A padded row is right only if the logits of an inner position can be had: causal models with all logits. */
    const struct wick_tensor *out = wick_instance_graph(s->instance)->values[wick_instance_graph(s->instance)->method->outputs[0]].as.tensor;
    if (size != total && out->shape.rank != 3)
        return wick_fail(err, WICK_NOT_SUPPORTED, "a program of exactly %d tokens without cache that gives the last position's logits only: not supported for %d tokens",
                         (int)size, (int)total);
    return call(s, s->tokens, total, size, 0, true, err);
}

wick_status wick_llm_session_feed(struct wick_llm_session *s, const int64_t *ids, int32_t count, wick_error *err)
{
    const struct wick_llm_metadata *m = &s->metadata;
    WICK_TRY(judge(s, ids, count, err));
    memcpy(s->tokens + s->position, ids, (size_t)count * sizeof *ids);
    if (!m->use_kv_cache) {
        WICK_TRY(feed_whole(s, s->position + count, err));
        s->position += count;
        return WICK_OK;
    }
    for (int32_t done = 0; done < count;) {
        int32_t n = WICK_MIN(count - done, m->tokens_bound);
        if (m->tokens_static && n < m->tokens_bound)
            return wick_fail(err, WICK_NOT_SUPPORTED, "a program of exactly %d tokens a call: not supported for a rest of %d", (int)m->tokens_bound, (int)n);
        WICK_TRY(call(s, ids + done, n, n, s->position, done + n == count, err));
        s->position += n;
        done += n;
    }
    return WICK_OK;
}

/* Does a call give the logits of all its positions? */
static bool gives_all_rows(const struct wick_llm_session *s)
{
    const struct wick_exec_graph *graph = wick_instance_graph(s->instance);
    return graph->values[graph->method->outputs[0]].as.tensor->shape.rank == 3;
}

static wick_status visit_rows(struct wick_llm_session *s, int32_t first, int32_t count, bool (*visit)(void *, const float *, size_t), void *user, wick_error *err)
{
    for (int32_t row = first; row < first + count; row++) {
        WICK_TRY(take_logits(s, row, err));
        if (!visit(user, s->logits, (size_t)s->metadata.vocab_size)) return wick_fail(err, WICK_CANCELLED, "stopped");
    }
    return WICK_OK;
}

wick_status wick_llm_session_feed_each(struct wick_llm_session *s, const int64_t *ids, int32_t count, bool (*visit)(void *user, const float *logits, size_t count),
                                       void *user, wick_error *err)
{
    const struct wick_llm_metadata *m = &s->metadata;
    const int32_t begin = s->position;
    bool all = gives_all_rows(s);
    WICK_TRY(judge(s, ids, count, err));
    if (all && !m->use_kv_cache) { /* the whole sequence in one call, as ever; its last rows */
        WICK_TRY(wick_llm_session_feed(s, ids, count, err));
        return visit_rows(s, begin, count, visit, user, err);
    }
    for (int32_t done = 0, n; done < count; done += n) {
        n = all ? WICK_MIN(count - done, m->tokens_bound) : 1;
        WICK_TRY(wick_llm_session_feed(s, ids + done, n, err));
        WICK_TRY(visit_rows(s, all ? 0 : n - 1, all ? n : 1, visit, user, err));
    }
    return WICK_OK;
}

void wick_llm_session_reset(struct wick_llm_session *s)
{
    wick_instance_reset_state(s->instance);
    s->position = 0;
    s->run_ns = 0;
}
