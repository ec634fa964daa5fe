/* export/shared.c - see shared.h. Used by describe.c. */
#include "export/shared.h"

static bool is_alike(const struct wick_shared_entry *a, const struct wick_shared_entry *b)
{
    return !a->prefix == !b->prefix && strcmp(a->name, b->name) == 0 && (!a->prefix || strcmp(a->prefix, b->prefix) == 0) &&
           a->source->produce == b->source->produce && a->source->shape.dtype == b->source->shape.dtype &&
           wick_shape_same_sizes(&a->source->shape, &b->source->shape);
}

static bool has_same_adapter(const struct wick_shared *s, uint32_t a, uint32_t b)
{
    const char *one = s->methods->list[a].adapter_text, *other = s->methods->list[b].adapter_text;
    return one && other ? strcmp(one, other) == 0 : one == other;
}

const struct wick_shared_entry *wick_shared_find(const struct wick_shared *s, struct wick_shared_entry *entry)
{
    entry->ordinal = 0;
    if (!entry->name || s->methods->count < 2) return NULL;
    for (uint32_t i = 0; i < s->count; i++) entry->ordinal += s->entries[i].method == entry->method && is_alike(&s->entries[i], entry);
    for (uint32_t i = 0; i < s->count && s->entries[i].method < entry->method; i++) {
        const struct wick_shared_entry *other = &s->entries[i];
        if (other->ordinal != entry->ordinal || !is_alike(other, entry)) continue;
        if (!strstr(entry->name, "lora") || has_same_adapter(s, other->method, entry->method)) return other;
    }
    return NULL;
}

wick_status wick_shared_add(struct wick_shared *s, const struct wick_shared_entry *entry, wick_error *err)
{
    if (!entry->name || s->methods->count < 2) return WICK_OK;
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 256;
        struct wick_shared_entry *entries = WICK_NEW_ARRAY(s->arena, struct wick_shared_entry, capacity);
        if (!entries) return wick_fail_oom(err, capacity * sizeof *entries, "constants of methods");
        if (s->count) memcpy(entries, s->entries, s->count * sizeof *entries);
        s->entries = entries;
        s->capacity = capacity;
    }
    s->entries[s->count++] = *entry;
    return WICK_OK;
}
