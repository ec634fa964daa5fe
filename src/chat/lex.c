/* chat/lex.c - template source to tokens: texts with white space already cut as tags and the usual options (trim_blocks, lstrip_blocks) demand, and
 * what stands within tags. */
#include "chat/jinja.h"

#include <locale.h>
#include <stdlib.h>

struct lexer {
    struct wick_arena *arena;
    struct wick_str source;
    struct chat_tokens *tokens;
    size_t at, capacity;
    uint32_t line;
    size_t counted;   /* lines are counted up to here */
    bool line_starts; /* the last tag took the end of its line along */
    wick_error *err;
};

static uint32_t line_at(struct lexer *l, size_t at)
{
    for (; l->counted < at; l->counted++) l->line += l->source.data[l->counted] == '\n';
    return l->line;
}

static wick_status fail(struct lexer *l, const char *why) { return wick_fail(l->err, WICK_INVALID_ARGUMENT, "line %u: %s", line_at(l, l->at), why); }

static wick_status add(struct lexer *l, struct chat_token token)
{
    if (l->tokens->count == l->capacity) {
        size_t capacity = l->capacity ? l->capacity * 2 : 256;
        struct chat_token *items = WICK_NEW_ARRAY(l->arena, struct chat_token, capacity);
        if (!items) return wick_fail_oom(l->err, capacity, "tokens of a template");
        if (l->capacity) memcpy(items, l->tokens->items, l->capacity * sizeof *items);
        l->tokens->items = items;
        l->capacity = capacity;
    }
    token.line = line_at(l, l->at);
    l->tokens->items[l->tokens->count++] = token;
    return WICK_OK;
}

static bool at(const struct lexer *l, size_t place, const char *text)
{
    size_t size = strlen(text);
    return place <= l->source.size && l->source.size - place >= size && memcmp(l->source.data + place, text, size) == 0;
}

static size_t skip_space(const struct lexer *l, size_t place)
{
    for (uint32_t code = 0; place < l->source.size;) {
        size_t n = wick_chat_char(l->source, place, &code);
        if (!wick_chat_is_space(code)) break;
        place += n;
    }
    return place;
}

/* The end of a tag that closes with `close` at a place: behind it and the white space it takes; 0: it does not close here. `trim`: a line end is
 * taken along. */
static size_t tag_end(const struct lexer *l, size_t place, const char *close, bool trim)
{
    if (at(l, place, "-") && at(l, place + 1, close)) return skip_space(l, place + 3);
    if (trim && at(l, place, "+") && at(l, place + 1, close)) return place + 3;
    if (!at(l, place, close)) return 0;
    return place + 2 + (trim && at(l, place + 2, "\n"));
}

static void leave_tag(struct lexer *l, size_t end)
{
    l->at = end;
    l->line_starts = end > 0 && l->source.data[end - 1] == '\n';
}

/* ---- texts ---- */

/* Text up to a tag that begins at `end` with a sign or none. */
static wick_status add_data(struct lexer *l, size_t end, char sign, bool prints)
{
    size_t begin = l->at, stop = end;
    if (sign == '-') {
        while (stop > begin) {
            size_t last = stop - 1;
            uint32_t code = 0;
            while (last > begin && ((unsigned char)l->source.data[last] & 0xc0) == 0x80) last--;
            (void)wick_chat_char(l->source, last, &code);
            if (!wick_chat_is_space(code)) break;
            stop = last;
        }
    } else if (sign != '+' && !prints) {
        size_t line = end;
        while (line > begin && l->source.data[line - 1] != '\n') line--;
        if ((line > begin || l->line_starts) && skip_space(l, line) >= end) stop = line;
    }
    if (stop == begin) return WICK_OK;
    return add(l, (struct chat_token){.kind = CHAT_T_DATA, .text = {l->source.data + begin, stop - begin}});
}

static wick_status skip_comment(struct lexer *l, size_t from)
{
    for (size_t place = from; place < l->source.size; place++) {
        size_t end = tag_end(l, place, "#}", true);
        if (!end) continue;
        leave_tag(l, end);
        return WICK_OK;
    }
    return fail(l, "Missing end of comment tag");
}

/* A word within a tag that closes at once, as in {% raw %}; the end of the tag or 0. */
static size_t word_tag(const struct lexer *l, size_t place, const char *word, bool trim)
{
    place = skip_space(l, place);
    if (!at(l, place, word)) return 0;
    place = skip_space(l, place + strlen(word));
    return tag_end(l, place, "%}", trim);
}

