/* export/shared.h - constants that methods of one program have in common, so that the file holds them once.
 *
 * Methods are built from one configuration and differ in their adapters alone. So the k-th constant of a name, a shape and a way of being made is the
 * same in all of them; one whose name says lora is the same where the adapter is. Nothing is read to find that out. */
#ifndef WICK_EXPORT_SHARED_H
#define WICK_EXPORT_SHARED_H

#include "export/methods.h"

struct wick_shared_entry {
    uint32_t method;
    const char *name, *prefix; /* prefix: of a blob of named data; NULL: the program's own constant */
    uint32_t ordinal;          /* among those of the method that are alike */
    struct wick_source *source; /* the bytes that are written */
    struct wick_named_constant *blob; /* with its key; NULL: no named data */
    uint32_t index;            /* of the program's own constant */
};

struct wick_shared {
    const struct wick_methods *methods;
    struct wick_arena *arena;
    struct wick_shared_entry *entries;
    uint32_t count, capacity;
};

/* The entry of an earlier method for the next such constant of this one; NULL: there is none. entry: method, name, prefix and source are given;
 * ordinal is set. */
const struct wick_shared_entry *wick_shared_find(const struct wick_shared *s, struct wick_shared_entry *entry);
/* Remembers a found or new constant. */
wick_status wick_shared_add(struct wick_shared *s, const struct wick_shared_entry *entry, wick_error *err);

#endif
