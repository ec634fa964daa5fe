/* tok/split.c - the splitters (pre-tokenizers): text to pieces, which the model then merges each by itself.
 *
 * A splitter turns a list of spans into a longer list; two of them also write a new text (a blank in front, other characters for
 * blanks, the byte-level alphabet), to which their spans then refer. */
#include "tok/model.h"

#include "base/checked.h"

#include <stdlib.h>

bool wick_tok_spans_push(struct wick_tok_spans *spans, size_t begin, size_t end)
{
    if (spans->count == spans->capacity) {
        size_t capacity = spans->capacity ? spans->capacity * 2 : 64, bytes;
        struct wick_tok_span *items = wick_mul_size(capacity, sizeof *items, &bytes) ? NULL : realloc(spans->items, bytes);
        if (!items) return false;
        spans->items = items;
        spans->capacity = capacity;
    }
    spans->items[spans->count++] = (struct wick_tok_span){(uint32_t)begin, (uint32_t)end};
    return true;
}

/* ---- patterns ---- */

static bool find_string(struct wick_str text, struct wick_str string, size_t from, size_t *begin)
{
    if (string.size == 0) {
        *begin = from;
        return from <= text.size;
    }
    while (from <= text.size && text.size - from >= string.size) {
        const char *at = memchr(text.data + from, string.data[0], text.size - from - string.size + 1);
        if (!at) return false;
        *begin = (size_t)(at - text.data);
        if (memcmp(at, string.data, string.size) == 0) return true;
        from = *begin + 1;
    }
    return false;
}

static bool find_class(struct wick_str text, enum wick_tok_class class, size_t from, size_t *begin, size_t *end)
{
    for (size_t at = from, n; at < text.size; at += n) {
        uint32_t code = 0;
        n = wick_utf8_next(text.data + at, text.size - at, &code);
        if (n == 0) {
            n = 1;
        } else if (wick_tok_in_class(code, class)) {
            *begin = at;
            *end = at + n;
            return true;
        }
    }
    return false;
}

static wick_status find_pattern(const struct wick_tok_pattern *pattern, struct wick_tok_matching **matching, struct wick_str text, size_t from,
                                bool *found, size_t *begin, size_t *end, wick_error *err)
{
    if (pattern->kind == WICK_TOK_BY_STRING) {
        *found = find_string(text, pattern->string, from, begin);
        *end = *found ? *begin + pattern->string.size : 0;
        return WICK_OK;
    }
    if (pattern->kind == WICK_TOK_BY_CLASS) {
        *found = find_class(text, pattern->class, from, begin, end);
        return WICK_OK;
    }
    if (!*matching) *matching = wick_tok_matching_new();
    if (!*matching) return wick_fail_oom(err, 0, "pattern matching");
    return wick_tok_regex_find(pattern->regex, *matching, text, from, found, begin, end, err);
}

wick_status wick_tok_finder_next(struct wick_tok_finder *finder, struct wick_tok_matching **matching, bool *found, wick_error *err)
{
    struct wick_str text = finder->text;
    size_t begin = 0, end = 0;
    for (*found = false; finder->from <= text.size;) {
        WICK_TRY(find_pattern(finder->pattern, matching, text, finder->from, found, &begin, &end, err));
        if (!*found) return WICK_OK;
        if (begin < end || !finder->any || begin != finder->end) {
            finder->begin = begin;
            finder->end = finder->from = end;
            finder->any = true;
            return WICK_OK;
        }
        size_t n = end < text.size ? wick_utf8_next(text.data + end, text.size - end, NULL) : 1;
        finder->from = end + (n ? n : 1);
        *found = false;
    }
    return WICK_OK;
}

/* ---- splitting one span ---- */

/* Takes the segments of one span in order, matches and what lies between, and makes pieces of them. */
struct joiner {
    struct wick_tok_spans *out;
    enum wick_tok_behavior behavior;
    bool invert, before_matched;
    size_t first; /* out's count when the span began */
};

static bool join(struct joiner *joiner, size_t begin, size_t end, bool matched)
{
    struct wick_tok_spans *out = joiner->out;
    bool before = joiner->before_matched, extend = false, any = out->count > joiner->first;
    matched ^= joiner->invert;
    joiner->before_matched = matched;
    switch (joiner->behavior) {
    case WICK_TOK_REMOVED:
        if (matched) return true;
        break;
    case WICK_TOK_ISOLATED: break;
    case WICK_TOK_CONTIGUOUS: extend = any && matched == before; break;
    case WICK_TOK_MERGED_WITH_PREVIOUS: extend = any && matched && !before; break;
    case WICK_TOK_MERGED_WITH_NEXT: extend = any && !matched && before; break;
    }
    if (!extend) return wick_tok_spans_push(out, begin, end);
    out->items[out->count - 1].end = (uint32_t)end;
    return true;
}

