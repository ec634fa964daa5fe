/* tok/tiktoken.c - tiktoken files: a line a token, "base64(bytes) rank"; the rank is the id and the order of merging.
 *
 * Such a file holds neither its split pattern nor its special tokens. They are known for the published vocabularies, which are
 * told by their size (presets below); anything else is read as ExecuTorch reads it, like Llama 3's. */
#include "tok/base64.h"
#include "tok/model.h"
#include "tok/patterns.h"

#include <stdio.h>
#include <stdlib.h>

/* Special tokens have the ids from the number of base tokens on: the names in order, then as many numbered ones, by a format
 * with %zu, as make `total`. An empty name is an unused id. */
struct preset {
    size_t base; /* 0: any */
    const char *pattern;
    const char *const *names;
    size_t name_count, total;
    const char *numbered;
    size_t first_number;
    size_t bos, eos; /* places in the list; SIZE_MAX: none */
};

static const char *const llama3_names[] = {"<|begin_of_text|>",
                                           "<|end_of_text|>",
                                           "<|reserved_special_token_0|>",
                                           "<|reserved_special_token_1|>",
                                           "<|finetune_right_pad_id|>",
                                           "<|step_id|>",
                                           "<|start_header_id|>",
                                           "<|end_header_id|>",
                                           "<|eom_id|>",
                                           "<|eot_id|>",
                                           "<|python_tag|>"};
