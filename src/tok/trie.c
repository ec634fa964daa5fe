/* tok/trie.c - see trie.h. Made level by level from the sorted keys: no recursion, and every byte is looked at once. */
#include "tok/trie.h"

#include "base/checked.h"

#include <stdlib.h>

struct keyed {
    struct wick_str key;
    int32_t id;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    size_t size = WICK_MIN(x->key.size, y->key.size);
    int order = memcmp(x->key.data, y->key.data, size);
    if (order) return order;
    if (x->key.size != y->key.size) return x->key.size < y->key.size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Nodes of the sorted keys: a key adds those of the bytes it does not share with the one before. */
static size_t count_nodes(const struct keyed *keys, size_t count)
{
    size_t nodes = 1;
    for (size_t i = 0; i < count; i++) {
        size_t shared = 0, limit = i ? WICK_MIN(keys[i].key.size, keys[i - 1].key.size) : 0;
        while (shared < limit && keys[i].key.data[shared] == keys[i - 1].key.data[shared]) shared++;
        nodes += keys[i].key.size - shared;
    }
    return nodes;
}

/* The keys a node still has to tell apart: [low, high), equal up to the node's depth. */
struct pending {
    uint32_t low, high, depth;
};

static void fill(struct wick_tok_trie *trie, const struct keyed *keys, struct pending *pending)
{
    uint32_t made = 1;
    for (uint32_t node = 0; node < made; node++) {
        struct pending p = pending[node];
        struct wick_tok_trie_node *at = &trie->nodes[node];
        at->id = -1;
        at->first = made;
        for (; p.low < p.high && keys[p.low].key.size == p.depth; p.low++) {
            if (at->id < 0) at->id = keys[p.low].id;
        }
        while (p.low < p.high) {
            uint8_t byte = (uint8_t)keys[p.low].key.data[p.depth];
            uint32_t end = p.low + 1;
            while (end < p.high && (uint8_t)keys[end].key.data[p.depth] == byte) end++;
            trie->nodes[made].byte = byte;
            if (node == 0) trie->root[byte] = made;
            pending[made++] = (struct pending){p.low, end, p.depth + 1};
            at->count++;
            p.low = end;
        }
    }
}

bool wick_tok_trie_init(struct wick_tok_trie *trie, struct wick_arena *arena, const struct wick_str *keys, const int32_t *ids, size_t count)
{
    size_t bytes, kept = 0, nodes = 0;
    struct keyed *sorted = wick_mul_size(count + 1, sizeof *sorted, &bytes) ? NULL : malloc(bytes);
    struct pending *pending = NULL;
    *trie = (struct wick_tok_trie){.nodes = NULL};
    for (size_t i = 0; sorted && i < count; i++) {
        if (keys[ids[i]].size) sorted[kept++] = (struct keyed){keys[ids[i]], ids[i]};
    }
    if (sorted) {
        qsort(sorted, kept, sizeof *sorted, by_key);
        nodes = count_nodes(sorted, kept);
        if (nodes < UINT32_MAX / 2 && !wick_mul_size(nodes, sizeof *pending, &bytes)) pending = malloc(bytes);
    }
    if (pending) trie->nodes = WICK_NEW_ARRAY(arena, struct wick_tok_trie_node, nodes);
    bool ok = trie->nodes != NULL;
    if (ok) {
        pending[0] = (struct pending){0, (uint32_t)kept, 0};
        fill(trie, sorted, pending);
    }
    free(sorted);
    free(pending);
    return ok;
}
