/* Programs of the original open; the smallest complete one reads as documented; hostile ones are refused with the original's codes. */
#include "pte/golden_test.h"
#include "pte/pte.h"

/* ---- reading ---- */

static void open_one(const char *path, void *user)
{
    size_t size;
    struct wick_pte_file file;
    wick_error err;
    uint8_t *data = golden_load(path, &size);
    wick_status status = wick_pte_open(&file, data, size, &err);
    if (status != WICK_OK) fail_msg("%s: %s", path, err.message);
    struct flat_vec named = flat_vector(file.program, PTE_PROGRAM_NAMED_DATA);
    for (uint32_t i = 0; i < named.count; i += 97) {
        struct wick_pte_blob blob;
        WICK_ASSERT_OK(wick_pte_named_data(&file, flat_string(flat_vec_table(named, i), PTE_NAMED_DATA_KEY), &blob, &err), &err);
        assert_true(blob.data >= data && blob.data + blob.size <= data + size);
    }
    free(data);
    *(int *)user += 1;
}

static void every_golden_program(void **state)
{
    (void)state;
    int opened = 0;
    WICK_NEED(golden_root());
    golden_walk(golden_root(), ".pte", SIZE_MAX, open_one, &opened);
    assert_true(opened >= 20);
    print_message("%d programs open\n", opened);
}

static void minimal(void **state)
{
    (void)state;
    size_t size;
    struct wick_pte_file file;
    struct wick_pte_tensor t;
    wick_error err;
    uint8_t kind, *data = golden_minimal(&size);
    assert_int_equal(size, 804);
    WICK_ASSERT_OK(wick_pte_open(&file, data, size, &err), &err);
    assert_true(file.has_header && file.header_length == 32 && file.program_size == 0x318 && file.segment_base == 0x320 && file.segment_bytes == 4);
    assert_int_equal(file.program.at - data, 0x40);
    struct flat_table plan = wick_pte_plan(&file, WICK_STR("forward"));
    assert_int_equal(plan.at - data, 0x70);
    assert_null(wick_pte_plan(&file, WICK_STR("forwar")).at);
    assert_int_equal(flat_vector(plan, PTE_PLAN_VALUES).count, 4);

    struct flat_table at = wick_pte_value(plan, 0, &kind);
    assert_int_equal(kind, PTE_KIND_TENSOR);
    assert_int_equal(at.at - data, 0xe0);
    WICK_ASSERT_OK(wick_pte_tensor_read(&file, plan, at, &t, &err), &err);
    assert_true(t.storage == WICK_PTE_CONSTANT && t.shape.dtype == WICK_DTYPE_F32 && t.shape.rank == 0 && t.nbytes == 4 && !wick_pte_tensor_is_planned(&t));
    float one = 1;
    assert_memory_equal(t.data, &one, 4);
    WICK_ASSERT_OK(wick_pte_tensor_read(&file, plan, wick_pte_value(plan, 1, &kind), &t, &err), &err);
    assert_true(t.storage == WICK_PTE_PLANNED && t.memory_id == 1 && t.memory_offset == 16 && t.shape.rank == 1 && t.shape.sizes[0] == 3 && t.dynamism == WICK_STATIC);
    WICK_ASSERT_OK(wick_pte_tensor_read(&file, plan, wick_pte_value(plan, 2, &kind), &t, &err), &err);
    assert_true(t.storage == WICK_PTE_PLANNED && t.memory_id == 1 && t.memory_offset == 0);
    assert_int_equal(flat_i64(wick_pte_value(plan, 3, &kind), PTE_INT_VAL, 0), 1);
    assert_int_equal(kind, PTE_KIND_INT);

    struct flat_table chain = flat_vec_table(flat_vector(plan, PTE_PLAN_CHAINS), 0), instruction = flat_vec_table(flat_vector(chain, PTE_CHAIN_INSTRUCTIONS), 0);
    assert_int_equal(flat_union_type(instruction, PTE_INSTRUCTION_ARGS), PTE_INSTR_KERNEL_CALL);
    struct flat_vec args = flat_vector(flat_child(instruction, PTE_INSTRUCTION_ARGS), PTE_KERNEL_CALL_ARGS);
    static const int32_t expected[] = {1, 0, 3, 2, 2};
    assert_int_equal(args.count, 5);
    assert_memory_equal(args.at, expected, sizeof expected);
    struct flat_table op = flat_vec_table(flat_vector(plan, PTE_PLAN_OPERATORS), 0);
    assert_true(wick_str_is(flat_string(op, PTE_OPERATOR_NAME), "aten::add") && wick_str_is(flat_string(op, PTE_OPERATOR_OVERLOAD), "out"));
    struct wick_pte_blob blob;
    assert_int_equal(wick_pte_named_data(&file, WICK_STR("no such key"), &blob, &err), WICK_NOT_FOUND);
    assert_non_null(strstr(err.message, "no such key"));
    free(data);
}

