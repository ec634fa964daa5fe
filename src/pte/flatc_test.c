/* flatc, with the schema text we print, reads files of the original and of ours as our JSON printer does. */
#include "flat/flatc_test.h"
#include "pte/bundled.h"
#include "pte/golden_test.h"
#include "pte/ptd.h"

static void check_program(const char *path, void *user)
{
    size_t size;
    struct wick_pte_file file;
    wick_error err;
    int *left = user;
    if ((*left)-- <= 0) return;
    uint8_t *data = golden_load(path, &size);
    WICK_ASSERT_OK(wick_pte_open(&file, data, size, &err), &err);
    flatc_check(&wick_pte_schema, file.program, data, (size_t)file.program_size, path);
    free(data);
}

static void programs(void **state)
{
    (void)state;
    static const char *const names[] = {"programs/multi.pte", "programs/scalars.pte", "programs/cond.pte", "programs/dynamic.pte", "programs/ext_portable.pte",
                                        "llm/llama32_8da4w_e4_sdpa_xnn/model.pte", "llm/v10_llama32_8da4w_e4_sdpa_xnn/model.pte", "llm/qat_lora/model.pte"};
    if (flatc_missing()) skip();
    WICK_NEED(golden_root());
    for (size_t i = 0; i < WICK_ARRAY_SIZE(names); i++) {
        int one = 1;
        const char *path = wick_test_golden(names[i]);
        if (path) check_program(path, &one);
    }
    int some = 40;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/ops/portable", golden_root());
    golden_walk(folder, ".pte", 64 << 10, check_program, &some);
}

static void minimal(void **state)
{
    (void)state;
    size_t size;
    struct wick_pte_file file;
    wick_error err;
    if (flatc_missing()) skip();
    uint8_t *data = golden_minimal(&size);
    WICK_ASSERT_OK(wick_pte_open(&file, data, size, &err), &err);
    flatc_check(&wick_pte_schema, file.program, data, (size_t)file.program_size, "the minimal program");
    free(data);
}

static void data_file(void **state)
{
    (void)state;
    size_t size;
    struct wick_ptd_file file;
    wick_error err;
    const char *path = wick_test_golden("programs/ext_portable.ptd");
    WICK_NEED(path);
    if (flatc_missing()) skip();
    uint8_t *data = golden_load(path, &size);
    WICK_ASSERT_OK(wick_ptd_open(&file, data, size, &err), &err);
    flatc_check(&wick_ptd_schema, file.root, data, (size_t)(file.flatbuffer_offset + file.flatbuffer_size), path);
    free(data);
}

static void bundle(void **state)
{
    (void)state;
    size_t size;
    struct wick_bundled_file file;
    wick_error err;
    const char *path = wick_test_golden("programs/bundled.bpte");
    WICK_NEED(path);
    if (flatc_missing()) skip();
    uint8_t *data = golden_load(path, &size);
    WICK_ASSERT_OK(wick_bundled_open(&file, data, size, &err), &err);
    flatc_check(&wick_bundled_schema, file.root, data, size, path);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(minimal), cmocka_unit_test(programs), cmocka_unit_test(data_file), cmocka_unit_test(bundle)};
    return WICK_TEST_MAIN(tests);
}
