/* Opening programs with their data files, and what must be refused with which code and words. */
#include "fixture.h"

#include "base/os.h"
#include "runtime/method.h"
#include "runtime/program.h"

#include <stdio.h>
#include <stdlib.h>

static struct wick_arena arena;
static wick_error err;
static const struct wick_op_table no_ops = {NULL, 0};

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

/* A file's bytes in writable, aligned memory of the arena. */
static struct wick_bytes load(const char *path, size_t extra)
{
    struct wick_map map;
    WICK_ASSERT_OK(wick_map_open(&map, path, &err), &err);
    uint8_t *copy = wick_arena_alloc(&arena, map.size + extra, 64);
    memcpy(copy, map.data, map.size);
    struct wick_bytes bytes = {copy, map.size};
    wick_map_close(&map);
    return bytes;
}

static uint8_t *writable(struct wick_bytes bytes)
{
    uint8_t *data;
    memcpy(&data, &bytes.data, sizeof data);
    return data;
}

static wick_status open_bytes(struct wick_bytes bytes)
{
    struct wick_program *program;
    wick_status status = wick_program_open_memory(&program, bytes, NULL, 0, &arena, &err);
    wick_program_close(program);
    return status;
}

static void constant_methods_are_read(void **state)
{
    (void)state;
    const char *path = wick_test_golden("programs/multi.pte");
    struct wick_program *program;
    struct wick_value value;
    WICK_NEED(path);
    WICK_ASSERT_OK(wick_program_open(&program, path, NULL, 0, &arena, &err), &err);
    WICK_ASSERT_OK(wick_program_constant(program, WICK_STR("get_name"), 0, &value, &err), &err);
    assert_int_equal(value.tag, WICK_TAG_STRING);
    assert_true(wick_str_is(value.as.string, "wick"));
    WICK_ASSERT_OK(wick_program_constant(program, WICK_STR("get_pi"), 0, &value, &err), &err);
    assert_true(value.tag == WICK_TAG_DOUBLE && value.as.d == 3.25);
    WICK_ASSERT_OK(wick_program_constant(program, WICK_STR("get_flag"), 0, &value, &err), &err);
    assert_true(value.tag == WICK_TAG_BOOL && value.as.b);
    assert_int_equal(wick_program_constant_count(program, WICK_STR("get_list")), 3);
    for (uint32_t i = 0; i < 3; i++) {
        WICK_ASSERT_OK(wick_program_constant(program, WICK_STR("get_list"), i, &value, &err), &err);
        assert_true(value.tag == WICK_TAG_INT && value.as.i == i + 1);
    }
    assert_int_equal(wick_program_constant(program, WICK_STR("get_list"), 3, &value, &err), WICK_NOT_FOUND);
    assert_int_equal(wick_program_constant(program, WICK_STR("forward"), 0, &value, &err), WICK_NOT_FOUND);
    uint32_t index;
    WICK_ASSERT_OK(wick_program_method_find(program, WICK_STR("sub"), &index, &err), &err);
    assert_true(wick_str_is(wick_program_method_name(program, index), "sub"));
    assert_int_equal(wick_program_method_find(program, WICK_STR("forwards"), &index, &err), WICK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "forward, "));
    wick_program_close(program);
}

static void all_missing_operators_are_named(void **state)
{
    (void)state;
    const char *path = wick_test_golden("programs/map.pte");
    struct wick_program *program;
    struct wick_method *method;
    uint32_t index;
    WICK_NEED(path);
    WICK_ASSERT_OK(wick_program_open(&program, path, NULL, 0, &arena, &err), &err);
    WICK_ASSERT_OK(wick_program_method_find(program, WICK_STR("forward"), &index, &err), &err);
    assert_int_equal(wick_method_load(&method, program, index, &no_ops, &arena, &err), WICK_OPERATOR_MISSING);
    static const char *const names[] = {"aten::sym_size.int",          "aten::select_copy.int_out",  "executorch_prim::et_copy_index.tensor",
                                        "executorch_prim::add.Scalar", "executorch_prim::eq.Scalar", "executorch_prim::sub.Scalar"};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(names); i++)
        if (!strstr(err.message, names[i])) fail_msg("%s is not in: %s", names[i], err.message);
    wick_program_close(program);
}

static wick_status load_forward(const char *const *data_paths, size_t count)
{
    struct wick_program *program;
    struct wick_method *method;
    uint32_t index = 0;
    wick_status status = wick_program_open(&program, wick_test_golden("programs/ext_portable.pte"), data_paths, count, &arena, &err);
    if (status == WICK_OK) status = wick_program_method_find(program, WICK_STR("forward"), &index, &err);
    if (status == WICK_OK) status = wick_method_load(&method, program, index, &no_ops, &arena, &err);
    wick_program_close(program);
    return status;
}

