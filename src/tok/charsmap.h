/* tok/charsmap.h - SentencePiece's compiled normalization rules: a double-array trie of what is replaced, and the replacements. */
#ifndef WICK_TOK_CHARSMAP_H
#define WICK_TOK_CHARSMAP_H

#include "base/arena.h"
#include "base/str.h"

/* Empty (unit_count 0): nothing is replaced. Kept as in the file; checked on use. */
struct wick_tok_charsmap {
    uint32_t *units;
    size_t unit_count;
    struct wick_str texts; /* NUL-terminated, at the offsets that the trie gives */
};

/* From the blob of a model file, copied. INVALID_TOKENIZER. */
wick_status wick_tok_charsmap_init(struct wick_tok_charsmap *map, struct wick_arena *arena, struct wick_str blob, wick_error *err) WICK_MUST_CHECK;

/* The longest (or else the shortest) sequence at the begin of text that is replaced: its size in *taken and what replaces it. False: none. */
bool wick_tok_charsmap_find(const struct wick_tok_charsmap *map, struct wick_str text, bool longest, size_t *taken, struct wick_str *by);

#endif
