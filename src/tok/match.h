/* tok/match.h - finds added tokens in text: leftmost, longest, by bytes. */
#ifndef WICK_TOK_MATCH_H
#define WICK_TOK_MATCH_H

#include "base/arena.h"
#include "base/str.h"

/* A token that is looked for in the text before the model sees it. */
struct wick_tok_added {
    struct wick_str content;
    struct wick_str pattern; /* what is looked for: content, or its normalized form */
    int32_t id;
    bool special;            /* looked for only if the caller lets text name special tokens */
    bool normalized;         /* looked for in normalized text */
    bool single_word;        /* only where no word character is adjacent */
    bool lstrip, rstrip;     /* takes the white space before / after it along */
};

/* Patterns in byte order; the candidates are narrowed byte by byte. Borrows the tokens. */
struct wick_tok_matcher {
    const struct wick_tok_added **items;
    size_t count;
    uint32_t first[257]; /* items that begin with byte b: [first[b], first[b + 1]) */
};

/* Takes the tokens whose `normalized` is as given; an empty pattern is left out, of equal ones the last stays. */
bool wick_tok_matcher_init(struct wick_tok_matcher *matcher, struct wick_arena *arena, const struct wick_tok_added *added, size_t count,
                           bool normalized);

/* A match and the text it takes. */
struct wick_tok_match {
    const struct wick_tok_added *token;
    size_t begin, end;
};

/* The longest token at text[at]; NULL: none. */
const struct wick_tok_added *wick_tok_matcher_at(const struct wick_tok_matcher *matcher, struct wick_str text, size_t at);

/* Where special tokens are seen: ranges [begin, end) of the text, in order. */
struct wick_tok_trusted {
    const size_t (*ranges)[2];
    size_t count;
};

/* The next match in text at or after *from that is to be used; `taken` is where the text not yet taken begins. Moves *from behind
 * the match (before rstrip). trusted NULL: everywhere. False: none. */
bool wick_tok_matcher_next(const struct wick_tok_matcher *matcher, struct wick_str text, bool special, const struct wick_tok_trusted *trusted,
                           size_t taken, size_t *from, struct wick_tok_match *match);

#endif
