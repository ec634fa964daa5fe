/* Ids and decoded texts of real tokenizers equal the originals': 184 texts each (golden/tokenizers). */
#include "fixture.h"
#include "tok/tok.h"

#include "base/json.h"

#include <stdio.h>

struct vector_case {
    const char *file, *vectors;
    bool special; /* special tokens in the texts were recognised */
    bool decoded; /* the vectors have the decoded text */
};

static bool same_ids(const struct wick_ids *ids, const json_t *wanted)
{
    bool same = ids->count == json_array_size(wanted);
    for (size_t i = 0; same && i < ids->count; i++) same = ids->data[i] == json_integer_value(json_array_get(wanted, i));
    return same;
}

static void show(const char *what, const json_t *text, const struct wick_ids *ids, const json_t *wanted)
{
    char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    print_error("%s: %.300s\n  got   ", what, quoted);
    for (size_t i = 0; i < ids->count && i < 40; i++) print_error(" %d", ids->data[i]);
    print_error("\n  wanted");
    for (size_t i = 0; i < json_array_size(wanted) && i < 40; i++) print_error(" %d", (int)json_integer_value(json_array_get(wanted, i)));
    print_error("\n");
    free(quoted);
}

/* Encodes, decodes whole and as a stream. Returns the number of texts that differ. */
static int check_text(const struct wick_tok *tok, const struct vector_case *c, const json_t *item)
{
    const json_t *text = json_object_get(item, "text"), *wanted = json_object_get(item, "ids"), *decoded = json_object_get(item, "decoded");
    struct wick_ids ids = {0};
    struct wick_buf whole = {0}, streamed = {0};
    struct wick_tok_stream stream;
    wick_error err;
    int bad = 0;
    WICK_ASSERT_OK(wick_tok_encode(tok, json_string_value(text), json_string_length(text), c->special ? WICK_TOK_SPECIAL : 0, &ids, &err), &err);
    if (!same_ids(&ids, wanted)) {
        show("ids", text, &ids, wanted);
        bad = 1;
    }
    WICK_ASSERT_OK(wick_tok_decode(tok, ids.data, ids.count, 0, &whole, &err), &err);
    if (c->decoded &&
        !wick_str_equal((struct wick_str){whole.data, whole.size}, (struct wick_str){json_string_value(decoded), json_string_length(decoded)})) {
        show("decoded", text, &ids, wanted);
        bad = 1;
    }
    wick_tok_stream_init(&stream, tok, 0);
    for (size_t i = 0; i < ids.count; i++) {
        wick_tok_stream_feed(&stream, ids.data[i], &streamed);
        for (size_t at = 0, n; at < streamed.size; at += n) {
            n = wick_utf8_next(streamed.data + at, streamed.size - at, NULL);
            assert_true(n > 0);
        }
    }
    wick_tok_stream_flush(&stream, &streamed);
    assert_true(wick_str_equal((struct wick_str){whole.data, whole.size}, (struct wick_str){streamed.data, streamed.size}));
    wick_ids_free(&ids);
    wick_buf_free(&whole);
    wick_buf_free(&streamed);
    return bad;
}

static void check(const struct vector_case *c)
{
    const char *file = wick_test_golden(c->file), *vectors = wick_test_golden(c->vectors);
    struct wick_tok *tok;
    json_t *list;
    wick_error err;
    int bad = 0;
    WICK_NEED(file);
    WICK_NEED(vectors);
    WICK_ASSERT_OK(wick_tok_load(&tok, file, &err), &err);
    WICK_ASSERT_OK(wick_json_load(&list, vectors, WICK_INVALID_ARGUMENT, &err), &err);
    assert_true(json_array_size(list) >= 150);
    for (size_t i = 0; i < json_array_size(list); i++) bad += check_text(tok, c, json_array_get(list, i));
    json_decref(list);
    wick_tok_free(tok);
    if (bad) fail_msg("%s: %d texts differ", c->file, bad);
}

#define VECTOR_TEST(test, path, list, special, decoded)                                                \
    static void test(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        check(&(struct vector_case){"tokenizers/" path, "tokenizers/" list, special, decoded});             \
    }

VECTOR_TEST(smollm2, "smollm2/tokenizer.json", "vectors/smollm2.json", true, true)
VECTOR_TEST(llama3_1, "llama3_1/tokenizer.json", "vectors/llama3_1.json", true, true)
VECTOR_TEST(qwen3, "qwen3/tokenizer.json", "vectors/qwen3.json", true, true)
VECTOR_TEST(llama2, "llama2/tokenizer.json", "vectors/llama2.json", true, true)
VECTOR_TEST(llama3_tiktoken, "llama3_tiktoken/tokenizer.model", "vectors/llama3_tiktoken.json", false, true)
VECTOR_TEST(qwen_tiktoken, "qwen_tiktoken/qwen.tiktoken", "vectors/qwen_tiktoken.json", false, true)
VECTOR_TEST(llama2_sp, "llama2_sp/tokenizer.model", "vectors/llama2_sp.json", false, true)
VECTOR_TEST(mistral_v3_sp, "mistral_v3_sp/mistral_instruct_tokenizer_240323.model.v3", "vectors/mistral_v3_sp.json", false, true)
VECTOR_TEST(llama2c, "llama2_sp/tokenizer.bin", "llama2c_bin_vectors.json", false, false)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(smollm2),      cmocka_unit_test(llama3_1), cmocka_unit_test(qwen3),
                                       cmocka_unit_test(llama2),       cmocka_unit_test(llama2c),  cmocka_unit_test(llama3_tiktoken),
                                       cmocka_unit_test(qwen_tiktoken), cmocka_unit_test(llama2_sp), cmocka_unit_test(mistral_v3_sp)};
    return WICK_TEST_MAIN(tests);
}
