/* Quantized forms: what torchao itself saved means what it says, to the bit; parts that do not fit each other are refused by name. The layouts of GPTQ, AWQ
 * and 8-bit floats are checked against numpy in tests/reference/layouts.py. */
#include "export/weights_packed.h"
#include "fixture.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void torchao(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t rows, columns;
    } cases[] = {{"a.weight", 16, 64}, {"b.weight", 16, 64}, {"c.weight", 8, 64}, {"d.weight", 8, 32}};
    struct wick_checkpoint *checkpoint;
    struct wick_map want;
    wick_error err;
    WICK_ASSERT_OK(wick_checkpoint_open(&checkpoint, wick_test_repo("tests/data/torchao.pt"), &err), &err);
    WICK_ASSERT_OK(wick_map_open(&want, wick_test_repo("tests/data/torchao.f32"), &err), &err);
    struct wick_arena arena;
    wick_arena_init(&arena, &wick_allocator_heap);
    struct wick_weights w = {.arena = &arena, .checkpoint = checkpoint, .rounding = -1};
    size_t at = 0;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct wick_source *source;
        float out[16 * 64];
        const size_t rows = (size_t)cases[i].rows, columns = (size_t)cases[i].columns;
        assert_true(wick_weights_has_packed(&w, cases[i].name));
        WICK_ASSERT_OK(wick_weights_packed(&w, cases[i].name, cases[i].rows, cases[i].columns, 0, &source, &err), &err);
        WICK_ASSERT_OK(source->rows(source, 0, rows, out, &err), &err);
        if (memcmp(out, want.data + at, rows * columns * sizeof *out) != 0) fail_msg("%s differs", cases[i].name);
        WICK_ASSERT_OK(source->rows(source, 3, 2, out, &err), &err);
        assert_memory_equal(out, want.data + at + 3 * columns * sizeof *out, 2 * columns * sizeof *out);
        assert_int_equal(source->stored_dtype, cases[i].name[0] == 'd' ? WICK_DTYPE_BF16 : WICK_DTYPE_F32);
        source->done(source);
        at += rows * columns * sizeof *out;
    }
    assert_int_equal(at, want.size);
    assert_false(wick_weights_has_packed(&w, "e.weight"));
    wick_arena_release(&arena);
    wick_map_close(&want);
    wick_checkpoint_close(checkpoint);
}

/* Opens a safetensors file of these entries ("name|dtype|shape|bytes", all data zero but for the last byte) and asks for w.weight (rows, columns). */
static void packed_fails(const char *const *entries, int64_t rows, int64_t columns, wick_status want, const char *part)
{
    struct wick_buf header = {0}, file = {0};
    size_t end = 0;
    wick_buf_text(&header, "{");
    for (; *entries; entries++) {
        char name[64], dtype[16], shape[32];
        unsigned bytes;
        assert_int_equal(sscanf(*entries, "%63[^|]|%15[^|]|%31[^|]|%u", name, dtype, shape, &bytes), 4);
        wick_buf_printf(&header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}", header.size > 1 ? "," : "", name, dtype, shape, end, end + bytes);
        end += bytes;
    }
    wick_buf_text(&header, "}");
    for (int i = 0; i < 8; i++) wick_buf_append(&file, &(uint8_t){(uint8_t)((uint64_t)header.size >> 8 * i)}, 1);
    wick_buf_append(&file, header.data, header.size);
    for (size_t i = 0; i < end; i++) wick_buf_append(&file, &(uint8_t){i + 1 == end ? 0x7f : 0}, 1);
    const char *path = wick_test_temp("packed.safetensors");
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file.data, 1, file.size, to), file.size);
    fclose(to);
    struct wick_checkpoint *checkpoint;
    struct wick_source *source = NULL;
    struct wick_arena arena;
    wick_error err = {0};
    WICK_ASSERT_OK(wick_checkpoint_open(&checkpoint, path, &err), &err);
    wick_arena_init(&arena, &wick_allocator_heap);
    struct wick_weights w = {.arena = &arena, .checkpoint = checkpoint, .rounding = -1};
    float out[4096];
    wick_status status = wick_weights_packed(&w, "w.weight", rows, columns, 0, &source, &err);
    if (status == WICK_OK && source) status = source->rows(source, 0, (size_t)rows, out, &err);
    if (status != want || (part && !strstr(err.message, part))) fail_msg("wanted \"%s\" (%x), got \"%s\" (%x)", part ? part : "", want, err.message, status);
    wick_arena_release(&arena);
    wick_checkpoint_close(checkpoint);
    wick_buf_free(&header);
    wick_buf_free(&file);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define GOOD_SCALES "w.scales|F16|[2,8]|32"
