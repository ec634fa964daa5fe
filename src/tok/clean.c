/* tok/clean.c - normalizers that look at one character at a time, as BERT and its kin want text, and the compiled rules of SentencePiece in the
 * way Hugging Face applies them. */
#include "tok/model.h"

static bool is_han(uint32_t c)
{
    /* 0x2b920 is as in the original. */
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
           (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

/* What the character at text[0..n) becomes: nothing (-1), a blank (0), itself (1), itself between blanks (2). */
static int clean(uint32_t c)
{
    if (c == 0 || c == 0xfffd) return -1;
    if (c == '\t' || c == '\n' || c == '\r') return 0;
    if (wick_tok_in_class(c, WICK_TOK_CLASS_CONTROL)) return -1;
    return wick_tok_in_class(c, WICK_TOK_CLASS_SPACE) ? 0 : 1;
}

static int clean_nmt(uint32_t c)
{
    if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f) return -1;
    bool blank = c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 || (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 ||
                 c == 0x2581 || c == 0xfeff || c == 0xfffd;
    return blank ? 0 : 1;
}

/* The same for the step, at text[at]; its size in *size. An escaped byte stays. */
static int becomes(const struct wick_tok_work *work, const struct wick_tok_step *step, struct wick_str text, size_t at, size_t *size)
{
    uint32_t c = 0;
    *size = wick_utf8_next(text.data + at, text.size - at, &c);
    if (*size == 0) *size = 1;
    if (work->escaped && c >= WICK_TOK_ESCAPE_BASE) return 1;
    if (step->kind == WICK_TOK_CLEAN) return clean(c);
    if (step->kind == WICK_TOK_NMT) return clean_nmt(c);
    if (step->kind == WICK_TOK_SPACE_HAN) return is_han(c) ? 2 : 1;
    return wick_tok_in_class(c, step->left ? WICK_TOK_CLASS_FLAT_MARK : WICK_TOK_CLASS_MARK) ? -1 : 1;
}

wick_status wick_tok_clean(const struct wick_tok_work *work, const struct wick_tok_step *step, struct wick_str text, struct wick_buf *out)
{
    for (size_t i = 0, n; i < text.size; i += n) {
        int what = becomes(work, step, text, i, &n);
        if (what == 0 || what == 2) wick_buf_append(out, " ", 1);
        if (what > 0) wick_buf_append(out, text.data + i, n);
        if (what == 2) wick_buf_append(out, " ", 1);
    }
    return out->failed ? wick_fail_oom(work->err, text.size, "normalized text") : WICK_OK;
}

bool wick_tok_cleans_first(const struct wick_tok_work *work, const struct wick_tok_step *step, struct wick_str text)
{
    size_t size;
    return text.size && becomes(work, step, text, 0, &size) < 0;
}

wick_status wick_tok_bytes_normalize(const struct wick_tok_work *work, struct wick_str text, struct wick_buf *out)
{
    for (size_t i = 0; i < text.size; i++) {
        char bytes[4];
        uint32_t c = 0;
        uint8_t byte = (uint8_t)text.data[i];
        if (work->escaped && wick_utf8_next(text.data + i, text.size - i, &c) == 4 && c >= WICK_TOK_ESCAPE_BASE) {
            byte = (uint8_t)(c - WICK_TOK_ESCAPE_BASE);
            i += 3;
        }
        wick_buf_append(out, bytes, wick_utf8_put(wick_tok_byte_char(byte), bytes));
    }
    return out->failed ? wick_fail_oom(work->err, text.size, "normalized text") : WICK_OK;
}

/* A short cluster of characters is looked up as one, by whatever shortest rule begins it; else its characters are, each by itself. */
wick_status wick_tok_precompiled_normalize(const struct wick_tok_work *work, struct wick_str text, struct wick_buf *out)
{
    enum { CLUSTER_LIMIT = 6 };
    const struct wick_tok_charsmap *map = &work->tok->sentence.map;
    struct wick_str by = {0};
    size_t taken;
    for (size_t at = 0, end; at < text.size && out->size < UINT32_MAX - 65536; at = end) {
        end = wick_tok_cluster_end(text, at);
        struct wick_str cluster = {text.data + at, end - at};
        if (cluster.size < CLUSTER_LIMIT && wick_tok_charsmap_find(map, cluster, false, &taken, &by)) {
            wick_buf_append(out, by.data, by.size);
            continue;
        }
        for (size_t i = 0, n; i < cluster.size; i += n) {
            struct wick_str one = {cluster.data + i, 0};
            n = wick_utf8_next(one.data, cluster.size - i, NULL);
            one.size = n ? n : (n = 1);
            bool found = wick_tok_charsmap_find(map, one, false, &taken, &by);
            wick_buf_append(out, found ? by.data : one.data, found ? by.size : one.size);
        }
    }
    if (out->size >= UINT32_MAX - 65536) return wick_fail(work->err, WICK_INVALID_ARGUMENT, "text: too long after normalization");
    return out->failed ? wick_fail_oom(work->err, text.size, "normalized text") : WICK_OK;
}
