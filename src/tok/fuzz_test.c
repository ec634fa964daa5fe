/* Damaged tokenizer files and arbitrary texts: every outcome is a tokenizer that works or an error that names the file. */
#include "tok/sample_test.h"

enum { ROUNDS = 1500 };

static const char *const vocab[] = {"h", "e", "l", "o", "he", "ll", "llo", "hello", "\xc4\xa0", "\xc4\xa0hello", "<unk>", "<0x41>", "1", NULL};

/* A tokenizer.json that has something of everything. */
static void json_file(struct wick_buf *out)
{
    sample_text(
        &(struct sample){
            .vocab = vocab,
            .merges = "[\"h e\",\"l l\",[\"ll\",\"o\"],\"he llo\",\"\xc4\xa0 hello\"]",
            .normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Lowercase\"},{\"type\":\"Replace\",\"pattern\":{"
                          "\"Regex\":\"x+\"},\"content\":\"h\"}]}",
            .pre_tokenizer =
                "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\" "
                "?[\\\\p{L}&&[^z]]+|\\\\d{1,3}|\\\\s+(?!\\\\S)\"},\"behavior\":\"Isolated\",\"invert\":false},"
                "{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":true}]}",
            .post_processor = "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"B\",\"type_id\":0}},{\"Sequence\":{\"id\":"
                              "\"A\",\"type_id\":0}}],\"special_tokens\":{\"B\":{\"id\":\"B\",\"ids\":[10]}}}",
            .decoder = "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xc4\xa0\"},\"content\":\" "
                       "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},"
                       "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":1}]}",
            .added = "[{\"id\":20,\"content\":\"<s>\",\"special\":true,\"lstrip\":true,\"rstrip\":true},{\"id\":21,\"content\":\"LO\",\"normalized\":"
                     "true,\"single_word\":true}]",
            .options = ",\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true,\"ignore_merges\":false"},
        out);
}

static void bin_file(struct wick_buf *out)
{
    static const int32_t header[] = {13, 1, 2, 6};
    *out = (struct wick_buf){0};
    wick_buf_append(out, header, sizeof header);
    for (int i = 0; vocab[i]; i++) {
        float score = (float)-i;
        int32_t size = (int32_t)strlen(vocab[i]);
        wick_buf_append(out, &score, 4);
        wick_buf_append(out, &size, 4);
        wick_buf_text(out, vocab[i]);
    }
}

static void tiktoken_file(struct wick_buf *out)
{
    *out = (struct wick_buf){0};
    wick_buf_text(out, "aA== 0\nZQ== 1\nbA== 2\nbw== 3\naGU= 4\nbGw= 5\nbGxv 6\naGVsbG8= 7\n");
}

/* Encodes and decodes something with a tokenizer that may be anything. */
static void use(const struct wick_tok *tok, uint64_t *seed)
{
    char text[64] = "hello <s> HELLO12 lo xx\xe6\xad\xaa\xcc\x81";
    struct wick_ids ids = {0};
    struct wick_buf out = {0};
    wick_error err = {0};
    size_t size = strlen(text);
    for (int i = 0; i < 3; i++) text[wick_test_random(seed) % size] = (char)wick_test_random(seed);
    if (wick_tok_encode(tok, text, size, WICK_TOK_SPECIAL, &ids, &err) != WICK_OK) assert_true(err.message[0] != 0);
    for (size_t i = 0; i < ids.count; i++) assert_in_range(ids.data[i], 0, wick_tok_vocab_size(tok) - 1);
    for (int i = 0; i < 8; i++) wick_ids_push(&ids, (int32_t)(wick_test_random(seed) % 40));
    WICK_ASSERT_OK(wick_tok_decode(tok, ids.data, ids.count, 0, &out, &err), &err);
    wick_buf_free(&out);
    wick_ids_free(&ids);
}

static void mutate(struct wick_buf *file, uint64_t *seed)
{
    static const char *const words[] = {"\"",  "{", "}", "[",  "]",    ",",  ":",         "null", "-1", "999999999999", "\\u0000", "\\ud83d\\ude00",
                                        "(?:", "+", "*", "\\", "\xff", "&&", "4294967295"};
    int changes = 1 + (int)(wick_test_random(seed) % 4);
    for (int i = 0; i < changes && file->size; i++) {
        uint64_t value = wick_test_random(seed);
        size_t at = (size_t)(value >> 8) % file->size;
        const char *word = words[(value >> 40) % (sizeof words / sizeof *words)];
        switch (value & 7) {
        case 0: file->data[at] = (char)(value >> 56); break;
        case 1: file->data[at] ^= (char)(1 << (value >> 56 & 7)); break;
        case 2: file->size = at; break;
        case 3:
            memmove(file->data + at, file->data + at + (file->size - at) / 2, file->size - at - (file->size - at) / 2),
                file->size -= (file->size - at) / 2;
            break;
        default:
            for (size_t k = 0; word[k] && at + k < file->size; k++) file->data[at + k] = word[k];
        }
    }
}

static void run(void (*make)(struct wick_buf *), uint64_t seed)
{
    struct wick_buf whole;
    struct wick_tok *tok;
    wick_error err;
    int loaded = 0;
    make(&whole);
    WICK_ASSERT_OK(wick_tok_load_memory(&tok, whole.data, whole.size, "file", &err), &err);
    use(tok, &seed);
    wick_tok_free(tok);
    const int rounds = wick_test_mutations(ROUNDS);
    for (int i = 0; i < rounds; i++) {
        struct wick_buf copy = {0};
        wick_buf_append(&copy, whole.data, whole.size);
        mutate(&copy, &seed);
        /* Exactly as long as the file: reading past its end is seen by the address sanitizer. */
        char *exact = malloc(copy.size ? copy.size : 1);
        assert_non_null(exact);
        memcpy(exact, copy.data, copy.size);
        err.message[0] = 0;
        if (wick_tok_load_memory(&tok, exact, copy.size, "file", &err) == WICK_OK) {
            loaded++;
            use(tok, &seed);
            wick_tok_free(tok);
        } else {
            assert_true(strncmp(err.message, "file: ", 6) == 0);
        }
        free(exact);
        wick_buf_free(&copy);
    }
    print_message("%d of %d damaged files load\n", loaded, rounds);
    wick_buf_free(&whole);
}

static void json(void **state)
{
    (void)state;
    run(json_file, 1);
}

static void bin(void **state)
{
    (void)state;
    run(bin_file, 2);
}

static void tiktoken(void **state)
{
    (void)state;
    run(tiktoken_file, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(json), cmocka_unit_test(bin), cmocka_unit_test(tiktoken)};
    return WICK_TEST_MAIN(tests);
}
