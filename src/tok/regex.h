/* tok/regex.h - patterns of tokenizer files, run by PCRE2 with bounded steps and memory and without recursion. */
#ifndef WICK_TOK_REGEX_H
#define WICK_TOK_REGEX_H

#include "base/str.h"

struct wick_tok_regex;

/* Whose syntax the pattern is in: Oniguruma's (tokenizer.json) lets ^ and $ match at line ends, Rust's (tiktoken) does not. Both
 * mean Unicode by \s, \w and \d. */
enum wick_tok_dialect { WICK_TOK_ONIGURUMA, WICK_TOK_RUST };

/* INVALID_TOKENIZER with PCRE2's reason and the offset within the pattern. */
wick_status wick_tok_regex_compile(struct wick_tok_regex **regex, struct wick_str pattern, enum wick_tok_dialect dialect,
                                   wick_error *err) WICK_MUST_CHECK;
void wick_tok_regex_free(struct wick_tok_regex *regex); /* NULL allowed */

/* Space for matching, of one thread. */
struct wick_tok_matching;
struct wick_tok_matching *wick_tok_matching_new(void); /* NULL: out of memory */
void wick_tok_matching_free(struct wick_tok_matching *matching);

/* The first match at or after `from` in text (valid UTF-8); *found says whether there is one, which may be empty. INVALID_ARGUMENT
 * when the pattern takes too many steps on this text. */
wick_status wick_tok_regex_find(const struct wick_tok_regex *regex, struct wick_tok_matching *matching, struct wick_str text, size_t from,
                                bool *found, size_t *begin, size_t *end, wick_error *err) WICK_MUST_CHECK;

#endif
