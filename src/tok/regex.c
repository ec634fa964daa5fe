/* tok/regex.c - translates a pattern to PCRE2's syntax, compiles and runs it; see regex.h.
 *
 * What differs between the engines and is rewritten: \s \S \w \W \b \B (PCRE2's sets are not quite Unicode's), scripts by
 * name, \uXXXX, and classes with an intersection, [a&&[^b]]. */
#include "tok/regex.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define SPACES "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
/* Alphabetic, marks, digits, connectors; then what each dialect adds (Oniguruma has Latin-1's own idea of a word). */
#define WORDS "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}"
#define ONIGURUMA_WORDS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"
#define RUST_WORDS "\\x{200c}\\x{200d}"

enum {
    PATTERN_LIMIT = 1 << 16,     /* bytes of a pattern */
    BASE_STEPS = 10 * 1000 * 1000,
    STEPS_PER_BYTE = 64,
    HEAP_KIB = 256 * 1024,
};

struct wick_tok_regex {
    pcre2_code *code;
};

struct wick_tok_matching {
    pcre2_match_data *data;
    pcre2_match_context *context;
};

/* ---- translation ---- */

struct translation {
    struct wick_str pattern;
    enum wick_tok_dialect dialect;
    size_t at;
    struct wick_buf out;
};

/* \b or \B by the dialect's idea of a word. */
static void put_boundary(struct translation *t, const char *words, bool boundary)
{
    wick_buf_printf(&t->out, "(?:(?<=[" WORDS "%s])(?%c[" WORDS "%s])|(?<![" WORDS "%s])(?%c[" WORDS "%s]))", words, boundary ? '!' : '=', words,
                    words, boundary ? '=' : '!', words);
}

static void put_set(struct translation *t, const char *open, const char *set, const char *more, bool in_class)
{
    if (!in_class) wick_buf_text(&t->out, open);
    wick_buf_text(&t->out, set);
    wick_buf_text(&t->out, more);
    if (!in_class) wick_buf_text(&t->out, "]");
}

/* Whether PCRE2 knows \p{sc:name}. */
static bool is_script(struct wick_str name)
{
    char pattern[64] = "\\p{sc:";
    int code = 0;
    PCRE2_SIZE offset = 0;
    if (name.size < 3 || name.size > 40) return false;
    memcpy(pattern + 6, name.data, name.size);
    memcpy(pattern + 6 + name.size, "}", 2);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &offset, NULL);
    pcre2_code_free(compiled);
    return compiled != NULL;
}

/* \p{...}, the cursor on the backslash: a script's name means just the script, which newer PCRE2 must be told. */
static bool translate_property(struct translation *t)
{
    const char *p = t->pattern.data + t->at, *close = memchr(p, '}', t->pattern.size - t->at);
    bool negated = p[3] == '^';
    const char *name = p + (negated ? 4 : 3);
    if (!close || close < name || !is_script((struct wick_str){name, (size_t)(close - name)})) return false;
    wick_buf_append(&t->out, p, (size_t)(name - p));
    wick_buf_text(&t->out, "sc:");
    wick_buf_append(&t->out, name, (size_t)(close - name) + 1);
    t->at += (size_t)(close - p) + 1;
    return true;
}

/* One escape, the cursor on the backslash. */
static void translate_escape(struct translation *t, bool in_class)
{
    const char *p = t->pattern.data + t->at;
    size_t left = t->pattern.size - t->at;
    char c = left > 1 ? p[1] : 0;
    size_t n = left > 1 ? 2 : left;
    const char *words = t->dialect == WICK_TOK_ONIGURUMA ? ONIGURUMA_WORDS : RUST_WORDS;
    if (left > 4 && (c == 'p' || c == 'P') && p[2] == '{' && translate_property(t)) return;
    if (c == 's') put_set(t, "[", SPACES, "", in_class);
    else if (c == 'w') put_set(t, "[", WORDS, words, in_class);
    else if (c == 'h') put_set(t, "[", "0-9a-fA-F", "", in_class);
    else if ((c == 'b' || c == 'B') && !in_class) put_boundary(t, words, c == 'b');
    else if (c == 'S' && !in_class) put_set(t, "[^", SPACES, "", false);
    else if (c == 'W' && !in_class) put_set(t, "[^", WORDS, words, false);
    else if (c == 'u' && left >= 6) wick_buf_printf(&t->out, "\\x{%.4s}", p + 2), n = 6;
    else wick_buf_append(&t->out, p, n);
    t->at += n;
}

