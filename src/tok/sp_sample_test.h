/* tok/sp_sample_test.h - small SentencePiece models for tests, written field by field. */
#ifndef WICK_TOK_SP_SAMPLE_H
#define WICK_TOK_SP_SAMPLE_H

#include "tok/sample_test.h"

struct sp_piece {
    const char *text; /* up to NULL */
    float score;
    int type; /* enum wick_tok_type; 0: normal */
};

struct sp_model {
    const struct sp_piece *pieces;
    int model; /* 1 Unigram, 2 BPE, 3 words, 4 characters */
    bool byte_fallback, suffix, no_prefix, keep_blanks, no_escape;
    struct wick_str charsmap;
};

static inline void sp_varint(struct wick_buf *out, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)(value & 127) | (value > 127 ? 128 : 0);
        wick_buf_append(out, &byte, 1);
        value >>= 7;
    } while (value);
}

static inline void sp_number(struct wick_buf *out, uint32_t field, uint64_t value)
{
    sp_varint(out, (uint64_t)field << 3);
    sp_varint(out, value);
}

static inline void sp_bytes(struct wick_buf *out, uint32_t field, struct wick_str bytes)
{
    sp_varint(out, (uint64_t)field << 3 | 2);
    sp_varint(out, bytes.size);
    wick_buf_append(out, bytes.data, bytes.size);
}

static inline void sp_message(struct wick_buf *out, uint32_t field, struct wick_buf *message)
{
    sp_bytes(out, field, (struct wick_str){message->data, message->size});
    wick_buf_free(message);
}

static inline void sp_write(const struct sp_model *model, struct wick_buf *out)
{
    struct wick_buf trainer = {0}, normalizer = {0};
    for (const struct sp_piece *p = model->pieces; p->text; p++) {
        struct wick_buf piece = {0};
        sp_bytes(&piece, 1, wick_str_of(p->text));
        sp_varint(&piece, 2 << 3 | 5);
        wick_buf_append(&piece, &p->score, 4);
        sp_number(&piece, 3, p->type ? (uint64_t)p->type : WICK_TOK_TYPE_NORMAL);
        sp_message(out, 1, &piece);
    }
    sp_number(&trainer, 3, (uint64_t)model->model);
    sp_number(&trainer, 24, model->suffix);
    sp_number(&trainer, 35, model->byte_fallback);
    sp_message(out, 2, &trainer);
    if (model->charsmap.size) sp_bytes(&normalizer, 2, model->charsmap);
    sp_number(&normalizer, 3, !model->no_prefix);
    sp_number(&normalizer, 4, !model->keep_blanks);
    sp_number(&normalizer, 5, !model->no_escape);
    sp_message(out, 3, &normalizer);
}

static inline wick_status sp_load(const struct sp_model *model, struct wick_tok **tok, wick_error *err)
{
    struct wick_buf file = {0};
    sp_write(model, &file);
    wick_status status = wick_tok_load_memory(tok, file.data, file.size, "sample", err);
    wick_buf_free(&file);
    return status;
}

static inline struct wick_tok *sp_open(const struct sp_model *model)
{
    struct wick_tok *tok = NULL;
    wick_error err;
    WICK_ASSERT_OK(sp_load(model, &tok, &err), &err);
    return tok;
}

/* Rules that replace A by "a b" and leave all else. */
static inline struct wick_str sp_charsmap(void)
{
    static char blob[4 + 4 * 512 + 4];
    uint32_t size = 4 * 512, root = 256u << 10, leaf = 'A' | 1u << 8 | 3u << 10, value = 1u << 31;
    memcpy(blob, &size, 4);
    memcpy(blob + 4, &root, 4);
    memcpy(blob + 4 + 4 * (256 ^ 'A'), &leaf, 4);
    memcpy(blob + 4 + 4 * ((256 ^ 'A') ^ 3), &value, 4);
    memcpy(blob + 4 + size, "a b", 4);
    return (struct wick_str){blob, sizeof blob};
}

#endif
