/* tok/unicode.c - see unicode.h. Normalisation works on runs of code points between characters that cannot change or
 * combine; everything else is copied. */
#include "tok/unicode.h"

#include "base/checked.h"

#include <stdlib.h>
#include <utf8proc.h>

static bool is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

static bool is_word(uint32_t c, utf8proc_category_t category)
{
    if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ND) return true;
    if (category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC) return true;
    /* Join controls, and the circled and squared letters that are alphabetic without being letters. */
    return c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) ||
           (c >= 0x1f170 && c <= 0x1f189);
}

static bool is_ascii_punctuation(uint32_t c)
{
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

/* Without a look at the tables. */
static bool ascii_in_class(uint32_t c, enum wick_tok_class class)
{
    bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    if (class == WICK_TOK_CLASS_NUMERIC) return digit;
    if (class == WICK_TOK_CLASS_SPACE) return c == ' ' || (c >= 9 && c <= 13);
    if (class == WICK_TOK_CLASS_CONTROL) return c < 0x20 || c == 0x7f;
    if (class == WICK_TOK_CLASS_MARK || class == WICK_TOK_CLASS_FLAT_MARK) return false;
    return class == WICK_TOK_CLASS_PUNCTUATION ? is_ascii_punctuation(c) : digit || letter || c == '_';
}

bool wick_tok_in_class(uint32_t code, enum wick_tok_class class)
{
    if (code < 0x80) return ascii_in_class(code, class);
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    switch (class) {
    case WICK_TOK_CLASS_NUMERIC: return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
    case WICK_TOK_CLASS_SPACE: return is_space(code);
    case WICK_TOK_CLASS_PUNCTUATION: return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
    case WICK_TOK_CLASS_CONTROL:
        return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
    case WICK_TOK_CLASS_MARK: return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
    case WICK_TOK_CLASS_FLAT_MARK: return category == UTF8PROC_CATEGORY_MN;
    case WICK_TOK_CLASS_WORD: return is_word(code, category);
    }
    return false;
}

/* ---- normal forms ---- */

/* True for characters that stay as they are in the form and never combine with what stands before them. The list need not be
 * complete: it only says what may be copied without a closer look. */
static bool is_stable(uint32_t c, enum wick_tok_form form)
{
    if (c < 0x80) return true;
    if (form != WICK_TOK_NFC) return false;
    return c < 0x300 || (c >= 0x400 && c <= 0x482) || (c >= 0x2010 && c <= 0x2027) || (c >= 0x3001 && c <= 0x3029) || (c >= 0x3041 && c <= 0x3096) ||
           (c >= 0x30a1 && c <= 0x30fa) || (c >= 0x3400 && c <= 0x9fff) || (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xff01 && c <= 0xff60) ||
           (c >= 0x1f300 && c <= 0x1faff);
}

struct codes {
    utf8proc_int32_t *data;
    size_t count, capacity;
};

static bool codes_reserve(struct codes *codes, size_t more)
{
    size_t want, bytes;
    if (wick_add_size(codes->count, more, &want) || wick_mul_size(want, 2 * sizeof *codes->data, &bytes)) return false;
    if (want <= codes->capacity) return true;
    utf8proc_int32_t *data = realloc(codes->data, bytes);
    if (!data) return false;
    codes->data = data;
    codes->capacity = want * 2;
    return true;
}

static unsigned combining_class(utf8proc_int32_t code) { return (unsigned)utf8proc_get_property(code)->combining_class; }

/* Sorts a run of marks by combining class, stably: short runs by insertion, long ones by counting. */
static bool sort_marks(utf8proc_int32_t *marks, size_t count)
{
    if (count <= 16) {
        for (size_t i = 1; i < count; i++) {
            utf8proc_int32_t mark = marks[i];
            size_t j = i;
            for (; j > 0 && combining_class(marks[j - 1]) > combining_class(mark); j--) marks[j] = marks[j - 1];
            marks[j] = mark;
        }
        return true;
    }
    size_t begin[257] = {0};
    utf8proc_int32_t *sorted = malloc(count * sizeof *sorted);
    if (!sorted) return false;
    for (size_t i = 0; i < count; i++) begin[(combining_class(marks[i]) & 255) + 1]++;
    for (size_t i = 1; i < 257; i++) begin[i] += begin[i - 1];
    for (size_t i = 0; i < count; i++) sorted[begin[combining_class(marks[i]) & 255]++] = marks[i];
    memcpy(marks, sorted, count * sizeof *sorted);
    free(sorted);
    return true;
}

static bool order_marks(struct codes *codes)
{
    for (size_t i = 0; i < codes->count;) {
        size_t end = i;
        while (end < codes->count && combining_class(codes->data[end]) != 0) end++;
        if (end - i > 1 && !sort_marks(codes->data + i, end - i)) return false;
        i = end + 1;
    }
    return true;
}

/* Decomposes, orders and, for the composed forms, composes one run. */
static bool normalize_run(enum wick_tok_form form, const char *text, size_t size, struct codes *codes, struct wick_buf *out)
{
    bool compose = form == WICK_TOK_NFC || form == WICK_TOK_NFKC, compat = form == WICK_TOK_NFKC || form == WICK_TOK_NFKD;
    utf8proc_option_t options = (compat ? UTF8PROC_COMPAT : 0) | UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    codes->count = 0;
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t n = wick_utf8_next(text + i, size - i, &code);
        if (n == 0) break;
        int boundary = 0;
        if (!codes_reserve(codes, 32)) return false;
        utf8proc_ssize_t got = utf8proc_decompose_char((utf8proc_int32_t)code, codes->data + codes->count, 32, options, &boundary);
        if (got < 0 || got > 32) return false;
        codes->count += (size_t)got;
        i += n;
    }
    if (!order_marks(codes)) return false;
    size_t count = codes->count;
    if (compose && count) {
        utf8proc_ssize_t got = utf8proc_normalize_utf32(codes->data, (utf8proc_ssize_t)count, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
        if (got < 0) return false;
        count = (size_t)got;
    }
    for (size_t i = 0; i < count; i++) {
        char bytes[4];
        wick_buf_append(out, bytes, wick_utf8_put((uint32_t)codes->data[i], bytes));
    }
    return !out->failed;
}

wick_status wick_tok_normal_form(enum wick_tok_form form, const char *text, size_t size, struct wick_buf *out)
{
    struct codes codes = {0};
    bool ok = true;
    size_t copied = 0, before = 0; /* text[0..copied) is in out; `before` is where the last character began */
    for (size_t i = 0; ok && i < size;) {
        uint32_t code = 0;
        size_t n = wick_utf8_next(text + i, size - i, &code);
        if (n == 0) n = 1, code = 0;
        if (is_stable(code, form)) {
            before = i;
            i += n;
            continue;
        }
        /* The stable character before may take marks, so the run begins there and ends before the next stable one. */
        size_t begin = WICK_MAX(before, copied), end = i;
        while (end < size) {
            n = wick_utf8_next(text + end, size - end, &code);
            if (n == 0 || is_stable(code, form)) break;
            end += n;
        }
        wick_buf_append(out, text + copied, begin - copied);
        ok = normalize_run(form, text + begin, end - begin, &codes, out);
        copied = before = i = end;
    }
    wick_buf_append(out, text + copied, size - copied);
    free(codes.data);
    return ok && !out->failed ? WICK_OK : WICK_OUT_OF_MEMORY;
}

void wick_tok_lowercase(const char *text, size_t size, struct wick_buf *out)
{
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t n = wick_utf8_next(text + i, size - i, &code);
        char bytes[4];
        if (n == 0) wick_buf_append(out, text + i, n = 1);
        else if (code == 0x130) wick_buf_append(out, "i\xcc\x87", 3); /* the one character that becomes two */
        else wick_buf_append(out, bytes, wick_utf8_put((uint32_t)utf8proc_tolower((utf8proc_int32_t)code), bytes));
        i += n;
    }
}

size_t wick_tok_cluster_end(struct wick_str text, size_t at)
{
    utf8proc_int32_t state = 0;
    uint32_t before = 0, code = 0;
    size_t n = wick_utf8_next(text.data + at, text.size - at, &before);
    for (at += n ? n : 1; n && at < text.size; at += n) {
        n = wick_utf8_next(text.data + at, text.size - at, &code);
        if (n == 0 || utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)code, &state)) break;
        before = code;
    }
    return at;
}
