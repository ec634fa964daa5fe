/* chat/text.c - what filters and methods do to strings. Every byte keeps where it came from. */
#include "chat/jinja.h"

#include "tok/unicode.h"

#include <stdio.h>
#include <utf8proc.h>

bool wick_chat_is_space(uint32_t code) { return wick_tok_in_class(code, WICK_TOK_CLASS_SPACE) || (code >= 0x1c && code <= 0x1f); }

size_t wick_chat_char(struct wick_str text, size_t at, uint32_t *code)
{
    uint32_t ignored = 0;
    size_t n = wick_utf8_next(text.data + at, text.size - at, code ? code : &ignored);
    if (n) return n;
    if (code) *code = 0xfffd;
    return 1;
}

size_t wick_chat_count(struct wick_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return count;
}

size_t wick_chat_find(struct wick_str text, struct wick_str what, size_t from)
{
    if (what.size == 0) return from <= text.size ? from : SIZE_MAX;
    while (from <= text.size && text.size - from >= what.size) {
        const char *at = memchr(text.data + from, what.data[0], text.size - from - what.size + 1);
        if (!at) break;
        if (memcmp(at, what.data, what.size) == 0) return (size_t)(at - text.data);
        from = (size_t)(at - text.data) + 1;
    }
    return SIZE_MAX;
}

/* Appends a character in place of text[at..at+n), as tainted as that. */
static void put_code(struct chat_build *build, uint32_t code, const struct chat_text *from, size_t at)
{
    char bytes[4];
    uint8_t mark = from->taint ? from->taint[at] : 0, marks[4] = {mark, mark, mark, mark};
    wick_chat_build_bytes(build, bytes, wick_utf8_put(code, bytes), from->taint ? marks : NULL);
}

static bool is_letter(uint32_t code)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LT;
}

static uint32_t to_upper(uint32_t code) { return (uint32_t)utf8proc_toupper((utf8proc_int32_t)code); }
static uint32_t to_lower(uint32_t code) { return (uint32_t)utf8proc_tolower((utf8proc_int32_t)code); }

struct chat_value wick_chat_case(struct chat_run *run, struct chat_value v, enum chat_case how)
{
    struct chat_build build;
    struct wick_str text = chat_str(v);
    bool in_word = false;
    if (v.kind != CHAT_STRING) return v;
    wick_chat_build_init(&build, run);
    for (size_t i = 0, n; i < text.size && !chat_failed(run); i += n) {
        uint32_t code = 0;
        n = wick_chat_char(text, i, &code);
        bool up = how == CHAT_UPPER || (how == CHAT_TITLE && !in_word) || (how == CHAT_CAPITALIZE && i == 0) ||
                  (how == CHAT_SWAP && to_lower(code) != code);
        in_word = is_letter(code);
        if (up && code == 0xdf) {
            put_code(&build, 'S', v.as.text, i);
            code = how == CHAT_UPPER || how == CHAT_SWAP ? 'S' : 's';
        } else {
            code = up ? to_upper(code) : to_lower(code);
        }
        if (how == CHAT_SWAP && up) code = to_lower(code);
        else if (how == CHAT_SWAP) code = to_upper(code);
        put_code(&build, code, v.as.text, i);
    }
    return wick_chat_build_value(&build);
}

static bool strips(uint32_t code, struct wick_str chars)
{
    if (!chars.data) return wick_chat_is_space(code);
    for (size_t i = 0, n; i < chars.size; i += n) {
        uint32_t one = 0;
        n = wick_chat_char(chars, i, &one);
        if (one == code) return true;
    }
    return false;
}

struct chat_value wick_chat_strip(struct chat_run *run, struct chat_value v, struct wick_str chars, int sides)
{
    struct wick_str text = chat_str(v);
    size_t begin = 0, end = text.size;
    uint32_t code = 0;
    if (v.kind != CHAT_STRING || !wick_chat_step(run, 1 + text.size / 64)) return v;
    while ((sides & 1) && begin < end) {
        size_t n = wick_chat_char(text, begin, &code);
        if (!strips(code, chars)) break;
        begin += n;
    }
    while ((sides & 2) && end > begin) {
        size_t last = end - 1;
        while (last > begin && ((unsigned char)text.data[last] & 0xc0) == 0x80) last--;
        (void)wick_chat_char(text, last, &code);
        if (!strips(code, chars)) break;
        end = last;
    }
    return wick_chat_part_of(run, v.as.text, begin, end);
}

