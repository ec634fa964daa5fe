/* llm/stop.c - see stop.h. */
#include "llm/stop.h"

/* Offset of the earliest stop string in text, or size. */
static size_t find_stop(const struct wick_stops *s, const char *text, size_t size)
{
    size_t best = size;
    for (size_t k = 0; k < s->count; k++) {
        size_t length = strlen(s->strings[k]);
        for (size_t i = 0; length > 0 && i + length <= size && i < best; i++)
            if (memcmp(text + i, s->strings[k], length) == 0) best = i;
    }
    return best;
}

/* Bytes at the end of text that begin a stop string. */
static size_t undecided(const struct wick_stops *s, const char *text, size_t size)
{
    size_t most = 0;
    for (size_t k = 0; k < s->count; k++) {
        size_t length = strlen(s->strings[k]);
        for (size_t n = length > 0 ? WICK_MIN(length - 1, size) : 0; n > most; n--)
            if (memcmp(text + size - n, s->strings[k], n) == 0) most = n;
    }
    return most;
}

void wick_stops_feed(struct wick_stops *s, const char *text, size_t size, struct wick_buf *out)
{
    if (s->hit) return;
    wick_buf_append(&s->held, text, size);
    if (s->held.failed || s->held.size == 0) return;
    size_t at = find_stop(s, s->held.data, s->held.size);
    s->hit = at < s->held.size;
    size_t go = s->hit ? at : s->held.size - undecided(s, s->held.data, s->held.size);
    wick_buf_append(out, s->held.data, go);
    memmove(s->held.data, s->held.data + go, s->held.size - go);
    s->held.size = s->hit ? 0 : s->held.size - go;
}

void wick_stops_flush(struct wick_stops *s, struct wick_buf *out)
{
    if (!s->hit) wick_buf_append(out, s->held.data, s->held.size);
    s->held.size = 0;
}

void wick_stops_free(struct wick_stops *s) { wick_buf_free(&s->held); }
