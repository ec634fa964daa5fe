/* tok/table.h - the two hash tables of a tokenizer: strings to ids, pairs of ids to merges. Filled at load, then constant. */
#ifndef WICK_TOK_TABLE_H
#define WICK_TOK_TABLE_H

#include "base/arena.h"
#include "base/str.h"

/* Strings to ids. The strings themselves stay in an array indexed by id, which the caller passes along. */
struct wick_tok_slot {
    uint32_t hash;
    int32_t id; /* -1: free */
};
struct wick_tok_map {
    struct wick_tok_slot *slots;
    uint32_t mask;
    uint64_t seed;
};

/* Room for `count` strings. The seed keeps a hostile vocabulary from choosing its collisions. False: out of memory. */
bool wick_tok_map_init(struct wick_tok_map *map, struct wick_arena *arena, size_t count, uint64_t seed);
/* The id of key, or -1. */
int32_t wick_tok_map_find(const struct wick_tok_map *map, const struct wick_str *keys, struct wick_str key);
/* Enters keys[id]; returns the id that already has this string (nothing is entered then), or -1. */
int32_t wick_tok_map_add(struct wick_tok_map *map, const struct wick_str *keys, int32_t id);

/* Pairs of adjacent symbols to what they merge into. */
struct wick_tok_merge {
    int32_t left, right; /* left -1: free */
    uint32_t rank;       /* lower merges first */
    int32_t id;
};
struct wick_tok_pairs {
    struct wick_tok_merge *slots;
    size_t mask, count;
    uint64_t seed;
};

bool wick_tok_pairs_init(struct wick_tok_pairs *pairs, struct wick_arena *arena, size_t count, uint64_t seed);
/* A pair entered again takes the new rank. There must be room. */
void wick_tok_pairs_set(struct wick_tok_pairs *pairs, int32_t left, int32_t right, uint32_t rank, int32_t id);
/* NULL: the pair does not merge. */
const struct wick_tok_merge *wick_tok_pairs_find(const struct wick_tok_pairs *pairs, int32_t left, int32_t right);

#endif
