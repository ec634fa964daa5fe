/* tok/base64.h - bytes written as text in tokenizer files. */
#ifndef WICK_TOK_BASE64_H
#define WICK_TOK_BASE64_H

#include "base/str.h"

/* Decodes base64 with its padding into `out`, whose old content goes; false: not base64. */
bool wick_tok_base64(struct wick_str text, struct wick_buf *out);

#endif
