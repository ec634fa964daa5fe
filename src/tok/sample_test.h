/* tok/sample_test.h - small tokenizers for the tests of this folder, written as tokenizer.json text. */
#ifndef WICK_TOK_SAMPLE_H
#define WICK_TOK_SAMPLE_H

#include "fixture.h"
#include "tok/tok.h"

#include <stdio.h>
#include <stdlib.h>

/* Sections as JSON; NULL: null (or an empty list). */
struct sample {
    const char *normalizer, *pre_tokenizer, *post_processor, *decoder, *added;
    const char *options; /* of the model: ,"unk_token":"<unk>" */
    const char *merges;
    const char *const *vocab; /* ids in order, up to NULL */
};

static inline void sample_text(const struct sample *sample, struct wick_buf *out)
{
    *out = (struct wick_buf){0};
    wick_buf_printf(out, "{\"version\":\"1.0\",\"added_tokens\":%s,\"normalizer\":%s,", sample->added ? sample->added : "[]",
                    sample->normalizer ? sample->normalizer : "null");
    wick_buf_printf(out, "\"pre_tokenizer\":%s,\"post_processor\":%s,", sample->pre_tokenizer ? sample->pre_tokenizer : "null",
                    sample->post_processor ? sample->post_processor : "null");
    wick_buf_printf(out, "\"decoder\":%s,\"model\":{\"type\":\"BPE\"%s,\"vocab\":{", sample->decoder ? sample->decoder : "null",
                    sample->options ? sample->options : "");
    for (size_t i = 0; sample->vocab && sample->vocab[i]; i++) {
        wick_buf_text(out, i ? "," : "");
        wick_buf_json_string(out, sample->vocab[i], strlen(sample->vocab[i]));
        wick_buf_printf(out, ":%zu", i);
    }
    wick_buf_printf(out, "},\"merges\":%s}}", sample->merges ? sample->merges : "[]");
    assert_false(out->failed);
}

static inline wick_status sample_load(const struct sample *sample, struct wick_tok **tok, wick_error *err)
{
    struct wick_buf text;
    sample_text(sample, &text);
    wick_status status = wick_tok_load_memory(tok, text.data, text.size, "sample", err);
    wick_buf_free(&text);
    return status;
}

static inline struct wick_tok *sample_open(const struct sample *sample)
{
    struct wick_tok *tok = NULL;
    wick_error err;
    WICK_ASSERT_OK(sample_load(sample, &tok, &err), &err);
    return tok;
}

/* The pieces of text's ids, each with `|` behind it, must be `wanted`. */
static inline void sample_expect(const struct wick_tok *tok, const char *text, size_t size, unsigned flags, const char *wanted)
{
    struct wick_ids ids = {0};
    struct wick_buf got = {0};
    wick_error err;
    WICK_ASSERT_OK(wick_tok_encode(tok, text, size, flags, &ids, &err), &err);
    wick_buf_text(&got, "");
    for (size_t i = 0; i < ids.count; i++) {
        struct wick_str piece = wick_tok_piece(tok, ids.data[i]);
        wick_buf_append(&got, piece.data, piece.size);
        wick_buf_text(&got, "|");
    }
    assert_string_equal(got.data ? got.data : "", wanted);
    wick_buf_free(&got);
    wick_ids_free(&ids);
}

/* The decoded text of ids must be `wanted`, whole and token by token. */
static inline void sample_decode(const struct wick_tok *tok, const int32_t *ids, size_t count, unsigned flags, const char *wanted)
{
    struct wick_buf whole = {0}, parts = {0};
    struct wick_tok_stream stream;
    wick_error err;
    WICK_ASSERT_OK(wick_tok_decode(tok, ids, count, flags, &whole, &err), &err);
    wick_tok_stream_init(&stream, tok, flags);
    for (size_t i = 0; i < count; i++) {
        size_t before = parts.size;
        wick_tok_stream_feed(&stream, ids[i], &parts);
        for (size_t at = before, n; at < parts.size; at += n) {
            n = wick_utf8_next(parts.data + at, parts.size - at, NULL);
            assert_true(n > 0);
        }
    }
    wick_tok_stream_flush(&stream, &parts);
    wick_buf_text(&whole, "");
    wick_buf_text(&parts, "");
    assert_string_equal(whole.data, parts.data);
    if (wanted) assert_string_equal(whole.data, wanted);
    wick_buf_free(&whole);
    wick_buf_free(&parts);
}

/* Loading must fail with a message that holds `words`. */
static inline void sample_refused(const struct sample *sample, const char *words)
{
    struct wick_tok *tok = NULL;
    wick_error err = {0};
    wick_status status = sample_load(sample, &tok, &err);
    if (status == WICK_OK || !strstr(err.message, words)) fail_msg("\"%s\" expected in: %s", words, status == WICK_OK ? "(loaded)" : err.message);
    assert_null(tok);
}

#endif
