/* Decoding, whole and token by token: characters are never split, and the parts are the whole. */
#include "tok/sample_test.h"

#define SENTENCE_PIECE \
    "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xe2\x96\x81\"},\"content\":\" " \
    "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}," \
    "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}"

enum { HELLO, WORLD, EC, C8A, A4, FF, LETTER, NOT_HEX, SIGNED, SHORT, LONG, MARK, END };
static const char *const pieces[] = {
    "\xe2\x96\x81Hello", "\xe2\x96\x81world", "<0xEC>", "<0x8A>", "<0xA4>", "<0xFF>", "a", "<0xZZ>", "<0x-1>", "<0x1>",
    "<0x100>",           "\xe2\x96\x81",      NULL};

#define IDS(...) (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)

static struct wick_tok *sentence_piece(const char *decoder)
{
    return sample_open(&(struct sample){
        .vocab = pieces, .decoder = decoder, .options = ",\"byte_fallback\":true", .added = "[{\"id\":12,\"content\":\"</s>\",\"special\":true}]"});
}

static void byte_tokens(void **state)
{
    struct wick_tok_stream stream;
    struct wick_buf out = {0};
    (void)state;
    struct wick_tok *tok = sentence_piece(SENTENCE_PIECE);
    wick_tok_stream_init(&stream, tok, 0);
    wick_tok_stream_feed(&stream, EC, &out);
    wick_tok_stream_feed(&stream, C8A, &out);
    assert_int_equal(out.size, 0);
    wick_tok_stream_feed(&stream, A4, &out);
    assert_string_equal(out.data, "\xec\x8a\xa4");
    wick_buf_free(&out);
    sample_decode(tok, IDS(HELLO, EC, C8A, A4, LETTER), 0, "Hello\xec\x8a\xa4" "a");
    /* What forms no character is replaced byte by byte; the text around it stays. */
    sample_decode(tok, IDS(LETTER, EC, C8A, LETTER, FF, LETTER), 0, "a\xef\xbf\xbd\xef\xbf\xbd" "a\xef\xbf\xbd" "a");
    sample_decode(tok, IDS(EC), 0, "\xef\xbf\xbd");
    sample_decode(tok, IDS(EC, EC, C8A, A4), 0, "\xef\xbf\xbd\xec\x8a\xa4");
    /* Names that are not quite byte tokens are text. */
    sample_decode(tok, IDS(NOT_HEX, SIGNED, SHORT, LONG), 0, "<0xZZ><0x-1><0x1><0x100>");
    wick_tok_free(tok);
}

static void leading_blank(void **state)
{
    (void)state;
    struct wick_tok *tok = sentence_piece(SENTENCE_PIECE);
    sample_decode(tok, IDS(HELLO, WORLD), 0, "Hello world");
    sample_decode(tok, IDS(MARK, HELLO, WORLD, MARK), 0, " Hello world ");
    sample_decode(tok, IDS(HELLO, WORLD), WICK_TOK_CONTINUE, " Hello world");
    sample_decode(tok, IDS(END, HELLO), 0, "</s> Hello");
    sample_decode(tok, IDS(END, HELLO, END), WICK_TOK_SKIP_SPECIAL, "Hello");
    sample_decode(tok, NULL, 0, 0, "");
    wick_tok_free(tok);
}

