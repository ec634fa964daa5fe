/* Texts that other tokenizers have stumbled on: long runs, thousands of added tokens, bytes that are not UTF-8. Time must stay
 * near linear and the stack flat. */
#include "tok/sample_test.h"

#include "base/os.h"

#include <sys/resource.h>

/* Every byte's piece of the byte-level alphabet, ids 0 to 255 in the order of bytes, and a few longer ones. */
static const char *byte_pieces[260];
static char byte_storage[256][5];

static const char *const *all_bytes(void)
{
    for (int b = 0; b < 256; b++) {
        uint32_t code = b <= 32 ? 256u + (uint32_t)b : b >= 127 && b <= 160 ? 289u + (uint32_t)b - 127u : b == 173 ? 323u : (uint32_t)b;
        byte_storage[b][wick_utf8_put(code, byte_storage[b])] = 0;
        byte_pieces[b] = byte_storage[b];
    }
    byte_pieces[256] = "aa";
    byte_pieces[257] = "aaaa";
    byte_pieces[258] = "ZZ";
    return byte_pieces;
}

#define SPLIT_AND_BYTES(pattern) \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" pattern \
    "\"},\"behavior\":\"Isolated\",\"invert\":false}," \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}"
#define GPT4O \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'" \
    "d)?|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+" \
    "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\\\p{N}{1,3}| " \
    "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

static struct wick_tok *byte_level(const char *pattern_step)
{
    return sample_open(&(struct sample){.vocab = all_bytes(),
                                        .pre_tokenizer = pattern_step,
                                        .decoder = "{\"type\":\"ByteLevel\"}",
                                        .merges = "[\"a a\",\"aa aa\",\"Z Z\"]",
                                        .added = "[{\"id\":300,\"content\":\"a word\",\"normalized\":true,\"special\":false,\"single_word\":true}]"});
}

/* `count` times unit; returns nanoseconds. The result must decode to the text. */
static uint64_t time_encode(const struct wick_tok *tok, const char *unit, size_t count, bool round_trip)
{
    struct wick_buf text = {0}, back = {0};
    struct wick_ids ids = {0};
    wick_error err;
    for (size_t i = 0; i < count; i++) wick_buf_text(&text, unit);
    uint64_t begin = wick_now_ns();
    WICK_ASSERT_OK(wick_tok_encode(tok, text.data, text.size, 0, &ids, &err), &err);
    uint64_t took = wick_now_ns() - begin;
    WICK_ASSERT_OK(wick_tok_decode(tok, ids.data, ids.count, 0, &back, &err), &err);
    if (round_trip) assert_true(wick_str_equal((struct wick_str){text.data, text.size}, (struct wick_str){back.data, back.size}));
    wick_buf_free(&text);
    wick_buf_free(&back);
    wick_ids_free(&ids);
    return took;
}

static void long_runs(void **state)
{
    static const char *const units[] = {"a", "Z", "'", " ", "\n", "1", "\xe4\xb8\xad", "aZ", " a", "\xcc\x81", "!", "'s", "\r\n", "a1 "};
    struct rlimit limit = {256 << 10, 256 << 10}, before;
    (void)state;
    struct wick_tok *tok = byte_level(SPLIT_AND_BYTES(GPT4O));
    /* The main thread's stack cannot grow further than this from here on. */
    getrlimit(RLIMIT_STACK, &before);
    limit.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_STACK, &limit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t small = time_encode(tok, units[i], 50000, true), large = time_encode(tok, units[i], 200000, true);
        /* Four times the text; quadratic would be sixteen. Short times are noise. */
        if (large > 200000000u) assert_true(large / (small + 1) < 14);
    }
    setrlimit(RLIMIT_STACK, &before);
    wick_tok_free(tok);
}

static void replace_is_linear(void **state)
{
    static const char *const vocab[] = {"_", "a", NULL};
    (void)state;
    struct wick_tok *tok =
        sample_open(&(struct sample){.vocab = vocab,
                                     .normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"_\"},{\"type\":"
                                                   "\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"_\"},{\"type\":\"NFC\"}]}"});
    uint64_t small = time_encode(tok, " a", 25000, false), large = time_encode(tok, " a", 100000, false);
    if (large > 200000000u) assert_true(large / (small + 1) <= 6);
    wick_tok_free(tok);
}

