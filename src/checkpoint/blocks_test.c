/* Block types decode to what the independent `gguf` package says (tests/tools/make_gguf_blocks.py), in any range. */
#include "checkpoint/blocks.h"
#include "checkpoint/sample_files_test.h"
#include "checkpoint/table.h"

/* Calls check for each record of tests/data/gguf_blocks.bin. */
static void each_record(void (*check)(const struct wick_ckpt_tensor *tensor, const uint8_t *want))
{
    static const struct {
        uint32_t ggml;
        enum wick_ckpt_storage storage;
    } types[] = {
        {1, WICK_CKPT_F16}, {30, WICK_CKPT_BF16}, {8, WICK_CKPT_Q8_0}, {2, WICK_CKPT_Q4_0}, {3, WICK_CKPT_Q4_1},
        {6, WICK_CKPT_Q5_0}, {7, WICK_CKPT_Q5_1}, {12, WICK_CKPT_Q4_K}, {13, WICK_CKPT_Q5_K}, {14, WICK_CKPT_Q6_K},
        {10, WICK_CKPT_Q2_K}, {11, WICK_CKPT_Q3_K}, {20, WICK_CKPT_IQ4_NL}, {23, WICK_CKPT_IQ4_XS}, {34, WICK_CKPT_TQ1_0},
        {35, WICK_CKPT_TQ2_0}, {39, WICK_CKPT_MXFP4},
    };
    struct wick_map map;
    wick_error err;
    WICK_ASSERT_OK(wick_map_open(&map, wick_test_repo("tests/data/gguf_blocks.bin"), &err), &err);
    size_t at = 0;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(types); i++) {
        assert_int_equal(wick_ckpt_u32(map.data + at), types[i].ggml);
        int64_t numel = (int64_t)wick_ckpt_u32(map.data + at + 4) * wick_ckpt_storage_block(types[i].storage);
        struct wick_ckpt_tensor tensor = {.name = "t", .data = map.data + at + 8};
        WICK_ASSERT_OK(wick_ckpt_shape_set(&tensor, types[i].storage, 1, &numel, "t", &err), &err);
        at += 8 + tensor.nbytes;
        check(&tensor, map.data + at);
        at += (size_t)numel * sizeof(float);
    }
    assert_int_equal(at, map.size);
    wick_map_close(&map);
}

static void check_whole(const struct wick_ckpt_tensor *tensor, const uint8_t *want)
{
    float *values = read_all(tensor);
    for (size_t i = 0; i < tensor->numel; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        if (bits != wick_ckpt_u32(want + 4 * i)) fail_msg("%s: element %zu is %a", wick_ckpt_storage_name(tensor->storage), i, (double)values[i]);
    }
    free(values);
}

static void whole_tensors(void **state)
{
    (void)state;
    each_record(check_whole);
}

static void check_ranges(const struct wick_ckpt_tensor *tensor, const uint8_t *want)
{
    uint64_t random = 5;
    float out[2048];
    wick_error err;
    for (int i = 0; i < 300; i++) {
        uint64_t first = wick_test_random(&random) % (tensor->numel + 1), count = wick_test_random(&random) % (tensor->numel - first + 1);
        out[count] = 7;
        WICK_ASSERT_OK(wick_ckpt_read_f32(tensor, first, count, out, &err), &err);
        if (count > 0) assert_memory_equal(out, want + 4 * first, (size_t)count * sizeof *out);
        assert_true(out[count] == 7);
    }
    assert_int_equal(wick_ckpt_read_f32(tensor, 0, tensor->numel + 1, out, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_ckpt_read_f32(tensor, UINT64_MAX, 2, out, &err), WICK_INVALID_ARGUMENT);
    bool plain = wick_ckpt_storage_block(tensor->storage) == 1;
    assert_int_equal(wick_ckpt_read_raw(tensor, 0, 1, out, &err), plain ? WICK_OK : WICK_INVALID_TYPE);
}

static void cut_ranges(void **state)
{
    (void)state;
    each_record(check_ranges);
}

static void plain_numbers(void **state)
{
    (void)state;
    float out[3];
    wick_ckpt_decode(WICK_CKPT_I8, (const uint8_t *)"\xff\x80\x7f", 3, out);
    assert_true(out[0] == -1 && out[1] == -128 && out[2] == 127);
    wick_ckpt_decode(WICK_CKPT_BOOL, (const uint8_t *)"\x00\x01\x02", 3, out);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 1);
    wick_ckpt_decode(WICK_CKPT_I16, (const uint8_t *)"\xfe\xff", 1, out);
    assert_true(out[0] == -2);
    wick_ckpt_decode(WICK_CKPT_U64, (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff", 1, out);
    assert_true(out[0] == 0x1p64f);
    wick_ckpt_decode(WICK_CKPT_F64, (const uint8_t *)"\0\0\0\0\0\0\xf8\x3f", 1, out);
    assert_true(out[0] == 1.5f);
    assert_int_equal(wick_ckpt_storage_dtype(WICK_CKPT_BF16), WICK_DTYPE_BF16);
    assert_int_equal(wick_ckpt_storage_dtype(WICK_CKPT_BOOL), WICK_DTYPE_BOOL);
    assert_int_equal(wick_ckpt_storage_dtype(WICK_CKPT_Q4_K), -1);
}

/* Against torch's own floats, every code; NaN by kind. */
static void small_floats(void **state)
{
    (void)state;
    struct wick_map map;
    wick_error err;
    WICK_ASSERT_OK(wick_map_open(&map, wick_test_repo("tests/data/f8_values.f32"), &err), &err);
    assert_int_equal(map.size, 2 * 256 * sizeof(float));
    for (unsigned i = 0; i < 512; i++) {
        uint8_t code = (uint8_t)i;
        float value, want;
        memcpy(&want, map.data + i * sizeof want, sizeof want);
        wick_ckpt_decode(i < 256 ? WICK_CKPT_F8_E4M3 : WICK_CKPT_F8_E5M2, &code, 1, &value);
        if (want != want ? value == value : memcmp(&value, &want, sizeof want) != 0) fail_msg("code %u is %a, torch says %a", i, (double)value, (double)want);
    }
    wick_map_close(&map);
}

/* The `gguf` package has no q8_k: d, the numbers, sums that are not read. */
static void wide_block(void **state)
{
    (void)state;
    uint8_t block[292] = {0, 0, 0, 0x3f};
    float out[256];
    block[4] = 0x80;
    block[259] = 3;
    wick_ckpt_decode(WICK_CKPT_Q8_K, block, 1, out);
    assert_true(out[0] == -64 && out[1] == 0 && out[255] == 1.5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_tensors), cmocka_unit_test(cut_ranges), cmocka_unit_test(plain_numbers), cmocka_unit_test(small_floats),
                                       cmocka_unit_test(wide_block)};
    return WICK_TEST_MAIN(tests);
}
