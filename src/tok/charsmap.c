/* tok/charsmap.c - see charsmap.h. A unit of the trie packs label, offset and two flags into 32 bits:
 *     bits 0-7 label, 8 has a value, 9 the offset is scaled by 256, 10-30 offset, 31 this unit is a value (bits 0-30). */
#include "tok/charsmap.h"

enum {
    KEY_LIMIT = 256,   /* bytes looked at from one place on, whatever a damaged trie says */
    TEXT_LIMIT = 1024, /* bytes of a replacement */
};

static uint32_t unit_at(const char *data)
{
    const unsigned char *p = (const unsigned char *)data;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

wick_status wick_tok_charsmap_init(struct wick_tok_charsmap *map, struct wick_arena *arena, struct wick_str blob, wick_error *err)
{
    *map = (struct wick_tok_charsmap){.units = NULL};
    if (blob.size == 0) return WICK_OK;
    size_t size = blob.size >= 4 ? unit_at(blob.data) : 0;
    if (blob.size < 4 || size > blob.size - 4 || size % 4 || size == 0)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "precompiled_charsmap: its trie of %zu bytes does not fit into %zu", size, blob.size);
    size_t count = size / 4;
    map->units = WICK_NEW_ARRAY(arena, uint32_t, count);
    map->texts.size = blob.size - 4 - size;
    map->texts.data = wick_arena_copy(arena, blob.data + 4 + size, map->texts.size);
    if (!map->units || !map->texts.data) return wick_fail_oom(err, blob.size, "normalization rules");
    for (size_t i = 0; i < count; i++) map->units[i] = unit_at(blob.data + 4 + 4 * i);
    map->unit_count = count;
    return WICK_OK;
}

static uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }

bool wick_tok_charsmap_find(const struct wick_tok_charsmap *map, struct wick_str text, bool longest, size_t *taken, struct wick_str *by)
{
    bool found = false;
    uint32_t at = map->unit_count ? offset_of(map->units[0]) : 0;
    for (size_t i = 0; map->unit_count && i < text.size && i < KEY_LIMIT; i++) {
        uint8_t byte = (uint8_t)text.data[i];
        at ^= byte;
        if (at >= map->unit_count || (map->units[at] & (1u << 31 | 0xff)) != byte) break;
        uint32_t unit = map->units[at];
        at ^= offset_of(unit);
        if (!(unit >> 8 & 1)) continue;
        uint32_t value = at < map->unit_count ? map->units[at] & 0x7fffffffu : UINT32_MAX;
        if (value >= map->texts.size) break;
        const char *begin = map->texts.data + value;
        size_t limit = WICK_MIN(map->texts.size - value, (size_t)TEXT_LIMIT);
        const char *end = memchr(begin, 0, limit);
        *by = (struct wick_str){begin, end ? (size_t)(end - begin) : limit};
        *taken = i + 1;
        found = true;
        if (!longest) break;
    }
    return found;
}
