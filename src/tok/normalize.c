/* tok/normalize.c - the normalizers: text to text, before anything is split. */
#include "tok/model.h"

static size_t space_at_start(struct wick_str text)
{
    size_t at = 0;
    uint32_t code = 0;
    for (size_t n; at < text.size; at += n) {
        n = wick_utf8_next(text.data + at, text.size - at, &code);
        if (n == 0 || !wick_tok_in_class(code, WICK_TOK_CLASS_SPACE)) break;
    }
    return at;
}

static size_t space_at_end(struct wick_str text)
{
    size_t end = text.size;
    while (end > 0) {
        size_t begin = end - 1;
        uint32_t code = 0;
        while (begin > 0 && end - begin < 4 && ((unsigned char)text.data[begin] & 0xc0) == 0x80) begin--;
        if (wick_utf8_next(text.data + begin, end - begin, &code) != end - begin || !wick_tok_in_class(code, WICK_TOK_CLASS_SPACE)) break;
        end = begin;
    }
    return text.size - end;
}

static wick_status replace(const struct wick_tok_step *step, struct wick_tok_matching **matching, struct wick_str text, struct wick_buf *out,
                           wick_error *err)
{
    struct wick_tok_finder finder = {.pattern = &step->pattern, .text = text};
    size_t copied = 0;
    for (bool found = true;;) {
        WICK_TRY(wick_tok_finder_next(&finder, matching, &found, err));
        if (!found) break;
        wick_buf_append(out, text.data + copied, finder.begin - copied);
        wick_buf_append(out, step->content.data, step->content.size);
        copied = finder.end;
    }
    wick_buf_append(out, text.data + copied, text.size - copied);
    return WICK_OK;
}

/* Up to start and stop times content at the ends. */
static struct wick_str trim(const struct wick_tok_step *step, struct wick_str text)
{
    for (uint32_t i = 0; i < step->start && step->content.size && wick_str_starts(text, step->content); i++) {
        text = (struct wick_str){text.data + step->content.size, text.size - step->content.size};
    }
    for (uint32_t i = 0; i < step->stop && step->content.size && wick_str_ends(text, step->content); i++) text.size -= step->content.size;
    return text;
}

wick_status wick_tok_normalize_step(const struct wick_tok_step *step, struct wick_tok_matching **matching, struct wick_str text, struct wick_buf *out,
                                    wick_error *err)
{
    wick_status status = WICK_OK;
    size_t before = step->left ? space_at_start(text) : 0, after;
    switch (step->kind) {
    case WICK_TOK_FORM: status = wick_tok_normal_form(step->form, text.data, text.size, out); break;
    case WICK_TOK_LOWERCASE: wick_tok_lowercase(text.data, text.size, out); break;
    case WICK_TOK_STRIP:
        text = (struct wick_str){text.data + before, text.size - before};
        after = step->right ? space_at_end(text) : 0;
        wick_buf_append(out, text.data, text.size - after);
        break;
    case WICK_TOK_PREPEND:
        if (text.size) wick_buf_append(out, step->content.data, step->content.size);
        wick_buf_append(out, text.data, text.size);
        break;
    case WICK_TOK_REPLACE: WICK_TRY(replace(step, matching, text, out, err)); break;
    case WICK_TOK_TRIM:
        text = trim(step, text);
        wick_buf_append(out, text.data, text.size);
        break;
    default: return wick_fail(err, WICK_INTERNAL, "not a normalizer");
    }
    return status == WICK_OK && !out->failed ? WICK_OK : wick_fail_oom(err, text.size, "normalized text");
}

static bool is_ascii(struct wick_str text)
{
    size_t i = 0;
    for (; i + 8 <= text.size; i += 8) {
        uint64_t word;
        memcpy(&word, text.data + i, sizeof word);
        if (word & 0x8080808080808080u) return false;
    }
    for (; i < text.size; i++) {
        if ((unsigned char)text.data[i] & 0x80) return false;
    }
    return true;
}

wick_status wick_tok_normalize(struct wick_tok_work *work, struct wick_str *text)
{
    const struct wick_tok_steps *steps = &work->tok->normalizers;
    int turn = 0;
    for (size_t i = 0; i < steps->count; i++) {
        if (steps->items[i].kind == WICK_TOK_FORM && is_ascii(*text)) continue;
        struct wick_buf *out = &work->text[turn];
        out->size = 0;
        switch (steps->items[i].kind) {
        case WICK_TOK_SENTENCE: WICK_TRY(wick_tok_sentence_normalize(work, *text, out)); break;
        case WICK_TOK_PRECOMPILED: WICK_TRY(wick_tok_precompiled_normalize(work, *text, out)); break;
        case WICK_TOK_BYTES: WICK_TRY(wick_tok_bytes_normalize(work, *text, out)); break;
        case WICK_TOK_CLEAN:
        case WICK_TOK_SPACE_HAN:
        case WICK_TOK_DROP_MARKS:
        case WICK_TOK_NMT:
            /* What begins later than the text is not at its start, as in the original. */
            work->at_start = work->at_start && !wick_tok_cleans_first(work, &steps->items[i], *text);
            WICK_TRY(wick_tok_clean(work, &steps->items[i], *text, out));
            break;
        case WICK_TOK_STRIP:
            work->at_start = work->at_start && !(steps->items[i].left && space_at_start(*text));
            WICK_TRY(wick_tok_normalize_step(&steps->items[i], &work->matching, *text, out, work->err));
            break;
        default: WICK_TRY(wick_tok_normalize_step(&steps->items[i], &work->matching, *text, out, work->err));
        }
        *text = (struct wick_str){out->data ? out->data : "", out->size};
        turn ^= 1;
        if (text->size > UINT32_MAX - 16) return wick_fail(work->err, WICK_INVALID_ARGUMENT, "text: too long after normalization");
    }
    return WICK_OK;
}
