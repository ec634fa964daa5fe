/* tok/encode.c - text to ids: added tokens are cut out, the rest is normalized, split and merged. */
#include "tok/model.h"

#include "base/checked.h"

#include <stdlib.h>

void wick_ids_push(struct wick_ids *ids, int32_t id)
{
    if (ids->count == ids->capacity) {
        size_t capacity = ids->capacity ? ids->capacity * 2 : 64, bytes;
        int32_t *data = ids->failed || wick_mul_size(capacity, sizeof *data, &bytes) ? NULL : realloc(ids->data, bytes);
        if (!data) {
            ids->failed = true;
            return;
        }
        ids->data = data;
        ids->capacity = capacity;
    }
    ids->data[ids->count++] = id;
}

void wick_ids_free(struct wick_ids *ids)
{
    free(ids->data);
    *ids = (struct wick_ids){0};
}

/* ---- bytes that are not UTF-8 ---- */

static void put_escape(struct wick_buf *out, unsigned char byte)
{
    char bytes[4];
    wick_buf_append(out, bytes, wick_utf8_put(WICK_TOK_ESCAPE_BASE + byte, bytes));
}

static bool is_valid(struct wick_str text)
{
    for (size_t i = 0, n; i < text.size; i += n) {
        n = (unsigned char)text.data[i] < 0x80 ? 1 : wick_utf8_next(text.data + i, text.size - i, NULL);
        if (n == 0) return false;
    }
    return true;
}

/* Makes text that is not UTF-8 valid, see WICK_TOK_ESCAPE_BASE. */
static bool escape_all(struct wick_str text, struct wick_buf *out)
{
    for (size_t i = 0, n; i < text.size; i += n) {
        uint32_t code = 0;
        n = wick_utf8_next(text.data + i, text.size - i, &code);
        if (n > 0 && code < WICK_TOK_ESCAPE_BASE) {
            wick_buf_append(out, text.data + i, n);
            continue;
        }
        if (n == 0) n = 1;
        for (size_t k = 0; k < n; k++) put_escape(out, (unsigned char)text.data[i + k]);
    }
    return true;
}

/* The same; valid text is left alone (false). */
static bool escape_text(struct wick_str text, struct wick_buf *out) { return !is_valid(text) && escape_all(text, out); }

/* The inverse, for a piece on its way to the model. */
static void unescape(struct wick_str piece, struct wick_buf *out)
{
    out->size = 0;
    for (size_t i = 0, n; i < piece.size; i += n) {
        uint32_t code = 0;
        n = wick_utf8_next(piece.data + i, piece.size - i, &code);
        char byte = (char)(code - WICK_TOK_ESCAPE_BASE);
        if (n == 0) n = 1;
        if (code >= WICK_TOK_ESCAPE_BASE) wick_buf_append(out, &byte, 1);
        else wick_buf_append(out, piece.data + i, n);
    }
}

/* The bytes behind a piece in the byte-level alphabet. */
static void unmap(struct wick_str piece, struct wick_buf *out)
{
    out->size = 0;
    for (size_t i = 0, n; i < piece.size; i += n) {
        uint32_t code = 0;
        n = wick_utf8_next(piece.data + i, piece.size - i, &code);
        int value = n ? wick_tok_char_byte(code) : -1;
        char byte = (char)value;
        if (n == 0) n = 1;
        if (value >= 0) wick_buf_append(out, &byte, 1);
        else wick_buf_append(out, piece.data + i, n);
    }
}

/* A byte that has no token would vanish; where it is not even text, say so. */
static wick_status check_bytes(const struct wick_tok_work *work, struct wick_str piece)
{
    for (size_t i = 0, n; i < piece.size; i += n) {
        n = wick_utf8_next(piece.data + i, piece.size - i, NULL);
        if (n == 0 && work->tok->byte_ids[(unsigned char)piece.data[i]] < 0 && work->tok->unk < 0) {
            return wick_fail(work->err, WICK_INVALID_ARGUMENT, "text: byte 0x%02x is not UTF-8, and the vocabulary has no token for it",
                             (unsigned char)piece.data[i]);
        }
        if (n == 0) n = 1;
    }
    return WICK_OK;
}

/* ---- the pipeline ---- */

static wick_status encode_piece(struct wick_tok_work *work, struct wick_str piece)
{
    switch (work->tok->model) {
    case WICK_TOK_BPE: return wick_tok_merge_piece(work, piece);
    case WICK_TOK_UNIGRAM: return wick_tok_unigram_piece(work, piece);
    case WICK_TOK_WORD_PIECE: return wick_tok_word_piece(work, piece);
    case WICK_TOK_WORD_LEVEL: return wick_tok_word_level_piece(work, piece);
    }
    return wick_fail(work->err, WICK_INTERNAL, "no such model");
}

/* Normalized text without added tokens. */
static wick_status encode_plain(struct wick_tok_work *work, struct wick_str text, bool at_start)
{
    struct wick_tok_spans *spans;
    bool mapped;
    WICK_TRY(wick_tok_split(work, &text, at_start, &spans, &mapped));
    for (size_t i = 0; i < spans->count; i++) {
        struct wick_str piece = {text.data + spans->items[i].begin, spans->items[i].end - spans->items[i].begin};
        if (mapped) unmap(piece, &work->raw);
        else if (work->escaped) unescape(piece, &work->raw);
        if (mapped || work->escaped) piece = (struct wick_str){work->raw.data ? work->raw.data : "", work->raw.size};
        if (work->raw.failed) return wick_fail_oom(work->err, piece.size, "a piece");
        if (work->escaped) WICK_TRY(check_bytes(work, piece));
        WICK_TRY(encode_piece(work, piece));
    }
    return work->out->failed ? wick_fail_oom(work->err, work->out->count, "ids") : WICK_OK;
}

