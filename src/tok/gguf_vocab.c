/* tok/gguf_vocab.c - a tokenizer from the vocabulary of a GGUF file: byte-level BPE ("gpt2") by its list of merges, SentencePiece
 * BPE ("llama") by its scores. */
#include "tok/gguf.h"
#include "tok/patterns.h"

#include <stdlib.h>

static const struct wick_tok_pre pre_table[] = {
#define WICK_TOK_PRE(name, nfc, ignore_merges, gpt2, ...) {name, nfc, ignore_merges, gpt2, {__VA_ARGS__}},
#include "tok/pretokenizers.def"
#undef WICK_TOK_PRE
};

static const char *const pre_names[] = {
#define WICK_TOK_PRE(name, ...) name,
#include "tok/pretokenizers.def"
#undef WICK_TOK_PRE
    NULL};

static const char mark[] = "\xe2\x96\x81"; /* SentencePiece's blank */

wick_status wick_tok_gguf_kind(const struct wick_tok_vocab *vocab, enum wick_tok_gguf_model *model, const struct wick_tok_pre **pre, wick_error *err)
{
    struct wick_str name = vocab->pre.size ? vocab->pre : WICK_STR("default");
    *pre = NULL;
    *model = WICK_TOK_GGUF_SENTENCE_PIECE;
    if (wick_str_is(vocab->model, "llama")) return WICK_OK;
    if (!wick_str_is(vocab->model, "gpt2")) {
        return wick_fail(err, WICK_NOT_SUPPORTED, "tokenizer.ggml.model: \"%.*s\" is not supported (supported: gpt2, llama)",
                         (int)WICK_MIN(vocab->model.size, 60), vocab->model.data ? vocab->model.data : "");
    }
    *model = WICK_TOK_GGUF_BYTE_LEVEL;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(pre_table); i++) {
        if (!wick_str_is(name, pre_table[i].name)) continue;
        *pre = &pre_table[i];
        return WICK_OK;
    }
    char text[64];
    size_t size = WICK_MIN(name.size, sizeof text - 1);
    memcpy(text, name.data, size);
    text[size] = 0;
    const char *near = wick_nearest_name(text, pre_names);
    return wick_fail(err, WICK_NOT_SUPPORTED, "tokenizer.ggml.pre: \"%s\" is not supported%s%s%s", text, near ? "; did you mean \"" : "",
                     near ? near : "", near ? "\"?" : "");
}

static int32_t type_of(const struct wick_tok_vocab *vocab, size_t id) { return vocab->types ? vocab->types[id] : WICK_TOK_TYPE_NORMAL; }

static bool is_special(int32_t type) { return type == WICK_TOK_TYPE_CONTROL || type == WICK_TOK_TYPE_UNKNOWN; }

static wick_status check(const struct wick_tok_vocab *vocab, enum wick_tok_gguf_model model, wick_error *err)
{
    if (vocab->count == 0 || !vocab->tokens) return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.tokens: missing");
    if (vocab->count >= WICK_TOK_ID_LIMIT)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.tokens: %zu are more than the %d allowed", vocab->count, WICK_TOK_ID_LIMIT);
    if (model == WICK_TOK_GGUF_BYTE_LEVEL && vocab->merge_count && !vocab->merges)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.merges: missing");
    if (model == WICK_TOK_GGUF_SENTENCE_PIECE && !vocab->scores) return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.scores: missing");
    for (size_t i = 0; i < vocab->count; i++) {
        int32_t type = type_of(vocab, i);
        if (vocab->tokens[i].size > INT32_MAX) return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.tokens[%zu]: too long", i);
        if (type < 0 || type > WICK_TOK_TYPE_BYTE)
            return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.token_type[%zu]: %d is no type", i, type);
        if (type == WICK_TOK_TYPE_BYTE && wick_tok_byte_of(vocab->tokens[i]) < 0) {
            return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.tokens[%zu]: \"%.*s\" is no byte token <0xHH>", i,
                             (int)WICK_MIN(vocab->tokens[i].size, 60), vocab->tokens[i].data);
        }
    }
    return WICK_OK;
}

