/* tok/match.c - see match.h. */
#include "tok/match.h"

#include "tok/unicode.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct wick_tok_added *x = *(const struct wick_tok_added *const *)a, *y = *(const struct wick_tok_added *const *)b;
    size_t size = WICK_MIN(x->pattern.size, y->pattern.size);
    int order = memcmp(x->pattern.data, y->pattern.data, size);
    if (order == 0 && x->pattern.size != y->pattern.size) order = x->pattern.size < y->pattern.size ? -1 : 1;
    return order ? order : (x < y ? -1 : x > y);
}

bool wick_tok_matcher_init(struct wick_tok_matcher *matcher, struct wick_arena *arena, const struct wick_tok_added *added, size_t count,
                           bool normalized)
{
    size_t kept = 0;
    matcher->items = WICK_NEW_ARRAY(arena, const struct wick_tok_added *, count);
    if (!matcher->items || count > UINT32_MAX) return false;
    for (size_t i = 0; i < count; i++) {
        if (added[i].normalized == normalized && added[i].pattern.size) matcher->items[kept++] = &added[i];
    }
    if (kept) qsort(matcher->items, kept, sizeof *matcher->items, compare);
    for (size_t i = 0; i < kept; i++) {
        if (matcher->count && wick_str_equal(matcher->items[matcher->count - 1]->pattern, matcher->items[i]->pattern)) matcher->count--;
        matcher->items[matcher->count++] = matcher->items[i];
    }
    for (size_t i = 0, b = 0; b <= 256; b++) {
        while (i < matcher->count && (unsigned char)matcher->items[i]->pattern.data[0] < b) i++;
        matcher->first[b] = (uint32_t)i;
    }
    return true;
}

/* The first item of [low, high), equal in the first `depth` bytes, whose next byte is at least `byte`. */
static size_t lower(const struct wick_tok_matcher *matcher, size_t low, size_t high, size_t depth, unsigned byte)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct wick_str pattern = matcher->items[middle]->pattern;
        if (pattern.size <= depth || (unsigned char)pattern.data[depth] < byte) low = middle + 1;
        else high = middle;
    }
    return low;
}

const struct wick_tok_added *wick_tok_matcher_at(const struct wick_tok_matcher *matcher, struct wick_str text, size_t at)
{
    unsigned byte = (unsigned char)text.data[at];
    size_t low = matcher->first[byte], high = matcher->first[byte + 1], depth = 1;
    const struct wick_tok_added *best = NULL;
    while (low < high) {
        if (matcher->items[low]->pattern.size == depth) best = matcher->items[low];
        if (at + depth == text.size) break;
        byte = (unsigned char)text.data[at + depth];
        low = lower(matcher, low, high, depth, byte);
        high = lower(matcher, low, high, depth, byte + 1);
        depth++;
    }
    return best;
}

/* The character that ends before text[at], and where it begins. */
static size_t char_before(struct wick_str text, size_t at, uint32_t *code)
{
    size_t begin = at - 1;
    while (begin > 0 && at - begin < 4 && ((unsigned char)text.data[begin] & 0xc0) == 0x80) begin--;
    if (wick_utf8_next(text.data + begin, at - begin, code) != at - begin) {
        *code = 0;
        return at - 1;
    }
    return begin;
}

static bool word_beside(struct wick_str text, size_t begin, size_t end)
{
    uint32_t code;
    if (begin > 0) {
        char_before(text, begin, &code);
        if (wick_tok_in_class(code, WICK_TOK_CLASS_WORD)) return true;
    }
    return end < text.size && wick_utf8_next(text.data + end, text.size - end, &code) && wick_tok_in_class(code, WICK_TOK_CLASS_WORD);
}

/* Whether text[begin..end) lies within one trusted range. */
static bool is_trusted(const struct wick_tok_trusted *trusted, size_t begin, size_t end)
{
    size_t low = 0, high = trusted->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trusted->ranges[middle][1] <= begin) low = middle + 1;
        else high = middle;
    }
    return low < trusted->count && trusted->ranges[low][0] <= begin && end <= trusted->ranges[low][1];
}

bool wick_tok_matcher_next(const struct wick_tok_matcher *matcher, struct wick_str text, bool special, const struct wick_tok_trusted *trusted,
                           size_t taken, size_t *from, struct wick_tok_match *match)
{
    if (matcher->count == 0) return false;
    for (size_t at = *from; at < text.size; at++) {
        unsigned byte = (unsigned char)text.data[at];
        if (matcher->first[byte] == matcher->first[byte + 1]) continue;
        const struct wick_tok_added *token = wick_tok_matcher_at(matcher, text, at);
        if (!token) continue;
        size_t begin = at, end = at + token->pattern.size;
        uint32_t code;
        /* A spelling that is not trusted is text; what is trusted may begin within it. */
        if (token->special && special && trusted && !is_trusted(trusted, begin, end)) continue;
        at = end - 1; /* a match that is not used is passed over whole, as the original does */
        if (token->special && !special) continue;
        if (token->single_word && word_beside(text, begin, end)) continue;
        *from = end;
        while (token->lstrip && begin > taken) {
            size_t before = char_before(text, begin, &code);
            if (!wick_tok_in_class(code, WICK_TOK_CLASS_SPACE)) break;
            begin = before;
        }
        for (size_t n; token->rstrip && end < text.size; end += n) {
            n = wick_utf8_next(text.data + end, text.size - end, &code);
            if (n == 0 || !wick_tok_in_class(code, WICK_TOK_CLASS_SPACE)) break;
        }
        if (token->lstrip && end <= taken) continue; /* white space that the match before has taken along */
        *match = (struct wick_tok_match){token, WICK_MAX(begin, taken), WICK_MAX(end, taken)};
        return true;
    }
    *from = text.size;
    return false;
}
