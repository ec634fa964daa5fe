/* GGUF: metadata of every type, tensors, a large vocabulary, and hostile headers. */
#include "checkpoint/sample_files_test.h"

#include <stdio.h>

static void sound(void **state)
{
    (void)state;
    struct wick_buf b = {0};
    put_sample_gguf(&b);
    struct wick_checkpoint *ckpt = open_ok(save("s.gguf", &b));
    assert_string_equal(wick_checkpoint_format(ckpt), "gguf");
    assert_int_equal(wick_checkpoint_count(ckpt), 3);
    const struct wick_ckpt_tensor *f = wick_checkpoint_find(ckpt, "f"), *q = wick_checkpoint_find(ckpt, "q");
    assert_true(f->sizes[0] == 2 && f->sizes[1] == 3 && f->contiguous);
    float *values = read_all(f);
    assert_true(values[0] == 1 && values[1] == 0x1.02p0f);
    free(values);
    values = read_all(q); /* d = 1: nibbles less 8 */
    assert_true(values[0] == (2 * 7 & 15) - 8 && values[16] == (2 * 7 >> 4) - 8 && values[32] == (20 * 7 & 15) - 8);
    free(values);
    assert_int_equal(q->nbytes, 36);
    assert_int_equal(wick_checkpoint_find(ckpt, "k")->storage, WICK_CKPT_Q6_K);
    wick_checkpoint_close(ckpt);
}