struct chat_value wick_chat_replace(struct chat_run *run, struct chat_value v, struct chat_value from, struct chat_value to, int64_t count)
{
    struct wick_str text = chat_str(v), what = chat_str(from);
    struct chat_build build;
    size_t at = 0;
    wick_chat_build_init(&build, run);
    for (int64_t done = 0; (count < 0 || done < count) && !chat_failed(run); done++) {
        size_t found = wick_chat_find(text, what, at);
        if (found == SIZE_MAX) break;
        wick_chat_build_bytes(&build, text.data + at, found - at, v.as.text->taint ? v.as.text->taint + at : NULL);
        wick_chat_build_text(&build, to.as.text);
        at = found + what.size;
        if (what.size) continue;
        /* The empty string stands before every character and at the end. */
        if (at >= text.size) return wick_chat_build_value(&build);
        size_t n = wick_chat_char(text, at, NULL);
        wick_chat_build_bytes(&build, text.data + at, n, v.as.text->taint ? v.as.text->taint + at : NULL);
        at += n;
    }
    wick_chat_build_bytes(&build, text.data + at, text.size - at, v.as.text->taint ? v.as.text->taint + at : NULL);
    return wick_chat_build_value(&build);
}

struct chat_value wick_chat_join(struct chat_run *run, struct chat_value items, struct chat_value separator, bool only_strings)
{
    struct chat_list *list = wick_chat_items(run, items);
    struct chat_build build;
    wick_chat_build_init(&build, run);
    for (size_t i = 0; list && i < list->count && !chat_failed(run); i++) {
        if (i) wick_chat_print(&build, separator);
        if (only_strings && list->items[i].kind != CHAT_STRING)
            return wick_chat_raise(run, "sequence item %zu: expected str instance, %s found", i, wick_chat_type_name(list->items[i]));
        wick_chat_print(&build, list->items[i]);
    }
    return wick_chat_build_value(&build);
}

/* ---- % ---- */

struct directive {
    char flags[8], letter;
    int width, precision; /* -1: none */
};

/* %[flags][width][.precision]letter at text[at]; the place behind it, 0: not understood. */
static size_t read_directive(struct wick_str text, size_t at, struct directive *d)
{
    size_t flags = 0;
    *d = (struct directive){.width = -1, .precision = -1};
    for (; at < text.size && text.data[at] && strchr("-+ 0#", text.data[at]); at++) {
        if (flags < sizeof d->flags - 1 && !strchr(d->flags, text.data[at])) d->flags[flags++] = text.data[at];
    }
    for (int part = 0; part < 2; part++) {
        int *number = part ? &d->precision : &d->width;
        if (part && (at >= text.size || text.data[at] != '.')) break;
        if (part) at++, *number = 0;
        for (; at < text.size && text.data[at] >= '0' && text.data[at] <= '9' && *number < 1000; at++)
            *number = (*number < 0 ? 0 : *number) * 10 + (text.data[at] - '0');
    }
    if (at >= text.size) return 0;
    d->letter = text.data[at];
    return at + 1;
}

static void put_padded(struct chat_build *build, const struct directive *d, struct chat_value text)
{
    int64_t fill = d->width - wick_chat_length(build->run, text);
    bool left = strchr(d->flags, '-') != NULL;
    if (left) wick_chat_print(build, text);
    for (; fill > 0 && fill <= 1000; fill--) chat_put(build, " ");
    if (!left) wick_chat_print(build, text);
}

