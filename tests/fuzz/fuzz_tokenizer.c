/* Mutated tokenizer files: what loads encodes and decodes any text, whole and token by token alike; the rest is refused with a message
 * that names the file. */
#include "fuzz.h"

#include "base/os.h"
#include "tok/patterns.h"
#include "tok/sp_sample_test.h"

static unsigned long loaded;

/* ---- samples ---- */

static const char *const vocab[] = {
    "h", "e", "l", "o", "he", "ll", "llo", "hello", "\xc4\xa0", "\xc4\xa0hello", "<unk>", "<0x41>", "1", "\xe2\x96\x81", "\xe2\x96\x81h", NULL};
static const char merges[] = "[\"h e\",\"l l\",[\"ll\",\"o\"],\"he llo\",\"\xc4\xa0 hello\",\"\xe2\x96\x81 h\"]";

static void add(struct fuzz *fuzz, struct wick_buf *b)
{
    if (b->failed) abort();
    uint8_t *data = malloc(b->size);
    if (data) memcpy(data, b->data, b->size);
    fuzz_add(fuzz, data, b->size);
    wick_buf_free(b);
}

/* As Llama 3's and its like: byte-level, split by a pattern first. */
static void add_byte_level(struct fuzz *fuzz, const char *pattern)
{
    struct wick_buf split = {0}, text;
    wick_buf_text(&split, "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":");
    wick_buf_json_string(&split, pattern, strlen(pattern));
    wick_buf_text(&split, "},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}");
    sample_text(&(struct sample){.vocab = vocab,
                                 .merges = merges,
                                 .normalizer = "{\"type\":\"NFC\"}",
                                 .pre_tokenizer = split.data,
                                 .post_processor =
                                     "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"B\",\"type_id\":0}},{\"Sequence\":{"
                                     "\"id\":\"A\",\"type_id\":0}}],\"special_tokens\":{\"B\":{\"id\":\"B\",\"ids\":[20]}}}",
                                 .decoder = "{\"type\":\"ByteLevel\"}",
                                 .added = "[{\"id\":20,\"content\":\"<s>\",\"special\":true},{\"id\":21,\"content\":\"LO\",\"normalized\":true,"
                                          "\"single_word\":true,\"lstrip\":true}]",
                                 .options = ",\"ignore_merges\":true"},
                &text);
    wick_buf_free(&split);
    add(fuzz, &text);
}

/* As Llama 2's: blanks are marked, what the vocabulary lacks becomes bytes. */
static void add_marked(struct fuzz *fuzz)
{
    struct wick_buf text;
    sample_text(
        &(struct sample){
            .vocab = vocab,
            .merges = merges,
            .normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"\xe2\x96\x81\"},{\"type\":\"Replace\","
                          "\"pattern\":{\"String\":\" \"},\"content\":\"\xe2\x96\x81\"}]}",
            .decoder = "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xe2\x96\x81\"},\"content\":\" \"},"
                       "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}",
            .added = "[{\"id\":20,\"content\":\"<s>\",\"special\":true,\"rstrip\":true}]",
            .options = ",\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true"},
        &text);
    add(fuzz, &text);
}

static void add_small_formats(struct fuzz *fuzz)
{
    static const int32_t header[] = {15, 1, 2, 6};
    struct wick_buf bin = {0}, tiktoken = {0};
    wick_buf_append(&bin, header, sizeof header);
    for (int i = 0; vocab[i]; i++) {
        float score = (float)-i;
        int32_t size = (int32_t)strlen(vocab[i]);
        wick_buf_append(&bin, &score, 4);
        wick_buf_append(&bin, &size, 4);
        wick_buf_text(&bin, vocab[i]);
    }
    fuzz_format(fuzz);
    add(fuzz, &bin);
    fuzz_format(fuzz);
    wick_buf_text(&tiktoken, "aA== 0\nZQ== 1\nbA== 2\nbw== 3\naGU= 4\nbGw= 5\nbGxv 6\naGVsbG8= 7\n");
    add(fuzz, &tiktoken);
}

static void add_sentencepiece(struct fuzz *fuzz)
{
    static const struct sp_piece pieces[] = {{"<unk>", 0, WICK_TOK_TYPE_UNKNOWN},
                                             {"<s>", 0, WICK_TOK_TYPE_CONTROL},
                                             {"lo", 0, WICK_TOK_TYPE_USER_DEFINED},
                                             {"<0x41>", 0, WICK_TOK_TYPE_BYTE},
                                             {"h", -1, 0},
                                             {"e", -2, 0},
                                             {"l", -3, 0},
                                             {"\xe2\x96\x81", -4, 0},
                                             {"he", -5, WICK_TOK_TYPE_UNUSED},
                                             {"hel", -5, 0},
                                             {NULL, 0, 0}};
    fuzz_format(fuzz);
    for (int model = 1; model <= 4; model++) {
        struct wick_buf file = {0};
        sp_write(&(struct sp_model){.pieces = pieces, .model = model, .charsmap = sp_charsmap(), .byte_fallback = model == 2}, &file);
        add(fuzz, &file);
    }
}

/* The tokenizer of the story model: a whole file. */
static void add_story(struct fuzz *fuzz)
{
    struct wick_map map;
    struct wick_buf b = {0};
    if (wick_map_open(&map, wick_test_repo("assets/story/tokenizer.json"), NULL) != WICK_OK) return;
    wick_buf_append(&b, map.data, map.size);
    wick_map_close(&map);
    add(fuzz, &b);
}

/* ---- one file ---- */

/* Decoded whole and token by token, the text is the same and is UTF-8. */
static void decode(struct fuzz *fuzz, const struct wick_tok *tok, const struct wick_ids *ids, unsigned flags)
{
    struct wick_buf whole = {0}, parts = {0};
    struct wick_tok_stream stream;
    wick_error err;
    FUZZ_REQUIRE(fuzz, wick_tok_decode(tok, ids->data, ids->count, flags, &whole, &err) == WICK_OK);
    wick_tok_stream_init(&stream, tok, flags);
    for (size_t i = 0; i < ids->count; i++) wick_tok_stream_feed(&stream, ids->data[i], &parts);
    wick_tok_stream_flush(&stream, &parts);
    FUZZ_REQUIRE(fuzz, whole.size == parts.size && (whole.size == 0 || memcmp(whole.data, parts.data, whole.size) == 0));
    for (size_t at = 0, n; at < whole.size; at += n) {
        n = wick_utf8_next(whole.data + at, whole.size - at, NULL);
        FUZZ_REQUIRE(fuzz, n > 0);
    }
    wick_buf_free(&whole);
    wick_buf_free(&parts);
}

static void use(struct fuzz *fuzz, const struct wick_tok *tok)
{
    char text[] = "hello <s> HELLO12 lo  1\n\nxx\xe6\xad\xaa\xcc\x81 Once upon a time";
    struct wick_ids ids = {0};
    wick_error err = {WICK_OK, ""};
    size_t size = sizeof text - 1, count;
    int32_t words = wick_tok_vocab_size(tok);
    for (int i = 0; i < 3; i++) text[fuzz_below(fuzz, size)] = (char)wick_test_random(&fuzz->rng);
    wick_status status = wick_tok_encode(tok, text, size, fuzz_below(fuzz, 2) ? WICK_TOK_SPECIAL : 0, &ids, &err);
    FUZZ_REQUIRE(fuzz, status == WICK_OK || (ids.count == 0 && strlen(err.message) > 10));
    for (size_t i = 0; i < ids.count; i++) FUZZ_REQUIRE(fuzz, ids.data[i] >= 0 && ids.data[i] < words);
    for (int i = 0; i < 8; i++) wick_ids_push(&ids, (int32_t)fuzz_below(fuzz, (size_t)words + 4) - 2);
    decode(fuzz, tok, &ids, 0);
    decode(fuzz, tok, &ids, WICK_TOK_SKIP_SPECIAL);
    FUZZ_REQUIRE(fuzz, wick_tok_bos(tok) < words && wick_tok_id_of(tok, WICK_STR("hello")) < words);
    const int32_t *eos = wick_tok_eos(tok, &count);
    for (size_t i = 0; i < count; i++) FUZZ_REQUIRE(fuzz, eos[i] >= 0 && eos[i] < words);
    wick_ids_free(&ids);
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    struct wick_tok *tok;
    wick_error err = {WICK_OK, ""};
    if (wick_tok_load_memory(&tok, data, size, "file", &err) != WICK_OK) {
        FUZZ_REQUIRE(fuzz, !tok && strncmp(err.message, "file: ", 6) == 0 && strlen(err.message) > 16 && !strchr(err.message, '\n'));
        return;
    }
    loaded++;
    use(fuzz, tok);
    wick_tok_free(tok);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {
        "\"", "{", "}", "[", "]", ",", ":", "null", "true", "0", "-1", "1e9", "4294967295", "999999999999", /* JSON */
        "\\u0000", "\\ud83d\\ude00", "\xff", "\"a\"", "Isolated", "MergedWithNext", "Removed", "\"invert\":true",
        "(?:", "(?!", "+", "*", "|", "\\\\", "&&", "[^", "\\\\p{L}", "{1,999}", /* patterns */
        "\n", "aGVsbG8= 9\n", "==", NULL,                                       /* tiktoken */
    };
    struct fuzz fuzz = {.words = words};
    add_byte_level(&fuzz, WICK_TOK_LLAMA3_PATTERN);
    add_byte_level(&fuzz, WICK_TOK_QWEN_PATTERN);
    add_byte_level(&fuzz, WICK_TOK_O200K_PATTERN);
    add_marked(&fuzz);
    add_story(&fuzz);
    add_small_formats(&fuzz);
    add_sentencepiece(&fuzz);
    int result = fuzz_main(&fuzz, argc, argv, run);
    printf("%lu tokenizers loaded\n", loaded);
    return result;
}