/* Marks of changing combining classes make a naive sort quadratic. */
static void many_marks(void **state)
{
    static const char *const vocab[] = {"a", NULL};
    (void)state;
    for (int i = 0; i < 4; i++) {
        static const char *const forms[] = {"{\"type\":\"NFC\"}", "{\"type\":\"NFD\"}", "{\"type\":\"NFKC\"}", "{\"type\":\"NFKD\"}"};
        struct wick_tok *tok = sample_open(&(struct sample){.vocab = vocab, .normalizer = forms[i]});
        time_encode(tok, "\xcc\x81\xcc\xa3", 100000, false);
        wick_tok_free(tok);
    }
}

/* A pattern that backtracks without end gives up with an error. */
static void endless_pattern(void **state)
{
    struct wick_ids ids = {0};
    wick_error err;
    (void)state;
    struct wick_tok *tok = byte_level(SPLIT_AND_BYTES("(a+a+)+[bc]"));
    assert_int_equal(wick_tok_encode(tok, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 60, 0, &ids, &err), WICK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "gives up"));
    assert_int_equal(ids.count, 0);
    wick_tok_free(tok);
    /* Groups repeated over a long text need memory, not stack. */
    tok = byte_level(SPLIT_AND_BYTES("(?:a|b)+c?"));
    wick_status status = WICK_OK;
    struct wick_buf text = {0};
    for (int i = 0; i < 200000; i++) wick_buf_text(&text, "ab");
    status = wick_tok_encode(tok, text.data, text.size, 0, &ids, &err);
    assert_true(status == WICK_OK || status == WICK_INVALID_ARGUMENT);
    wick_buf_free(&text);
    wick_ids_free(&ids);
    wick_tok_free(tok);
}

/* Bytes that are not UTF-8 become the ids of those bytes, wherever they stand. */
static void invalid_bytes(void **state)
{
    static const char *const texts[] = {"\xe6\xad",
                                        "\x80",
                                        "\xc0\x80",
                                        "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80",
                                        "ok \xe6\xad then \xff",
                                        "\xe6\xad\xaa\xe6",
                                        "\xf0\x9f\x98",
                                        "\xf4\x8f\xbf\x80 \x80",
                                        "a\xffzz\xff"};
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        struct wick_tok *tok = byte_level(
            mapped ? "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":false},{\"type\":\"Digits\"}]}"
                   : SPLIT_AND_BYTES(GPT4O));
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            struct wick_ids ids = {0};
            wick_error err;
            size_t size = strlen(texts[i]);
            WICK_ASSERT_OK(wick_tok_encode(tok, texts[i], size, 0, &ids, &err), &err);
            assert_int_equal(ids.count, size);
            for (size_t k = 0; k < size; k++) assert_int_equal(ids.data[k], (unsigned char)texts[i][k]);
            wick_ids_free(&ids);
        }
        wick_tok_free(tok);
    }
}

static void bytes_without_token(void **state)
{
    static const char *const vocab[] = {"a", "<0xE6>", "<0xAD>", NULL};
    struct wick_ids ids = {0};
    wick_error err;
    (void)state;
    struct wick_tok *tok = sample_open(&(struct sample){.vocab = vocab, .options = ",\"byte_fallback\":true"});
    sample_expect(tok, "a\xe6\xad" "a", 4, 0, "a|<0xE6>|<0xAD>|a|");
    assert_int_equal(wick_tok_encode(tok, "a\xff", 2, 0, &ids, &err), WICK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "0xff"));
    assert_int_equal(ids.count, 0);
    wick_ids_free(&ids);
    wick_tok_free(tok);
}

