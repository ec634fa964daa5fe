/* tok/tok.h - text to token ids and back: Hugging Face tokenizer.json (BPE), GGUF vocabularies, llama2.c .bin, tiktoken.
 *
 * A wick_tok is immutable once made: any number of threads may encode and decode with one. Ids are in
 * [0, wick_tok_vocab_size()); some may be holes, which decode to nothing. */
#ifndef WICK_TOK_TOK_H
#define WICK_TOK_TOK_H

#include "base/str.h"

struct wick_tok;

/* ---- lists of ids ---- */

/* A growable list on the heap. Zero-initialise. `failed` sticks after an allocation failure. */
struct wick_ids {
    int32_t *data;
    size_t count, capacity;
    bool failed;
};

void wick_ids_push(struct wick_ids *ids, int32_t id);
void wick_ids_free(struct wick_ids *ids);

/* ---- making and freeing ---- */

/* Reads a file, or `tokenizer.json` of a folder. The format is told by content (formats.def). Beside a tokenizer.json,
 * tokenizer_config.json and special_tokens_map.json name BOS and EOS where they exist. Errors: INVALID_TOKENIZER,
 * NOT_SUPPORTED (a component this library does not have, by name), NOT_FOUND, OUT_OF_MEMORY. */
wick_status wick_tok_load(struct wick_tok **tok, const char *path, wick_error *err) WICK_MUST_CHECK;
/* The same from memory (not kept); `name` opens the error texts. */
wick_status wick_tok_load_memory(struct wick_tok **tok, const void *data, size_t size, const char *name, wick_error *err) WICK_MUST_CHECK;
void wick_tok_free(struct wick_tok *tok); /* NULL allowed */

/* Token types as GGUF numbers them (tokenizer.ggml.token_type). */
enum wick_tok_type {
    WICK_TOK_TYPE_NORMAL = 1,
    WICK_TOK_TYPE_UNKNOWN = 2,
    WICK_TOK_TYPE_CONTROL = 3,
    WICK_TOK_TYPE_USER_DEFINED = 4,
    WICK_TOK_TYPE_UNUSED = 5,
    WICK_TOK_TYPE_BYTE = 6,
};

/* A vocabulary as a GGUF file embeds it; everything is borrowed for the call. */
struct wick_tok_vocab {
    struct wick_str model;         /* tokenizer.ggml.model: "gpt2" (byte-level BPE) or "llama" (SentencePiece BPE) */
    struct wick_str pre;           /* tokenizer.ggml.pre; empty: "default" */
    size_t count;
    const struct wick_str *tokens; /* [count] */
    const int32_t *types;          /* [count], enum wick_tok_type; NULL: all normal */
    const float *scores;           /* [count]; needed by "llama" */
    size_t merge_count;
    const struct wick_str *merges; /* [merge_count] "left right"; needed by "gpt2" */
    int32_t bos, eos;              /* -1: none */
    bool add_bos, add_eos;
    bool no_space_prefix;          /* "llama": tokenizer.ggml.add_space_prefix is false */
};

wick_status wick_tok_from_vocab(struct wick_tok **tok, const struct wick_tok_vocab *vocab, wick_error *err) WICK_MUST_CHECK;
/* Appends the vocabulary as a Hugging Face tokenizer.json that gives the same ids. */
wick_status wick_tok_vocab_to_json(const struct wick_tok_vocab *vocab, struct wick_buf *out, wick_error *err) WICK_MUST_CHECK;

/* ---- encode ---- */

enum wick_tok_encode_flags {
    WICK_TOK_SPECIAL = 1, /* text may name special tokens; without it they are plain text */
};

/* Appends the ids of text[0..size). Adds no BOS or EOS. Time is near linear in size whatever the text holds. Bytes that are not
 * UTF-8 get the ids of single bytes; where the vocabulary has none, INVALID_ARGUMENT. On failure `out` is as before. */
wick_status wick_tok_encode(const struct wick_tok *tok, const char *text, size_t size, unsigned flags, struct wick_ids *out, wick_error *err)
    WICK_MUST_CHECK;

/* The ids of parts that form one text: words and merges go over their borders, but special tokens are only seen where they lie within trusted parts
 * (adjacent ones count as one). So what a part that is not trusted spells is text, whatever it spells. */
struct wick_tok_part {
    const char *data;
    size_t size;
    bool trusted;
};
wick_status wick_tok_encode_parts(const struct wick_tok *tok, const struct wick_tok_part *parts, size_t count, struct wick_ids *out,
                                  wick_error *err) WICK_MUST_CHECK;

/* ---- decode ---- */

enum wick_tok_decode_flags {
    WICK_TOK_SKIP_SPECIAL = 1, /* special tokens print nothing */
    WICK_TOK_CONTINUE = 2,     /* the ids go on after other text: no leading blank is stripped */
};

/* Appends the text of a whole sequence. It is always UTF-8: bytes that form no character become U+FFFD. Ids outside the
 * vocabulary and holes print nothing. */
wick_status wick_tok_decode(const struct wick_tok *tok, const int32_t *ids, size_t count, unsigned flags, struct wick_buf *out, wick_error *err)
    WICK_MUST_CHECK;

/* Decoding token by token. The pieces never split a character, and together with the flush they are exactly what wick_tok_decode
 * gives for the whole sequence. Holds no memory: copy it to fork, drop it to end. */
struct wick_tok_stream {
    const struct wick_tok *tok;
    unsigned flags;
    bool begun;          /* a token has been fed */
    uint32_t strip_left; /* leading blanks still to drop */
    uint32_t held;       /* trailing blanks that will be dropped if nothing follows */
    uint32_t pending_size;
    char pending[4];     /* begin of a character */
};

void wick_tok_stream_init(struct wick_tok_stream *stream, const struct wick_tok *tok, unsigned flags);
/* Appends what became complete; check out->failed at the end. */
void wick_tok_stream_feed(struct wick_tok_stream *stream, int32_t id, struct wick_buf *out);
void wick_tok_stream_flush(struct wick_tok_stream *stream, struct wick_buf *out);

/* ---- facts ---- */

const char *wick_tok_format(const struct wick_tok *tok);      /* "hf_json", "gguf", "llama2c", "tiktoken" */
int32_t wick_tok_vocab_size(const struct wick_tok *tok);      /* 1 + the highest id */
int32_t wick_tok_id_of(const struct wick_tok *tok, struct wick_str piece); /* by the file's spelling ("\u0120the"); -1: none */
struct wick_str wick_tok_piece(const struct wick_tok *tok, int32_t id);    /* the file's spelling; data NULL: no such id */
bool wick_tok_is_special(const struct wick_tok *tok, int32_t id);
/* The begin-of-sequence id: what the file prescribes or names, else a well-known name; -1: none. */
int32_t wick_tok_bos(const struct wick_tok *tok);
/* The ids that end an answer, the file's own EOS first, then further well-known ends of turn; lives as long as tok. */
const int32_t *wick_tok_eos(const struct wick_tok *tok, size_t *count);
/* What the file prescribes before and after a text (post-processor, add_bos); lives as long as tok. */
const int32_t *wick_tok_prefix(const struct wick_tok *tok, size_t *count);
const int32_t *wick_tok_suffix(const struct wick_tok *tok, size_t *count);
bool wick_tok_adds_bos(const struct wick_tok *tok);

#endif
