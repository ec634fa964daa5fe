/* The sampling chain, stage by stage on hand-made rows, and the draw as a whole. */
#include "fixture.h"

#include "llm/logprobs.h"
#include "llm/sample.h"

#include <math.h>
#include <string.h>

enum { V = 8, DRAWS = 20000 };

static wick_error err;
static struct wick_arena arena;

static int set_up(void **state)
{
    (void)state;
    wick_arena_init(&arena, &wick_allocator_heap);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wick_arena_release(&arena);
    return 0;
}

/* All stages off, temperature 1. */
static wick_sampling plain(void)
{
    return (wick_sampling){.temperature = 1, .top_p = 1, .typical_p = 1, .min_keep = 1, .repetition_penalty = 1, .penalty_last_n = -1, .dry_base = 1.75f, .dry_allowed_length = 2,
                           .dry_last_n = -1, .mirostat_tau = 5, .mirostat_eta = 0.1f, .xtc_threshold = 0.1f, .seed = 1};
}

static struct wick_sampler make(const wick_sampling *options, int32_t vocabulary)
{
    struct wick_sampler s;
    WICK_ASSERT_OK(wick_sampler_init(&s, options, vocabulary, 64, &arena, &err), &err);
    return s;
}

/* Logits of these probabilities. */
static void logits_of(const double *p, float *logits, int n)
{
    for (int i = 0; i < n; i++) logits[i] = p[i] > 0 ? (float)log(p[i]) : -INFINITY;
}

/* How often each id is drawn, from fresh copies of the row. */
static void count_draws(const wick_sampling *options, const double *p, int counts[V])
{
    struct wick_sampler s = make(options, V);
    memset(counts, 0, V * sizeof *counts);
    for (int i = 0; i < DRAWS; i++) {
        float logits[V];
        int32_t id = -1;
        logits_of(p, logits, V);
        WICK_ASSERT_OK(wick_sampler_choose(&s, logits, NULL, 0, &id, &err), &err);
        assert_in_range(id, 0, V - 1);
        counts[id]++;
    }
}

static const double slope[V] = {0.02, 0.4, 0.2, 0.15, 0.1, 0.08, 0.04, 0.01};

static void expect_kept(const wick_sampling *options, const double *p, unsigned kept)
{
    int counts[V];
    double mass = 0;
    count_draws(options, p, counts);
    for (int i = 0; i < V; i++)
        if (kept >> i & 1) mass += p[i];
    for (int i = 0; i < V; i++) {
        double want = kept >> i & 1 ? p[i] / mass * DRAWS : 0;
        if (fabs(counts[i] - want) > 5 * sqrt(want + 1)) fail_msg("id %d drawn %d times, %.0f expected", i, counts[i], want);
    }
}

static void draws_follow_the_probabilities(void **state)
{
    (void)state;
    wick_sampling o = plain();
    expect_kept(&o, slope, 0xff);
    double uniform[V] = {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125};
    int counts[V], again[V];
    count_draws(&o, uniform, counts);
    double chi = 0;
    for (int i = 0; i < V; i++) chi += (counts[i] - DRAWS / 8.0) * (counts[i] - DRAWS / 8.0) / (DRAWS / 8.0);
    assert_true(chi < 24.3); /* 7 degrees of freedom, 0.1 % */
    count_draws(&o, uniform, again);
    assert_memory_equal(counts, again, sizeof counts);
    o.seed = 2;
    count_draws(&o, uniform, again);
    assert_memory_not_equal(counts, again, sizeof counts);
}

