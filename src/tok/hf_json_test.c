/* tokenizer.json: every component on small examples, the rules of added tokens, and what a bad file is told. */
#include "tok/sample_test.h"

#define SPLIT(pattern, behavior, invert) "{\"type\":\"Split\",\"pattern\":" pattern ",\"behavior\":\"" behavior "\",\"invert\":" invert "}"
#define WHOLE ",\"ignore_merges\":true"

/* One split step; pieces that are whole vocabulary entries show where the text was cut. */
static void expect_split(const char *pre_tokenizer, const char *text, const char *wanted)
{
    static const char *const vocab[] = {"The",
                                        "-",
                                        "final",
                                        "--",
                                        "countdown",
                                        "The-",
                                        "final-",
                                        "-final",
                                        "-countdown",
                                        "final--",
                                        "--countdown",
                                        "The-final--countdown",
                                        "1",
                                        "2",
                                        "12",
                                        "a",
                                        "b",
                                        "a1",
                                        " ",
                                        ".",
                                        "Hello",
                                        "world",
                                        "!",
                                        ",",
                                        " world",
                                        "_Hello",
                                        "_world",
                                        "x",
                                        "\xe6\xad\xaa",
                                        NULL};
    struct wick_tok *tok = sample_open(&(struct sample){.pre_tokenizer = pre_tokenizer, .options = WHOLE, .vocab = vocab});
    sample_expect(tok, text, strlen(text), 0, wanted);
    wick_tok_free(tok);
}

static void split_behaviors(void **state)
{
    static const char text[] = "The-final--countdown";
    (void)state;
    expect_split(SPLIT("{\"String\":\"-\"}", "Removed", "false"), text, "The|final|countdown|");
    expect_split(SPLIT("{\"String\":\"-\"}", "Isolated", "false"), text, "The|-|final|-|-|countdown|");
    expect_split(SPLIT("{\"String\":\"-\"}", "MergedWithPrevious", "false"), text, "The-|final-|-|countdown|");
    expect_split(SPLIT("{\"String\":\"-\"}", "MergedWithNext", "false"), text, "The|-final|-|-countdown|");
    expect_split(SPLIT("{\"String\":\"-\"}", "Contiguous", "false"), text, "The|-|final|--|countdown|");
    expect_split(SPLIT("{\"Regex\":\"-\"}", "Contiguous", "false"), text, "The|-|final|--|countdown|");
    expect_split(SPLIT("{\"Regex\":\"[a-zA-Z]+\"}", "Removed", "true"), text, "The|final|countdown|");
    expect_split(SPLIT("{\"Regex\":\"[a-zA-Z]+\"}", "Isolated", "true"), text, "The|-|final|--|countdown|");
    expect_split(SPLIT("{\"Regex\":\"[a-zA-Z]+\"}", "MergedWithNext", "true"), text, "The|-final|--countdown|");
    expect_split(SPLIT("{\"Regex\":\"[a-zA-Z]+\"}", "MergedWithPrevious", "true"), text, "The-|final--|countdown|");
    expect_split(SPLIT("{\"Regex\":\"(?=\\\\d)\"}", "Isolated", "false"), "a12", "a|1|2|");
    expect_split(SPLIT("{\"Regex\":\"zzz\"}", "Removed", "true"), text, "");
}

static void other_splitters(void **state)
{
    (void)state;
    expect_split("{\"type\":\"Digits\",\"individual_digits\":true}", "a12", "a|1|2|");
    expect_split("{\"type\":\"Digits\",\"individual_digits\":false}", "a12", "a|12|");
    expect_split("{\"type\":\"Punctuation\"}", "The-final--countdown", "The|-|final|-|-|countdown|");
    expect_split("{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}", "The--final", "The|--|final|");
    expect_split("{\"type\":\"Whitespace\"}", "Hello  world!", "Hello|world|!|");
    expect_split("{\"type\":\"WhitespaceSplit\"}", "Hello \n a1", "Hello|a1|");
    expect_split("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"always\",\"split\":true}", "Hello world", "_Hello|_world|");
    expect_split("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":false}", "Hello world", "Hello|_world|");
    expect_split("{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":\"Digits\",\"individual_digits\":true}]}",
                 "a1 12", "a|1|1|2|");
}