static const char *const qwen_names[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
static const char *const cl100k_names[] = {"", "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"};
static const char *const o200k_names[] = {"", "<|endoftext|>"};

static const struct preset presets[] = {
    {151643, WICK_TOK_QWEN_PATTERN, qwen_names, WICK_ARRAY_SIZE(qwen_names), 208, "<|extra_%zu|>", 0, SIZE_MAX, 0},
    {100256, WICK_TOK_LLAMA3_PATTERN, cl100k_names, WICK_ARRAY_SIZE(cl100k_names), 5, NULL, 0, SIZE_MAX, 1},
    {199998, WICK_TOK_O200K_PATTERN, o200k_names, WICK_ARRAY_SIZE(o200k_names), 2, NULL, 0, SIZE_MAX, 1},
    {0, WICK_TOK_LLAMA3_PATTERN, llama3_names, WICK_ARRAY_SIZE(llama3_names), 256, "<|reserved_special_token_%zu|>", 2, 0, 1},
};

struct line {
    struct wick_str base64;
    int32_t rank;
};

/* The line at *at, which moves on; false: it is none. Blank lines are passed over; line->rank -1: the file ends. */
static bool next_line(struct wick_str data, size_t *at, struct line *line)
{
    while (*at < data.size && (data.data[*at] == '\n' || data.data[*at] == '\r')) ++*at;
    line->rank = -1;
    if (*at == data.size) return true;
    size_t begin = *at, end = begin;
    while (end < data.size && data.data[end] != ' ' && data.data[end] != '\n') end++;
    line->base64 = (struct wick_str){data.data + begin, end - begin};
    size_t digit = end + 1, rank = 0;
    while (digit < data.size && data.data[digit] >= '0' && data.data[digit] <= '9' && rank < WICK_TOK_ID_LIMIT)
        rank = rank * 10 + (size_t)(data.data[digit++] - '0');
    bool ends = digit >= data.size || data.data[digit] == '\n' || data.data[digit] == '\r';
    if (digit <= end + 1 || !ends || rank >= WICK_TOK_ID_LIMIT) return false;
    line->rank = (int32_t)rank;
    *at = digit;
    return true;
}

bool wick_tok_tiktoken_probe(struct wick_str data)
{
    struct wick_buf bytes = {0};
    struct line line;
    size_t at = 0;
    bool ok = next_line(data, &at, &line) && line.rank >= 0 && line.base64.size <= 65536 && wick_tok_base64(line.base64, &bytes);
    wick_buf_free(&bytes);
    return ok;
}

/* Counts the lines and finds the highest rank; with `tok`, enters them. */
static wick_status read_lines(struct wick_tok *tok, struct wick_str data, struct wick_buf *bytes, size_t *count, int32_t *highest, wick_error *err)
{
    struct wick_buf piece = {0};
    wick_status status = WICK_OK;
    *count = 0;
    for (size_t at = 0; status == WICK_OK; ++*count) {
        struct line line;
        bool ok = next_line(data, &at, &line);
        if (ok && line.rank < 0) break;
        if (!ok || !wick_tok_base64(line.base64, bytes)) {
            status = wick_fail(err, WICK_INVALID_TOKENIZER, "byte %zu, token %zu: a line \"base64 rank\" expected", at, *count);
            break;
        }
        *highest = WICK_MAX(*highest, line.rank);
        if (!tok) continue;
        piece.size = 0;
        for (size_t i = 0; i < bytes->size; i++) {
            char mapped[4];
            wick_buf_append(&piece, mapped, wick_utf8_put(wick_tok_byte_char((uint8_t)bytes->data[i]), mapped));
        }
        status = piece.failed || bytes->failed ? wick_fail_oom(err, bytes->size, "a piece")
                                               : wick_tok_set_piece(tok, line.rank, (struct wick_str){piece.data, piece.size}, err);
    }
    wick_buf_free(&piece);
    return status;
}

static wick_status add_specials(struct wick_tok *tok, const struct preset *preset, size_t base, wick_error *err)
{
    size_t number = preset->first_number;
    for (size_t i = 0; i < preset->total; i++) {
        char name[64];
        if (i < preset->name_count) snprintf(name, sizeof name, "%s", preset->names[i]);
        else snprintf(name, sizeof name, preset->numbered, number++);
        if (!name[0]) continue;
        struct wick_tok_added added = {.content = wick_str_of(name), .id = (int32_t)(base + i), .special = true};
        WICK_TRY(wick_tok_add_added(tok, &added, err));
    }
    if (preset->bos != SIZE_MAX) {
        tok->bos = (int32_t)(base + preset->bos);
        WICK_TRY(wick_tok_list_add(tok, &tok->prefix, tok->bos, true, err));
    }
    return wick_tok_list_add(tok, &tok->eos, (int32_t)(base + preset->eos), true, err);
}

static wick_status fill(struct wick_tok *tok, struct wick_str data, struct wick_buf *bytes, wick_error *err)
{
    const struct preset *preset = presets;
    size_t count = 0;
    int32_t highest = -1;
    WICK_TRY(read_lines(NULL, data, bytes, &count, &highest, err));
    size_t base = (size_t)highest + 1;
    while (preset->base && preset->base != base) preset++;
    if (base + preset->total > WICK_TOK_ID_LIMIT) return wick_fail(err, WICK_INVALID_TOKENIZER, "rank %d is too large", highest);
    WICK_TRY(wick_tok_reserve(tok, (int32_t)(base + preset->total), count, preset->total, err));
    WICK_TRY(read_lines(tok, data, bytes, &count, &highest, err));
    WICK_TRY(wick_tok_add_split(tok, wick_str_of(preset->pattern), WICK_TOK_RUST, err));
    WICK_TRY(wick_tok_add_byte_level(tok, false, false, err));
    tok->ignore_merges = true; /* a piece that is a token is taken whole */
    tok->decoder.byte_level = true;
    WICK_TRY(wick_tok_finish_vocab(tok, err));
    uint32_t *ranks = calloc(base + preset->total, sizeof *ranks);
    if (!ranks) return wick_fail_oom(err, base, "ranks");
    for (size_t i = 0; i < base + preset->total; i++) ranks[i] = i < base ? (uint32_t)i : UINT32_MAX;
    wick_status status = wick_tok_merges_from_ranks(tok, ranks, err);
    free(ranks);
    if (status != WICK_OK) return status;
    WICK_TRY(add_specials(tok, preset, base, err));
    return wick_tok_finish(tok, err);
}

wick_status wick_tok_tiktoken_load(struct wick_tok *tok, struct wick_str data, const char *path, wick_error *err)
{
    struct wick_buf bytes = {0};
    (void)path;
    wick_status status = fill(tok, data, &bytes, err);
    wick_buf_free(&bytes);
    return status;
}