static wick_status add_pieces(struct wick_tok *tok, const struct wick_tok_vocab *vocab, wick_error *err)
{
    size_t added = 0;
    for (size_t i = 0; i < vocab->count; i++) added += is_special(type_of(vocab, i)) || type_of(vocab, i) == WICK_TOK_TYPE_USER_DEFINED;
    WICK_TRY(wick_tok_reserve(tok, (int32_t)vocab->count, vocab->count, added, err));
    for (size_t i = 0; i < vocab->count; i++) {
        int32_t type = type_of(vocab, i);
        bool in_model = !is_special(type) && type != WICK_TOK_TYPE_UNUSED;
        struct wick_str piece = vocab->tokens[i].data ? vocab->tokens[i] : WICK_STR("");
        WICK_TRY(wick_tok_set_listed(tok, (int32_t)i, piece, in_model, err));
    }
    return WICK_OK;
}

static wick_status add_specials(struct wick_tok *tok, const struct wick_tok_vocab *vocab, wick_error *err)
{
    for (size_t i = 0; i < vocab->count; i++) {
        int32_t type = type_of(vocab, i);
        struct wick_tok_added token = {.content = vocab->tokens[i], .id = (int32_t)i, .special = is_special(type)};
        if (token.special || type == WICK_TOK_TYPE_USER_DEFINED) WICK_TRY(wick_tok_add_added(tok, &token, err));
        if (type == WICK_TOK_TYPE_UNKNOWN && tok->unk < 0) tok->unk = (int32_t)i;
    }
    return WICK_OK;
}

/* "left right": the blank is the first one behind the first byte. A merge of unknown pieces can never happen and is left out. */
static wick_status add_merges(struct wick_tok *tok, const struct wick_tok_vocab *vocab, wick_error *err)
{
    struct wick_buf join = {0};
    wick_status status = WICK_OK;
    if (vocab->merge_count > UINT32_MAX / 4 || !wick_tok_pairs_init(&tok->pairs, &tok->arena, vocab->merge_count, tok->seed))
        return wick_fail_oom(err, vocab->merge_count, "merges");
    for (size_t i = 0; i < vocab->merge_count; i++) {
        struct wick_str line = vocab->merges[i];
        const char *blank = line.size > 1 ? memchr(line.data + 1, ' ', line.size - 1) : NULL;
        if (!blank) {
            status = wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml.merges[%zu]: two pieces with a blank between them expected", i);
            break;
        }
        struct wick_str left = {line.data, (size_t)(blank - line.data)}, right = {blank + 1, line.size - left.size - 1};
        join.size = 0;
        wick_buf_append(&join, left.data, left.size);
        wick_buf_append(&join, right.data, right.size);
        if (join.failed) {
            status = wick_fail_oom(err, line.size, "merges");
            break;
        }
        int32_t a = wick_tok_id_of(tok, left), b = wick_tok_id_of(tok, right), c = wick_tok_id_of(tok, (struct wick_str){join.data, join.size});
        if (a >= 0 && b >= 0 && c >= 0) wick_tok_pairs_set(&tok->pairs, a, b, (uint32_t)i, c);
    }
    wick_buf_free(&join);
    return status;
}

static wick_status fill_byte_level(struct wick_tok *tok, const struct wick_tok_vocab *vocab, const struct wick_tok_pre *pre, wick_error *err)
{
    struct wick_tok_step *step;
    if (pre->nfc) {
        WICK_TRY(wick_tok_add_step(tok, &tok->normalizers, &step, err));
        step->kind = WICK_TOK_FORM;
        step->form = WICK_TOK_NFC;
    }
    for (size_t i = 0; i < WICK_ARRAY_SIZE(pre->patterns) && pre->patterns[i]; i++)
        WICK_TRY(wick_tok_add_split(tok, wick_str_of(pre->patterns[i]), WICK_TOK_ONIGURUMA, err));
    WICK_TRY(wick_tok_add_byte_level(tok, false, pre->gpt2, err));
    tok->ignore_merges = pre->ignore_merges;
    tok->decoder.byte_level = true;
    WICK_TRY(wick_tok_finish_vocab(tok, err));
    return add_merges(tok, vocab, err);
}