static void cuts_keep_what_they_say(void **state)
{
    (void)state;
    wick_sampling o = plain();
    o.top_k = 3;
    expect_kept(&o, slope, 1u << 1 | 1u << 2 | 1u << 3);
    o.top_k = 0; /* off, as is a k of the whole vocabulary */
    expect_kept(&o, slope, 0xff);
    o.top_k = V;
    expect_kept(&o, slope, 0xff);
    o = plain();
    o.top_p = 0.7f; /* 0.4 + 0.2 + 0.15 is the first sum that reaches it */
    expect_kept(&o, slope, 1u << 1 | 1u << 2 | 1u << 3);
    o.top_p = 0.1f;
    expect_kept(&o, slope, 1u << 1);
    o.min_keep = 2;
    expect_kept(&o, slope, 1u << 1 | 1u << 2);
    o = plain();
    o.min_p = 0.3f; /* 0.12 and more */
    expect_kept(&o, slope, 1u << 1 | 1u << 2 | 1u << 3);
    o = plain();
    o.top_k = 4;
    o.top_p = 0.8f; /* of 0.85: 0.68 */
    expect_kept(&o, slope, 1u << 1 | 1u << 2 | 1u << 3);
    o = plain();
    o.typical_p = 0.3f; /* the entropy is 1.66 nats; 0.2 (1.61) is nearest, then 0.15 (1.90) */
    expect_kept(&o, slope, 1u << 2 | 1u << 3);
    o = plain();
    o.xtc_probability = 1;
    o.xtc_threshold = 0.09f; /* of 0.4, 0.2, 0.15, 0.1 only the last stays */
    expect_kept(&o, slope, 1u << 4 | 1u << 5 | 1u << 6 | 1u << 0 | 1u << 7);
    o.xtc_threshold = 0.5f; /* none is likely enough */
    expect_kept(&o, slope, 0xff);
}

static void a_cut_that_nothing_passes_keeps_the_best(void **state)
{
    (void)state;
    const double quarter[V] = {0.25, 0.25, 0.25, 0.25};
    wick_sampling o = plain();
    o.top_p = 0.1f;
    expect_kept(&o, quarter, 1);
    o.original = true; /* reads before its array there */
    int counts[V];
    count_draws(&o, quarter, counts);
    assert_int_equal(counts[0], DRAWS);
}

static void top_n_sigma_cuts_noise(void **state)
{
    (void)state;
    /* Two that stand out from noise. */
    float logits[V] = {4, 3.5f, 0, 0, 0.1f, 0, 0.2f, 0};
    double mean = 0, square = 0;
    for (int i = 0; i < V; i++) mean += logits[i] / V;
    for (int i = 0; i < V; i++) square += (logits[i] - mean) * (logits[i] - mean) / V;
    assert_true(fabs(wick_sample_sigma_floor(logits, V, 4, 1) - (4 - sqrt(square))) < 1e-5);
    wick_sampling o = plain();
    o.top_n_sigma = 1;
    struct wick_sampler s = make(&o, V);
    for (int i = 0; i < 500; i++) {
        float row[V];
        int32_t id;
        memcpy(row, logits, sizeof row);
        WICK_ASSERT_OK(wick_sampler_choose(&s, row, NULL, 0, &id, &err), &err);
        assert_in_range(id, 0, 1);
    }
}

static void penalties(void **state)
{
    (void)state;
    const int64_t history[] = {3, 1, 1, 2, 99, -5};
    wick_sampling o = plain();
    o.repetition_penalty = 2;
    o.presence_penalty = 0.5f;
    o.frequency_penalty = 0.25f;
    struct wick_sampler s = make(&o, V);
    float logits[V] = {1, 2, -2, 4, 1, 1, 1, 1};
    wick_sample_penalize(&s, logits, history, 6);
    const float want[V] = {1, 2 / 2.0f - 0.5f - 0.5f, -4 - 0.75f, 4 / 2.0f - 0.75f, 1, 1, 1, 1};
    assert_memory_equal(logits, want, sizeof want);
    float again[V] = {1, 2, -2, 4, 1, 1, 1, 1};
    wick_sample_penalize(&s, again, history, 6);
    assert_memory_equal(again, want, sizeof want);
    s.options.penalty_last_n = 3; /* 2, 99, -5 */
    float last[V] = {1, 2, -2, 4, 1, 1, 1, 1};
    wick_sample_penalize(&s, last, history, 6);
    assert_true(last[1] == 2 && last[3] == 4 && last[2] == -4.75f);
}