/* Phi-4's form: what the inverted pattern does not match is removed. */
static void removed_and_inverted(void **state)
{
    static const char *const vocab[] = {"Hello", "\xc4\xa0world", "!", "\xc4\xa0", "123", "45", NULL};
    (void)state;
    struct wick_tok *tok = sample_open(&(struct sample){.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT(
                                                            "{\"Regex\":\" ?\\\\p{L}+|\\\\p{N}{1,3}|[^\\\\s\\\\p{L}\\\\p{N}]+|\\\\s+\"}", "Removed",
                                                            "true") ",{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}",
                                                        .decoder = "{\"type\":\"ByteLevel\"}",
                                                        .options = WHOLE,
                                                        .vocab = vocab});
    sample_expect(tok, "Hello world! 12345", 18, 0, "Hello|\xc4\xa0world|!|\xc4\xa0|123|45|");
    sample_decode(tok, (const int32_t[]){0, 1, 2, 3, 4, 5}, 6, 0, "Hello world! 12345");
    wick_tok_free(tok);
}

static void expect_normalized(const char *normalizer, const char *text, const char *wanted)
{
    static const char *const vocab[] = {
        "a", "e",        "\xcc\x81", "\xc3\xa9", "f", "i", "\xef\xac\x81", " ", "_", "q", "\xc3\x89", "\xea\xb0\x80", "\xe1\x84\x80", "\xe1\x85\xa1",
        "b", "\xcc\x87", NULL};
    struct wick_tok *tok = sample_open(&(struct sample){.normalizer = normalizer, .vocab = vocab});
    sample_expect(tok, text, strlen(text), 0, wanted);
    wick_tok_free(tok);
}

static void normalizers(void **state)
{
    (void)state;
    expect_normalized("{\"type\":\"NFC\"}", "ae\xcc\x81", "a|\xc3\xa9|");
    expect_normalized("{\"type\":\"NFC\"}", "\xe1\x84\x80\xe1\x85\xa1", "\xea\xb0\x80|");
    expect_normalized("{\"type\":\"NFD\"}", "\xc3\xa9", "e|\xcc\x81|");
    expect_normalized("{\"type\":\"NFKC\"}", "\xef\xac\x81", "f|i|");
    expect_normalized("{\"type\":\"NFKD\"}", "\xc3\xa9\xef\xac\x81", "e|\xcc\x81|f|i|");
    expect_normalized("{\"type\":\"Lowercase\"}", "A\xc3\x89\xc4\xb0", "a|\xc3\xa9|i|\xcc\x87|");
    expect_normalized("{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}", "\xe3\x80\x80 a ", "a| |");
    expect_normalized("{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}", " a \n", " |a|");
    expect_normalized("{\"type\":\"Prepend\",\"prepend\":\"_\"}", "a", "_|a|");
    expect_normalized("{\"type\":\"Prepend\",\"prepend\":\"_\"}", "", "");
    expect_normalized("{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"_\"}", " a  ", "_|a|_|_|");
    expect_normalized("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a+\"},\"content\":\"q\"}", "aabaf", "q|b|q|f|");
    expect_normalized("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[\\\\p{L}&&[^ab]]\"},\"content\":\"q\"}", "afb", "a|q|b|");
    expect_normalized(
        "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Lowercase\"},{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"}]}]}", "\xc3\x89",
        "e|\xcc\x81|");
}

