/* Watching runs: all nodes, in order, with the work that the shapes say; and the machine's own limits. */
#include "fixture.h"

#include "wick/profile.h"

#include <string.h>

#define DECODER "llm/llama32_8da4w_e4_sdpa_xnn/model.pte"

/* Of the golden checkpoints' parameters: 2 layers of dim 64, 8 query and 4 kv heads, feed-forward of 128 (multiples of 32), vocabulary 512. */
struct seen {
    uint32_t nodes, last;
    uint64_t multiply_adds, bytes, attention;
    bool ordered;
};

static wick_error err;

static void note(void *user, const wick_node_report *report)
{
    struct seen *seen = user;
    seen->ordered = seen->ordered && (seen->nodes == 0 || report->node > seen->last) && report->name[0] != 0;
    seen->last = report->node;
    seen->nodes++;
    seen->multiply_adds += report->multiply_adds;
    seen->bytes += report->bytes;
    if (strstr(report->name, "custom_sdpa")) seen->attention += report->multiply_adds;
}

static wick_session *open_decoder(const char *path)
{
    wick_model *model;
    wick_session *session;
    WICK_ASSERT_OK(wick_model_open(path, NULL, &model, &err), &err);
    WICK_ASSERT_OK(wick_session_open(model, NULL, &session, &err), &err);
    wick_model_unref(model);
    return session;
}

static struct seen watch_tokens(wick_session *session, size_t count)
{
    int64_t ids[16];
    struct seen seen = {.ordered = true};
    for (size_t i = 0; i < count; i++) ids[i] = (int64_t)i + 3;
    wick_session_reset(session);
    wick_session_watch(session, note, &seen);
    WICK_ASSERT_OK(wick_session_feed(session, ids, count, &err), &err);
    wick_session_watch(session, NULL, NULL);
    return seen;
}

static void work_grows_with_tokens(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    WICK_NEED(path);
    wick_session *session = open_decoder(path);
    struct seen one = watch_tokens(session, 1), ten = watch_tokens(session, 10);
    assert_true(one.ordered && ten.ordered);
    assert_true(one.nodes > 20);
    assert_int_equal(one.nodes, ten.nodes);
    /* A key and a value of 64 numbers a head row: 2 * dim multiply-adds for each position seen, two layers; ten tokens see 5 on average. */
    assert_int_equal(one.attention, 2 * 2 * 64);
    assert_int_equal(ten.attention, 2 * 2 * 64 * 10 * 5);
    /* The head works on the last position only; everything else ten times as much. */
    uint64_t head = 512 * 64, linears = one.multiply_adds - one.attention - head;
    assert_int_equal(ten.multiply_adds - ten.attention, 10 * linears + head);
    assert_true(one.bytes > 0 && one.bytes < ten.bytes + 1);
    struct seen unwatched = {0};
    wick_session_watch(session, note, &unwatched);
    wick_session_watch(session, NULL, NULL);
    WICK_ASSERT_OK(wick_session_feed(session, (const int64_t[]){5}, 1, &err), &err);
    assert_int_equal(unwatched.nodes, 0);
    wick_session_close(session);
}

static void limits_are_plausible(void **state)
{
    (void)state;
    wick_machine machine;
    WICK_ASSERT_OK(wick_machine_measure(1, NULL, &machine, &err), &err);
    assert_true(machine.read_gb_s > 0.01 && machine.read_gb_s < 10000);
    assert_true(machine.int8_gmac_s > 0.001 && machine.int8_gmac_s < 100000);
    assert_int_equal(wick_machine_measure(1, "no such level", &machine, &err), WICK_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_grows_with_tokens),
        cmocka_unit_test(limits_are_plausible),
    };
    return WICK_TEST_MAIN(tests);
}
