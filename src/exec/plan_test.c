/* Values that live together never share bytes, and the block is no larger than it must be for simple chains. */
#include "fixture.h"

#include "base/error.h"
#include "exec/plan.h"

static struct wick_arena temp;

static void plan(struct wick_interval *intervals, uint32_t count, uint32_t steps, uint64_t *total)
{
    wick_error err;
    wick_arena_init(&temp, &wick_allocator_heap);
    WICK_ASSERT_OK(wick_plan_offsets(intervals, count, steps, &temp, total, &err), &err);
    wick_arena_release(&temp);
}

static void chain_of_equals_takes_two_slots(void **state)
{
    (void)state;
    struct wick_interval chain[10];
    uint64_t total;
    for (uint32_t i = 0; i < 10; i++) chain[i] = (struct wick_interval){.bytes = 1000, .first = i, .last = i + 1};
    plan(chain, 10, 11, &total);
    assert_int_equal(total, 2 * 1024);
}

static void best_gap_is_taken(void **state)
{
    (void)state;
    /* Gaps of 256 and 128 bytes stand open at step 2, kept apart by values that live on; 100 bytes go into the smaller. */
    struct wick_interval values[] = {{.bytes = 256, .first = 0, .last = 1}, {.bytes = 64, .first = 0, .last = 5},
                                     {.bytes = 128, .first = 0, .last = 1}, {.bytes = 64, .first = 0, .last = 5},
                                     {.bytes = 100, .first = 2, .last = 3}, {.bytes = 0, .first = 2, .last = 3}};
    uint64_t total;
    plan(values, 6, 6, &total);
    assert_int_equal(values[4].offset, values[2].offset);
    assert_int_equal(total, 512);
}

static void random_lifetimes_never_overlap(void **state)
{
    (void)state;
    enum { COUNT = 300, STEPS = 200 };
    static struct wick_interval v[COUNT];
    uint64_t random = 7, total;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < COUNT; i++) {
            uint32_t first = (uint32_t)(wick_test_random(&random) % STEPS), length = (uint32_t)(wick_test_random(&random) % 20);
            v[i] = (struct wick_interval){.bytes = wick_test_random(&random) % 5000, .first = first, .last = WICK_MIN(first + length, STEPS - 1)};
        }
        plan(v, COUNT, STEPS, &total);
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(v[i].offset % WICK_PLAN_ALIGNMENT, 0);
            assert_true(v[i].offset + v[i].bytes <= total);
            for (int j = 0; j < i; j++) {
                bool together = v[i].first <= v[j].last && v[j].first <= v[i].last;
                bool share = v[i].bytes && v[j].bytes && v[i].offset < v[j].offset + v[j].bytes && v[j].offset < v[i].offset + v[i].bytes;
                assert_false(together && share);
            }
        }
    }
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    struct wick_interval two[] = {{.bytes = UINT64_MAX / 2, .first = 0, .last = 1}, {.bytes = UINT64_MAX / 2, .first = 0, .last = 1}};
    struct wick_interval one = {.bytes = UINT64_MAX, .first = 0, .last = 0};
    uint64_t total;
    wick_error err;
    wick_arena_init(&temp, &wick_allocator_heap);
    assert_int_equal(wick_plan_offsets(two, 2, 2, &temp, &total, &err), WICK_OUT_OF_MEMORY);
    assert_int_equal(wick_plan_offsets(&one, 1, 1, &temp, &total, &err), WICK_OUT_OF_MEMORY);
    wick_arena_release(&temp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chain_of_equals_takes_two_slots), cmocka_unit_test(best_gap_is_taken),
                                       cmocka_unit_test(random_lifetimes_never_overlap), cmocka_unit_test(sizes_that_overflow_are_refused)};
    return WICK_TEST_MAIN(tests);
}
