/* tok/json_scan.h - a pull reader for the large parts of a tokenizer.json (a vocabulary of 100,000 entries and more), where
 * building a tree would cost most of the load. The small parts go to jansson. */
#ifndef WICK_TOK_JSON_SCAN_H
#define WICK_TOK_JSON_SCAN_H

#include "base/str.h"

/* A cursor over a document in memory. Errors say the byte offset. */
struct wick_tok_json {
    const char *begin, *at, *end;
};

/* True at that bracket or quote, blanks skipped. */
bool wick_tok_json_is(struct wick_tok_json *json, char c);
/* Steps over `c`, blanks skipped, or fails. */
wick_status wick_tok_json_expect(struct wick_tok_json *json, char c, wick_error *err) WICK_MUST_CHECK;
/* To the next item of an array or object whose bracket has been stepped over: false in *more at the closing bracket, which is
 * stepped over too. `first` must be true for the first call and is cleared. */
wick_status wick_tok_json_next(struct wick_tok_json *json, char close, bool *first, bool *more, wick_error *err) WICK_MUST_CHECK;
/* A string; the result borrows the document, or `scratch` where there are escapes (overwritten by the next such string). */
wick_status wick_tok_json_string(struct wick_tok_json *json, struct wick_buf *scratch, struct wick_str *out, wick_error *err) WICK_MUST_CHECK;
/* A string and the colon after it. */
wick_status wick_tok_json_key(struct wick_tok_json *json, struct wick_buf *scratch, struct wick_str *out, wick_error *err) WICK_MUST_CHECK;
/* A whole number in [0, 2^31). */
wick_status wick_tok_json_id(struct wick_tok_json *json, int32_t *out, wick_error *err) WICK_MUST_CHECK;
/* A number. */
wick_status wick_tok_json_number(struct wick_tok_json *json, double *out, wick_error *err) WICK_MUST_CHECK;
/* Any value, checked and passed over; nesting is limited, the stack is flat. */
wick_status wick_tok_json_skip(struct wick_tok_json *json, wick_error *err) WICK_MUST_CHECK;
/* Fails unless only blanks are left. */
wick_status wick_tok_json_end(struct wick_tok_json *json, wick_error *err) WICK_MUST_CHECK;

#endif