static void put_directive(struct chat_build *build, const struct directive *d, struct chat_value v)
{
    char format[32], text[1200];
    struct chat_run *run = build->run;
    if (d->letter == 's' || d->letter == 'r') {
        struct chat_build part;
        wick_chat_build_init(&part, run);
        if (d->letter == 's') wick_chat_print(&part, v);
        else wick_chat_repr(&part, v, 0);
        put_padded(build, d, wick_chat_build_value(&part));
        return;
    }
    if (!chat_is_number(v)) {
        wick_chat_raise(run, "%%%c format: a real number is required, not %s", d->letter, wick_chat_type_name(v));
        return;
    }
    bool whole = strchr("dixXo", d->letter) != NULL;
    if (!whole && !strchr("eEfFgG", d->letter)) {
        wick_chat_raise(run, "unsupported format character '%c'", d->letter);
        return;
    }
    int64_t integer = v.kind == CHAT_FLOAT && chat_real(v) > -9e18 && chat_real(v) < 9e18 ? (int64_t)chat_real(v) : chat_integer(v);
    snprintf(format, sizeof format, "%%%s%.*s%.*s%s%c", d->flags, d->width >= 0, "*", 2 * (d->precision >= 0), ".*", whole ? "ll" : "", d->letter);
    int width = WICK_MIN(d->width, 1000), precision = WICK_MIN(d->precision, 100);
    int size;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (whole && d->width >= 0 && d->precision >= 0) size = snprintf(text, sizeof text, format, width, precision, (long long)integer);
    else if (whole && d->width >= 0) size = snprintf(text, sizeof text, format, width, (long long)integer);
    else if (whole && d->precision >= 0) size = snprintf(text, sizeof text, format, precision, (long long)integer);
    else if (whole) size = snprintf(text, sizeof text, format, (long long)integer);
    else if (d->width >= 0 && d->precision >= 0) size = snprintf(text, sizeof text, format, width, precision, chat_real(v));
    else if (d->width >= 0) size = snprintf(text, sizeof text, format, width, chat_real(v));
    else if (d->precision >= 0) size = snprintf(text, sizeof text, format, precision, chat_real(v));
    else size = snprintf(text, sizeof text, format, chat_real(v));
#pragma GCC diagnostic pop
    if (size > 0) wick_chat_build_bytes(build, text, WICK_MIN((size_t)size, sizeof text - 1), NULL);
}

/* "%s and %(name)d" with the arguments of a filter, or those of the operator in a list. */
struct chat_value wick_chat_format(struct chat_run *run, struct chat_value format, const struct chat_args *args)
{
    struct wick_str text = chat_str(format);
    const uint8_t *taint = format.as.text->taint;
    struct chat_build build;
    size_t used = 0;
    wick_chat_build_init(&build, run);
    for (size_t at = 0; at < text.size && !chat_failed(run);) {
        const char *percent = memchr(text.data + at, '%', text.size - at);
        size_t end = percent ? (size_t)(percent - text.data) : text.size;
        wick_chat_build_bytes(&build, text.data + at, end - at, taint ? taint + at : NULL);
        at = end + 1;
        if (!percent) break;
        if (at < text.size && text.data[at] == '%') {
            chat_put(&build, "%");
            at++;
            continue;
        }
        struct chat_value value = (struct chat_value){.kind = CHAT_UNDEFINED};
        bool named = at < text.size && text.data[at] == '(';
        if (named) {
            size_t close = wick_chat_find(text, WICK_STR(")"), at);
            if (close == SIZE_MAX) return wick_chat_raise(run, "incomplete format key");
            for (size_t i = 0; i < args->named_count; i++) {
                if (wick_str_equal(chat_str(args->named[i].key), (struct wick_str){text.data + at + 1, close - at - 1})) value = args->named[i].value;
            }
            at = close + 1;
        } else if (used < args->count) {
            value = args->items[used++];
        } else {
            return wick_chat_raise(run, "not enough arguments for format string");
        }
        struct directive d;
        at = read_directive(text, at, &d);
        if (!at) return wick_chat_raise(run, "incomplete format");
        put_directive(&build, &d, value);
    }
    if (used < args->count) return wick_chat_raise(run, "not all arguments converted during string formatting");
    return wick_chat_build_value(&build);
}
