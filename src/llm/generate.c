/* llm/generate.c - prefill -> decode -> sample -> detokenize -> stop, one token after the other. */
#include "llm/generate.h"

#include "llm/logprobs.h"
#include "llm/sample.h"
#include "llm/stop.h"

struct generation {
    struct wick_llm_session *s;
    const struct wick_tok *tok;
    const wick_generate_options *options;
    wick_generate_stats *stats;
    struct wick_sampler sampler;
    struct wick_tok_stream stream;
    struct wick_stops stops;
    struct wick_logprobs logprobs;
    struct wick_buf piece, text; /* scratch: what a token adds, what may go to the user */
    uint64_t sampling_ns;
    wick_error *err;
};

static wick_status cancelled(struct generation *g) { return wick_fail(g->err, WICK_CANCELLED, "generation stopped"); }

/* How many tokens may come: limits given, and the room left. The last one need not be fed, so a full context still gives one. */
static int64_t resolve_limit(const struct generation *g)
{
    const wick_generate_options *o = g->options;
    int64_t context = g->s->metadata.max_context_len, limit = context - g->s->position;
    if (o->seq_len >= 0) limit = WICK_MIN(o->seq_len, context) - g->s->position;
    if (o->max_new_tokens >= 0) limit = o->seq_len >= 0 ? WICK_MIN(limit, o->max_new_tokens) : WICK_MIN(context - g->s->position + 1, o->max_new_tokens);
    else if (o->seq_len < 0) limit = WICK_MAX(limit, 1);
    return WICK_MAX(limit, 0);
}

static bool is_eos(const struct generation *g, int64_t id)
{
    for (uint32_t i = 0; i < g->s->metadata.eos_count; i++)
        if (g->s->metadata.eos[i] == id) return true;
    if (g->s->metadata.eos_count || !g->tok) return false;
    size_t count;
    const int32_t *eos = wick_tok_eos(g->tok, &count);
    for (size_t i = 0; i < count; i++)
        if (eos[i] == id) return true;
    return false;
}

static wick_status deliver(struct generation *g)
{
    if (g->text.failed || g->piece.failed || g->stops.held.failed) return wick_fail_oom(g->err, g->text.size, "generated text");
    bool go = g->text.size == 0 || g->options->on_text(g->options->user, g->text.data, g->text.size);
    g->text.size = 0;
    return go ? WICK_OK : cancelled(g);
}

static wick_status give_text(struct generation *g, int64_t id)
{
    if (!g->tok || !g->options->on_text) return WICK_OK;
    g->piece.size = 0;
    wick_tok_stream_feed(&g->stream, (int32_t)id, &g->piece);
    if (g->piece.size) wick_stops_feed(&g->stops, g->piece.data, g->piece.size, &g->text);
    return deliver(g);
}

static wick_status end_text(struct generation *g)
{
    if (!g->tok || !g->options->on_text) return WICK_OK;
    g->piece.size = 0;
    wick_tok_stream_flush(&g->stream, &g->piece);
    if (g->piece.size) wick_stops_feed(&g->stops, g->piece.data, g->piece.size, &g->text);
    wick_stops_flush(&g->stops, &g->text);
    return deliver(g);
}

static wick_status choose(struct generation *g, int64_t *id)
{
    const wick_generate_options *o = g->options;
    int32_t chosen = 0;
    uint64_t begin = wick_now_ns();
    if (o->on_logits && !o->on_logits(o->user, g->s->logits, (size_t)g->s->metadata.vocab_size)) return cancelled(g);
    if (o->on_logprobs) wick_logprobs_take(&g->logprobs, g->s->logits);
    wick_status status = wick_sampler_choose(&g->sampler, g->s->logits, g->s->tokens, g->s->position, &chosen, g->err);
    g->sampling_ns += wick_now_ns() - begin;
    *id = chosen;
    return status;
}

static wick_status decode(struct generation *g)
{
    const wick_generate_options *o = g->options;
    int64_t limit = resolve_limit(g);
    g->stats->finish = WICK_FINISH_LENGTH;
    for (int64_t step = 0; step < limit; step++) {
        int64_t id;
        WICK_TRY(choose(g, &id));
        if (step == 0) g->stats->first_token_ms = wick_wall_ms();
        g->stats->generated_tokens++;
        if (o->on_logprobs && !o->on_logprobs(o->user, wick_logprobs_of(&g->logprobs, id), g->logprobs.top, g->logprobs.top_count)) return cancelled(g);
        if (o->on_token && !o->on_token(o->user, id)) return cancelled(g);
        bool forced = (size_t)step < o->forced_count;
        if (!o->ignore_eos && !forced && is_eos(g, id)) {
            g->stats->finish = WICK_FINISH_EOS;
            break;
        }
        WICK_TRY(give_text(g, id));
        if (g->stops.hit) {
            g->stats->finish = WICK_FINISH_STOP;
            break;
        }
        if (step + 1 == limit) break;
        if (forced) id = o->forced[step];
        WICK_TRY(wick_llm_session_feed(g->s, &id, 1, g->err));
    }
    return end_text(g);
}