/* Pieces of text[span] by a pattern, appended to out; empty ones are left out. The pattern sees nothing outside the span. */
static wick_status split_span(struct wick_tok_work *work, const struct wick_tok_step *step, struct wick_str text, struct wick_tok_span span,
                              struct wick_tok_spans *out)
{
    struct wick_str part = {text.data + span.begin, span.end - span.begin};
    struct joiner joiner = {out, step->behavior, step->invert, false, out->count};
    struct wick_tok_finder finder = {.pattern = &step->pattern, .text = part};
    size_t done = 0;
    bool found = true, ok = true;
    while (ok) {
        WICK_TRY(wick_tok_finder_next(&finder, &work->matching, &found, work->err));
        if (!found) break;
        if (finder.begin > done) ok = join(&joiner, span.begin + done, span.begin + finder.begin, false);
        ok = ok && join(&joiner, span.begin + finder.begin, span.begin + finder.end, true);
        done = finder.end;
    }
    if (ok && done < part.size) ok = join(&joiner, span.begin + done, span.end, false);
    if (!ok) return wick_fail_oom(work->err, out->count, "pieces");
    size_t kept = joiner.first;
    for (size_t i = joiner.first; i < out->count; i++) {
        if (out->items[i].begin < out->items[i].end) out->items[kept++] = out->items[i];
    }
    out->count = kept;
    return WICK_OK;
}

static wick_status split_all(struct wick_tok_work *work, const struct wick_tok_step *step, struct wick_str text, const struct wick_tok_spans *in,
                             struct wick_tok_spans *out)
{
    out->count = 0;
    for (size_t i = 0; i < in->count; i++) WICK_TRY(split_span(work, step, text, in->items[i], out));
    return WICK_OK;
}

/* Pieces of `length` characters; the last of a span may be shorter. */
static bool split_lengths(uint32_t length, struct wick_str text, const struct wick_tok_spans *in, struct wick_tok_spans *out)
{
    bool ok = true;
    out->count = 0;
    for (size_t i = 0; ok && i < in->count; i++) {
        size_t begin = in->items[i].begin, end = in->items[i].end, chars = 0;
        for (size_t at = begin, n; ok && at < end; at += n) {
            n = wick_utf8_next(text.data + at, end - at, NULL);
            if (n == 0) n = 1;
            if (++chars < length && at + n < end) continue;
            ok = wick_tok_spans_push(out, begin, at + n);
            begin = at + n;
            chars = 0;
        }
    }
    return ok;
}

/* ---- splitters that write a new text ---- */

/* The spans of text with a blank in front of each that does not begin with one. */
static bool add_blanks(struct wick_str text, struct wick_tok_spans *spans, struct wick_buf *out)
{
    for (size_t i = 0; i < spans->count; i++) {
        struct wick_tok_span *span = &spans->items[i];
        size_t begin = out->size;
        if (text.data[span->begin] != ' ') wick_buf_append(out, " ", 1);
        wick_buf_append(out, text.data + span->begin, span->end - span->begin);
        *span = (struct wick_tok_span){(uint32_t)begin, (uint32_t)out->size};
    }
    return !out->failed;
}

/* `escaped`: characters from WICK_TOK_ESCAPE_BASE on are single bytes. */
static bool map_bytes(struct wick_str text, bool escaped, struct wick_tok_spans *spans, struct wick_buf *out)
{
    for (size_t i = 0; i < spans->count; i++) {
        struct wick_tok_span *span = &spans->items[i];
        size_t begin = out->size;
        for (size_t at = span->begin; at < span->end; at++) {
            char bytes[4];
            uint32_t code = 0;
            uint8_t byte = (uint8_t)text.data[at];
            if (escaped && wick_utf8_next(text.data + at, span->end - at, &code) == 4 && code >= WICK_TOK_ESCAPE_BASE) {
                byte = (uint8_t)(code - WICK_TOK_ESCAPE_BASE);
                at += 3;
            }
            wick_buf_append(out, bytes, wick_utf8_put(wick_tok_byte_char(byte), bytes));
        }
        *span = (struct wick_tok_span){(uint32_t)begin, (uint32_t)out->size};
    }
    return !out->failed;
}