/* ---- the same with one thing changed ---- */

/* Opens the minimal program after writing `bytes` bytes of value at offset; the status and, in err, why. */
static wick_status open_patched(size_t offset, uint64_t value, size_t bytes, wick_error *err)
{
    size_t size;
    struct wick_pte_file file;
    uint8_t *data = golden_minimal(&size);
    memcpy(data + offset, &value, bytes);
    *err = (wick_error){WICK_OK, ""};
    wick_status status = wick_pte_open(&file, data, size, err);
    free(data);
    if (status != WICK_OK) assert_true(strlen(err->message) > 10);
    assert_int_equal(status != WICK_OK ? err->status : WICK_OK, status);
    return status;
}

/* Where things are in the minimal program. */
enum {
    AT_HEADER_LENGTH = 0xc, AT_PROGRAM_SIZE = 0x10, AT_SEGMENT_BASE = 0x18, AT_DATA_SIZE = 0x20,
    AT_V0_SCALAR_TYPE = 0xf0, AT_V0_DATA_INDEX = 0xec, AT_V1_SIZE = 0x140, AT_V1_DIM_ORDER = 0x148,
    AT_INPUT = 0x1ec, AT_BUFFER_SIZE = 0x2c0, AT_ARG = 0x264, AT_V3_TYPE = 0x1d0
};

static void old_headers(void **state)
{
    (void)state;
    wick_error err;
    WICK_ASSERT_OK(open_patched(AT_HEADER_LENGTH, 24, 4, &err), &err); /* no data size yet: the field is not read */
    WICK_ASSERT_OK(open_patched(AT_HEADER_LENGTH, 4096, 4, &err), &err);
    assert_int_equal(open_patched(AT_HEADER_LENGTH, 23, 4, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_HEADER_LENGTH, 0, 4, &err), WICK_INVALID_PROGRAM);
    /* Without the magic there are no segments: the constant is out of reach. */
    assert_int_equal(open_patched(8, 0, 4, &err), WICK_INVALID_PROGRAM);
    assert_non_null(strstr(err.message, "segment"));
}

static void headers_lie(void **state)
{
    (void)state;
    wick_error err;
    assert_int_equal(open_patched(AT_PROGRAM_SIZE, 0x319 + 804, 8, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_PROGRAM_SIZE, UINT64_MAX, 8, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_PROGRAM_SIZE, 11, 8, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_SEGMENT_BASE, UINT64_MAX - 3, 8, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_SEGMENT_BASE, 0x200, 8, &err), WICK_INVALID_PROGRAM); /* inside the tables */
    assert_int_equal(open_patched(AT_DATA_SIZE, UINT64_MAX, 8, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_DATA_SIZE, 5, 8, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_DATA_SIZE, 3, 8, &err), WICK_INVALID_PROGRAM); /* the segment does not fit */
}

static void identifiers(void **state)
{
    (void)state;
    wick_error err;
    uint32_t value;
    memcpy(&value, "ET99", 4);
    assert_int_equal(open_patched(4, value, 4, &err), WICK_INVALID_PROGRAM);
    assert_non_null(strstr(err.message, "ET99"));
    assert_int_equal(open_patched(4, 0, 4, &err), WICK_INVALID_PROGRAM);
    for (unsigned root = 0; root < 3; root++) {
        static const uint32_t roots[] = {0, 803, UINT32_MAX};
        assert_int_equal(open_patched(0, roots[root], 4, &err), WICK_INVALID_PROGRAM);
    }
}

