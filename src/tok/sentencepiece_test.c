/* SentencePiece models: merging and scoring, what the user defined, blanks, rules, bytes, damaged files. */
#include "tok/sp_sample_test.h"

#define MARK "\xe2\x96\x81"

static const struct sp_piece pieces[] = {{"<unk>", 0, WICK_TOK_TYPE_UNKNOWN},
                                         {"<s>", 0, WICK_TOK_TYPE_CONTROL},
                                         {"</s>", 0, WICK_TOK_TYPE_CONTROL},
                                         {"<t>", 0, WICK_TOK_TYPE_USER_DEFINED},
                                         {MARK, -3, 0},
                                         {"a", -3.5f, 0},
                                         {"b", -4, 0},
                                         {"ab", -1, 0},
                                         {MARK "a", -2, 0},
                                         {"ba", -2.5f, WICK_TOK_TYPE_UNUSED},
                                         {"bab", -0.5f, 0},
                                         {NULL, 0, 0}};

static void expect(const struct wick_tok *tok, const char *text, const char *wanted) { sample_expect(tok, text, strlen(text), 0, wanted); }

static void merges_by_score(void **state)
{
    struct wick_tok *tok = sp_open(&(struct sp_model){.pieces = pieces, .model = 2, .keep_blanks = true});
    (void)state;
    assert_string_equal(wick_tok_format(tok), "sentencepiece");
    expect(tok, "ab", MARK "|ab|"); /* "ab" merges before the mark and "a" do */
    expect(tok, "a", MARK "a|");
    expect(tok, "a  b", MARK "a|" MARK "|" MARK "|b|");
    expect(tok, "b", MARK "|b|");
    expect(tok, "", "");
    expect(tok, "axyb", MARK "a|<unk>|b|"); /* a run of unknown characters is one */
    assert_int_equal(wick_tok_bos(tok), 1);
    wick_tok_free(tok);
}

static void unused_is_undone(void **state)
{
    static const struct sp_piece some[] = {
        {"<unk>", 0, WICK_TOK_TYPE_UNKNOWN}, {"a", -3, 0},    {"b", -3, 0}, {"c", -3, 0}, {"ab", -1, WICK_TOK_TYPE_UNUSED},
        {"abc", -2, WICK_TOK_TYPE_UNUSED},   {"abcc", -2, 0}, {NULL, 0, 0}};
    struct wick_tok *tok = sp_open(&(struct sp_model){.pieces = some, .model = 2, .no_prefix = true});
    (void)state;
    expect(tok, "abc", "a|b|c|");
    expect(tok, "abcc", "abcc|");
    expect(tok, "cab", "c|a|b|");
    wick_tok_free(tok);
}

static void user_pieces_stand(void **state)
{
    struct wick_tok *bpe = sp_open(&(struct sp_model){.pieces = pieces, .model = 2});
    struct wick_tok *unigram = sp_open(&(struct sp_model){.pieces = pieces, .model = 1});
    (void)state;
    expect(bpe, "a<t>b", MARK "a|<t>|b|");
    expect(bpe, "<t>", MARK "|<t>|");
    expect(unigram, "a<t>b", MARK "a|<t>|b|");
    /* Control pieces are text unless the caller says otherwise. */
    expect(bpe, "</s>", MARK "|<unk>|");
    sample_expect(bpe, "a</s>a", 6, WICK_TOK_SPECIAL, MARK "a|</s>|a|");
    wick_tok_free(bpe);
    wick_tok_free(unigram);
}

static void best_sum(void **state)
{
    struct wick_tok *tok = sp_open(&(struct sp_model){.pieces = pieces, .model = 1});
    (void)state;
    expect(tok, "ab", MARK "|ab|"); /* -4 beats -6 */
    expect(tok, "bab", MARK "|bab|");
    expect(tok, "ba", MARK "|b|a|"); /* the unused piece never comes */
    expect(tok, " a \t xx  a ", MARK "a|" MARK "|<unk>|" MARK "|<unk>|" MARK "a|");
    wick_tok_free(tok);
}

static void blanks_and_rules(void **state)
{
    struct wick_tok *tok = sp_open(&(struct sp_model){.pieces = pieces, .model = 4, .charsmap = sp_charsmap()});
    struct wick_tok *suffix = sp_open(&(struct sp_model){.pieces = pieces, .model = 4, .suffix = true});
    struct wick_tok *plain = sp_open(&(struct sp_model){.pieces = pieces, .model = 4, .no_prefix = true, .keep_blanks = true});
    (void)state;
    expect(tok, "A", MARK "|a|" MARK "|b|");
    expect(tok, "  a   b  ", MARK "|a|" MARK "|b|");
    expect(tok, "   ", "");
    expect(suffix, "a b", "a|" MARK "|b|" MARK "|");
    expect(plain, " a ", MARK "|a|" MARK "|");
    wick_tok_free(tok);
    wick_tok_free(suffix);
    wick_tok_free(plain);
}

static void words(void **state)
{
    static const struct sp_piece some[] = {{"<unk>", 0, WICK_TOK_TYPE_UNKNOWN}, {MARK "ab", -1, 0}, {MARK "a", -1, 0}, {NULL, 0, 0}};
    struct wick_tok *tok = sp_open(&(struct sp_model){.pieces = some, .model = 3});
    (void)state;
    expect(tok, "ab a x y ab", MARK "ab|" MARK "a|<unk>|" MARK "ab|");
    wick_tok_free(tok);
}

