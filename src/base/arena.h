/* base/arena.h - bump allocation with one release for all. The only allocator of the runtime.
 *
 * An arena is either fixed (a caller's block; never grows; what `bare` uses) or growing (chunks from a
 * wick_allocator). Nothing is freed singly. One thread at a time. */
#ifndef WICK_BASE_ARENA_H
#define WICK_BASE_ARENA_H

#include "base/error.h"

/* alloc returns NULL on failure and memory aligned to at least 64; free takes what alloc gave, with its size. */
struct wick_allocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*free)(void *user, void *memory, size_t bytes);
    void *user;
};

/* malloc and free (64-byte aligned). Absent from `bare`. */
extern const struct wick_allocator wick_allocator_heap;

struct wick_arena_chunk;
struct wick_arena {
    const struct wick_allocator *source; /* NULL: fixed */
    struct wick_arena_chunk *chunks;     /* newest first */
    char *cursor, *end, *begin;          /* free space of the newest chunk or of the fixed block */
    size_t used;                         /* bytes handed out, padding included */
};

void wick_arena_init(struct wick_arena *arena, const struct wick_allocator *source);
void wick_arena_init_fixed(struct wick_arena *arena, void *block, size_t bytes);
/* Frees all chunks; a fixed arena is only rewound. The arena can be used again. */
void wick_arena_release(struct wick_arena *arena);
/* Rewinds; several chunks become one of their size, so that a steady state does not allocate. */
void wick_arena_reset(struct wick_arena *arena);

/* Zeroed memory aligned to `alignment` (a power of two, at most 4096); NULL if there is none. 0 bytes give a unique non-NULL pointer. */
void *wick_arena_alloc(struct wick_arena *arena, size_t bytes, size_t alignment);
/* The same without zeroing: for large scratch that is written before it is read. */
void *wick_arena_raw(struct wick_arena *arena, size_t bytes, size_t alignment);
/* count * size, checked. */
void *wick_arena_array(struct wick_arena *arena, size_t count, size_t size, size_t alignment);
/* Copies size bytes and adds a NUL. */
char *wick_arena_copy(struct wick_arena *arena, const char *data, size_t size);

#define WICK_NEW(arena, type) ((type *)wick_arena_alloc((arena), sizeof(type), _Alignof(type)))
#define WICK_NEW_ARRAY(arena, type, count) ((type *)wick_arena_array((arena), (count), sizeof(type), _Alignof(type)))

#endif