static void bias_and_bans(void **state)
{
    (void)state;
    const wick_logit_bias biases[] = {{1, -INFINITY}, {7, 100}, {500, 1}, {-1, 1}};
    wick_sampling o = plain();
    o.temperature = 0;
    o.biases = biases;
    o.bias_count = 1;
    struct wick_sampler s = make(&o, V);
    float logits[V];
    int32_t id;
    logits_of(slope, logits, V);
    WICK_ASSERT_OK(wick_sampler_choose(&s, logits, NULL, 0, &id, &err), &err);
    assert_int_equal(id, 2);
    s.options.bias_count = 4;
    logits_of(slope, logits, V);
    WICK_ASSERT_OK(wick_sampler_choose(&s, logits, NULL, 0, &id, &err), &err);
    assert_int_equal(id, 7);
}

static void dry_punishes_what_would_go_on_repeating(void **state)
{
    (void)state;
    /* 1 2 3 4 ... 1 2 3: a 4 would make the repetition 4 long; 5 followed a lone 3. */
    const int64_t history[] = {1, 2, 3, 4, 0, 3, 5, 1, 2, 3};
    wick_sampling o = plain();
    o.dry_multiplier = 0.5f;
    struct wick_sampler s = make(&o, V);
    float logits[V] = {0};
    wick_sample_dry(&s, logits, history, 10);
    for (int i = 0; i < V; i++) {
        float want = i == 4 ? -0.5f * powf(1.75f, 3 - 2) : 0;
        if (fabsf(logits[i] - want) > 1e-6f) fail_msg("token %d: %g, %g expected", i, (double)logits[i], (double)want);
    }
    /* Not across a breaker: the repetition is then 1 2 3 without the 1, still long enough; with 3 itself a breaker there is none. */
    bool breakers[V] = {false};
    s.breakers = breakers;
    breakers[1] = true;
    memset(logits, 0, sizeof logits);
    wick_sample_dry(&s, logits, history, 10);
    assert_true(fabsf(logits[4] + 0.5f) < 1e-6f);
    breakers[3] = true;
    memset(logits, 0, sizeof logits);
    wick_sample_dry(&s, logits, history, 10);
    assert_true(logits[4] == 0);
    /* A long run of one token: the power stays finite. */
    int64_t run[64];
    for (int i = 0; i < 64; i++) run[i] = 6;
    s.options.dry_base = 1e6f;
    memset(logits, 0, sizeof logits);
    wick_sample_dry(&s, logits, run, 64);
    assert_true(logits[6] < -1e30f && logits[6] > -INFINITY);
}

static void mirostat_steers_the_surprise(void **state)
{
    (void)state;
    enum { WIDE = 2000, STEPS = 3000 };
    static float row[WIDE];
    static double p[WIDE];
    double mass = 0;
    for (int i = 0; i < WIDE; i++) mass += p[i] = pow(i + 1, -1.1); /* Zipf's law */
    for (int version = 1; version <= 2; version++) {
        wick_sampling o = plain();
        o.mirostat = version;
        o.mirostat_tau = 4;
        struct wick_sampler s = make(&o, WIDE);
        double surprise = 0;
        for (int step = 0; step < STEPS; step++) {
            int32_t id;
            for (int i = 0; i < WIDE; i++) row[i] = (float)log(p[i] / mass);
            WICK_ASSERT_OK(wick_sampler_choose(&s, row, NULL, 0, &id, &err), &err);
            if (step >= STEPS / 2) surprise -= log2(p[id] / mass) / (STEPS / 2);
        }
        /* Measured over all candidates it is a little more than over those that were kept. */
        if (surprise < 3 || surprise > 6) fail_msg("mirostat %d: %.2f bits, about 4 expected", version, surprise);
    }
}

