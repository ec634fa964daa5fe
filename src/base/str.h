/* base/str.h - views on bytes and a growable byte buffer. */
#ifndef WICK_BASE_STR_H
#define WICK_BASE_STR_H

#include "base/error.h"

#include <string.h>

/* A borrowed range of bytes, not NUL-terminated. */
struct wick_str {
    const char *data;
    size_t size;
};

#define WICK_STR(literal) ((struct wick_str){(literal), sizeof(literal) - 1})

static inline struct wick_str wick_str_of(const char *text) { return (struct wick_str){text, text ? strlen(text) : 0}; }
static inline bool wick_str_equal(struct wick_str a, struct wick_str b) { return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0); }
static inline bool wick_str_is(struct wick_str a, const char *text) { return wick_str_equal(a, wick_str_of(text)); }
static inline bool wick_str_starts(struct wick_str a, struct wick_str prefix) { return a.size >= prefix.size && memcmp(a.data, prefix.data, prefix.size) == 0; }
static inline bool wick_str_ends(struct wick_str a, struct wick_str suffix) { return a.size >= suffix.size && memcmp(a.data + a.size - suffix.size, suffix.data, suffix.size) == 0; }

/* A growable byte buffer on the heap. Zero-initialise. `failed` sticks after an allocation failure and makes
 * further appends no-ops, so that callers check once at the end. data is NUL-terminated when size > 0. */
struct wick_buf {
    char *data;
    size_t size, capacity;
    bool failed;
};

bool wick_buf_reserve(struct wick_buf *buf, size_t more);
void wick_buf_append(struct wick_buf *buf, const void *data, size_t size);
void wick_buf_text(struct wick_buf *buf, const char *text);
void wick_buf_printf(struct wick_buf *buf, const char *format, ...) WICK_PRINTF(2, 3);
/* Appends text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void wick_buf_json_string(struct wick_buf *buf, const char *data, size_t size);
void wick_buf_free(struct wick_buf *buf);

/* Edit distance with early exit, for "did you mean": the nearest of `names` (NULL-terminated list) to `name`
 * if it is within a third of its length, else NULL. */
const char *wick_nearest_name(const char *name, const char *const *names);

/* Bytes of the UTF-8 character that starts at data (size > 0), or 0 if it is not well-formed there (overlong,
 * surrogate, above U+10FFFF, truncated: RFC 3629). code (NULL allowed) receives the code point. */
size_t wick_utf8_next(const char *data, size_t size, uint32_t *code);
/* Encodes code at out (room for 4) and returns the bytes written; 0 for a surrogate or above U+10FFFF. */
size_t wick_utf8_put(uint32_t code, char *out);

#endif