/* Blanks become step->content, which is also put in front as step->prepend says. */
static bool metaspace(const struct wick_tok_step *step, struct wick_str text, bool at_start, struct wick_tok_spans *spans, struct wick_buf *out)
{
    for (size_t i = 0; i < spans->count; i++) {
        struct wick_tok_span *span = &spans->items[i];
        struct wick_str part = {text.data + span->begin, span->end - span->begin};
        bool first = at_start && i == 0 && span->begin == 0;
        bool wanted = step->prepend == WICK_TOK_PREPEND_ALWAYS || (step->prepend == WICK_TOK_PREPEND_FIRST && first);
        size_t begin = out->size;
        if (wanted && part.data[0] != ' ' && !wick_str_starts(part, step->content)) wick_buf_append(out, step->content.data, step->content.size);
        while (part.size) {
            const char *blank = memchr(part.data, ' ', part.size);
            size_t n = blank ? (size_t)(blank - part.data) : part.size;
            wick_buf_append(out, part.data, n);
            if (blank) wick_buf_append(out, step->content.data, step->content.size), n++;
            part = (struct wick_str){part.data + n, part.size - n};
        }
        *span = (struct wick_tok_span){(uint32_t)begin, (uint32_t)out->size};
    }
    return !out->failed;
}

/* ---- the pipeline ---- */

struct stage {
    struct wick_tok_work *work;
    struct wick_str text;
    bool at_start, mapped;
    int text_turn, span_turn; /* which of work->cut and work->spans comes next; spans[span_turn] holds the pieces */
};

static wick_status finish_text(struct stage *stage, bool ok)
{
    struct wick_buf *out = &stage->work->cut[stage->text_turn];
    if (!ok) return wick_fail_oom(stage->work->err, out->size, "pieces");
    if (out->size > UINT32_MAX - 16) return wick_fail(stage->work->err, WICK_INVALID_ARGUMENT, "text: too long to split");
    stage->text = (struct wick_str){out->data ? out->data : "", out->size};
    stage->text_turn ^= 1;
    return WICK_OK;
}

static struct wick_buf *begin_text(struct stage *stage)
{
    struct wick_buf *out = &stage->work->cut[stage->text_turn];
    out->size = 0;
    return out;
}

static wick_status split_stage(struct stage *stage, const struct wick_tok_step *step)
{
    struct wick_tok_spans *spans = stage->work->spans;
    WICK_TRY(split_all(stage->work, step, stage->text, &spans[stage->span_turn], &spans[stage->span_turn ^ 1]));
    stage->span_turn ^= 1;
    return WICK_OK;
}

/* `last`: no splitter looks at the mapped text, so that the bytes themselves can go on. */
static wick_status run_step(struct stage *stage, const struct wick_tok_step *step, bool last)
{
    struct wick_tok_spans *spans = &stage->work->spans[stage->span_turn];
    struct wick_tok_step cut = {.behavior = WICK_TOK_MERGED_WITH_NEXT, .pattern = {.kind = WICK_TOK_BY_STRING, .string = step->content}};
    if (step->kind == WICK_TOK_SPLIT) return split_stage(stage, step);
    if (step->kind == WICK_TOK_LENGTH) {
        if (!split_lengths(step->start, stage->text, spans, &stage->work->spans[stage->span_turn ^ 1]))
            return wick_fail_oom(stage->work->err, spans->count, "pieces");
        stage->span_turn ^= 1;
        return WICK_OK;
    }
    if (step->kind == WICK_TOK_METASPACE) {
        WICK_TRY(finish_text(stage, metaspace(step, stage->text, stage->at_start, spans, begin_text(stage))));
        return step->split ? split_stage(stage, &cut) : WICK_OK;
    }
    if (step->prefix_space) WICK_TRY(finish_text(stage, add_blanks(stage->text, spans, begin_text(stage))));
    if (step->pattern.regex) WICK_TRY(split_stage(stage, step));
    if (last) return WICK_OK;
    stage->mapped = true;
    return finish_text(stage, map_bytes(stage->text, stage->work->escaped, &stage->work->spans[stage->span_turn], begin_text(stage)));
}

wick_status wick_tok_split(struct wick_tok_work *work, struct wick_str *text, bool at_start, struct wick_tok_spans **spans, bool *mapped)
{
    const struct wick_tok_steps *steps = &work->tok->splitters;
    struct stage stage = {.work = work, .text = *text, .at_start = at_start};
    work->spans[0].count = 0;
    if (text->size && !wick_tok_spans_push(&work->spans[0], 0, text->size)) return wick_fail_oom(work->err, text->size, "pieces");
    for (size_t i = 0; i < steps->count; i++) WICK_TRY(run_step(&stage, &steps->items[i], i + 1 == steps->count));
    *text = stage.text;
    *spans = &work->spans[stage.span_turn];
    *mapped = stage.mapped;
    return WICK_OK;
}