/* Merging order, and the two spellings of merges. */
static void merges(void **state)
{
    static const char *const vocab[] = {"h", "e", "l", "o", "he", "ll", "llo", "hello", " ", "a", " a", "\n", "a\n", NULL};
    static const char *const forms[] = {"[\"h e\",\"l l\",\"ll o\",\"he llo\",\"a \\n\"]",
                                        "[[\"h\",\"e\"],[\"l\",\"l\"],[\"ll\",\"o\"],[\"he\",\"llo\"],[\" \",\"a\"],[\"a\",\"\\n\"]]"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct wick_tok *tok = sample_open(&(struct sample){.vocab = vocab, .merges = forms[i]});
        sample_expect(tok, "hello", 5, 0, "hello|");
        sample_expect(tok, "hellhello", 9, 0, "he|ll|hello|");
        sample_expect(tok, "lll", 3, 0, "ll|l|");
        sample_expect(tok, "a\n", 2, 0, "a\n|");
        sample_expect(tok, " a", 2, 0, i ? " a|" : " |a|");
        wick_tok_free(tok);
    }
}

/* Texts without a splitter are merged word by word where that gives the same: a merge may still run into a word's mark. */
static void merges_into_marks(void **state)
{
    static const char *const vocab[] = {"a", "b", ">", " ", " a", " b", "b ", "> b", "  ", "<unk>", NULL};
    static const char options[] = ",\"unk_token\":\"<unk>\"";
    (void)state;
    struct wick_tok *tok =
        sample_open(&(struct sample){.vocab = vocab, .options = options, .merges = "[[\" \",\"b\"],[\">\",\" b\"],[\" \",\" \"],[\" \",\"a\"]]"});
    sample_expect(tok, "a a> b  b> a", 12, 0, "a| a|> b| | b|>| a|");
    sample_expect(tok, ">x b   a", 8, 0, ">|<unk>| b|  | a|");
    wick_tok_free(tok);
    tok = sample_open(&(struct sample){.vocab = vocab, .options = options, .merges = "[[\"b\",\" \"],[\" \",\"a\"]]"});
    sample_expect(tok, "a ab ax a", 9, 0, "a| a|b |a|<unk>| a|");
    wick_tok_free(tok);
    /* Unknown characters that vanish make neighbours of what they parted. */
    tok = sample_open(&(struct sample){.vocab = vocab, .merges = "[[\"b\",\" \"],[\" \",\"a\"]]"});
    sample_expect(tok, "bx a", 4, 0, "b |a|");
    wick_tok_free(tok);
}

static void unknown_characters(void **state)
{
    static const char *const vocab[] = {"a", "<unk>", NULL}, *const bytes[] = {"a", "<0xE6>", "<0xAD>", "<0xAA>", "<unk>", NULL};
    (void)state;
    struct wick_tok *tok = sample_open(&(struct sample){.vocab = vocab});
    sample_expect(tok, "axxa", 4, 0, "a|a|");
    wick_tok_free(tok);
    tok = sample_open(&(struct sample){.vocab = vocab, .options = ",\"unk_token\":\"<unk>\""});
    sample_expect(tok, "axxa", 4, 0, "a|<unk>|<unk>|a|");
    wick_tok_free(tok);
    tok = sample_open(&(struct sample){.vocab = vocab, .options = ",\"unk_token\":\"<unk>\",\"fuse_unk\":true"});
    sample_expect(tok, "axxax", 5, 0, "a|<unk>|a|<unk>|");
    wick_tok_free(tok);
    tok = sample_open(&(struct sample){.vocab = bytes, .options = ",\"unk_token\":\"<unk>\",\"byte_fallback\":true"});
    sample_expect(tok, "a\xe6\xad\xaax", 5, 0, "a|<0xE6>|<0xAD>|<0xAA>|<unk>|");
    wick_tok_free(tok);
}

#define ADDED(id, content, more) "{\"id\":" id ",\"content\":\"" content "\"" more "}"