static void external_tensors_must_match(void **state)
{
    (void)state;
    const char *data_path = wick_test_golden("programs/ext_portable.ptd");
    WICK_NEED(data_path);
    const char *const twice[] = {data_path, data_path};
    assert_int_equal(load_forward(NULL, 0), WICK_INVALID_STATE);
    assert_int_equal(load_forward(twice, 1), WICK_OPERATOR_MISSING); /* all values were found */
    assert_int_equal(load_forward(twice, 2), WICK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "data file 0"));

    /* The same data file with one size changed: every [2-element] i32 vector (3, 8) becomes (3, 7). */
    struct wick_bytes file = load(data_path, 0);
    const char *changed_path = wick_test_temp("changed.ptd");
    size_t changes = 0;
    for (size_t i = 0; i + 12 <= file.size; i += 4) {
        int32_t words[3];
        memcpy(words, file.data + i, sizeof words);
        if (words[0] != 2 || words[2] != 8) continue;
        writable(file)[i + 8] = 7;
        changes++;
    }
    assert_true(changes > 0);
    FILE *out = fopen(changed_path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
    fclose(out);
    const char *const changed[] = {changed_path};
    assert_int_equal(load_forward(changed, 1), WICK_INVALID_EXTERNAL_DATA);
    assert_non_null(strstr(err.message, "in the data file"));
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    const char *path = wick_test_golden("programs/multi.pte");
    WICK_NEED(path);
    struct wick_bytes file = load(path, 0);
    WICK_ASSERT_OK(open_bytes(file), &err);
    const size_t sizes[] = {file.size / 2, file.size - 1, 4, 0};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(sizes); i++) {
        assert_int_equal(open_bytes((struct wick_bytes){file.data, sizes[i]}), WICK_INVALID_PROGRAM);
        assert_true(err.message[0] != 0);
    }
    memcpy(writable(file) + 4, "ET99", 4);
    assert_int_equal(open_bytes(file), WICK_INVALID_PROGRAM);
}

static void misaligned_memory_is_refused(void **state)
{
    (void)state;
    const char *path = wick_test_golden("programs/cond.pte");
    WICK_NEED(path);
    struct wick_bytes file = load(path, 8);
    memmove(writable(file) + 8, file.data, file.size);
    assert_int_equal(open_bytes((struct wick_bytes){file.data + 8, file.size}), WICK_INVALID_ARGUMENT);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    struct wick_program *program;
    assert_int_equal(wick_program_open(&program, "/nonexistent/model.pte", NULL, 0, &arena, &err), WICK_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/model.pte"));
    assert_null(program);
}

static void named_data_is_found(void **state)
{
    (void)state;
    const char *path = wick_test_golden("llm/llama32_8da4w_e4_sdpa_xnn/model.pte");
    struct wick_program *program;
    const uint8_t *data;
    size_t size;
    WICK_NEED(path);
    WICK_ASSERT_OK(wick_program_open(&program, path, NULL, 0, &arena, &err), &err);
    assert_int_equal(wick_program_named_data(program, WICK_STR("no such key"), &data, &size, &err), WICK_NOT_FOUND);
    assert_non_null(strstr(err.message, "no such key"));
    wick_program_close(program);
}

/* Damaged programs open or fail cleanly, and so do their methods. */
static void damage_is_survived(void **state)
{
    (void)state;
    static const char *const names[] = {"programs/multi.pte", "programs/map.pte", "programs/cond.pte", "programs/dynamic.pte"};
    uint64_t random = 11;
    for (size_t n = 0; n < WICK_ARRAY_SIZE(names); n++) {
        const char *path = wick_test_golden(names[n]);
        WICK_NEED(path);
        struct wick_bytes file = load(path, 0);
        uint8_t *copy = malloc(file.size + 64), *aligned = copy + (-(uintptr_t)copy & 63);
        for (int round = 0; round < 2000; round++) {
            memcpy(aligned, file.data, file.size);
            for (uint64_t k = wick_test_random(&random) % 4 + 1; k > 0; k--)
                aligned[wick_test_random(&random) % file.size] = (uint8_t)wick_test_random(&random);
            struct wick_arena own;
            struct wick_program *program;
            wick_arena_init(&own, &wick_allocator_heap);
            err.message[0] = 0;
            wick_status status = wick_program_open_memory(&program, (struct wick_bytes){aligned, file.size}, NULL, 0, &own, &err);
            for (uint32_t i = 0; status == WICK_OK && i < wick_program_method_count(program); i++) {
                struct wick_method *method;
                status = wick_method_load(&method, program, i, &no_ops, &own, &err);
            }
            if (status != WICK_OK) assert_true(err.message[0] != 0);
            wick_program_close(program);
            wick_arena_release(&own);
        }
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(constant_methods_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_missing_operators_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(external_tensors_must_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(misaligned_memory_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_files_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(named_data_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_survived, set_up, tear_down),
    };
    return WICK_TEST_MAIN(tests);
}
