/* tok/sentence.c - what SentencePiece does to a text before its model sees it: characters are replaced by the compiled rules, blanks
 * trimmed and marked. What the user defined passes as it stands. */
#include "tok/model.h"

#define OUT_LIMIT ((size_t)UINT32_MAX - 65536)

static const char mark[] = "\xe2\x96\x81";

/* The next unit of the text: what it takes, and what stands for it. A byte that is not UTF-8 travels as its escape (model.h). */
static size_t next(const struct wick_tok *tok, struct wick_str rest, struct wick_str *by)
{
    size_t taken = 0;
    const struct wick_tok_added *kept = tok->kept.count ? wick_tok_matcher_at(&tok->kept, rest, 0) : NULL;
    if (kept) {
        *by = (struct wick_str){rest.data, kept->pattern.size};
        return by->size;
    }
    if (tok->sentence.map.unit_count && wick_tok_charsmap_find(&tok->sentence.map, rest, true, &taken, by)) return taken;
    taken = wick_utf8_next(rest.data, rest.size, NULL);
    *by = (struct wick_str){rest.data, taken ? taken : 1};
    return by->size;
}

static struct wick_str after(struct wick_str text, size_t size) { return (struct wick_str){text.data + size, text.size - size}; }

/* Appends a unit with its blanks marked; *blank says whether the text before it ends with one, and is kept up to date. */
static void put(const struct wick_tok_sentence *sentence, struct wick_str unit, bool *blank, struct wick_buf *out)
{
    while (*blank && unit.size && unit.data[0] == ' ') unit = after(unit, 1);
    if (unit.size) *blank = unit.data[unit.size - 1] == ' ';
    while (unit.size) {
        const char *at = sentence->escape ? memchr(unit.data, ' ', unit.size) : NULL;
        size_t n = at ? (size_t)(at - unit.data) : unit.size;
        wick_buf_append(out, unit.data, n);
        if (at) wick_buf_append(out, mark, 3), n++;
        unit = after(unit, n);
    }
    if (!sentence->trim) *blank = false;
}

wick_status wick_tok_sentence_normalize(const struct wick_tok_work *work, struct wick_str text, struct wick_buf *out)
{
    const struct wick_tok *tok = work->tok;
    const struct wick_tok_sentence *sentence = &tok->sentence;
    struct wick_str space = sentence->escape ? WICK_STR(mark) : WICK_STR(" "), by;
    bool blank = sentence->trim, prefix = sentence->prefix && work->at_start;
    size_t n;
    while (sentence->trim && text.size && (n = next(tok, text, &by), wick_str_is(by, " "))) text = after(text, n);
    if (text.size == 0) return WICK_OK;
    if (prefix && !sentence->suffix) wick_buf_append(out, space.data, space.size);
    while (text.size && out->size < OUT_LIMIT) {
        n = next(tok, text, &by);
        put(sentence, by, &blank, out);
        text = after(text, n);
    }
    struct wick_str made = {out->data ? out->data : "", out->size};
    while (sentence->trim && wick_str_ends(made, space)) made.size -= space.size;
    out->size = made.size;
    if (prefix && sentence->suffix) wick_buf_append(out, space.data, space.size);
    if (text.size) return wick_fail(work->err, WICK_INVALID_ARGUMENT, "text: too long after normalization");
    return out->failed ? wick_fail_oom(work->err, out->size, "normalized text") : WICK_OK;
}
