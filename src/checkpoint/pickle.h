/* checkpoint/pickle.h - a pickle as a tree of values. Nothing is imported, called or executed: a call stays a description. */
#ifndef WICK_CHECKPOINT_PICKLE_H
#define WICK_CHECKPOINT_PICKLE_H

#include "base/arena.h"
#include "base/str.h"

/* A global that may be named in the pickle. role and detail are the caller's; a call of a global of role
 * WICK_PICKLE_NEW_DICT without arguments makes an empty dict. */
struct wick_pickle_global {
    const char *module, *name;
    int role, detail;
};
enum { WICK_PICKLE_NEW_DICT = 0 };

enum wick_pickle_kind {
    WICK_PICKLE_NONE, WICK_PICKLE_BOOL, WICK_PICKLE_INT, WICK_PICKLE_FLOAT, WICK_PICKLE_STR, WICK_PICKLE_BYTES,
    WICK_PICKLE_TUPLE, WICK_PICKLE_LIST, WICK_PICKLE_DICT, /* items */
    WICK_PICKLE_GLOBAL, WICK_PICKLE_CALL, WICK_PICKLE_PERSISTENT,
    WICK_PICKLE_KIND_COUNT
};

/* Values may be shared, and lists and dicts may (in a hostile file) contain themselves: do not walk to unbounded depth. */
struct wick_pickle_value {
    enum wick_pickle_kind kind;
    union {
        int64_t integer; /* BOOL, INT */
        double real;
        struct wick_str str; /* into the pickle: STR, BYTES */
        struct {
            struct wick_pickle_value **items; /* of a dict: key, value, key, value.. in the order of writing */
            size_t count, capacity;
        } list;
        struct {
            const struct wick_pickle_global *global; /* GLOBAL, CALL */
            struct wick_pickle_value *args;          /* CALL: a tuple. PERSISTENT: the id */
        } call;
    } as;
};

const char *wick_pickle_kind_name(enum wick_pickle_kind kind); /* "dict" */

struct wick_pickle {
    struct wick_pickle_value *top;
    size_t used;                            /* bytes up to and with STOP; another pickle may follow */
    struct wick_pickle_value **persistents; /* every reference to a storage, in the order of the pickle */
    size_t persistent_count, persistent_capacity;
};

/* Runs the pickle's stack machine over an allow-list of opcodes and of `globals`. Everything lives in the arena.
 * Errors give the offset within the pickle. */
wick_status wick_pickle_parse(struct wick_pickle *out, const uint8_t *data, size_t size, const struct wick_pickle_global *globals,
                              size_t global_count, struct wick_arena *arena, wick_error *err) WICK_MUST_CHECK;

#endif
