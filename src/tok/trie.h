/* tok/trie.h - all vocabulary entries that begin at a place of a text: what Unigram and WordPiece ask for. */
#ifndef WICK_TOK_TRIE_H
#define WICK_TOK_TRIE_H

#include "base/arena.h"
#include "base/str.h"

/* The children of a node stand side by side, by byte. Node 0 is the root. */
struct wick_tok_trie_node {
    uint32_t first;
    int32_t id; /* of the entry that ends here; -1: none */
    uint16_t count;
    uint8_t byte;
};
struct wick_tok_trie {
    struct wick_tok_trie_node *nodes; /* NULL: empty */
    uint32_t root[256];               /* the root's children by byte; 0: none */
};

/* Of keys[ids[i]]; empty keys are left out. False: out of memory, or more bytes than a node number counts. */
bool wick_tok_trie_init(struct wick_tok_trie *trie, struct wick_arena *arena, const struct wick_str *keys, const int32_t *ids, size_t count);

/* The child of a node by byte; 0: none. */
static inline uint32_t wick_tok_trie_step(const struct wick_tok_trie *trie, uint32_t node, uint8_t byte)
{
    if (node == 0) return trie->root[byte];
    uint32_t low = trie->nodes[node].first, high = low + trie->nodes[node].count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trie->nodes[middle].byte == byte) return middle;
        if (trie->nodes[middle].byte < byte) low = middle + 1;
        else high = middle;
    }
    return 0;
}

/* The node that a text leads to; UINT32_MAX: none. */
static inline uint32_t wick_tok_trie_walk(const struct wick_tok_trie *trie, struct wick_str text)
{
    uint32_t node = 0;
    for (size_t i = 0; i < text.size; i++) {
        node = trie->nodes ? wick_tok_trie_step(trie, node, (uint8_t)text.data[i]) : 0;
        if (node == 0) return UINT32_MAX;
    }
    return node;
}

#endif
