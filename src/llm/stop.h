/* llm/stop.h - stop strings in streamed text: text that may be the begin of one is held back until that is decided. */
#ifndef WICK_LLM_STOP_H
#define WICK_LLM_STOP_H

#include "base/str.h"

struct wick_stops {
    const char *const *strings; /* borrowed; empty ones are ignored */
    size_t count;
    struct wick_buf held;
    bool hit;
};

/* Takes more text and appends to out what can go to the user. After a hit nothing more comes out: text before the stop
 * string was delivered, the string and what follows never. */
void wick_stops_feed(struct wick_stops *s, const char *text, size_t size, struct wick_buf *out);
/* The end: delivers what was held back. */
void wick_stops_flush(struct wick_stops *s, struct wick_buf *out);
void wick_stops_free(struct wick_stops *s);

#endif
