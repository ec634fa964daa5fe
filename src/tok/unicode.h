/* tok/unicode.h - character classes, normal forms and the byte-level alphabet, on top of utf8proc. */
#ifndef WICK_TOK_UNICODE_H
#define WICK_TOK_UNICODE_H

#include "base/str.h"

/* Classes as the original's patterns mean them. */
enum wick_tok_class {
    WICK_TOK_CLASS_NUMERIC,     /* Nd, Nl, No */
    WICK_TOK_CLASS_SPACE,       /* White_Space */
    WICK_TOK_CLASS_PUNCTUATION, /* ASCII punctuation and P* */
    WICK_TOK_CLASS_CONTROL,     /* Cc, Cf, Co */
    WICK_TOK_CLASS_MARK,        /* M* */
    WICK_TOK_CLASS_FLAT_MARK,   /* Mn */
    WICK_TOK_CLASS_WORD,        /* \w: alphabetic, marks, Nd, Pc, join controls */
};
bool wick_tok_in_class(uint32_t code, enum wick_tok_class class);

enum wick_tok_form { WICK_TOK_NFC, WICK_TOK_NFD, WICK_TOK_NFKC, WICK_TOK_NFKD };

/* Appends text (UTF-8) in a normal form; linear time whatever runs of marks it holds. WICK_OUT_OF_MEMORY or WICK_OK. */
wick_status wick_tok_normal_form(enum wick_tok_form form, const char *text, size_t size, struct wick_buf *out) WICK_MUST_CHECK;
/* Appends text (UTF-8) with every character in lower case (full mapping, no context). */
void wick_tok_lowercase(const char *text, size_t size, struct wick_buf *out);

/* Where the extended grapheme cluster ends that begins at text[at]. */
size_t wick_tok_cluster_end(struct wick_str text, size_t at);

/* The byte-level alphabet of GPT-2: every byte has a printable character. */
static inline uint32_t wick_tok_byte_char(uint8_t byte)
{
    if (byte <= 32) return 256u + byte;
    if (byte >= 127 && byte <= 160) return 289u + (byte - 127u);
    return byte == 173 ? 323 : byte;
}
/* The byte of a character, or -1. */
static inline int wick_tok_char_byte(uint32_t code)
{
    if (code >= 256) return code <= 288 ? (int)code - 256 : code <= 322 ? (int)code - 289 + 127 : code == 323 ? 173 : -1;
    return code <= 32 || (code >= 127 && code <= 160) || code == 173 ? -1 : (int)code;
}

#endif