#define GOOD_ZEROS "w.qzeros|I32|[2,1]|8"

static void misfits(void **state)
{
    (void)state;
    packed_fails(LIST("w.qweight|I32|[8,8]|256", GOOD_ZEROS, GOOD_SCALES), 8, 64, WICK_OK, NULL);
    packed_fails(LIST("w.qweight|I32|[64,1]|256", GOOD_ZEROS, GOOD_SCALES), 8, 64, WICK_OK, NULL);
    packed_fails(LIST("w.qweight|I32|[8,8]|256", GOOD_SCALES), 8, 64, WICK_INVALID_CHECKPOINT, "quantized w.weight: .qweight, .qzeros and .scales do not fit");
    packed_fails(LIST("w.qweight|I32|[8,8]|256", GOOD_ZEROS, "w.scales|F16|[2,4]|16"), 8, 64, WICK_INVALID_CHECKPOINT, "do not fit each other");
    packed_fails(LIST("w.qweight|I32|[0,8]|0", GOOD_ZEROS, GOOD_SCALES), 8, 64, WICK_INVALID_CHECKPOINT, "do not fit each other");
    packed_fails(LIST("w.qweight|I32|[10,8]|320", GOOD_ZEROS, GOOD_SCALES), 8, 64, WICK_INVALID_CHECKPOINT, "neither GPTQ's layout");
    packed_fails(LIST("w.qweight|I32|[8,8]|256", "w.qzeros|I32|[1,1]|4", GOOD_SCALES), 8, 64, WICK_INVALID_CHECKPOINT, "neither GPTQ's layout");
    packed_fails(LIST("w.qweight|I32|[64]|256", GOOD_ZEROS, GOOD_SCALES), 8, 64, WICK_INVALID_CHECKPOINT, "neither GPTQ's layout");
    packed_fails(LIST("w.qweight|I32|[8,8]|256", "w.qzeros|I32|[3,1]|12", "w.scales|F16|[3,8]|48"), 8, 64, WICK_INVALID_CHECKPOINT, "its groups do not divide");
    packed_fails(LIST("w.qweight|I32|[8,8]|256", GOOD_ZEROS, GOOD_SCALES, "w.g_idx|I32|[63]|252"), 8, 64, WICK_INVALID_CHECKPOINT, "not one group a column");
    packed_fails(LIST("w.qweight|I32|[8,8]|256", GOOD_ZEROS, GOOD_SCALES, "w.g_idx|I32|[64]|256"), 8, 64, WICK_INVALID_CHECKPOINT, "w.g_idx: column 63 is of group 2130706432");
    packed_fails(LIST("w._weight_qdata|I8|[8,64]|512"), 8, 64, WICK_INVALID_CHECKPOINT, "torchao's _scale is missing");
    packed_fails(LIST("w._weight_qdata|I8|[8,64]|512", "w._weight_scale|F32|[9]|36"), 8, 64, WICK_INVALID_CHECKPOINT, "not some a row");
    packed_fails(LIST("w._weight_qdata|I32|[8,8]|256", "w._weight_scale|F32|[8]|32"), 8, 64, WICK_NOT_SUPPORTED, "packing of torchao (i32 of rank 2)");
    packed_fails(LIST("w._weight_qdata|U8|[8,32]|256", "w._weight_scale|F32|[2,8]|64"), 8, 64, WICK_INVALID_CHECKPOINT, "not some a row");
    packed_fails(LIST("w.weight|F8_E4M3|[8,64]|512", "w.weight_scale_inv|F32|[3,5]|60"), 8, 64, WICK_INVALID_CHECKPOINT, "neither one, one a row, nor");
    packed_fails(LIST("w.weight|F8_E5M2|[8,64]|512", "w.weight_scale_inv|F32|[1,1]|4"), 8, 64, WICK_OK, NULL);
    packed_fails(LIST("w.weight_packed|I32|[8,8]|256"), 8, 64, WICK_NOT_SUPPORTED, "compressed-tensors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(torchao), cmocka_unit_test(misfits)};
    return WICK_TEST_MAIN(tests);
}