static void added_tokens(void **state)
{
    static const char *const vocab[] = {"a", "b", " ", "<", "x", ">", "_", "A", NULL};
    (void)state;
    struct wick_tok *tok = sample_open(
        &(struct sample){.vocab = vocab,
                         .added = "[" ADDED("10", "<x>", ",\"special\":true,\"normalized\":false") "," ADDED(
                             "11",
                             "<x>a", ",\"special\":false,\"normalized\":false") "," ADDED("12", "aa",
                                                                                          ",\"special\":false,\"normalized\":false,\"single_word\":"
                                                                                          "true") "," ADDED("13", "_",
                                                                                                            ",\"special\":false,\"normalized\":false,"
                                                                                                            "\"lstrip\":true,\"rstrip\":true") "]"});
    assert_int_equal(wick_tok_vocab_size(tok), 14);
    sample_expect(tok, "b<x>b", 5, WICK_TOK_SPECIAL, "b|<x>|b|");
    sample_expect(tok, "b<x>b", 5, 0, "b|<|x|>|b|");
    sample_expect(tok, "b<x>ab", 6, 0, "b|<x>a|b|"); /* not special: always; the longest wins */
    sample_expect(tok, "aa aab", 6, 0, "aa| |a|a|b|");
    sample_expect(tok, "b  _ \n b", 8, 0, "b|_|b|");
    assert_true(wick_tok_is_special(tok, 10));
    assert_false(wick_tok_is_special(tok, 11));
    assert_int_equal(wick_tok_id_of(tok, WICK_STR("<x>a")), 11);
    assert_null(wick_tok_piece(tok, 9).data);
    sample_decode(tok, (const int32_t[]){10, 9, 99, -1, INT32_MAX, 0}, 6, 0, "<x> a"); /* no decoder: blanks between */
    sample_decode(tok, (const int32_t[]){10, 9, 99, -1, INT32_MAX, 0}, 6, WICK_TOK_SKIP_SPECIAL, "a");
    wick_tok_free(tok);
}

static void normalized_tokens(void **state)
{
    static const char *const vocab[] = {"a", "b", " ", "d", "y", "_", NULL};
    (void)state;
    struct wick_tok *tok = sample_open(&(struct sample){.vocab = vocab,
                                                        .normalizer = "{\"type\":\"Lowercase\"}",
                                                        .added = "[" ADDED("10", "Day", ",\"special\":false,\"normalized\":true") "," ADDED(
                                                            "11", "DAY", ",\"special\":true,\"normalized\":false") "]"});
    sample_expect(tok, "a DaY dAyDAY", 12, WICK_TOK_SPECIAL, "a| |Day| |Day|DAY|");
    wick_tok_free(tok);
}

/* A mark in front of the text only, not of what follows a special token; and the older form that marks every part. */
static void prefixes(void **state)
{
    static const char *const vocab[] = {"_", "[", "_[", "a", "_a", NULL};
    static const char added[] = "[" ADDED("9", "<s>", ",\"special\":true,\"normalized\":false") "]", list[] = "[\"_ [\",\"_ a\"]";
    (void)state;
    struct wick_tok *tok =
        sample_open(&(struct sample){.vocab = vocab,
                                     .added = added,
                                     .merges = list,
                                     .pre_tokenizer = "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\",\"split\":false}"});
    sample_expect(tok, "[a<s>[a", 7, WICK_TOK_SPECIAL, "_[|a|<s>|[|a|");
    sample_expect(tok, "<s>[a", 5, WICK_TOK_SPECIAL, "<s>|[|a|");
    wick_tok_free(tok);
    tok = sample_open(&(struct sample){.vocab = vocab, .added = added, .merges = list, .normalizer = "{\"type\":\"Prepend\",\"prepend\":\"_\"}"});
    sample_expect(tok, "[a<s>[a", 7, WICK_TOK_SPECIAL, "_[|a|<s>|_[|a|");
    wick_tok_free(tok);
}

