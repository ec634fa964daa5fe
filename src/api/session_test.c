/* Sessions over real programs: the same logits whatever the threads and chunks, a clean slate after a reset, limits, cancelling. */
#include "fixture.h"

#include "wick/llm.h"

#include <stdlib.h>
#include <string.h>

/* Dynamically quantized linears in XNNPACK payloads, custom attention; a rounding that went the other way would show. */
#define STORY "llm/story_8da4w/model.pte"

enum { PROMPT = 23, MORE = 6 };

static wick_error err;

static wick_session *open_session(const char *path, unsigned threads, wick_numerics numerics)
{
    wick_model_options options;
    wick_model *model;
    wick_session *session;
    wick_model_options_init(&options);
    options.threads = threads;
    options.numerics = numerics;
    WICK_ASSERT_OK(wick_model_open(path, &options, &model, &err), &err);
    WICK_ASSERT_OK(wick_session_open(model, NULL, &session, &err), &err);
    wick_model_unref(model);
    return session;
}

static void make_ids(int64_t *ids, size_t count, int64_t vocabulary)
{
    uint64_t state = 7;
    for (size_t i = 0; i < count; i++) ids[i] = (int64_t)(wick_test_random(&state) % (uint64_t)vocabulary);
}

/* Feeds ids in calls of `chunk` tokens, then MORE of them one by one; rows (1 + MORE, vocabulary). */
static float *logits_of(wick_session *session, size_t chunk)
{
    wick_session_info info;
    int64_t ids[PROMPT + MORE];
    wick_session_describe(session, &info);
    make_ids(ids, PROMPT + MORE, info.vocab_size);
    size_t row = (size_t)info.vocab_size * sizeof(float);
    char *rows = malloc((1 + MORE) * row);
    assert_non_null(rows);
    for (size_t at = 0; at < PROMPT; at += chunk)
        WICK_ASSERT_OK(wick_session_feed(session, ids + at, PROMPT - at < chunk ? PROMPT - at : chunk, &err), &err);
    memcpy(rows, wick_session_logits(session), row);
    for (size_t i = 0; i < MORE; i++) {
        WICK_ASSERT_OK(wick_session_feed(session, ids + PROMPT + i, 1, &err), &err);
        memcpy(rows + (1 + i) * row, wick_session_logits(session), row);
    }
    assert_int_equal(wick_session_position(session), PROMPT + MORE);
    return (float *)(void *)rows;
}

struct rows {
    const float *expected;
    size_t seen, stop; /* stop: after this many */
    bool same;
};

static bool compare_row(void *user, const float *logits, size_t count)
{
    struct rows *rows = user;
    rows->same = rows->same && memcmp(logits, rows->expected + rows->seen * count, count * sizeof *logits) == 0;
    return ++rows->seen != rows->stop;
}

/* The logits after each token are those of tokens fed one by one; a visitor can stop. */
static void visits_each_token(void **state)
{
    (void)state;
    WICK_NEED(wick_test_golden(STORY));
    wick_session *session = open_session(wick_test_golden(STORY), 2, WICK_NUMERICS_REPRODUCIBLE);
    wick_session_info info;
    int64_t ids[PROMPT + MORE];
    wick_session_describe(session, &info);
    make_ids(ids, PROMPT + MORE, info.vocab_size);
    float *expected = logits_of(session, PROMPT);
    struct rows rows = {.expected = expected, .same = true};
    wick_session_reset(session);
    WICK_ASSERT_OK(wick_session_feed(session, ids, PROMPT - 1, &err), &err);
    WICK_ASSERT_OK(wick_session_feed_each(session, ids + PROMPT - 1, 1 + MORE, compare_row, &rows, &err), &err);
    assert_true(rows.same);
    assert_int_equal(rows.seen, 1 + MORE);
    assert_int_equal(wick_session_position(session), PROMPT + MORE);
    rows = (struct rows){.expected = expected, .stop = 2};
    assert_int_equal(wick_session_feed_each(session, ids, 4, compare_row, &rows, &err), WICK_CANCELLED);
    assert_int_equal(rows.seen, 2);
    assert_int_equal(wick_session_feed_each(session, ids, (size_t)info.context, compare_row, &rows, &err), WICK_CONTEXT_FULL);
    free(expected);
    wick_session_close(session);
}