static void other_decoders(void **state)
{
    (void)state;
    struct wick_tok *tok = sentence_piece("{\"type\":\"Metaspace\",\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"always\"}");
    sample_decode(tok, IDS(HELLO, WORLD), 0, "Hello world");
    sample_decode(tok, IDS(HELLO, WORLD), WICK_TOK_CONTINUE, " Hello world");
    sample_decode(tok, IDS(END, HELLO), WICK_TOK_SKIP_SPECIAL, "Hello");
    wick_tok_free(tok);
    tok = sentence_piece("{\"type\":\"Metaspace\",\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"never\"}");
    sample_decode(tok, IDS(HELLO, WORLD), 0, " Hello world");
    wick_tok_free(tok);
    tok = sentence_piece("{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"l+\"},\"content\":\"L\"},{\"type\":"
                         "\"Strip\",\"content\":\"a\",\"start\":1,\"stop\":0}]}");
    sample_decode(tok, IDS(HELLO, LETTER, LETTER, WORLD), 0, "\xe2\x96\x81HeLo\xe2\x96\x81worLd");
    wick_tok_free(tok);
    /* Trailing characters are held back until it is known whether they end the text. */
    tok = sentence_piece("{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\"a\",\"start\":2,\"stop\":2}]}");
    sample_decode(tok, IDS(LETTER, LETTER, LETTER, NOT_HEX, LETTER, LETTER, LETTER, NOT_HEX, LETTER, LETTER, LETTER), 0, "a<0xZZ>aaa<0xZZ>a");
    sample_decode(tok, IDS(LETTER, LETTER, LETTER), 0, "");
    wick_tok_free(tok);
    tok = sentence_piece(NULL);
    sample_decode(tok, IDS(LETTER, EC, LETTER), 0, "a <0xEC> a");
    wick_tok_free(tok);
}

/* Bytes of a byte-level vocabulary that never form characters: each broken one becomes one U+FFFD, as in Python's "replace". */
static void broken_characters(void **state)
{
    static const struct {
        const char *bytes, *wanted;
    } cases[] = {{"\xc0\x80x", "\xef\xbf\xbd\xef\xbf\xbdx"},
                 {"\xed\xa0\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
                 {"\xf5\x80\x80\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
                 {"\xe0\x9f\xbfx", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
                 {"\xe6\xadx", "\xef\xbf\xbdx"},
                 {"\xf0\x9f\x98x\xff", "\xef\xbf\xbdx\xef\xbf\xbd"},
                 {"\xf0\x9f\x98\x80\xe6", "\xf0\x9f\x98\x80\xef\xbf\xbd"},
                 {"\xe6\xe6\xad\xaa", "\xef\xbf\xbd\xe6\xad\xaa"}};
    static char storage[256][5];
    static const char *vocab[257];
    (void)state;
    for (int b = 0; b < 256; b++) {
        uint32_t code = b <= 32 ? 256u + (uint32_t)b : b >= 127 && b <= 160 ? 289u + (uint32_t)b - 127u : b == 173 ? 323u : (uint32_t)b;
        storage[b][wick_utf8_put(code, storage[b])] = 0;
        vocab[b] = storage[b];
    }
    struct wick_tok *tok =
        sample_open(&(struct sample){.vocab = vocab, .decoder = "{\"type\":\"ByteLevel\"}", .pre_tokenizer = "{\"type\":\"ByteLevel\"}"});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t ids[16];
        size_t count = strlen(cases[i].bytes);
        for (size_t k = 0; k < count; k++) ids[k] = (unsigned char)cases[i].bytes[k];
        sample_decode(tok, ids, count, 0, cases[i].wanted);
    }
    wick_tok_free(tok);
}

/* Any ids at all: the stream is always valid UTF-8 and equals the whole. */
static void random_ids(void **state)
{
    static const char *const files[] = {"tokenizers/smollm2/tokenizer.json", "tokenizers/llama2/tokenizer.json",
                                        "tokenizers/llama2_sp/tokenizer.bin"};
    uint64_t seed = 7;
    int found = 0;
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        const char *path = wick_test_golden(files[f]);
        struct wick_tok *tok;
        wick_error err;
        if (!path) continue;
        found++;
        WICK_ASSERT_OK(wick_tok_load(&tok, path, &err), &err);
        for (int round = 0; round < 300; round++) {
            int32_t ids[40];
            for (int i = 0; i < 40; i++) {
                uint64_t value = wick_test_random(&seed);
                ids[i] = (int32_t)(value % (round % 2 ? 300 : (uint64_t)wick_tok_vocab_size(tok) + 10));
                if (value >> 60 == 0) ids[i] = (int32_t)(value >> 32);
            }
            sample_decode(tok, ids, 40, (unsigned)round % 4, NULL);
        }
        wick_tok_free(tok);
    }
    if (!found) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(byte_tokens), cmocka_unit_test(leading_blank), cmocka_unit_test(other_decoders),
                                       cmocka_unit_test(broken_characters), cmocka_unit_test(random_ids)};
    return WICK_TEST_MAIN(tests);
}
