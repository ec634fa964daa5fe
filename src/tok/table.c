/* tok/table.c - open addressing with linear probing, at most half full; see table.h. */
#include "tok/table.h"

static uint64_t mix(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15u;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9u;
    return value ^ value >> 32;
}

static uint64_t load8(const char *data)
{
    uint64_t value;
    memcpy(&value, data, sizeof value);
    return value;
}

static uint64_t load4(const char *data)
{
    uint32_t value;
    memcpy(&value, data, sizeof value);
    return value;
}

/* Short strings are the rule: up to 8 bytes take one round. */
static uint32_t hash_of(struct wick_str key, uint64_t seed)
{
    uint64_t hash = seed ^ key.size * 0xff51afd7ed558ccdu, word = 0;
    const char *p = key.data;
    size_t left = key.size;
    for (; left > 8; left -= 8, p += 8) hash = mix(hash ^ load8(p));
    if (left == 8) word = load8(p);
    else if (left >= 4) word = load4(p) << 32 | load4(p + left - 4);
    else if (left) word = (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[left / 2] << 8 | (unsigned char)p[left - 1];
    return (uint32_t)mix(hash ^ word);
}

/* The power of two that holds count entries half full; 0 if that is beyond 32 bits. */
static size_t slots_for(size_t count)
{
    size_t slots = 16;
    if (count > (size_t)1 << 30) return 0;
    while (slots < count * 2) slots *= 2;
    return slots;
}

bool wick_tok_map_init(struct wick_tok_map *map, struct wick_arena *arena, size_t count, uint64_t seed)
{
    size_t slots = slots_for(count);
    map->slots = slots ? WICK_NEW_ARRAY(arena, struct wick_tok_slot, slots) : NULL;
    if (!map->slots) return false;
    for (size_t i = 0; i < slots; i++) map->slots[i].id = -1;
    map->mask = (uint32_t)(slots - 1);
    map->seed = seed;
    return true;
}

int32_t wick_tok_map_find(const struct wick_tok_map *map, const struct wick_str *keys, struct wick_str key)
{
    uint32_t hash = hash_of(key, map->seed);
    for (uint32_t i = hash & map->mask;; i = (i + 1) & map->mask) {
        struct wick_tok_slot slot = map->slots[i];
        if (slot.id < 0) return -1;
        if (slot.hash == hash && wick_str_equal(keys[slot.id], key)) return slot.id;
    }
}

int32_t wick_tok_map_add(struct wick_tok_map *map, const struct wick_str *keys, int32_t id)
{
    uint32_t hash = hash_of(keys[id], map->seed), i = hash & map->mask;
    for (; map->slots[i].id >= 0; i = (i + 1) & map->mask) {
        if (map->slots[i].hash == hash && wick_str_equal(keys[map->slots[i].id], keys[id])) return map->slots[i].id;
    }
    map->slots[i] = (struct wick_tok_slot){hash, id};
    return -1;
}

bool wick_tok_pairs_init(struct wick_tok_pairs *pairs, struct wick_arena *arena, size_t count, uint64_t seed)
{
    size_t slots = slots_for(count);
    pairs->slots = slots ? WICK_NEW_ARRAY(arena, struct wick_tok_merge, slots) : NULL;
    if (!pairs->slots) return false;
    for (size_t i = 0; i < slots; i++) pairs->slots[i].left = -1;
    pairs->mask = slots - 1;
    pairs->count = 0;
    pairs->seed = seed;
    return true;
}

static size_t pair_slot(const struct wick_tok_pairs *pairs, int32_t left, int32_t right)
{
    size_t i = (size_t)mix(((uint64_t)(uint32_t)left << 32 | (uint32_t)right) ^ pairs->seed) & pairs->mask;
    while (pairs->slots[i].left >= 0 && (pairs->slots[i].left != left || pairs->slots[i].right != right)) i = (i + 1) & pairs->mask;
    return i;
}

void wick_tok_pairs_set(struct wick_tok_pairs *pairs, int32_t left, int32_t right, uint32_t rank, int32_t id)
{
    struct wick_tok_merge *slot = &pairs->slots[pair_slot(pairs, left, right)];
    if (slot->left < 0) pairs->count++;
    *slot = (struct wick_tok_merge){left, right, rank, id};
}

const struct wick_tok_merge *wick_tok_pairs_find(const struct wick_tok_pairs *pairs, int32_t left, int32_t right)
{
    const struct wick_tok_merge *slot = &pairs->slots[pair_slot(pairs, left, right)];
    return slot->left < 0 ? NULL : slot;
}
