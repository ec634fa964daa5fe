/* Fusion changes no bit: programs of the original, with it and without, at several lengths of a call. */
#include "fixture.h"

#include "wick/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 9, MORE = 3 };

static wick_error err;

struct seen {
    unsigned norms, gates, ropes, quantized;
};

static void note(void *user, const wick_node_report *report)
{
    struct seen *seen = user;
    seen->norms += strncmp(report->name, "fused::rms_norm", 15) == 0;
    seen->gates += strncmp(report->name, "fused::swiglu", 13) == 0;
    seen->ropes += strncmp(report->name, "fused::rope", 11) == 0;
    seen->quantized += strstr(report->name, "_quantize") != NULL && strncmp(report->name, "fused::", 7) == 0;
}

/* Logits after a prompt (in one call where the program takes that, else token by token) and after each of MORE tokens. */
static float *run(const char *path, bool no_fuse, struct seen *seen, size_t *count)
{
    wick_model_options options;
    wick_model *model;
    wick_session *session;
    wick_session_info info;
    int64_t ids[PROMPT + MORE];
    uint64_t random = 3;
    wick_model_options_init(&options);
    options.no_fuse = no_fuse;
    options.threads = 2;
    WICK_ASSERT_OK(wick_model_open(path, &options, &model, &err), &err);
    WICK_ASSERT_OK(wick_session_open(model, NULL, &session, &err), &err);
    wick_session_describe(session, &info);
    wick_session_watch(session, note, seen);
    for (size_t i = 0; i < PROMPT + MORE; i++) ids[i] = (int64_t)(wick_test_random(&random) % (uint64_t)info.vocab_size);
    float *rows = malloc((1 + MORE) * (size_t)info.vocab_size * sizeof *rows);
    assert_non_null(rows);
    WICK_ASSERT_OK(wick_session_feed(session, ids, PROMPT, &err), &err);
    for (size_t i = 0; i <= MORE; i++) {
        memcpy(rows + i * (size_t)info.vocab_size, wick_session_logits(session), (size_t)info.vocab_size * sizeof *rows);
        if (i < MORE) WICK_ASSERT_OK(wick_session_feed(session, ids + PROMPT + i, 1, &err), &err);
    }
    *count = (1 + MORE) * (size_t)info.vocab_size;
    wick_session_close(session);
    wick_model_unref(model);
    return rows;
}

static void compare(const char *name, struct seen *fused)
{
    char path[256];
    size_t count, same;
    struct seen plain = {0};
    snprintf(path, sizeof path, "llm/%s/model.pte", name);
    *fused = (struct seen){0};
    WICK_NEED(wick_test_golden(path));
    float *a = run(wick_test_golden(path), true, &plain, &count), *b = run(wick_test_golden(path), false, fused, &same);
    assert_int_equal(plain.norms + plain.gates + plain.ropes, 0);
    assert_int_equal(count, same);
    assert_memory_equal(a, b, count * sizeof *a);
    free(a), free(b);
}

/* Quantized linears in payloads, pairs of rope: all that there is to fuse. */
static void quantized(void **state)
{
    static const char *const names[] = {"story_8da4w", "llama32_8da4w_e4_sdpa_xnn", "smollm2_8da4w_e8_sdpa_xnn", "llama2_8da4w_e2_kv_xnn",
                                        "llama32_sink"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct seen seen;
        compare(names[i], &seen);
        assert_true(seen.norms > 0 && seen.gates > 0 && seen.ropes > 0 && seen.quantized > 0);
    }
}

/* Halves of rope, norms of heads, and programs with parts only. */
static void others(void **state)
{
    static const char *const names[] = {"qwen25_8da4w_sdpa_xnn", "qwen3_8da4w_e4_sdpa_xnn", "phi4_8da4w_sdpa_xnn", "lfm2_8da4w",
                                        "llama32_fp32_sdpa",     "llama32_fp32_nokv"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct seen seen;
        compare(names[i], &seen);
        assert_true(seen.norms > 0);
    }
}

/* Halves are left alone. */
static void halves_of_precision(void **state)
{
    static const char *const names[] = {"llama32_bf16_sdpa", "llama32_fp16_sdpa_xnn"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct seen seen;
        compare(names[i], &seen);
        assert_int_equal(seen.norms + seen.ropes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quantized), cmocka_unit_test(others), cmocka_unit_test(halves_of_precision)};
    return WICK_TEST_MAIN(tests);
}