static wick_status take_raw(struct lexer *l, size_t from)
{
    l->at = from;
    l->line_starts = false;
    for (size_t place = from; place + 2 < l->source.size; place++) {
        if (!at(l, place, "{%")) continue;
        char sign = l->source.data[place + 2];
        bool has_sign = sign == '-' || sign == '+';
        size_t end = word_tag(l, place + 2 + has_sign, "endraw", true);
        if (!end) continue;
        WICK_TRY(add_data(l, place, has_sign ? sign : 0, false));
        leave_tag(l, end);
        return WICK_OK;
    }
    return fail(l, "Missing end of raw directive");
}

/* ---- within tags ---- */

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}
static bool digit(char c) { return c >= '0' && c <= '9'; }

/* Digits with single underscores between; the place behind. */
static size_t digits(const struct lexer *l, size_t place)
{
    while (place < l->source.size &&
           (digit(l->source.data[place]) || (l->source.data[place] == '_' && place + 1 < l->source.size && digit(l->source.data[place + 1]))))
        place++;
    return place;
}

static wick_status take_number(struct lexer *l)
{
    char text[64];
    size_t end = digits(l, l->at), size = 0;
    bool real = false;
    if (at(l, end, ".") && end + 1 < l->source.size && digit(l->source.data[end + 1])) end = digits(l, end + 1), real = true;
    if (at(l, end, "e") || at(l, end, "E")) {
        size_t exponent = end + 1 + (at(l, end + 1, "+") || at(l, end + 1, "-"));
        if (exponent < l->source.size && digit(l->source.data[exponent])) end = digits(l, exponent), real = true;
    }
    for (size_t i = l->at; i < end; i++) {
        if (size + 1 >= sizeof text) return fail(l, "the number is too long");
        char c = l->source.data[i];
        if (c == '.') c = localeconv()->decimal_point[0];
        if (c != '_') text[size++] = c;
    }
    text[size] = 0;
    struct chat_token token = {.kind = real ? CHAT_T_FLOAT : CHAT_T_INT};
    if (real) token.real = strtod(text, NULL);
    for (size_t i = 0; !real && i < size; i++) {
        if (token.integer > (INT64_MAX - 9) / 10) return fail(l, "the number is too large");
        token.integer = token.integer * 10 + (text[i] - '0');
    }
    WICK_TRY(add(l, token));
    l->at = end;
    return WICK_OK;
}

static int hex(char c) { return digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

/* One escape at `place` (behind the backslash) written to out; the place behind it. As Python reads strings. */
static size_t escape(const struct lexer *l, size_t place, char *out, size_t *size)
{
    static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
    char c = l->source.data[place];
    const char *known = c ? strchr(from, c) : NULL;
    size_t count = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0, i = 0;
    uint32_t code = 0;
    if (known) {
        out[(*size)++] = to[known - from];
        return place + 1;
    }
    if (c == '\n') return place + 1;
    if (c >= '0' && c <= '7') {
        for (; i < 3 && place + i < l->source.size && l->source.data[place + i] >= '0' && l->source.data[place + i] <= '7'; i++)
            code = code * 8 + (uint32_t)(l->source.data[place + i] - '0');
        *size += wick_utf8_put(code, out + *size);
        return place + i;
    }
    for (; i < count && place + 1 + i < l->source.size && hex(l->source.data[place + 1 + i]) >= 0; i++)
        code = code << 4 | (uint32_t)hex(l->source.data[place + 1 + i]);
    char bytes[4];
    size_t n = count && i == count ? wick_utf8_put(code, bytes) : 0;
    if (n) {
        memcpy(out + *size, bytes, n);
        *size += n;
        return place + 1 + count;
    }
    out[(*size)++] = '\\';
    out[(*size)++] = c;
    return place + 1;
}

static wick_status take_string(struct lexer *l)
{
    char quote = l->source.data[l->at];
    size_t end = l->at + 1, size = 0;
    while (end < l->source.size && l->source.data[end] != quote) end += l->source.data[end] == '\\' ? 2 : 1;
    if (end >= l->source.size) return fail(l, "a string does not end");
    char *text = wick_arena_alloc(l->arena, end - l->at + 1, 1); /* escapes only get shorter */
    if (!text) return wick_fail_oom(l->err, end - l->at, "a string");
    for (size_t i = l->at + 1; i < end;) {
        char c = l->source.data[i++];
        if (c == '\\') i = escape(l, i, text, &size);
        else text[size++] = c;
    }
    WICK_TRY(add(l, (struct chat_token){.kind = CHAT_T_STRING, .text = {text, size}}));
    l->at = end + 1;
    return WICK_OK;
}

static wick_status take_operator(struct lexer *l, char *open, size_t *depth, size_t room)
{
    static const char *const two[] = {"//", "**", "==", "!=", ">=", "<="};
    char c = l->source.data[l->at];
    size_t size = 1;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(two); i++) size = at(l, l->at, two[i]) ? 2 : size;
    if (size == 1 && (!c || !strchr("+-/*%~[](){}><=.:|,;", c))) return fail(l, "unexpected character in a tag");
    if (c == '(' || c == '[' || c == '{') {
        if (*depth == room) return fail(l, "brackets are nested too deeply");
        open[(*depth)++] = c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
        if (*depth == 0 || open[*depth - 1] != c) return fail(l, "a bracket closes that is not open");
        --*depth;
    }
    WICK_TRY(add(l, (struct chat_token){.kind = CHAT_T_OP, .text = {l->source.data + l->at, size}}));
    l->at += size;
    return WICK_OK;
}