static void same_for_threads_and_chunks(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 8};
    static const size_t chunks[] = {PROMPT, 1, 5};
    const char *path = wick_test_golden(STORY);
    WICK_NEED(path);
    wick_session *session = open_session(path, 1, WICK_NUMERICS_REPRODUCIBLE);
    wick_session_info info;
    wick_session_describe(session, &info);
    size_t bytes = (size_t)(1 + MORE) * (size_t)info.vocab_size * sizeof(float);
    float *want = logits_of(session, PROMPT);
    assert_true(want[0] == want[0]);
    wick_session_close(session);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        session = open_session(path, threads[t], WICK_NUMERICS_REPRODUCIBLE);
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
            wick_session_reset(session);
            float *got = logits_of(session, chunks[c]);
            if (memcmp(got, want, bytes) != 0) fail_msg("%u threads, chunks of %zu: other logits", threads[t], chunks[c]);
            free(got);
        }
        wick_session_close(session);
    }
    free(want);
}

static void reset_leaves_nothing(void **state)
{
    (void)state;
    /* lfm2 keeps short-convolution state besides its caches. */
    static const char *const programs[] = {STORY, "llm/lfm2_8da4w/model.pte"};
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        const char *path = wick_test_golden(programs[p]);
        WICK_NEED(path);
        wick_session *session = open_session(path, 2, WICK_NUMERICS_FAST);
        wick_session_info info;
        wick_session_describe(session, &info);
        float *first = logits_of(session, PROMPT);
        wick_session_reset(session);
        assert_int_equal(wick_session_position(session), 0);
        float *second = logits_of(session, PROMPT);
        assert_memory_equal(first, second, (size_t)(1 + MORE) * (size_t)info.vocab_size * sizeof(float));
        free(first), free(second);
        wick_session_close(session);
    }
}

static void full_context_is_refused_before_running(void **state)
{
    (void)state;
    const char *path = wick_test_golden(STORY);
    WICK_NEED(path);
    wick_session *session = open_session(path, 1, WICK_NUMERICS_FAST);
    wick_session_info info;
    wick_session_describe(session, &info);
    int64_t *ids = calloc((size_t)info.context + 1, sizeof *ids);
    assert_non_null(ids);
    assert_int_equal(wick_session_feed(session, ids, (size_t)info.context + 1, &err), WICK_CONTEXT_FULL);
    assert_int_equal(wick_session_position(session), 0);
    WICK_ASSERT_OK(wick_session_feed(session, ids, (size_t)info.context, &err), &err);
    assert_int_equal(wick_session_feed(session, ids, 1, &err), WICK_CONTEXT_FULL);
    ids[0] = info.vocab_size;
    wick_session_reset(session);
    assert_int_not_equal(wick_session_feed(session, ids, 1, &err), WICK_OK);
    assert_true(err.message[0] != 0);
    free(ids);
    wick_session_close(session);
}

static bool cancel_at_third(void *user, int64_t id)
{
    int *left = user;
    (void)id;
    return --*left > 0;
}

static void generation_ends_when_told(void **state)
{
    (void)state;
    const char *path = wick_test_golden(STORY);
    WICK_NEED(path);
    wick_session *session = open_session(path, 1, WICK_NUMERICS_FAST);
    wick_generate_options options;
    wick_generate_stats stats;
    int64_t prompt[PROMPT];
    int left = 3;
    make_ids(prompt, PROMPT, 512);
    wick_generate_options_init(&options);
    options.sampling.temperature = 0;
    options.ignore_eos = true;
    options.max_new_tokens = 5;
    WICK_ASSERT_OK(wick_generate(session, NULL, prompt, PROMPT, &options, &stats, &err), &err);
    assert_int_equal(stats.generated_tokens, 5);
    assert_int_equal(stats.prompt_tokens, PROMPT);
    assert_int_equal(stats.finish, WICK_FINISH_LENGTH);
    wick_session_reset(session);
    options.max_new_tokens = -1;
    options.on_token = cancel_at_third;
    options.user = &left;
    assert_int_equal(wick_generate(session, NULL, prompt, PROMPT, &options, &stats, &err), WICK_CANCELLED);
    assert_int_equal(left, 0);
    wick_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_each_token), cmocka_unit_test(same_for_threads_and_chunks),
        cmocka_unit_test(reset_leaves_nothing),
        cmocka_unit_test(full_context_is_refused_before_running),
        cmocka_unit_test(generation_ends_when_told),
    };
    return WICK_TEST_MAIN(tests);
}