/* Text without raw added tokens: normalizes it and cuts out those that are looked for after that. */
static wick_status encode_chunk(struct wick_tok_work *work, struct wick_str text, bool at_start)
{
    struct wick_tok_match match;
    size_t taken = 0, from = 0;
    if (text.size == 0) return WICK_OK;
    work->at_start = at_start;
    WICK_TRY(wick_tok_normalize(work, &text));
    at_start = work->at_start;
    while (wick_tok_matcher_next(&work->tok->normalized, text, work->special && !work->trusted, NULL, taken, &from, &match)) {
        if (match.begin > taken) WICK_TRY(encode_plain(work, (struct wick_str){text.data + taken, match.begin - taken}, at_start && taken == 0));
        wick_ids_push(work->out, match.token->id);
        taken = match.end;
    }
    if (taken >= text.size) return WICK_OK;
    return encode_plain(work, (struct wick_str){text.data + taken, text.size - taken}, at_start && taken == 0);
}

static wick_status encode_text(struct wick_tok_work *work, struct wick_str text)
{
    struct wick_tok_match match;
    size_t taken = 0, from = 0;
    const struct wick_tok_matcher *matcher = work->trusted ? &work->tok->trusted : &work->tok->raw;
    while (wick_tok_matcher_next(matcher, text, work->special, work->trusted, taken, &from, &match)) {
        if (match.begin > taken) WICK_TRY(encode_chunk(work, (struct wick_str){text.data + taken, match.begin - taken}, taken == 0));
        wick_ids_push(work->out, match.token->id);
        taken = match.end;
    }
    if (taken >= text.size) return WICK_OK;
    return encode_chunk(work, (struct wick_str){text.data + taken, text.size - taken}, taken == 0);
}

static void work_free(struct wick_tok_work *work)
{
    for (int i = 0; i < 2; i++) {
        wick_buf_free(&work->text[i]);
        wick_buf_free(&work->cut[i]);
        free(work->spans[i].items);
    }
    wick_buf_free(&work->raw);
    wick_buf_free(&work->spelled);
    wick_tok_matching_free(work->matching);
    free(work->symbols);
    free(work->heap);
    free(work->best);
    free(work->undo);
    wick_ids_free(&work->undone);
}

wick_status wick_tok_encode(const struct wick_tok *tok, const char *text, size_t size, unsigned flags, struct wick_ids *out, wick_error *err)
{
    struct wick_tok_work work = {.tok = tok, .out = out, .err = err, .special = flags & WICK_TOK_SPECIAL};
    struct wick_str all = {text, size};
    struct wick_buf valid = {0};
    size_t before = out->count;
    if (size == 0) return WICK_OK;
    if (size > WICK_TOK_TEXT_LIMIT)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "text: %zu bytes are more than the %zu allowed", size, WICK_TOK_TEXT_LIMIT);
    work.escaped = escape_text(all, &valid);
    if (work.escaped) all = (struct wick_str){valid.data, valid.size};
    wick_status status = valid.failed ? wick_fail_oom(err, size, "text") : encode_text(&work, all);
    if (status == WICK_OK && out->failed) status = wick_fail_oom(err, out->count, "ids");
    if (status != WICK_OK) out->count = before;
    work_free(&work);
    wick_buf_free(&valid);
    return status;
}

/* ---- parts ---- */

/* The parts as one valid text, with the ranges of the trusted ones. */
static wick_status join_parts(struct wick_tok_work *work, const struct wick_tok_part *parts, size_t count, struct wick_buf *text, size_t (*ranges)[2],
                              size_t *range_count, wick_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > WICK_TOK_TEXT_LIMIT - text->size)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "text: more than the %zu bytes allowed", WICK_TOK_TEXT_LIMIT);
        size_t begin = text->size;
        struct wick_str part = {parts[i].data, parts[i].size};
        /* With escapes in one part all are escaped, so that none is taken for what another spells. */
        if (!work->escaped || !escape_all(part, text)) wick_buf_append(text, part.data, part.size);
        if (text->failed) return wick_fail_oom(err, part.size, "text");
        if (!parts[i].trusted || text->size == begin) continue;
        if (*range_count && ranges[*range_count - 1][1] == begin) {
            ranges[*range_count - 1][1] = text->size;
        } else {
            ranges[*range_count][0] = begin;
            ranges[(*range_count)++][1] = text->size;
        }
    }
    return WICK_OK;
}

wick_status wick_tok_encode_parts(const struct wick_tok *tok, const struct wick_tok_part *parts, size_t count, struct wick_ids *out, wick_error *err)
{
    struct wick_buf text = {0};
    struct wick_tok_work work = {.tok = tok, .out = out, .err = err, .special = true};
    size_t before = out->count, range_count = 0, bytes;
    size_t(*ranges)[2] = wick_mul_size(count + 1, sizeof *ranges, &bytes) ? NULL : malloc(bytes);
    if (!ranges) return wick_fail_oom(err, count, "the parts of a text");
    for (size_t i = 0; i < count; i++) work.escaped = work.escaped || !is_valid((struct wick_str){parts[i].data, parts[i].size});
    wick_status status = join_parts(&work, parts, count, &text, ranges, &range_count, err);
    struct wick_tok_trusted trusted = {(const size_t(*)[2])ranges, range_count};
    work.trusted = &trusted;
    if (status == WICK_OK && text.size) status = encode_text(&work, (struct wick_str){text.data, text.size});
    if (status == WICK_OK && out->failed) status = wick_fail_oom(err, out->count, "ids");
    if (status != WICK_OK) out->count = before;
    work_free(&work);
    wick_buf_free(&text);
    free(ranges);
    return status;
}
