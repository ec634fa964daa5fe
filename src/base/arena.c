/* base/arena.c - bump allocation over chunks; see arena.h. */
#include "base/arena.h"

#include "base/checked.h"

#include <string.h>

struct wick_arena_chunk {
    struct wick_arena_chunk *next;
    size_t bytes; /* whole allocation, header included */
};

/* The header takes one 64-byte line so that the data behind it stays 64-aligned. */
enum { CHUNK_HEADER = 64, CHUNK_MIN = 64 * 1024 };

void wick_arena_init(struct wick_arena *arena, const struct wick_allocator *source) { *arena = (struct wick_arena){.source = source}; }

void wick_arena_init_fixed(struct wick_arena *arena, void *block, size_t bytes)
{
    *arena = (struct wick_arena){.begin = block, .cursor = block, .end = (char *)block + bytes};
}

void wick_arena_release(struct wick_arena *arena)
{
    while (arena->chunks) {
        struct wick_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        arena->source->free(arena->source->user, chunk, chunk->bytes);
    }
    if (arena->source) arena->begin = arena->end = NULL;
    arena->cursor = arena->begin;
    arena->used = 0;
}

static bool add_chunk(struct wick_arena *arena, size_t bytes)
{
    struct wick_arena_chunk *chunk = arena->source->alloc(arena->source->user, bytes);
    if (!chunk) return false;
    chunk->next = arena->chunks;
    chunk->bytes = bytes;
    arena->chunks = chunk;
    arena->begin = arena->cursor = (char *)chunk + CHUNK_HEADER;
    arena->end = (char *)chunk + bytes;
    return true;
}

void wick_arena_reset(struct wick_arena *arena)
{
    if (arena->source && arena->chunks && arena->chunks->next) {
        size_t total = 0;
        bool overflow = false;
        for (struct wick_arena_chunk *c = arena->chunks; c; c = c->next) overflow = overflow || wick_add_size(total, c->bytes, &total);
        wick_arena_release(arena);
        if (!overflow) add_chunk(arena, total); /* without memory: the arena is merely empty */
    }
    arena->cursor = arena->begin;
    arena->used = 0;
}

static bool arena_grow(struct wick_arena *arena, size_t bytes)
{
    size_t want;
    if (!arena->source || wick_add_size(bytes, CHUNK_HEADER, &want)) return false;
    /* Double with use, so that many small requests cost few chunks. */
    size_t size = WICK_MAX(want, WICK_MIN(WICK_MAX(arena->used, (size_t)CHUNK_MIN), (size_t)1 << 22));
    return add_chunk(arena, size);
}

void *wick_arena_raw(struct wick_arena *arena, size_t bytes, size_t alignment)
{
    size_t want = bytes ? bytes : 1;
    size_t pad = arena->cursor ? (size_t)(-(uintptr_t)arena->cursor & (alignment - 1)) : 0;
    size_t room = (size_t)(arena->end - arena->cursor);
    if (!arena->cursor || pad > room || want > room - pad) {
        size_t with_pad;
        if (wick_add_size(want, alignment, &with_pad) || !arena_grow(arena, with_pad)) return NULL;
        pad = (size_t)(-(uintptr_t)arena->cursor & (alignment - 1));
    }
    char *memory = arena->cursor + pad;
    arena->cursor = memory + want;
    arena->used += pad + want;
    return memory;
}

void *wick_arena_alloc(struct wick_arena *arena, size_t bytes, size_t alignment)
{
    void *memory = wick_arena_raw(arena, bytes, alignment);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void *wick_arena_array(struct wick_arena *arena, size_t count, size_t size, size_t alignment)
{
    size_t bytes;
    return wick_mul_size(count, size, &bytes) ? NULL : wick_arena_alloc(arena, bytes, alignment);
}

char *wick_arena_copy(struct wick_arena *arena, const char *data, size_t size)
{
    size_t with_nul;
    if (wick_add_size(size, 1, &with_nul)) return NULL;
    char *copy = wick_arena_alloc(arena, with_nul, 1);
    if (copy && size) memcpy(copy, data, size);
    return copy;
}
