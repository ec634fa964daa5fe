/* llama2.c files, in both layouts, made here; and what makes a file refused. */
#include "tok/sample_test.h"

static void put_int(struct wick_buf *out, int32_t value)
{
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)((uint32_t)value >> 8), (unsigned char)((uint32_t)value >> 16),
                              (unsigned char)((uint32_t)value >> 24)};
    wick_buf_append(out, bytes, 4);
}

static void put_entry(struct wick_buf *out, float score, const char *piece)
{
    int32_t bits;
    memcpy(&bits, &score, 4);
    put_int(out, bits);
    put_int(out, (int32_t)strlen(piece));
    wick_buf_text(out, piece);
}

enum { FIRST = 3 + 256 }; /* <unk>, <s>, </s>, the bytes, then these: */
static const struct {
    float score;
    const char *piece;
} words[] = {{-5, " "},  {-6, "h"},      {-6, "e"},     {-6, "l"},         {-6, "o"},  {-1, "he"},
             {-2, "ll"}, {-1.5f, "llo"}, {-3, "hello"}, {-0.5f, " hello"}, {-4, "  "}, {-7, "A"}};

static void make(struct wick_buf *out, bool executorch)
{
    int count = FIRST + (int)(sizeof words / sizeof *words);
    *out = (struct wick_buf){0};
    if (executorch) {
        put_int(out, count);
        put_int(out, 1);
        put_int(out, 2);
    }
    put_int(out, 6);
    put_entry(out, 0, "<unk>");
    put_entry(out, 0, "<s>");
    put_entry(out, 0, "</s>");
    for (int b = 0; b < 256; b++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", b);
        put_entry(out, 0, name);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) put_entry(out, words[i].score, words[i].piece);
}

static void both_layouts(void **state)
{
    (void)state;
    for (int executorch = 0; executorch < 2; executorch++) {
        struct wick_buf file;
        struct wick_tok *tok;
        wick_error err;
        size_t count;
        make(&file, executorch);
        WICK_ASSERT_OK(wick_tok_load_memory(&tok, file.data, file.size, "bin", &err), &err);
        assert_string_equal(wick_tok_format(tok), "llama2c");
        assert_int_equal(wick_tok_vocab_size(tok), FIRST + sizeof words / sizeof *words);
        assert_int_equal(wick_tok_bos(tok), 1);
        assert_true(wick_tok_adds_bos(tok));
        assert_int_equal(wick_tok_eos(tok, &count)[0], 2);
        sample_expect(tok, "", 0, 0, "");
        sample_expect(tok, "hello", 5, 0, " hello|");
        sample_expect(tok, "  hello", 7, 0, "  | hello|");
        sample_expect(tok, " ", 1, 0, "  |");
        sample_expect(tok, "\n\nA", 3, 0, " |<0x0A>|<0x0A>|A|");
        sample_expect(tok, "\xe6\xad", 2, 0, " |<0xE6>|<0xAD>|");
        sample_expect(tok, "h</s>", 5, WICK_TOK_SPECIAL, " |h|</s>|");
        sample_decode(tok, (const int32_t[]){FIRST + 9, FIRST + 9}, 2, 0, "hello hello");
        sample_decode(tok, (const int32_t[]){1, FIRST + 9, 3 + 0xe6, 3 + 0xad, 3 + 0xaa, 2}, 6, WICK_TOK_SKIP_SPECIAL, "hello\xe6\xad\xaa");
        sample_decode(tok, (const int32_t[]){1, FIRST + 9}, 2, 0, "<s>hello"); /* the blank behind BOS goes */
        wick_tok_free(tok);
        wick_buf_free(&file);
    }
}

static void bad_files(void **state)
{
    struct wick_buf file;
    struct wick_tok *tok;
    wick_error err;
    (void)state;
    make(&file, true);
    for (size_t size = 0; size < file.size; size += 7) {
        /* Cut anywhere: refused, or, between two entries, a shorter vocabulary. */
        if (wick_tok_load_memory(&tok, file.data, size, "bin", &err) == WICK_OK) wick_tok_free(tok);
    }
    static const int32_t counts[] = {0, -1, INT32_MAX, 10000001, 100000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        memcpy(file.data, &counts[i], 4);
        wick_status status = wick_tok_load_memory(&tok, file.data, file.size, "bin", &err);
        assert_int_equal(status, WICK_INVALID_TOKENIZER);
        assert_non_null(strstr(err.message, "bin"));
    }
    wick_buf_free(&file);
    /* More entries announced than there are: the rest are holes. */
    make(&file, true);
    int32_t more = FIRST + 100;
    memcpy(file.data, &more, 4);
    WICK_ASSERT_OK(wick_tok_load_memory(&tok, file.data, file.size, "bin", &err), &err);
    assert_int_equal(wick_tok_vocab_size(tok), more);
    sample_decode(tok, (const int32_t[]){FIRST + 50, FIRST + 1}, 2, 0, "h");
    wick_tok_free(tok);
    wick_buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_layouts), cmocka_unit_test(bad_files)};
    return WICK_TEST_MAIN(tests);
}
