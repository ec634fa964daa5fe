/* tok/json_scan.c - RFC 8259 without a tree; see json_scan.h. Strings are checked to be UTF-8 on the way. */
#include "tok/json_scan.h"

#include <locale.h>
#include <stdlib.h>

enum { DEPTH_LIMIT = 256 };

static wick_status fail_at(const struct wick_tok_json *json, wick_error *err, const char *why)
{
    return wick_fail(err, WICK_INVALID_TOKENIZER, "JSON, byte %zu: %s", (size_t)(json->at - json->begin), why);
}

static void skip_blanks(struct wick_tok_json *json)
{
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\n' || *json->at == '\t' || *json->at == '\r')) json->at++;
}

bool wick_tok_json_is(struct wick_tok_json *json, char c)
{
    skip_blanks(json);
    return json->at < json->end && *json->at == c;
}

wick_status wick_tok_json_expect(struct wick_tok_json *json, char c, wick_error *err)
{
    char why[16] = "'?' expected";
    why[1] = c;
    if (!wick_tok_json_is(json, c)) return fail_at(json, err, why);
    json->at++;
    return WICK_OK;
}

wick_status wick_tok_json_next(struct wick_tok_json *json, char close, bool *first, bool *more, wick_error *err)
{
    bool was_first = *first;
    *first = false;
    *more = !wick_tok_json_is(json, close);
    if (*more && !was_first) return wick_tok_json_expect(json, ',', err);
    if (!*more) json->at++;
    return WICK_OK;
}

