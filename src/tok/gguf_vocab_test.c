/* Vocabularies of GGUF files: both kinds, what is refused, and that the tokenizer.json written from one gives the same ids. */
#include "tok/sample_test.h"

#include "base/json.h"

#define S(text) {text, sizeof(text) - 1}

static const struct wick_str byte_tokens[] = {S("<|end|>"),       S("h"),  S("e"),  S("l"),      S("o"),
                                              S("\xc4\xa0"),      S("he"), S("ll"), S("llo"),    S("hello"),
                                              S("\xc4\xa0hello"), S("1"),  S("2"),  S("<user>"), S("12")};
static const int32_t byte_types[] = {3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 1};
static const struct wick_str byte_merges[] = {S("h e"), S("l l"), S("ll o"), S("he llo"), S("\xc4\xa0 hello"), S("1 2"), S("zz top")};

static struct wick_tok_vocab byte_vocab(const char *pre)
{
    return (struct wick_tok_vocab){.model = WICK_STR("gpt2"),
                                   .pre = wick_str_of(pre),
                                   .count = 15,
                                   .tokens = byte_tokens,
                                   .types = byte_types,
                                   .merge_count = 7,
                                   .merges = byte_merges,
                                   .bos = 0,
                                   .eos = 0,
                                   .add_bos = true};
}

static const struct wick_str piece_tokens[] = {S("<unk>"),        S("<s>"), S("</s>"), S("<0xE6>"), S("<0xAD>"),         S("<0xAA>"),
                                               S("\xe2\x96\x81"), S("h"),   S("i"),    S("hi"),     S("\xe2\x96\x81hi"), S("\xe2\x96\x81h")};
static const int32_t piece_types[] = {2, 3, 3, 6, 6, 6, 1, 1, 1, 1, 1, 1};
static const float piece_scores[] = {0, 0, 0, 0, 0, 0, -9, -8, -7, -2, -3, -1};

static struct wick_tok_vocab piece_vocab(void)
{
    return (struct wick_tok_vocab){.model = WICK_STR("llama"),
                                   .count = 12,
                                   .tokens = piece_tokens,
                                   .types = piece_types,
                                   .scores = piece_scores,
                                   .bos = 1,
                                   .eos = 2,
                                   .add_bos = true,
                                   .add_eos = true};
}

/* The vocabulary itself, then the tokenizer.json written from it. */
static struct wick_tok *open_vocab(const struct wick_tok_vocab *vocab, bool through_json)
{
    struct wick_tok *tok = NULL;
    struct wick_buf text = {0};
    wick_error err;
    if (!through_json) {
        WICK_ASSERT_OK(wick_tok_from_vocab(&tok, vocab, &err), &err);
        return tok;
    }
    WICK_ASSERT_OK(wick_tok_vocab_to_json(vocab, &text, &err), &err);
    WICK_ASSERT_OK(wick_tok_load_memory(&tok, text.data, text.size, "written", &err), &err);
    wick_buf_free(&text);
    return tok;
}

static void byte_level(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct wick_tok_vocab vocab = byte_vocab("smollm");
        struct wick_tok *tok = open_vocab(&vocab, json);
        size_t count;
        sample_expect(tok, "hello hello12", 13, 0, "hello|\xc4\xa0hello|1|2|");
        sample_expect(tok, "hello<|end|>", 12, WICK_TOK_SPECIAL, "hello|<|end|>|");
        sample_expect(tok, "<user>h", 7, 0, "<user>|h|");
        sample_decode(tok, (const int32_t[]){10, 10, 13, 0}, 4, 0, " hello hello<user><|end|>");
        assert_int_equal(wick_tok_bos(tok), 0);
        assert_true(wick_tok_adds_bos(tok));
        assert_int_equal(wick_tok_eos(tok, &count)[0], 0);
        wick_tok_free(tok);
        /* Other names, other cuts. */
        vocab = byte_vocab("llama-bpe");
        tok = open_vocab(&vocab, json);
        sample_expect(tok, "hello12", 7, 0, "hello|12|");
        wick_tok_free(tok);
    }
}