static void greedy_and_refusals(void **state)
{
    (void)state;
    wick_sampling o = plain();
    o.temperature = 0;
    struct wick_sampler s = make(&o, 4);
    int32_t id;
    float tie[4] = {1, 3, 3, 0}, nan_row[4] = {0, NAN, 1, 2}, nothing[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, infinite[4] = {0, 1, INFINITY, 2};
    WICK_ASSERT_OK(wick_sampler_choose(&s, tie, NULL, 0, &id, &err), &err);
    assert_int_equal(id, 1);
    assert_int_equal(wick_sampler_choose(&s, nan_row, NULL, 0, &id, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_sampler_choose(&s, nothing, NULL, 0, &id, &err), WICK_INVALID_ARGUMENT);
    s.options.temperature = 1;
    WICK_ASSERT_OK(wick_sampler_choose(&s, infinite, NULL, 0, &id, &err), &err);
    assert_int_equal(id, 2);
    wick_sampling bad[8];
    for (int i = 0; i < 8; i++) bad[i] = plain();
    bad[0].temperature = -1, bad[1].top_p = 0, bad[2].min_p = 1, bad[3].typical_p = 2, bad[4].mirostat = 3, bad[5].repetition_penalty = 0, bad[6].top_k = -1, bad[7].temperature = NAN;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(wick_sampler_init(&s, &bad[i], 4, 8, &arena, &err), WICK_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, "sampling: "));
    }
}

static void original_sampler(void **state)
{
    (void)state;
    uint64_t x = 42;
    float coins[4];
    for (int i = 0; i < 4; i++) {
        x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
        coins[i] = (float)((uint32_t)((x * 0x2545F4914F6CDD1Dull) >> 32) >> 8) / 16777216.0f;
    }
    wick_sampling o = plain();
    o.original = true;
    o.seed = 42;
    struct wick_sampler s = make(&o, V);
    for (int i = 0; i < 4; i++) {
        float logits[V], sum = 0;
        int32_t id, want = 0;
        logits_of(slope, logits, V);
        WICK_ASSERT_OK(wick_sampler_choose(&s, logits, NULL, 0, &id, &err), &err);
        for (want = 0; want < V - 1 && coins[i] >= (sum += (float)slope[want]); want++) continue;
        assert_int_equal(id, want);
    }
    o.top_p = 0.7f; /* after the token that passes 0.7: 0.4, 0.2, 0.15 */
    expect_kept(&o, slope, 1u << 1 | 1u << 2 | 1u << 3);
    o.top_k = 2; /* shuts out top-p */
    expect_kept(&o, slope, 1u << 1 | 1u << 2);
}

static void log_probabilities(void **state)
{
    (void)state;
    struct wick_logprobs l;
    float logits[V];
    WICK_ASSERT_OK(wick_logprobs_init(&l, V, 3, &arena, &err), &err);
    logits_of(slope, logits, V);
    for (int i = 0; i < V; i++) logits[i] += 20;
    wick_logprobs_take(&l, logits);
    assert_int_equal(l.top_count, 3);
    const int64_t best[] = {1, 2, 3};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(l.top[i].id, best[i]);
        assert_true(fabs(l.top[i].logprob - log(slope[best[i]])) < 1e-5);
    }
    logits[7] = 0; /* the copy counts */
    assert_true(fabs(wick_logprobs_of(&l, 7).logprob - log(0.01)) < 1e-5);
    WICK_ASSERT_OK(wick_logprobs_init(&l, 2, 5, &arena, &err), &err);
    wick_logprobs_take(&l, (const float[]){1, 1});
    assert_int_equal(l.top_count, 2);
    assert_int_equal(l.top[0].id, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(draws_follow_the_probabilities), TEST(cuts_keep_what_they_say), TEST(a_cut_that_nothing_passes_keeps_the_best), TEST(top_n_sigma_cuts_noise), TEST(penalties),
        TEST(bias_and_bans), TEST(dry_punishes_what_would_go_on_repeating), TEST(mirostat_steers_the_surprise), TEST(greedy_and_refusals), TEST(original_sampler),
        TEST(log_probabilities),
    };
    return WICK_TEST_MAIN(tests);
}