static void metadata(void **state)
{
    (void)state;
    struct wick_buf b = {0};
    put_sample_gguf(&b);
    struct wick_checkpoint *ckpt = open_ok(save("s.gguf", &b));
    struct wick_meta_array array;
    struct wick_str text;
    wick_error err;
    int64_t number;
    double real;
    bool flag;
    WICK_ASSERT_OK(wick_checkpoint_meta_int(ckpt, "llama.block_count", &number, &err), &err);
    assert_int_equal(number, 30);
    WICK_ASSERT_OK(wick_checkpoint_meta_int(ckpt, "below", &number, &err), &err);
    assert_int_equal(number, -2);
    WICK_ASSERT_OK(wick_checkpoint_meta_float(ckpt, "llama.eps", &real, &err), &err);
    assert_true(real == 0.5);
    WICK_ASSERT_OK(wick_checkpoint_meta_bool(ckpt, "tokenizer.ggml.add_bos_token", &flag, &err), &err);
    assert_true(flag);
    WICK_ASSERT_OK(wick_checkpoint_meta_str(ckpt, "general.architecture", &text, &err), &err);
    assert_true(wick_str_is(text, "llama"));
    WICK_ASSERT_OK(wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.tokens", WICK_META_STRS, &array, &err), &err);
    assert_int_equal(array.count, 3);
    assert_true(wick_str_is(wick_meta_array_str(&array, 2), "ab"));
    WICK_ASSERT_OK(wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.token_type", WICK_META_INTS, &array, &err), &err);
    assert_int_equal(wick_meta_array_int(&array, 0), -1);
    WICK_ASSERT_OK(wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.scores", WICK_META_FLOATS, &array, &err), &err);
    assert_true(wick_meta_array_float(&array, 1) == 1);
    assert_int_equal(wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.scores", WICK_META_STRS, &array, &err), WICK_INVALID_TYPE);
    assert_non_null(strstr(err.message, "an array of type f32, not an array of type string"));
    assert_int_equal(wick_checkpoint_meta_array(ckpt, "below", WICK_META_INTS, &array, &err), WICK_INVALID_TYPE);
    assert_int_equal(wick_checkpoint_meta_float(ckpt, "below", &real, &err), WICK_INVALID_TYPE);
    assert_int_equal(wick_checkpoint_meta_count(ckpt), 8);
    assert_string_equal(wick_checkpoint_meta(ckpt, 1)->key, "llama.block_count");
    wick_checkpoint_close(ckpt);
}

static void key_fails(struct wick_buf *b, wick_status status, const char *part)
{
    put_pad(b, 32);
    open_fails(save("k.gguf", b), status, part);
}

static void bad_metadata(void **state)
{
    (void)state;
    struct wick_buf b = {0};
    /* Arrays of a tokenizer declared with another type, or another length. */
    gguf_begin(&b, 0, 1);
    gguf_array(&b, "tokenizer.ggml.token_type", WICK_META_U8, 3);
    put_int(&b, 0, 3);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "tokenizer.ggml.token_type must be an array of type i32");
    gguf_begin(&b, 0, 1);
    gguf_array(&b, "tokenizer.ggml.scores", WICK_META_U8, 3);
    put_int(&b, 0, 3);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "tokenizer.ggml.scores must be an array of type f32");
    gguf_begin(&b, 0, 1);
    gguf_array(&b, "tokenizer.ggml.scores", WICK_META_F32, 1);
    put_int(&b, 0, 4);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "1 elements for 0 tokens");
    /* Alignment. */
    static const struct {
        enum wick_meta_type type;
        uint64_t value;
        unsigned bytes;
        const char *part;
    } alignments[] = {
        {WICK_META_I32, 32, 4, "general.alignment is i32, not u32"}, {WICK_META_U32, 0, 4, "general.alignment 0 is no power of two"},
        {WICK_META_U32, 3, 4, "general.alignment 3 is"},
        {WICK_META_U64, UINT64_MAX, 8, "is u64"}, {WICK_META_STR, 0, 8, "is string"}, {WICK_META_U32, UINT32_MAX, 4, "no power of two"},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(alignments); i++) {
        gguf_begin(&b, 0, 1);
        gguf_scalar(&b, "general.alignment", alignments[i].type, alignments[i].value, alignments[i].bytes);
        key_fails(&b, WICK_INVALID_CHECKPOINT, alignments[i].part);
    }
    /* Lengths. */
    gguf_begin(&b, 0, 1);
    gguf_scalar(&b, "long", WICK_META_STR, (uint64_t)1 << 31, 8);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "string of 2147483648 bytes is longer");
    gguf_begin(&b, 0, 1);
    gguf_scalar(&b, "past", WICK_META_STR, 100, 8);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "metadata 'past': gguf: offset 48: 100 bytes wanted");
    gguf_begin(&b, 0, 1);
    gguf_array(&b, "tokenizer.ggml.tokens", WICK_META_STR, UINT64_MAX);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "larger than the file");
    gguf_begin(&b, 0, 1);
    gguf_array(&b, "n", WICK_META_F64, UINT64_MAX / 4);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "larger than the file");
    gguf_begin(&b, 0, 1);
    gguf_array(&b, "nested", WICK_META_ARRAY, 1);
    key_fails(&b, WICK_NOT_SUPPORTED, "arrays of arrays");
    gguf_begin(&b, 0, 1);
    gguf_scalar(&b, "what", (enum wick_meta_type)13, 0, 8);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "value type 13 is unknown");
    gguf_begin(&b, 0, 1);
    gguf_scalar(&b, "flag", WICK_META_BOOL, 2, 1);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "neither 0 nor 1");
    gguf_begin(&b, 0, 1);
    gguf_scalar(&b, "split.count", WICK_META_U16, 3, 2);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "one of 3 parts of a split model, but not named -00001-of-00003.gguf");
    gguf_begin(&b, 0, 2);
    for (int i = 0; i < 2; i++) gguf_scalar(&b, "same", WICK_META_U8, 1, 1);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "duplicate metadata key 'same'");
    gguf_begin(&b, 0, UINT64_MAX);
    key_fails(&b, WICK_INVALID_CHECKPOINT, "18446744073709551615 metadata keys");
}