static bool contains(struct wick_str text, struct wick_str part)
{
    for (size_t i = 0; part.size && i + part.size <= text.size; i++)
        if (memcmp(text.data + i, part.data, part.size) == 0) return true;
    return false;
}

/* Tokens whose text holds a breaker. */
static wick_status find_breakers(struct generation *g, struct wick_arena *temp)
{
    static const char *const usual[] = {"\n", ":", "\"", "*"};
    const wick_sampling *o = &g->options->sampling;
    const char *const *texts = o->dry_breakers ? o->dry_breakers : usual;
    size_t count = o->dry_breakers ? o->dry_breaker_count : WICK_ARRAY_SIZE(usual);
    int32_t n = g->sampler.vocab_size;
    g->sampler.breakers = WICK_NEW_ARRAY(temp, bool, (size_t)n);
    if (!g->sampler.breakers) return wick_fail_oom(g->err, (size_t)n, "DRY");
    for (int32_t id = 0; id < n; id++) {
        g->piece.size = 0;
        g->sampler.breakers[id] = false;
        if (wick_tok_decode(g->tok, &id, 1, WICK_TOK_CONTINUE, &g->piece, NULL) != WICK_OK) continue;
        for (size_t i = 0; i < count && !g->sampler.breakers[id]; i++)
            g->sampler.breakers[id] = contains((struct wick_str){g->piece.data, g->piece.size}, wick_str_of(texts[i]));
    }
    return WICK_OK;
}

static wick_status judge(const wick_generate_options *o, size_t prompt_count, wick_error *err)
{
    if (o->struct_size != sizeof *o) return wick_fail(err, WICK_INVALID_ARGUMENT, "wick_generate_options: not made by wick_generate_options_init");
    if (prompt_count == 0) return wick_fail(err, WICK_INVALID_ARGUMENT, "the prompt has no tokens");
    if (prompt_count > INT32_MAX) return wick_fail(err, WICK_CONTEXT_FULL, "prompt too long (%zu tokens)", prompt_count);
    if (o->top_logprobs < 0 || o->top_logprobs > WICK_MOST_LOGPROBS)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "top_logprobs: %d is not in 0..%d", (int)o->top_logprobs, WICK_MOST_LOGPROBS);
    return WICK_OK;
}

wick_status wick_llm_generate(struct wick_llm_session *s, const struct wick_tok *tok, const int64_t *prompt, size_t prompt_count,
                              const wick_generate_options *options, wick_generate_stats *stats, struct wick_arena *temp, wick_error *err)
{
    struct generation g = {.s = s, .tok = tok, .options = options, .stats = stats, .stops = {.strings = options->stops, .count = options->stop_count}, .err = err};
    WICK_TRY(judge(options, prompt_count, err));
    WICK_TRY(wick_sampler_init(&g.sampler, &options->sampling, (int32_t)s->metadata.vocab_size, (int32_t)s->metadata.max_context_len, temp, err));
    if (options->sampling.dry_multiplier > 0 && tok) WICK_TRY(find_breakers(&g, temp));
    if (options->on_logprobs) WICK_TRY(wick_logprobs_init(&g.logprobs, (int32_t)s->metadata.vocab_size, options->top_logprobs, temp, err));
    if (tok) wick_tok_stream_init(&g.stream, tok, WICK_TOK_SKIP_SPECIAL | WICK_TOK_CONTINUE);
    uint64_t run_before = s->run_ns, begin = wick_now_ns();
    stats->prompt_tokens = (int64_t)prompt_count;
    stats->inference_start_ms = wick_wall_ms();
    wick_status status = wick_llm_session_feed(s, prompt, (int32_t)prompt_count, err);
    uint64_t prefilled = wick_now_ns();
    stats->prompt_eval_end_ms = wick_wall_ms();
    stats->prefill_seconds = (double)(prefilled - begin) * 1e-9;
    if (status == WICK_OK) status = decode(&g);
    stats->decode_seconds = (double)(wick_now_ns() - prefilled) * 1e-9;
    stats->inference_end_ms = wick_wall_ms();
    stats->aggregate_sampling_time_ms = g.sampling_ns / 1000000;
    stats->aggregate_model_execution_time_ms = (s->run_ns - run_before) / 1000000;
    wick_stops_free(&g.stops);
    wick_buf_free(&g.piece);
    wick_buf_free(&g.text);
    return status;
}
