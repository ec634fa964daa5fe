/* tok/gguf.h - vocabularies embedded in GGUF files: gguf_vocab.c builds a tokenizer from one, gguf_json.c writes it down. */
#ifndef WICK_TOK_GGUF_H
#define WICK_TOK_GGUF_H

#include "tok/model.h"

/* A row of pretokenizers.def. */
struct wick_tok_pre {
    const char *name;
    bool nfc, ignore_merges, gpt2;
    const char *patterns[4]; /* up to the first NULL */
};

enum wick_tok_gguf_model { WICK_TOK_GGUF_BYTE_LEVEL, WICK_TOK_GGUF_SENTENCE_PIECE };

/* Which kind a vocabulary is, and its row (NULL for WICK_TOK_GGUF_SENTENCE_PIECE). Unknown names are NOT_SUPPORTED. */
wick_status wick_tok_gguf_kind(const struct wick_tok_vocab *vocab, enum wick_tok_gguf_model *model, const struct wick_tok_pre **pre,
                               wick_error *err) WICK_MUST_CHECK;

#endif