static void begins_and_ends(void **state)
{
    static const char *const vocab[] = {"a", NULL};
    size_t count;
    (void)state;
    struct wick_tok *tok =
        sample_open(&(struct sample){.vocab = vocab,
                                     .added = "[" ADDED("1", "<s>", ",\"special\":true") "," ADDED("2", "</s>", ",\"special\":true") "," ADDED(
                                         "3", "<|im_end|>", ",\"special\":true") "]",
                                     .post_processor = "{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\"},{\"type\":"
                                                       "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"B\",\"type_id\":0}},"
                                                       "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"E\",\"type_id\":0}}],"
                                                       "\"special_tokens\":{\"B\":{\"id\":\"B\",\"ids\":[1],\"tokens\":[\"<s>\"]},"
                                                       "\"E\":{\"id\":\"E\",\"ids\":[2],\"tokens\":[\"</s>\"]}}}]}"});
    assert_int_equal(wick_tok_bos(tok), 1);
    assert_true(wick_tok_adds_bos(tok));
    const int32_t *ids = wick_tok_eos(tok, &count);
    assert_int_equal(count, 2);
    assert_int_equal(ids[0], 2);
    assert_int_equal(ids[1], 3);
    assert_int_equal(wick_tok_suffix(tok, &count)[0], 2);
    wick_tok_free(tok);
    tok = sample_open(&(struct sample){.vocab = vocab});
    assert_int_equal(wick_tok_bos(tok), -1);
    assert_false(wick_tok_adds_bos(tok));
    (void)wick_tok_eos(tok, &count);
    assert_int_equal(count, 0);
    wick_tok_free(tok);
}

/* What is refused, and that the message names the place. */
static void refused(void **state)
{
    static const char *const vocab[] = {"a", "b", NULL};
    (void)state;
    sample_refused(&(struct sample){.vocab = vocab, .normalizer = "{\"type\":\"Precompiled\"}"},
                   "normalizer: Precompiled: precompiled_charsmap");
    sample_refused(
        &(struct sample){.vocab = vocab,
                         .pre_tokenizer =
                             "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\"},{\"type\":\"Split\",\"behavior\":\"Isolated\"}]}"},
        "pre_tokenizer: pretokenizers[1]: Split: pattern");
    sample_refused(&(struct sample){.vocab = vocab, .pre_tokenizer = SPLIT("{\"Regex\":\"(a\"}", "Isolated", "false")},
                   "pre_tokenizer: Split: pattern, about offset 2");
    sample_refused(&(struct sample){.vocab = vocab, .pre_tokenizer = SPLIT("{\"Regex\":\"a\"}", "Sideways", "false")}, "behavior");
    sample_refused(&(struct sample){.vocab = vocab, .decoder = "{\"type\":\"WordPiece\"}"}, "decoder: WordPiece");
    sample_refused(&(struct sample){.vocab = vocab, .merges = "[\"a b\"]"}, "model.merges[0]: \"ab\" is not in the vocabulary");
    sample_refused(&(struct sample){.vocab = vocab, .merges = "[\"a b c\"]"}, "model.merges[0]: two pieces");
    sample_refused(&(struct sample){.vocab = vocab, .merges = "[[\"a\"]]"}, "model.merges[0]: JSON, byte");
    sample_refused(&(struct sample){.vocab = vocab, .added = "[" ADDED("1", "c", "") "]"}, "added_tokens[0]: id 1 belongs to both \"b\" and \"c\"");
    sample_refused(&(struct sample){.vocab = vocab, .added = "[{\"id\":5}]"}, "added_tokens[0]: content");
    sample_refused(&(struct sample){.vocab = vocab, .added = "[" ADDED("9999999", "c", "") "]"}, "out of proportion");
    sample_refused(&(struct sample){.vocab = vocab, .options = ",\"dropout\":0.1"}, "model.dropout");
    sample_refused(&(struct sample){.vocab = vocab, .decoder = "{\"type\":\"CTC\"}"}, "type \"CTC\" is not supported");
    sample_refused(
        &(struct sample){.vocab = vocab,
                         .post_processor = "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"B\"}}],\"special_tokens\":{}}"},
        "single[0]");
    sample_refused(&(struct sample){.vocab = (const char *const[]){"a", "a", NULL}}, "model.vocab: token \"a\" has both id 0 and id 1");
}

