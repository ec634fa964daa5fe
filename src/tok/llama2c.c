/* tok/llama2c.c - llama2.c's tokenizer.bin, in ExecuTorch's form (a header of four int32: vocabulary size, BOS, EOS, longest
 * piece) and in the original's (one int32: longest piece). After it, per token, float32 score, int32 length, the bytes; all
 * little-endian. Any two symbols merge whose join is a piece, best score first. */
#include "tok/model.h"

#include <stdlib.h>

enum { PIECE_LIMIT = 1 << 20, FIRST_BYTE_ID = 3 };

static int32_t int_at(struct wick_str data, size_t at)
{
    const unsigned char *p = (const unsigned char *)data.data + at;
    return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

struct entry {
    float score;
    struct wick_str piece;
};

/* The entry at *at, which moves on; false: the file ends or breaks off within it. */
static bool next_entry(struct wick_str data, size_t *at, struct entry *entry)
{
    if (data.size - *at < 8) return false;
    uint32_t bits = (uint32_t)int_at(data, *at);
    int32_t size = int_at(data, *at + 4);
    if (size < 0 || size > PIECE_LIMIT || (size_t)size > data.size - *at - 8) return false;
    memcpy(&entry->score, &bits, sizeof bits);
    entry->piece = (struct wick_str){data.data + *at + 8, (size_t)size};
    *at += 8 + (size_t)size;
    return true;
}

struct layout {
    size_t begin;   /* of the entries */
    size_t entries; /* in the file */
    int32_t count;  /* announced */
    int32_t bos, eos;
};

static bool executorch_layout(struct wick_str data, struct layout *layout)
{
    struct entry entry;
    size_t at = 16;
    if (data.size < 16) return false;
    *layout = (struct layout){.begin = 16, .count = int_at(data, 0), .bos = int_at(data, 4), .eos = int_at(data, 8)};
    int32_t longest = int_at(data, 12);
    if (layout->count < 1 || layout->count > WICK_TOK_ID_LIMIT || longest < 0 || longest > PIECE_LIMIT) return false;
    /* A file with fewer entries than announced is accepted; one that breaks off within an entry is not. */
    while ((int32_t)layout->entries < layout->count && next_entry(data, &at, &entry)) layout->entries++;
    return at == data.size && layout->entries > 0;
}

static bool original_layout(struct wick_str data, struct layout *layout)
{
    struct entry entry;
    size_t at = 4;
    if (data.size < 4) return false;
    *layout = (struct layout){.begin = 4, .bos = 1, .eos = 2};
    int32_t longest = int_at(data, 0);
    if (longest < 1 || longest > PIECE_LIMIT) return false;
    while (layout->entries < WICK_TOK_ID_LIMIT && next_entry(data, &at, &entry)) {
        if (entry.piece.size > (size_t)longest) return false;
        layout->entries++;
    }
    layout->count = (int32_t)layout->entries;
    return at == data.size && layout->entries > 0;
}

bool wick_tok_llama2c_probe(struct wick_str data)
{
    struct layout layout;
    return executorch_layout(data, &layout) || original_layout(data, &layout);
}

static wick_status read_entries(struct wick_tok *tok, struct wick_str data, const struct layout *layout, float *scores, wick_error *err)
{
    size_t at = layout->begin;
    struct entry entry;
    for (int32_t id = 0; id < (int32_t)layout->entries && next_entry(data, &at, &entry); id++) {
        scores[id] = entry.score;
        WICK_TRY(wick_tok_set_listed(tok, id, entry.piece, true, err));
    }
    return WICK_OK;
}

/* BOS or EOS: text may name it only where special tokens are asked for. */
static wick_status add_end(struct wick_tok *tok, int32_t id, wick_error *err)
{
    if (id < 0 || id >= tok->limit || !tok->piece[id].data) return WICK_OK;
    struct wick_tok_added added = {.content = tok->piece[id], .id = id, .special = true};
    WICK_TRY(wick_tok_add_added(tok, &added, err));
    tok->flags[id] |= WICK_TOK_IS_SPECIAL;
    return WICK_OK;
}

static wick_status set_pipeline(struct wick_tok *tok, wick_error *err)
{
    struct wick_tok_step *step;
    WICK_TRY(wick_tok_add_step(tok, &tok->normalizers, &step, err));
    step->kind = WICK_TOK_PREPEND;
    step->content = WICK_STR(" ");
    tok->decoder = (struct wick_tok_decoder){.byte_fallback = true, .strip = WICK_STR(" "), .strip_start = 1, .strip_past_special = true};
    return WICK_OK;
}

static wick_status fill(struct wick_tok *tok, struct wick_str data, const struct layout *layout, float *scores, uint32_t *ranks, wick_error *err)
{
    WICK_TRY(wick_tok_reserve(tok, layout->count, layout->entries, 2, err));
    WICK_TRY(read_entries(tok, data, layout, scores, err));
    WICK_TRY(set_pipeline(tok, err));
    tok->byte_fallback = true;
    WICK_TRY(wick_tok_finish_vocab(tok, err));
    /* The format knows byte tokens by their place, not by their spelling. */
    for (int32_t b = 0; b < 256; b++)
        tok->byte_ids[b] = b + FIRST_BYTE_ID < tok->limit && tok->piece[b + FIRST_BYTE_ID].data ? b + FIRST_BYTE_ID : -1;
    for (int32_t id = (int32_t)layout->entries; id < layout->count; id++) ranks[id] = UINT32_MAX;
    WICK_TRY(wick_tok_ranks_of_scores(scores, layout->entries, ranks, err));
    WICK_TRY(wick_tok_merges_from_ranks(tok, ranks, err));
    WICK_TRY(add_end(tok, layout->bos, err));
    WICK_TRY(add_end(tok, layout->eos, err));
    if (wick_tok_is_special(tok, layout->bos)) {
        tok->bos = layout->bos;
        WICK_TRY(wick_tok_list_add(tok, &tok->prefix, tok->bos, true, err));
    }
    if (wick_tok_is_special(tok, layout->eos)) WICK_TRY(wick_tok_list_add(tok, &tok->eos, layout->eos, true, err));
    return wick_tok_finish(tok, err);
}

wick_status wick_tok_llama2c_load(struct wick_tok *tok, struct wick_str data, const char *path, wick_error *err)
{
    struct layout layout;
    (void)path;
    if (!executorch_layout(data, &layout) && !original_layout(data, &layout))
        return wick_fail(err, WICK_INVALID_TOKENIZER, "llama2.c vocabulary: does not end with an entry");
    float *scores = calloc((size_t)layout.entries, sizeof *scores);
    uint32_t *ranks = calloc((size_t)layout.count, sizeof *ranks);
    wick_status status = scores && ranks ? fill(tok, data, &layout, scores, ranks, err) : wick_fail_oom(err, layout.entries, "scores");
    free(scores);
    free(ranks);
    return status;
}