/* 2,500 added tokens, among them every lone byte of the byte-level alphabet from 0x80. */
static void thousands_of_added_tokens(void **state)
{
    enum { COUNT = 2500 };
    struct wick_buf added = {0};
    (void)state;
    wick_buf_text(&added, "[");
    for (int i = 0; i < COUNT; i++) {
        char content[32];
        if (i < 128) snprintf(content, sizeof content, "%s%s", all_bytes()[128 + i], "|");
        else snprintf(content, sizeof content, "<|t_%d|>", i);
        wick_buf_printf(&added, "%s{\"id\":%d,\"content\":", i ? "," : "", 300 + i);
        wick_buf_json_string(&added, content, strlen(content));
        wick_buf_text(&added, ",\"special\":false,\"normalized\":false}");
    }
    wick_buf_text(&added, ",{\"id\":3000,\"content\":\"<|t_277|>x\",\"special\":false,\"normalized\":false}]");
    uint64_t begin = wick_now_ns();
    struct wick_tok *tok = sample_open(&(struct sample){.vocab = all_bytes(),
                                                        .added = added.data,
                                                        .pre_tokenizer = "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}",
                                                        .decoder = "{\"type\":\"ByteLevel\"}"});
    sample_expect(tok, "<|t_1234|><|t_223|><|t_277|>x", 29, 0, "<|t_1234|>|<|t_223|>|<|t_277|>x|");
    sample_expect(tok, "<|t_77", 6, 0, "<|||t|_|7|7|");
    time_encode(tok, "<|t_12", 100000, true);
    assert_true(wick_now_ns() - begin < 20000000000u);
    /* An added token prints as it is written, though its characters are also letters of the byte alphabet. */
    sample_decode(tok, (const int32_t[]){300 + 0xed - 0x80}, 1, 0, "\xc3\xad|");
    wick_buf_free(&added);
    wick_tok_free(tok);
}

/* One tokenizer, many threads: all get the same ids. */
struct shared {
    const struct wick_tok *tok;
    struct wick_ids ids[16];
};

static void encode_one(void *user, size_t index, unsigned thread)
{
    static const char text[] = "aaaa aaa ZZ a word ZZZ \xe4\xb8\xad aaaa aa's";
    struct shared *shared = user;
    (void)thread;
    for (int i = 0; i < 200; i++) {
        shared->ids[index].count = 0;
        if (wick_tok_encode(shared->tok, text, sizeof text - 1, WICK_TOK_SPECIAL, &shared->ids[index], NULL) != WICK_OK)
            shared->ids[index].failed = true;
    }
}

static void shared_by_threads(void **state)
{
    struct shared shared = {.ids = {{0}}};
    struct wick_pool *pool;
    wick_error err;
    (void)state;
    struct wick_tok *tok = byte_level(SPLIT_AND_BYTES(GPT4O));
    shared.tok = tok;
    WICK_ASSERT_OK(wick_pool_create(&pool, 4, &err), &err);
    wick_pool_run(pool, 16, encode_one, &shared);
    wick_pool_destroy(pool);
    for (int i = 0; i < 16; i++) {
        assert_false(shared.ids[i].failed);
        assert_true(shared.ids[i].count > 0);
        assert_int_equal(shared.ids[i].count, shared.ids[0].count);
        assert_memory_equal(shared.ids[i].data, shared.ids[0].data, shared.ids[0].count * sizeof(int32_t));
    }
    for (int i = 0; i < 16; i++) wick_ids_free(&shared.ids[i]);
    wick_tok_free(tok);
}

static void too_long(void **state)
{
    struct wick_ids ids = {0};
    wick_error err;
    (void)state;
    struct wick_tok *tok = byte_level("{\"type\":\"ByteLevel\"}");
    assert_int_equal(wick_tok_encode(tok, "", (size_t)1 << 40, 0, &ids, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_tok_encode(tok, NULL, 0, 0, &ids, &err), WICK_OK);
    assert_int_equal(ids.count, 0);
    wick_tok_free(tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_runs),
                                       cmocka_unit_test(replace_is_linear),
                                       cmocka_unit_test(many_marks),
                                       cmocka_unit_test(endless_pattern),
                                       cmocka_unit_test(invalid_bytes),
                                       cmocka_unit_test(bytes_without_token),
                                       cmocka_unit_test(thousands_of_added_tokens),
                                       cmocka_unit_test(shared_by_threads),
                                       cmocka_unit_test(too_long)};
    return WICK_TEST_MAIN(tests);
}