static void not_json(void **state)
{
    static const char *const texts[] = {"{",
                                        "{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}",
                                        "{\"model\":{\"vocab\":{\"a\":-1},\"merges\":[]}}",
                                        "{\"model\":{\"vocab\":{\"\\ud800\":0},\"merges\":[]}}",
                                        "{\"model\":{\"vocab\":{\"\x80\":0},\"merges\":[]}}",
                                        "{\"model\":{\"type\":\"Unigram\",\"vocab\":[]}}",
                                        "{\"model\":[]}",
                                        "{}",
                                        "{\"model\":{\"vocab\":{\"a\":1.5},\"merges\":[]}}",
                                        "{\"model\":{\"vocab\":{},\"vocab\":{},\"merges\":[]}}",
                                        "{} x",
                                        "{\"a\":[1,2,}",
                                        "{\"model\":{\"vocab\":{\"a\":2147483647},\"merges\":[]}}",
                                        "{\"model\":{\"vocab\":{\"a\":99999999999},\"merges\":[]}}"};
    struct wick_tok *tok;
    wick_error err;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        err.message[0] = 0;
        assert_int_not_equal(wick_tok_load_memory(&tok, texts[i], strlen(texts[i]), "file", &err), WICK_OK);
        assert_null(tok);
        assert_true(strncmp(err.message, "file: ", 6) == 0);
    }
    assert_int_equal(wick_tok_load_memory(&tok, "", 0, "file", &err), WICK_INVALID_TOKENIZER);
    struct wick_buf deep = {0};
    for (int i = 0; i < 100000; i++) wick_buf_text(&deep, i ? "[" : "{\"a\":");
    assert_int_equal(wick_tok_load_memory(&tok, deep.data, deep.size, "file", &err), WICK_INVALID_TOKENIZER);
    assert_non_null(strstr(err.message, "nested too deeply"));
    wick_buf_free(&deep);
}

/* The files beside a tokenizer.json name BOS and EOS; what they say about classes is of no concern. */
static void files_beside(void **state)
{
    static const char *const vocab[] = {"a", "<b>", "<e>", NULL};
    static const char config[] = "{\"tokenizer_class\":\"LlamaTokenizerFast\",\"model_max_length\":1000000000000000019884624838656,\"bos_token\":\"<"
                                 "b>\",\"eos_token\":{\"content\":\"<e>\"}}";
    struct wick_buf text;
    struct wick_tok *tok;
    wick_error err;
    size_t count;
    (void)state;
    sample_text(&(struct sample){.vocab = vocab}, &text);
    const char *path = wick_test_temp("tokenizer.json"), *beside = wick_test_temp("tokenizer_config.json");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
    fclose(file);
    file = fopen(beside, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(config, 1, sizeof config - 1, file), sizeof config - 1);
    fclose(file);
    WICK_ASSERT_OK(wick_tok_load(&tok, path, &err), &err);
    assert_int_equal(wick_tok_bos(tok), 1);
    assert_int_equal(wick_tok_eos(tok, &count)[0], 2);
    assert_int_equal(count, 1);
    wick_tok_free(tok);
    wick_buf_free(&text);
    assert_int_equal(wick_tok_load(&tok, "/nonexistent/tokenizer.json", &err), WICK_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(split_behaviors),
                                       cmocka_unit_test(other_splitters),
                                       cmocka_unit_test(removed_and_inverted),
                                       cmocka_unit_test(normalizers),
                                       cmocka_unit_test(merges),
                                       cmocka_unit_test(merges_into_marks), cmocka_unit_test(unknown_characters),
                                       cmocka_unit_test(added_tokens),
                                       cmocka_unit_test(normalized_tokens),
                                       cmocka_unit_test(prefixes),
                                       cmocka_unit_test(begins_and_ends),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(not_json),
                                       cmocka_unit_test(files_beside)};
    return WICK_TEST_MAIN(tests);
}