static void sentence_piece(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct wick_tok_vocab vocab = piece_vocab();
        struct wick_tok *tok = open_vocab(&vocab, json);
        size_t count;
        sample_expect(tok, "hi hi", 5, 0, "\xe2\x96\x81hi|\xe2\x96\x81hi|");
        sample_expect(tok, "h\xe6\xad\xaa", 4, 0, "\xe2\x96\x81h|<0xE6>|<0xAD>|<0xAA>|");
        sample_expect(tok, "zz", 2, 0, "\xe2\x96\x81|<unk>|");
        sample_expect(tok, "hi</s>", 6, WICK_TOK_SPECIAL, "\xe2\x96\x81hi|</s>|");
        sample_decode(tok, (const int32_t[]){10, 10, 3, 4, 5}, 5, 0, "hi hi\xe6\xad\xaa");
        assert_int_equal(wick_tok_prefix(tok, &count)[0], 1);
        assert_int_equal(wick_tok_suffix(tok, &count)[0], 2);
        assert_int_equal(wick_tok_bos(tok), 1);
        wick_tok_free(tok);
        vocab.no_space_prefix = true;
        tok = open_vocab(&vocab, json);
        sample_expect(tok, "hi hi", 5, 0, "hi|\xe2\x96\x81hi|");
        wick_tok_free(tok);
    }
}

static void refuse(const struct wick_tok_vocab *vocab, const char *words)
{
    struct wick_tok *tok;
    struct wick_buf out = {0};
    wick_error err = {0};
    wick_status status = wick_tok_from_vocab(&tok, vocab, &err);
    if (status == WICK_OK || !strstr(err.message, words)) fail_msg("\"%s\" expected in: %s", words, status == WICK_OK ? "(made)" : err.message);
    assert_null(tok);
    assert_int_equal(wick_tok_vocab_to_json(vocab, &out, &err), status);
    wick_buf_free(&out);
}

static void refused(void **state)
{
    struct wick_tok_vocab vocab = byte_vocab("qwen22");
    (void)state;
    refuse(&vocab, "tokenizer.ggml.pre: \"qwen22\" is not supported; did you mean \"qwen2\"?");
    vocab = byte_vocab("qwen2");
    vocab.model = WICK_STR("bert");
    refuse(&vocab, "tokenizer.ggml.model: \"bert\"");
    vocab = byte_vocab("qwen2");
    vocab.eos = 15;
    refuse(&vocab, "eos 15");
    vocab.eos = -1;
    vocab.merges = (const struct wick_str[]){S("h e"), S("nothing"), S("l l"), S("l l"), S("l l"), S("l l"), S("l l")};
    refuse(&vocab, "tokenizer.ggml.merges[1]");
    vocab = piece_vocab();
    vocab.scores = NULL;
    refuse(&vocab, "tokenizer.ggml.scores");
    /* Byte tokens whose names are no bytes. */
    static const char *const names[] = {"<0x-1>", "<0xZZ>", "<0x1>", "<0x100>", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct wick_str tokens[12];
        vocab = piece_vocab();
        memcpy(tokens, piece_tokens, sizeof tokens);
        tokens[4] = wick_str_of(names[i]);
        vocab.tokens = tokens;
        refuse(&vocab, "tokenizer.ggml.tokens[4]");
    }
    vocab = piece_vocab();
    vocab.types = (const int32_t[]){2, 3, 3, 6, 6, 6, 1, 1, 1, 99, 1, 1};
    refuse(&vocab, "tokenizer.ggml.token_type[9]");
    vocab.count = 0;
    refuse(&vocab, "tokenizer.ggml.tokens");
}

/* Tokens may repeat (padding) and need not be UTF-8; only JSON cannot hold the latter. */
static void odd_tokens(void **state)
{
    static const struct wick_str tokens[] = {S("h"), S("pad"), S("pad"), S("\xff\xfe"), S("")};
    struct wick_tok_vocab vocab = {.model = WICK_STR("gpt2"), .count = 5, .tokens = tokens, .bos = -1, .eos = -1};
    struct wick_buf out = {0};
    wick_error err;
    (void)state;
    struct wick_tok *tok = open_vocab(&vocab, false);
    sample_expect(tok, "h", 1, 0, "h|");
    sample_decode(tok, (const int32_t[]){0, 2, 3, 4, 0}, 5, 0, "hpad\xef\xbf\xbd\xef\xbf\xbdh");
    wick_tok_free(tok);
    assert_int_equal(wick_tok_vocab_to_json(&vocab, &out, &err), WICK_NOT_SUPPORTED);
    assert_non_null(strstr(err.message, "tokenizer.ggml.tokens[3]"));
    wick_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(byte_level), cmocka_unit_test(sentence_piece), cmocka_unit_test(refused),
                                       cmocka_unit_test(odd_tokens)};
    return WICK_TEST_MAIN(tests);
}
