/* The models of a tokenizer.json beside plain BPE, and the steps that come with them. */
#include "tok/sample_test.h"

/* `text` is a whole tokenizer.json. */
static struct wick_tok *open_text(const char *text)
{
    struct wick_tok *tok = NULL;
    wick_error err;
    WICK_ASSERT_OK(wick_tok_load_memory(&tok, text, strlen(text), "sample", &err), &err);
    return tok;
}

static void expect(const struct wick_tok *tok, const char *text, const char *wanted) { sample_expect(tok, text, strlen(text), 0, wanted); }

static void word_piece(void **state)
{
    struct wick_tok *tok = open_text("{\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
                                     "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
                                     "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
                                     "\"max_input_chars_per_word\":6,\"vocab\":{\"[UNK]\":0,\"un\":1,\"##aff\":2,\"##able\":3,\"a\":4,\".\":5,"
                                     "\"##a\":6,\"\\u4e16\":7,\"'\":8,\"s\":9}}}");
    (void)state;
    expect(tok, "Unaff UNAFFA xyz.", "un|##aff|un|##aff|##a|[UNK]|.|");
    expect(tok,
           "un\xc3\xa0 a\xe4\xb8\x96"
           "a",
           "un|##a|a|\xe4\xb8\x96|a|"); /* accents go, ideographs stand alone */
    expect(tok, "unaffaa", "[UNK]|");   /* seven characters */
    expect(tok, "una##", "un|##a|[UNK]|[UNK]|");
    sample_decode(tok, (const int32_t[]){1, 2, 5, 4, 8, 9}, 6, 0, "unaff. a ' s");
    sample_decode(tok, (const int32_t[]){2, 2}, 2, 0, "##affaff");
    wick_tok_free(tok);
}

static void unigram(void **state)
{
    struct wick_tok *tok = open_text("{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"always\"},\"normalizer\":"
                                     "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Nmt\"},{\"type\":\"StripAccents\"}]},"
                                     "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"_\",-2],[\"a\",-3.5],[\"b\",-4e0],"
                                     "[\"ab\",-1],[\"_a\",-2]]}}");
    (void)state;
    expect(tok, "ab a", "_|ab|_a|");
    expect(tok, "xyz\tb", "_|<unk>|_|b|");
    expect(tok,
           "a\xcc\x81"
           "b",
           "_|ab|");
    wick_tok_free(tok);
    /* Without an unknown token the text is refused, not shortened. */
    wick_error err = {0};
    struct wick_ids ids = {0};
    tok = open_text("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1]]}}");
    assert_int_equal(wick_tok_encode(tok, "ab", 2, 0, &ids, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(ids.count, 0);
    wick_ids_free(&ids);
    wick_tok_free(tok);
}

static void word_level(void **state)
{
    struct wick_tok *tok = open_text("{\"pre_tokenizer\":{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"-\"},"
                                     "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a b\":1,\"c\":2}}}");
    (void)state;
    expect(tok, "a b-c-a--c", "a b|c|?|c|");
    wick_tok_free(tok);
    tok = open_text("{\"pre_tokenizer\":{\"type\":\"FixedLength\",\"length\":2},"
                    "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"ab\":1,\"c\":2,\"\\u00e9d\":3}}}");
    expect(tok,
           "ab\xc3\xa9"
           "dabc",
           "ab|\xc3\xa9"
           "d|ab|c|");
    wick_tok_free(tok);
}

static void affixes(void **state)
{
    static const char *const last[] = {"a", "b", "b</w>", "ab", "ab</w>", "a</w>", "<unk>", NULL};
    static const char *const inner[] = {"a", "##b", "ab", "##a", "##ba", NULL};
    struct wick_tok *tok = sample_open(&(struct sample){.vocab = last,
                                                        .merges = "[\"a b\",\"a b</w>\"]",
                                                        .pre_tokenizer = "{\"type\":\"Whitespace\"}",
                                                        .decoder = "{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}",
                                                        .options = ",\"end_of_word_suffix\":\"</w>\",\"unk_token\":\"<unk>\""});
    (void)state;
    expect(tok, "ab abb aba x", "ab</w>|ab|b</w>|ab|a</w>|<unk>|");
    sample_decode(tok, (const int32_t[]){4, 3, 2, 5}, 4, 0, "ab abb a");
    wick_tok_free(tok);
    tok = sample_open(&(struct sample){.vocab = inner,
                                       .merges = "[\"a ##b\",\"##b ##a\"]",
                                       .decoder = "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":false}",
                                       .options = ",\"continuing_subword_prefix\":\"##\""});
    expect(tok, "aba", "ab|##a|");
    expect(tok, "abba", "ab|##ba|");
    sample_decode(tok, (const int32_t[]){2, 4, 0}, 3, 0, "abba a");
    wick_tok_free(tok);
}

/* The alphabet of bytes as a normalizer: the model sees its characters. */
static void byte_alphabet(void **state)
{
    static const char *const vocab[] = {"a", "\xc4\xa0", "\xc3\x83", "\xc2\xa9", "\xc3\xa6", NULL};
    struct wick_tok *tok =
        sample_open(&(struct sample){.vocab = vocab, .normalizer = "{\"type\":\"ByteLevel\"}", .decoder = "{\"type\":\"ByteLevel\"}"});
    (void)state;
    expect(tok, "a \xc3\xa9", "a|\xc4\xa0|\xc3\x83|\xc2\xa9|");
    sample_expect(tok, "a\xe6", 2, 0, "a|\xc3\xa6|"); /* half a character */
    sample_decode(tok, (const int32_t[]){0, 1, 2, 3}, 4, 0, "a \xc3\xa9");
    wick_tok_free(tok);
}

/* A mark for the begin is only put where the text begins, not behind blanks that were stripped. */
static void stripped_begin(void **state)
{
    static const char *const vocab[] = {"_", "a", NULL};
    struct wick_tok *tok =
        sample_open(&(struct sample){.vocab = vocab,
                                     .normalizer = "{\"type\":\"Strip\"}",
                                     .pre_tokenizer = "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\"}"});
    (void)state;
    expect(tok, "a", "_|a|");
    expect(tok, " a", "a|");
    wick_tok_free(tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(word_piece), cmocka_unit_test(unigram),       cmocka_unit_test(word_level),
                                       cmocka_unit_test(affixes),    cmocka_unit_test(byte_alphabet), cmocka_unit_test(stripped_begin)};
    return WICK_TEST_MAIN(tests);
}