static int hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* \uXXXX, or two of them that form one character. */
static wick_status unicode_escape(struct wick_tok_json *json, struct wick_buf *out, wick_error *err)
{
    int high = json->end - json->at >= 4 ? hex4(json->at) : -1, low;
    uint32_t code = (uint32_t)high;
    char bytes[4];
    if (high < 0) return fail_at(json, err, "four hex digits expected");
    json->at += 4;
    if (high >= 0xd800 && high < 0xdc00) {
        low = json->end - json->at >= 6 && json->at[0] == '\\' && json->at[1] == 'u' ? hex4(json->at + 2) : -1;
        if (low < 0xdc00 || low > 0xdfff) return fail_at(json, err, "half of a surrogate pair");
        json->at += 6;
        code = 0x10000u + (((uint32_t)high - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
    }
    size_t n = wick_utf8_put(code, bytes);
    if (n == 0) return fail_at(json, err, "half of a surrogate pair");
    wick_buf_append(out, bytes, n);
    return WICK_OK;
}

static wick_status escape(struct wick_tok_json *json, struct wick_buf *out, wick_error *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (json->at == json->end) return fail_at(json, err, "the string does not end");
    char c = *json->at++;
    if (c == 'u') return unicode_escape(json, out, err);
    const char *at = c ? strchr(from, c) : NULL;
    if (!at) return fail_at(json, err, "unknown escape");
    wick_buf_append(out, &to[at - from], 1);
    return WICK_OK;
}

wick_status wick_tok_json_string(struct wick_tok_json *json, struct wick_buf *scratch, struct wick_str *out, wick_error *err)
{
    WICK_TRY(wick_tok_json_expect(json, '"', err));
    const char *run = json->at; /* begin of what has not been copied yet */
    bool copied = false;
    while (json->at < json->end) {
        unsigned char c = (unsigned char)*json->at;
        if (c == '"') {
            if (copied) wick_buf_append(scratch, run, (size_t)(json->at - run));
            if (copied && scratch->failed) return wick_fail_oom(err, scratch->size, "a string");
            *out = copied ? (struct wick_str){scratch->data, scratch->size} : (struct wick_str){run, (size_t)(json->at - run)};
            json->at++;
            return WICK_OK;
        }
        if (c == '\\') {
            if (!copied) scratch->size = 0;
            copied = true;
            wick_buf_append(scratch, run, (size_t)(json->at - run));
            json->at++;
            WICK_TRY(escape(json, scratch, err));
            run = json->at;
        } else if (c < 0x20) {
            return fail_at(json, err, "control character in a string");
        } else {
            size_t n = c < 0x80 ? 1 : wick_utf8_next(json->at, (size_t)(json->end - json->at), NULL);
            if (n == 0) return fail_at(json, err, "not UTF-8");
            json->at += n;
        }
    }
    return fail_at(json, err, "the string does not end");
}

wick_status wick_tok_json_key(struct wick_tok_json *json, struct wick_buf *scratch, struct wick_str *out, wick_error *err)
{
    WICK_TRY(wick_tok_json_string(json, scratch, out, err));
    return wick_tok_json_expect(json, ':', err);
}

wick_status wick_tok_json_id(struct wick_tok_json *json, int32_t *out, wick_error *err)
{
    uint32_t value = 0;
    skip_blanks(json);
    const char *begin = json->at;
    for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++) {
        value = value * 10 + (uint32_t)(*json->at - '0');
        if (json->at - begin > 9 || value > INT32_MAX) return fail_at(json, err, "the id is too large");
    }
    bool fraction = json->at < json->end && (*json->at == '.' || *json->at == 'e' || *json->at == 'E');
    if (json->at == begin || fraction) return fail_at(json, err, "an id (a whole number from 0) expected");
    *out = (int32_t)value;
    return WICK_OK;
}

static bool skip_digits(struct wick_tok_json *json)
{
    const char *begin = json->at;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
    return json->at > begin;
}

static bool skip_number(struct wick_tok_json *json)
{
    if (*json->at == '-') json->at++;
    if (!skip_digits(json)) return false;
    if (json->at < json->end && *json->at == '.') {
        json->at++;
        if (!skip_digits(json)) return false;
    }
    if (json->at < json->end && (*json->at == 'e' || *json->at == 'E')) {
        json->at++;
        if (json->at < json->end && (*json->at == '+' || *json->at == '-')) json->at++;
        if (!skip_digits(json)) return false;
    }
    return true;
}

wick_status wick_tok_json_number(struct wick_tok_json *json, double *out, wick_error *err)
{
    char text[64];
    skip_blanks(json);
    const char *begin = json->at;
    if (begin == json->end || !skip_number(json)) return fail_at(json, err, "a number expected");
    size_t size = (size_t)(json->at - begin);
    if (size >= sizeof text) return fail_at(json, err, "the number is too long");
    memcpy(text, begin, size);
    text[size] = 0;
    /* strtod wants the point of the host's locale. */
    char *point = memchr(text, '.', size);
    if (point) *point = localeconv()->decimal_point[0];
    *out = strtod(text, NULL);
    return WICK_OK;
}

/* A string, number, true, false or null. */
static wick_status skip_scalar(struct wick_tok_json *json, struct wick_buf *scratch, wick_error *err)
{
    static const char *const words[] = {"true", "false", "null"};
    struct wick_str ignored;
    if (wick_tok_json_is(json, '"')) return wick_tok_json_string(json, scratch, &ignored, err);
    if (json->at == json->end) return fail_at(json, err, "the document does not end");
    for (size_t i = 0; i < WICK_ARRAY_SIZE(words); i++) {
        struct wick_str rest = {json->at, (size_t)(json->end - json->at)};
        if (!wick_str_starts(rest, wick_str_of(words[i]))) continue;
        json->at += strlen(words[i]);
        return WICK_OK;
    }
    return skip_number(json) ? WICK_OK : fail_at(json, err, "a value expected");
}

static wick_status skip_value(struct wick_tok_json *json, struct wick_buf *scratch, wick_error *err)
{
    char closers[DEPTH_LIMIT];
    size_t depth = 0;
    struct wick_str ignored;
    for (;;) {
        /* A value stands here. */
        bool object = wick_tok_json_is(json, '{'), array = wick_tok_json_is(json, '[');
        if (object || array) {
            if (depth == DEPTH_LIMIT) return fail_at(json, err, "nested too deeply");
            closers[depth++] = object ? '}' : ']';
            json->at++;
            if (!wick_tok_json_is(json, closers[depth - 1])) {
                if (object) WICK_TRY(wick_tok_json_key(json, scratch, &ignored, err));
                continue;
            }
        } else {
            WICK_TRY(skip_scalar(json, scratch, err));
        }
        /* A value ended: close what closes here, then a comma leads to the next. */
        while (depth > 0 && wick_tok_json_is(json, closers[depth - 1])) {
            json->at++;
            depth--;
        }
        if (depth == 0) return WICK_OK;
        WICK_TRY(wick_tok_json_expect(json, ',', err));
        if (closers[depth - 1] == '}') WICK_TRY(wick_tok_json_key(json, scratch, &ignored, err));
    }
}

wick_status wick_tok_json_skip(struct wick_tok_json *json, wick_error *err)
{
    struct wick_buf scratch = {0};
    wick_status status = skip_value(json, &scratch, err);
    wick_buf_free(&scratch);
    return status;
}

wick_status wick_tok_json_end(struct wick_tok_json *json, wick_error *err)
{
    skip_blanks(json);
    return json->at == json->end ? WICK_OK : fail_at(json, err, "text after the document");
}