static void decoding(void **state)
{
    struct wick_tok *once = sp_open(&(struct sp_model){.pieces = pieces, .model = 2, .keep_blanks = true});
    struct wick_tok *each = sp_open(&(struct sp_model){.pieces = pieces, .model = 2});
    static const int32_t ids[] = {1, 4, 4, 5, 8, 2};
    static const int32_t unknown[] = {0, 4, 5};
    (void)state;
    sample_decode(once, ids, 6, 0, " a a"); /* only one blank goes; control pieces print nothing */
    sample_decode(each, ids, 6, 0, "a a");
    sample_decode(once, unknown, 3, 0, " \xe2\x81\x87  a");
    sample_decode(once, ids + 1, 3, WICK_TOK_CONTINUE, "  a");
    wick_tok_free(once);
    wick_tok_free(each);
}

static void bytes(void **state)
{
    struct sp_piece some[260] = {{"<unk>", 0, WICK_TOK_TYPE_UNKNOWN}, {"a", -1, 0}};
    static char names[256][8];
    static const int32_t broken[] = {2 + 0xe6, 2 + 0xad, 1};
    (void)state;
    for (int i = 0; i < 256; i++) {
        snprintf(names[i], sizeof names[i], "<0x%02X>", i);
        some[2 + i] = (struct sp_piece){names[i], 0, WICK_TOK_TYPE_BYTE};
    }
    for (int model = 1; model <= 2; model++) {
        struct wick_tok *tok = sp_open(&(struct sp_model){.pieces = some, .model = model, .byte_fallback = true, .no_prefix = true});
        expect(tok, "a\xc3\xa9", "a|<0xC3>|<0xA9>|");
        expect(tok, "<0x41>", "<0x3C>|<0x30>|<0x78>|<0x34>|<0x31>|<0x3E>|"); /* the name of a byte is not the byte */
        sample_expect(tok, "a\xe6\xad", 3, 0, "a|<0xE6>|<0xAD>|");
        sample_decode(tok, broken, 3, 0,
                      "\xef\xbf\xbd\xef\xbf\xbd"
                      "a");
        wick_tok_free(tok);
    }
}

static void refused(const struct sp_model *model, const char *words)
{
    struct wick_tok *tok = NULL;
    wick_error err = {0};
    wick_status status = sp_load(model, &tok, &err);
    if (status == WICK_OK || !strstr(err.message, words)) fail_msg("\"%s\" expected in: %s", words, status == WICK_OK ? "(loaded)" : err.message);
    assert_null(tok);
}

static void damaged(void **state)
{
    static const struct sp_piece twice[] = {{"<unk>", 0, WICK_TOK_TYPE_UNKNOWN}, {"a", 0, 0}, {"a", 0, 0}, {NULL, 0, 0}};
    static const struct sp_piece none[] = {{"a", 0, 0}, {NULL, 0, 0}};
    static const struct sp_piece byte[] = {{"<unk>", 0, WICK_TOK_TYPE_UNKNOWN}, {"<0x-1>", 0, WICK_TOK_TYPE_BYTE}, {NULL, 0, 0}};
    struct wick_buf file = {0};
    struct wick_tok *tok;
    wick_error err;
    (void)state;
    refused(&(struct sp_model){.pieces = twice, .model = 2}, "both id 1 and id 2");
    refused(&(struct sp_model){.pieces = none, .model = 2}, "no piece is the unknown one");
    refused(&(struct sp_model){.pieces = byte, .model = 2}, "no byte piece");
    refused(&(struct sp_model){.pieces = pieces, .model = 9}, "model_type");
    refused(&(struct sp_model){.pieces = pieces, .model = 1, .charsmap = WICK_STR("\xff\xff\xff\x7f....")}, "precompiled_charsmap");
    /* Cut anywhere: an error, or, between two messages, a smaller vocabulary. */
    sp_write(&(struct sp_model){.pieces = pieces, .model = 1, .charsmap = sp_charsmap()}, &file);
    for (size_t size = 1; size < file.size; size++) {
        if (wick_tok_load_memory(&tok, file.data, size, "cut", &err) == WICK_OK) wick_tok_free(tok);
        else assert_non_null(strstr(err.message, "cut: "));
    }
    wick_buf_free(&file);
}

/* A long text of one letter, and one without any settled place, take time in proportion. */
static void long_texts(void **state)
{
    static const struct sp_piece some[] = {{"<unk>", 0, WICK_TOK_TYPE_UNKNOWN}, {"a", -1, 0}, {"aa", -1.5f, 0}, {"aaaaaaaa", -3, 0}, {NULL, 0, 0}};
    struct wick_tok *tok = sp_open(&(struct sp_model){.pieces = some, .model = 1, .no_prefix = true});
    char *text = malloc(400001);
    struct wick_ids ids = {0};
    wick_error err;
    (void)state;
    memset(text, 'a', 400001);
    WICK_ASSERT_OK(wick_tok_encode(tok, text, 400001, 0, &ids, &err), &err);
    assert_int_equal(ids.count, 50001);
    free(text);
    wick_ids_free(&ids);
    wick_tok_free(tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(merges_by_score),   cmocka_unit_test(unused_is_undone),
                                       cmocka_unit_test(user_pieces_stand), cmocka_unit_test(best_sum),
                                       cmocka_unit_test(blanks_and_rules),  cmocka_unit_test(words),
                                       cmocka_unit_test(decoding),          cmocka_unit_test(bytes),
                                       cmocka_unit_test(damaged),           cmocka_unit_test(long_texts)};
    return WICK_TEST_MAIN(tests);
}