static void tensors(void **state)
{
    (void)state;
    wick_error err;
    assert_int_equal(open_patched(AT_V0_SCALAR_TYPE, 30, 1, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_V0_SCALAR_TYPE, 0xff, 1, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_V0_SCALAR_TYPE, WICK_DTYPE_F64, 1, &err), WICK_INVALID_ARGUMENT); /* 8 bytes of a segment of 4 */
    assert_int_equal(open_patched(AT_V0_DATA_INDEX, 2, 4, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(open_patched(AT_V0_DATA_INDEX, UINT32_MAX, 4, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(open_patched(AT_V1_SIZE, (uint32_t)-1, 4, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_V1_SIZE, 5, 4, &err), WICK_OUT_OF_MEMORY); /* 20 bytes at 16 of 32 */
    assert_int_equal(open_patched(AT_V1_SIZE, INT32_MAX, 4, &err), WICK_OUT_OF_MEMORY);
    assert_int_equal(open_patched(AT_V1_DIM_ORDER, 1, 1, &err), WICK_INTERNAL);
    assert_int_equal(open_patched(AT_BUFFER_SIZE, 27, 8, &err), WICK_OUT_OF_MEMORY);
    assert_int_equal(open_patched(AT_BUFFER_SIZE, 1ull << 63, 8, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_BUFFER_SIZE - 8, INT64_MAX, 8, &err), WICK_INVALID_PROGRAM); /* their sum overflows */
}

/* More dimensions than there is room for, in the sizes alone and in the dim_order too. */
static void ranks(void **state)
{
    (void)state;
    enum { AT_SIZES = AT_V1_SIZE - 4, AT_DIM_ORDER = AT_V1_DIM_ORDER - 4 };
    static const uint32_t counts[] = {7, WICK_RANK_MAX, WICK_RANK_MAX + 1, 32, 33, 64, 255, INT32_MAX, UINT32_MAX};
    for (size_t i = 0; i < 2 * WICK_ARRAY_SIZE(counts); i++) {
        size_t size;
        struct wick_pte_file file;
        wick_error err = {WICK_OK, ""};
        uint8_t *data = golden_minimal(&size);
        memcpy(data + AT_SIZES, &counts[i / 2], 4);
        if (i % 2) memcpy(data + AT_DIM_ORDER, &counts[i / 2], 4);
        wick_status status = wick_pte_open(&file, data, size, &err);
        /* With as many of both, the bytes behind them are read: no permutation or a negative size. */
        if (status != WICK_INTERNAL || i % 2 == 0 || counts[i / 2] > WICK_RANK_MAX) assert_int_equal(status, WICK_INVALID_PROGRAM);
        assert_true(strlen(err.message) > 10);
        free(data);
    }
}

static void indices(void **state)
{
    (void)state;
    wick_error err;
    assert_int_equal(open_patched(AT_INPUT, 4, 4, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_INPUT, (uint32_t)-1, 4, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_ARG, 4, 4, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_V3_TYPE, PTE_KIND_COUNT, 1, &err), WICK_INVALID_PROGRAM);
    assert_int_equal(open_patched(AT_V3_TYPE, 0, 1, &err), WICK_INVALID_PROGRAM);
    assert_non_null(strstr(err.message, "forward"));
}

/* Every shorter file is refused, and the message of a cut one names both sizes. */
static void cut_off(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = golden_minimal(&size);
    for (size_t cut = 0; cut < size; cut++) {
        struct wick_pte_file file;
        wick_error err = {WICK_OK, ""};
        uint8_t *copy = golden_copy(data, cut);
        assert_int_equal(wick_pte_open(&file, copy, cut, &err), WICK_INVALID_PROGRAM);
        char text[32];
        snprintf(text, sizeof text, " %zu", cut);
        assert_non_null(strstr(err.message, text));
        if (cut >= WICK_PTE_HEAD_BYTES) assert_non_null(strstr(err.message, "804"));
        free(copy);
    }
    struct wick_pte_file file;
    assert_int_equal(wick_pte_open(&file, data + 4, size - 4, NULL), WICK_INVALID_ARGUMENT); /* misaligned in memory */
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimal), cmocka_unit_test(old_headers), cmocka_unit_test(headers_lie), cmocka_unit_test(identifiers),
        cmocka_unit_test(tensors), cmocka_unit_test(ranks),       cmocka_unit_test(indices),     cmocka_unit_test(cut_off),
        cmocka_unit_test(every_golden_program),
    };
    return WICK_TEST_MAIN(tests);
}