/* The inside of a class up to `]` or `&&`; nested classes that are not negated are joined. *negated: the whole part is one
 * negated nested class. */
static const char *translate_class_part(struct translation *t, bool *negated)
{
    size_t depth = 0, begin = t->at;
    *negated = false;
    while (t->at < t->pattern.size) {
        struct wick_str rest = {t->pattern.data + t->at, t->pattern.size - t->at};
        char c = rest.data[0];
        if (c == ']' && depth == 0) return NULL;
        if (wick_str_starts(rest, WICK_STR("&&"))) return depth == 0 ? NULL : "an intersection inside a nested class";
        if (c == '\\') {
            translate_escape(t, true);
            continue;
        }
        if (wick_str_starts(rest, WICK_STR("[:"))) {
            const char *close = memchr(rest.data, ']', rest.size);
            if (!close) return "a class does not end";
            size_t n = (size_t)(close - rest.data) + 1;
            wick_buf_append(&t->out, rest.data, n);
            t->at += n;
            continue;
        }
        t->at++;
        if (c == '[') {
            depth++;
            if (t->at < t->pattern.size && t->pattern.data[t->at] == '^') {
                if (t->at - 1 != begin) return "a negated class inside a class";
                *negated = true;
                t->at++;
            }
        } else if (c == ']') {
            depth--;
            bool more = t->at < t->pattern.size && t->pattern.data[t->at] != ']' && t->pattern.data[t->at] != '&';
            if (*negated && more) return "a negated class inside a class";
        } else {
            wick_buf_append(&t->out, &c, 1);
        }
    }
    return "a class does not end";
}

/* A class, the cursor behind its `[`. [a&&[^b]&&c] becomes (?:(?![b])(?=[c])[a]). Returns what is not understood, or NULL. */
static const char *translate_class(struct translation *t)
{
    struct wick_buf first = {0}, rest = {0}, outer = t->out;
    bool negated = t->at < t->pattern.size && t->pattern.data[t->at] == '^', part_negated, several = false;
    const char *why = NULL;
    if (negated) t->at++;
    for (bool more = true; more && !why;) {
        t->out = (struct wick_buf){0};
        why = translate_class_part(t, &part_negated);
        more = !why && t->pattern.data[t->at] == '&';
        t->at += why ? 0 : more ? 2 : 1;
        struct wick_buf part = t->out;
        if (!several) {
            first = part;
            several = more;
            if (negated && (more || part_negated)) why = why ? why : "a negated class with parts";
            negated = negated || part_negated;
        } else {
            wick_buf_text(&rest, part_negated ? "(?![" : "(?=[");
            wick_buf_append(&rest, part.data, part.size);
            wick_buf_text(&rest, "])");
            outer.failed = outer.failed || part.failed;
            wick_buf_free(&part);
        }
    }
    if (several) wick_buf_text(&outer, "(?:");
    wick_buf_append(&outer, rest.data, rest.size);
    wick_buf_text(&outer, negated ? "[^" : "[");
    wick_buf_append(&outer, first.data, first.size);
    wick_buf_text(&outer, several ? "])" : "]");
    outer.failed = outer.failed || first.failed || rest.failed;
    wick_buf_free(&first);
    wick_buf_free(&rest);
    t->out = outer;
    return why;
}

static wick_status translate(struct translation *t, wick_error *err)
{
    while (t->at < t->pattern.size) {
        char c = t->pattern.data[t->at];
        if (c == '\\') {
            translate_escape(t, false);
            continue;
        }
        t->at++;
        if (c == '[') {
            const char *why = translate_class(t);
            if (why) return wick_fail(err, WICK_NOT_SUPPORTED, "pattern, offset %zu: %s", t->at, why);
        } else {
            wick_buf_append(&t->out, &c, 1);
        }
    }
    return t->out.failed ? wick_fail_oom(err, t->pattern.size, "a pattern") : WICK_OK;
}

