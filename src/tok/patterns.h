/* tok/patterns.h - the split patterns of published vocabularies whose files do not hold them. */
#ifndef WICK_TOK_PATTERNS_H
#define WICK_TOK_PATTERNS_H

#define WICK_TOK_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define WICK_TOK_PUNCTUATION_AND_BLANKS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define WICK_TOK_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define WICK_TOK_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define WICK_TOK_LETTERS_BY_CASE(tail)                                                             \
    "[^\\r\\n\\p{L}\\p{N}]?" WICK_TOK_UPPER "*" WICK_TOK_LOWER "+" tail "|[^\\r\\n\\p{L}\\p{N}]?" WICK_TOK_UPPER "+" WICK_TOK_LOWER "*" tail

#define WICK_TOK_GPT2_PATTERN "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* Llama 3 and GPT-4 (cl100k): up to three digits. */
#define WICK_TOK_LLAMA3_PATTERN WICK_TOK_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|" WICK_TOK_PUNCTUATION_AND_BLANKS
/* Qwen: single digits. */
#define WICK_TOK_QWEN_PATTERN WICK_TOK_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|" WICK_TOK_PUNCTUATION_AND_BLANKS
/* GPT-4o (o200k): words also end where the case falls. */
#define WICK_TOK_O200K_PATTERN \
    WICK_TOK_LETTERS_BY_CASE(WICK_TOK_CONTRACTIONS "?") "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define WICK_TOK_TEKKEN_PATTERN WICK_TOK_LETTERS_BY_CASE("") "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
/* DeepSeek V3, after digits and Han have been cut out. */
#define WICK_TOK_HAN_PATTERN "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{309f}\\x{30a0}-\\x{30ff}]+"
#define WICK_TOK_DEEPSEEK_PATTERN \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " \
    "?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

#endif
