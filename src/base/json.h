/* base/json.h - reading JSON through jansson, with errors that name the place. Not in `core` and `bare`. */
#ifndef WICK_BASE_JSON_H
#define WICK_BASE_JSON_H

#include "base/error.h"

#include <jansson.h>

/* Parses a whole document; what (a file name, "header of x") opens the error text, which gives line and offset.
 * Depth is limited (jansson's 2048), invalid UTF-8 and duplicate keys are refused. The caller json_decref()s. */
wick_status wick_json_parse(json_t **out, const char *data, size_t size, const char *what, wick_status code, wick_error *err) WICK_MUST_CHECK;
wick_status wick_json_load(json_t **out, const char *path, wick_status code, wick_error *err) WICK_MUST_CHECK;

#endif