/* ---- compiling ---- */

wick_status wick_tok_regex_compile(struct wick_tok_regex **regex, struct wick_str pattern, enum wick_tok_dialect dialect, wick_error *err)
{
    struct translation t = {.pattern = pattern, .dialect = dialect};
    pcre2_compile_context *context = NULL;
    *regex = NULL;
    if (pattern.size > PATTERN_LIMIT)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "pattern: %zu bytes are more than the %d allowed", pattern.size, PATTERN_LIMIT);
    wick_status status = translate(&t, err);
    if (status != WICK_OK) goto done;
    struct wick_tok_regex *made = calloc(1, sizeof *made);
    context = pcre2_compile_context_create(NULL);
    if (!made || !context) {
        free(made);
        status = wick_fail_oom(err, sizeof *made, "a pattern");
        goto done;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY | (dialect == WICK_TOK_ONIGURUMA ? PCRE2_MULTILINE : 0);
    int code = 0;
    PCRE2_SIZE offset = 0;
    made->code = pcre2_compile((PCRE2_SPTR)(t.out.data ? t.out.data : ""), t.out.size, options, &code, &offset, context);
    if (!made->code) {
        PCRE2_UCHAR text[160];
        pcre2_get_error_message(code, text, sizeof text);
        status = wick_fail(err, WICK_INVALID_TOKENIZER, "pattern, about offset %zu: %s", (size_t)offset, (const char *)text);
        free(made);
        goto done;
    }
    /* Where there is no JIT, matching interprets. */
    (void)pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE);
    *regex = made;
done:
    pcre2_compile_context_free(context);
    wick_buf_free(&t.out);
    return status;
}

void wick_tok_regex_free(struct wick_tok_regex *regex)
{
    if (!regex) return;
    pcre2_code_free(regex->code);
    free(regex);
}

/* ---- matching ---- */

struct wick_tok_matching *wick_tok_matching_new(void)
{
    struct wick_tok_matching *matching = calloc(1, sizeof *matching);
    if (!matching) return NULL;
    matching->data = pcre2_match_data_create(1, NULL);
    matching->context = pcre2_match_context_create(NULL);
    if (!matching->data || !matching->context) {
        wick_tok_matching_free(matching);
        return NULL;
    }
    pcre2_set_heap_limit(matching->context, HEAP_KIB);
    return matching;
}

void wick_tok_matching_free(struct wick_tok_matching *matching)
{
    if (!matching) return;
    pcre2_match_data_free(matching->data);
    pcre2_match_context_free(matching->context);
    free(matching);
}

wick_status wick_tok_regex_find(const struct wick_tok_regex *regex, struct wick_tok_matching *matching, struct wick_str text, size_t from,
                                bool *found, size_t *begin, size_t *end, wick_error *err)
{
    uint64_t steps = BASE_STEPS + (uint64_t)STEPS_PER_BYTE * text.size;
    PCRE2_SPTR subject = (PCRE2_SPTR)text.data;
    pcre2_set_match_limit(matching->context, steps > UINT32_MAX ? UINT32_MAX : (uint32_t)steps);
    int got = pcre2_match(regex->code, subject, text.size, from, PCRE2_NO_UTF_CHECK, matching->data, matching->context);
    /* The compiled form runs on a small fixed stack; what needs more is interpreted, on the heap. */
    if (got == PCRE2_ERROR_JIT_STACKLIMIT) {
        got = pcre2_match(regex->code, subject, text.size, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, matching->data, matching->context);
    }
    *found = got >= 0;
    if (got == PCRE2_ERROR_NOMATCH) return WICK_OK;
    if (got < 0) {
        PCRE2_UCHAR reason[120];
        pcre2_get_error_message(got, reason, sizeof reason);
        return wick_fail(err, got == PCRE2_ERROR_NOMEMORY ? WICK_OUT_OF_MEMORY : WICK_INVALID_ARGUMENT,
                         "text, byte %zu: the tokenizer's pattern gives up: %s", from, (const char *)reason);
    }
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(matching->data);
    *begin = range[0];
    /* \K could put the end before the begin. */
    *end = range[1] < range[0] ? range[0] : range[1];
    return WICK_OK;
}