static wick_status fill_sentence_piece(struct wick_tok *tok, const struct wick_tok_vocab *vocab, wick_error *err)
{
    struct wick_tok_step *step;
    if (!vocab->no_space_prefix) {
        WICK_TRY(wick_tok_add_step(tok, &tok->normalizers, &step, err));
        step->kind = WICK_TOK_PREPEND;
        step->content = wick_str_of(mark);
    }
    WICK_TRY(wick_tok_add_step(tok, &tok->normalizers, &step, err));
    *step = (struct wick_tok_step){
        .kind = WICK_TOK_REPLACE, .content = wick_str_of(mark), .pattern = {.kind = WICK_TOK_BY_STRING, .string = WICK_STR(" ")}};
    WICK_TRY(wick_tok_add_step(tok, &tok->decoder.replaces, &step, err));
    *step = (struct wick_tok_step){
        .kind = WICK_TOK_REPLACE, .content = WICK_STR(" "), .pattern = {.kind = WICK_TOK_BY_STRING, .string = wick_str_of(mark)}};
    tok->byte_fallback = tok->fuse_unk = tok->decoder.byte_fallback = true;
    tok->decoder.strip = WICK_STR(" ");
    tok->decoder.strip_start = vocab->no_space_prefix ? 0 : 1;
    WICK_TRY(wick_tok_finish_vocab(tok, err));
    uint32_t *ranks = calloc(vocab->count, sizeof *ranks);
    if (!ranks) return wick_fail_oom(err, vocab->count, "ranks");
    wick_status status = wick_tok_ranks_of_scores(vocab->scores, vocab->count, ranks, err);
    for (size_t i = 0; i < vocab->count; i++) {
        int32_t type = type_of(vocab, i);
        if (type != WICK_TOK_TYPE_NORMAL && type != WICK_TOK_TYPE_USER_DEFINED) ranks[i] = UINT32_MAX;
    }
    if (status == WICK_OK) status = wick_tok_merges_from_ranks(tok, ranks, err);
    free(ranks);
    return status;
}

static wick_status add_ends(struct wick_tok *tok, const struct wick_tok_vocab *vocab, wick_error *err)
{
    bool bos = vocab->bos >= 0, eos = vocab->eos >= 0;
    if ((bos && vocab->bos >= tok->limit) || (eos && vocab->eos >= tok->limit)) {
        return wick_fail(err, WICK_INVALID_TOKENIZER, "tokenizer.ggml: bos %d or eos %d is not in [0, %d)", vocab->bos, vocab->eos, tok->limit);
    }
    tok->bos = bos ? vocab->bos : -1;
    if (bos && vocab->add_bos) WICK_TRY(wick_tok_list_add(tok, &tok->prefix, vocab->bos, true, err));
    if (eos && vocab->add_eos) WICK_TRY(wick_tok_list_add(tok, &tok->suffix, vocab->eos, true, err));
    return eos ? wick_tok_list_add(tok, &tok->eos, vocab->eos, true, err) : WICK_OK;
}

static wick_status fill(struct wick_tok *tok, const struct wick_tok_vocab *vocab, wick_error *err)
{
    enum wick_tok_gguf_model model;
    const struct wick_tok_pre *pre;
    WICK_TRY(wick_tok_gguf_kind(vocab, &model, &pre, err));
    WICK_TRY(check(vocab, model, err));
    WICK_TRY(add_pieces(tok, vocab, err));
    if (model == WICK_TOK_GGUF_BYTE_LEVEL) WICK_TRY(fill_byte_level(tok, vocab, pre, err));
    else WICK_TRY(fill_sentence_piece(tok, vocab, err));
    WICK_TRY(add_specials(tok, vocab, err));
    WICK_TRY(add_ends(tok, vocab, err));
    return wick_tok_finish(tok, err);
}

wick_status wick_tok_from_vocab(struct wick_tok **out, const struct wick_tok_vocab *vocab, wick_error *err)
{
    struct wick_tok *tok = wick_tok_new();
    *out = NULL;
    if (!tok) return wick_fail_oom(err, sizeof *tok, "a tokenizer");
    tok->format = "gguf";
    wick_status status = fill(tok, vocab, err);
    if (status == WICK_OK) *out = tok;
    else wick_tok_free(tok);
    return status;
}