/* The inside of a tag, up to its end. */
static wick_status take_tag(struct lexer *l, bool block)
{
    char open[CHAT_PARSE_DEPTH];
    size_t depth = 0;
    for (;;) {
        l->at = skip_space(l, l->at);
        size_t end = depth == 0 ? tag_end(l, l->at, block ? "%}" : "}}", block) : 0;
        if (end) {
            WICK_TRY(add(l, (struct chat_token){.kind = block ? CHAT_T_BLOCK_END : CHAT_T_PRINT_END}));
            leave_tag(l, end);
            return WICK_OK;
        }
        if (l->at >= l->source.size) return fail(l, "a tag does not end");
        char c = l->source.data[l->at];
        if (digit(c)) {
            WICK_TRY(take_number(l));
        } else if (word_char(c)) {
            size_t stop = l->at;
            while (stop < l->source.size && word_char(l->source.data[stop])) stop++;
            WICK_TRY(add(l, (struct chat_token){.kind = CHAT_T_NAME, .text = {l->source.data + l->at, stop - l->at}}));
            l->at = stop;
        } else if (c == '\'' || c == '"') {
            WICK_TRY(take_string(l));
        } else {
            WICK_TRY(take_operator(l, open, &depth, sizeof open));
        }
    }
}

wick_status wick_chat_lex(struct wick_arena *arena, struct wick_str source, struct chat_tokens *tokens, wick_error *err)
{
    struct lexer l = {.arena = arena, .source = source, .tokens = tokens, .line = 1, .line_starts = true, .err = err};
    while (l.at < source.size) {
        const char *brace = NULL;
        size_t place = l.at;
        for (; place + 1 < source.size; place++) {
            brace = memchr(source.data + place, '{', source.size - place - 1);
            if (!brace) break;
            place = (size_t)(brace - source.data);
            if (brace[1] == '{' || brace[1] == '%' || brace[1] == '#') break;
            brace = NULL;
        }
        if (!brace) {
            WICK_TRY(add(&l, (struct chat_token){.kind = CHAT_T_DATA, .text = {source.data + l.at, source.size - l.at}}));
            break;
        }
        char sign = place + 2 < source.size ? brace[2] : 0;
        bool has_sign = sign == '-' || sign == '+', prints = brace[1] == '{';
        size_t inside = place + 2 + has_sign, raw = brace[1] == '%' ? word_tag(&l, inside, "raw", false) : 0;
        WICK_TRY(add_data(&l, place, has_sign ? sign : 0, prints));
        l.at = inside;
        if (brace[1] == '#') {
            WICK_TRY(skip_comment(&l, inside));
        } else if (raw) {
            WICK_TRY(take_raw(&l, raw));
        } else {
            WICK_TRY(add(&l, (struct chat_token){.kind = prints ? CHAT_T_PRINT : CHAT_T_BLOCK}));
            WICK_TRY(take_tag(&l, !prints));
        }
    }
    l.at = source.size;
    return add(&l, (struct chat_token){.kind = CHAT_T_END});
}