static void bad_tensors(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int dims;
        uint64_t ne[5];
        uint32_t type;
        uint64_t offset;
        wick_status status;
        const char *part;
    } cases[] = {
        {"t", 1, {33}, 2, 0, WICK_INVALID_CHECKPOINT, "no whole blocks of 32 (q4_0)"},
        {"t", 5, {1, 1, 1, 1, 1}, 0, 0, WICK_INVALID_CHECKPOINT, "5 dims are more than 4"},
        {"t", 1, {UINT64_MAX}, 0, 0, WICK_INVALID_CHECKPOINT, "out of range"},
        {"t", 4, {1u << 30, 1u << 30, 1u << 30, 1u << 30}, 0, 0, WICK_INVALID_CHECKPOINT, "more than"},
        {"t", 1, {1024}, 0, 0, WICK_INVALID_CHECKPOINT, "tensor 't': its data ends at 4096, beyond the file"},
        {"t", 1, {20}, 0, 0, WICK_INVALID_CHECKPOINT, "the file is truncated"},
        {"t", 1, {1}, 0, 32, WICK_INVALID_CHECKPOINT, "data offset 32 is not 0"},
        {"t", 1, {1}, 0, UINT64_MAX - 31, WICK_INVALID_CHECKPOINT, "is not 0"},
        {"t", 1, {256}, 16, 0, WICK_NOT_SUPPORTED, "type IQ2_XXS is not read"},
        {"t", 1, {256}, 4, 0, WICK_INVALID_CHECKPOINT, "type 4 is unknown"},
        {"t", 1, {256}, UINT32_MAX, 0, WICK_INVALID_CHECKPOINT, "is unknown"},
        {"", 1, {1}, 0, 0, WICK_INVALID_CHECKPOINT, "no printable text"},
        {"a\nb", 1, {1}, 0, 0, WICK_INVALID_CHECKPOINT, "no printable text"},
    };
    struct wick_buf b = {0};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        gguf_begin(&b, 1, 0);
        gguf_tensor(&b, cases[i].name, cases[i].dims, cases[i].ne, cases[i].type, cases[i].offset);
        put_pad(&b, 32);
        put_int(&b, 0, 32);
        open_fails(save("t.gguf", &b), cases[i].status, cases[i].part);
    }
    gguf_begin(&b, 2, 0);
    gguf_tensor(&b, "same", 1, (uint64_t[]){8}, 0, 0);
    gguf_tensor(&b, "same", 1, (uint64_t[]){8}, 0, 32);
    put_pad(&b, 32);
    put_int(&b, 0, 64);
    open_fails(save("t.gguf", &b), WICK_INVALID_CHECKPOINT, "duplicate tensor 'same'");
    gguf_begin(&b, UINT64_MAX, 0);
    open_fails(save("t.gguf", &b), WICK_INVALID_CHECKPOINT, "tensors are more than the file can hold");
    for (uint32_t version = 0; version < 6; version++) {
        if (version == 2 || version == 3) continue;
        gguf_begin(&b, 0, 0);
        set_int(&b, 4, version == 5 ? 0x03000000 : version, 4);
        open_fails(save("t.gguf", &b), WICK_NOT_SUPPORTED, version == 5 ? "big-endian" : "offset 4: version");
    }
    put_sample_gguf(&b);
    for (size_t size = 4; size < b.size - 30; size++) open_fails(save_bytes("cut.gguf", b.data, size), WICK_INVALID_CHECKPOINT, "gguf: ");
    wick_buf_free(&b);
}

static void vocabulary_speed(void **state)
{
    (void)state;
    enum { TOKENS = 150000 };
    struct wick_buf b = {0};
    char text[32];
    gguf_begin(&b, 0, 4);
    gguf_array(&b, "tokenizer.ggml.tokens", WICK_META_STR, TOKENS);
    for (int i = 0; i < TOKENS; i++) {
        snprintf(text, sizeof text, "token%d", i);
        gguf_str(&b, text);
    }
    gguf_array(&b, "tokenizer.ggml.merges", WICK_META_STR, TOKENS);
    for (int i = 0; i < TOKENS; i++) gguf_str(&b, "a b");
    gguf_array(&b, "tokenizer.ggml.token_type", WICK_META_I32, TOKENS);
    for (int i = 0; i < TOKENS; i++) put_int(&b, 1, 4);
    gguf_array(&b, "tokenizer.ggml.scores", WICK_META_F32, TOKENS);
    for (int i = 0; i < TOKENS; i++) put_int(&b, 0, 4);
    const char *path = save("vocabulary.gguf", &b);
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t begin = wick_now_ns();
        struct wick_checkpoint *ckpt = open_ok(path);
        best = WICK_MIN(best, wick_now_ns() - begin);
        struct wick_meta_array array;
        wick_error err;
        WICK_ASSERT_OK(wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.tokens", WICK_META_STRS, &array, &err), &err);
        assert_true(wick_str_is(wick_meta_array_str(&array, TOKENS - 1), "token149999"));
        wick_checkpoint_close(ckpt);
    }
    print_message("150,000 tokens and merges: %.1f ms\n", (double)best / 1e6);
    assert_true(best < WICK_TEST_SLOWNESS * 100 * 1000000ull);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound), cmocka_unit_test(metadata), cmocka_unit_test(bad_metadata), cmocka_unit_test(bad_tensors),
        cmocka_unit_test(vocabulary_speed),
    };
    return WICK_TEST_MAIN(tests);
}
