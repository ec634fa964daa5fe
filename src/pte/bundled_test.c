/* Bundles of the original open, their program and their cases read; hostile ones are refused. */
#include "pte/bundled.h"
#include "pte/golden_test.h"

static void check_bundle(const char *name)
{
    size_t size;
    struct wick_bundled_file file;
    struct wick_pte_file program;
    wick_error err;
    const char *path = wick_test_golden(name);
    WICK_NEED(path);
    uint8_t *data = golden_load(path, &size);
    assert_true(wick_bundled_is(data, size));
    WICK_ASSERT_OK(wick_bundled_open(&file, data, size, &err), &err);
    assert_int_equal((file.program.data - data) % 32, 0);
    assert_false(wick_bundled_is(file.program.data, file.program.size));
    WICK_ASSERT_OK(wick_pte_open(&program, file.program.data, file.program.size, &err), &err);
    assert_true(wick_bundled_suite_count(&file) > 0);
    for (uint32_t suite = 0; suite < wick_bundled_suite_count(&file); suite++) {
        uint32_t cases, found;
        struct wick_str method = wick_bundled_suite_name(&file, suite, &cases);
        struct flat_table plan = wick_pte_plan(&program, method);
        assert_non_null(plan.at);
        WICK_ASSERT_OK(wick_bundled_suite_find(&file, method, &found, &err), &err);
        assert_int_equal(found, suite);
        assert_true(cases > 0);
        for (uint32_t test = 0; test < cases; test++) {
            assert_int_equal(wick_bundled_value_count(&file, suite, test, false), flat_vector(plan, PTE_PLAN_INPUTS).count);
            assert_int_equal(wick_bundled_value_count(&file, suite, test, true), flat_vector(plan, PTE_PLAN_OUTPUTS).count);
            for (int outputs = 0; outputs < 2; outputs++) {
                for (uint32_t i = 0; i < wick_bundled_value_count(&file, suite, test, outputs); i++) {
                    struct wick_bundled_value value;
                    WICK_ASSERT_OK(wick_bundled_value_at(&file, suite, test, outputs, i, &value, &err), &err);
                    if (value.kind == BPTE_KIND_TENSOR) assert_int_equal(value.data.size, wick_shape_nbytes(&value.shape));
                }
            }
        }
    }
    uint32_t found;
    assert_int_equal(wick_bundled_suite_find(&file, WICK_STR("no such method"), &found, &err), WICK_INVALID_ARGUMENT);
    free(data);
}

static void golden(void **state)
{
    (void)state;
    check_bundle("programs/bundled.bpte");
    check_bundle("programs/bundled_wrong.bpte");
}

/* Values whose data do not fit their sizes are found by changing any 4 bytes to something large: whatever happens, no fault is silent
 * and nothing is read outside. */
static void damaged(void **state)
{
    (void)state;
    size_t size;
    wick_error err;
    struct wick_bundled_file file;
    int refused = 0;
    const char *path = wick_test_golden("programs/bundled.bpte");
    WICK_NEED(path);
    uint8_t *data = golden_load(path, &size);
    for (size_t at = 0; at + 4 <= size; at += 4) {
        static const uint32_t values[] = {0x7fffffff, 0xffffffff, 0x00010000, 0x80000000};
        uint32_t kept;
        memcpy(&kept, data + at, 4);
        for (size_t i = 0; i < WICK_ARRAY_SIZE(values); i++) {
            memcpy(data + at, &values[i], 4);
            err = (wick_error){WICK_OK, ""};
            if (wick_bundled_open(&file, data, size, &err) != WICK_OK) {
                assert_true(strlen(err.message) > 10);
                refused++;
            }
        }
        memcpy(data + at, &kept, 4);
    }
    assert_true(refused > 100);
    for (size_t cut = 0; cut < size; cut += cut < 256 ? 1 : 61) {
        uint8_t *copy = golden_copy(data, cut);
        if (wick_bundled_open(&file, copy, cut, &err) == WICK_OK) assert_true(size - cut < 32);
        free(copy);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(damaged)};
    return WICK_TEST_MAIN(tests);
}
