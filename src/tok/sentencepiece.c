/* tok/sentencepiece.c - SentencePiece's .model: a message with the pieces (1), the training's settings (2), of which a few matter, and the
 * normalization (3). Unigram and BPE by scores, and the models of words and characters. sentence.c prepares the texts. */
#include "tok/model.h"
#include "tok/protobuf.h"

#include <math.h>
#include <stdlib.h>

enum { TYPE_UNIGRAM = 1, TYPE_BPE = 2, TYPE_WORD = 3, TYPE_CHAR = 4 };
enum { PIECES = 1, TRAINER = 2, NORMALIZER = 3, DENORMALIZER = 5 };
static const double unknown_penalty = 10;

struct settings {
    int type;
    bool byte_fallback;
    struct wick_str unknown_surface; /* what an unknown piece prints */
    int32_t unk, bos, eos;
};

struct piece {
    struct wick_str text;
    float score;
    int type; /* enum wick_tok_type */
};

/* A damaged message ends early with an error. */
static wick_status whole(const struct wick_tok_message *message, const char *what, wick_error *err)
{
    return message->at ? WICK_OK : wick_fail(err, WICK_INVALID_TOKENIZER, "SentencePiece model: %s breaks off or is damaged", what);
}

static wick_status read_piece(struct wick_str bytes, struct piece *piece, wick_error *err)
{
    struct wick_tok_message message = {bytes.data, bytes.data + bytes.size};
    struct wick_tok_field field;
    *piece = (struct piece){.text = WICK_STR(""), .type = WICK_TOK_TYPE_NORMAL};
    while (wick_tok_message_next(&message, &field)) {
        if (field.number == 1 && field.wire == WICK_TOK_WIRE_BYTES) piece->text = field.bytes;
        if (field.number == 2 && field.wire == WICK_TOK_WIRE_32) {
            uint32_t bits = (uint32_t)field.value;
            memcpy(&piece->score, &bits, sizeof bits);
        }
        if (field.number == 3 && field.wire == WICK_TOK_WIRE_VARINT)
            piece->type = field.value <= WICK_TOK_TYPE_BYTE ? (int)field.value : WICK_TOK_TYPE_UNUSED;
    }
    WICK_TRY(whole(&message, "a piece", err));
    if (piece->text.size == 0) return wick_fail(err, WICK_INVALID_TOKENIZER, "SentencePiece model: a piece without text");
    if (piece->type == WICK_TOK_TYPE_BYTE && wick_tok_byte_of(piece->text) < 0)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "SentencePiece model: \"%.*s\" is no byte piece <0xHH>", (int)WICK_MIN(piece->text.size, 60),
                         piece->text.data);
    return WICK_OK;
}

static wick_status read_trainer(struct wick_tok *tok, struct wick_str bytes, struct settings *settings, wick_error *err)
{
    struct wick_tok_message message = {bytes.data, bytes.data + bytes.size};
    struct wick_tok_field field;
    while (wick_tok_message_next(&message, &field)) {
        if (field.number == 44 && field.wire == WICK_TOK_WIRE_BYTES) settings->unknown_surface = field.bytes;
        if (field.wire != WICK_TOK_WIRE_VARINT) continue;
        switch (field.number) {
        case 3: settings->type = field.value <= TYPE_CHAR ? (int)field.value : 0; break;
        case 24: tok->sentence.suffix = field.value != 0; break;
        case 35: settings->byte_fallback = field.value != 0; break;
        case 41: settings->bos = (int32_t)field.value; break;
        case 42: settings->eos = (int32_t)field.value; break;
        default: break;
        }
    }
    WICK_TRY(whole(&message, "trainer_spec", err));
    if (settings->type == 0) return wick_fail(err, WICK_NOT_SUPPORTED, "SentencePiece model: this model_type is not supported");
    return WICK_OK;
}

static wick_status read_normalizer(struct wick_tok *tok, struct wick_str bytes, wick_error *err)
{
    struct wick_tok_message message = {bytes.data, bytes.data + bytes.size};
    struct wick_tok_field field;
    while (wick_tok_message_next(&message, &field)) {
        if (field.number == 2 && field.wire == WICK_TOK_WIRE_BYTES)
            WICK_TRY(wick_tok_charsmap_init(&tok->sentence.map, &tok->arena, field.bytes, err));
        if (field.wire != WICK_TOK_WIRE_VARINT) continue;
        if (field.number == 3) tok->sentence.prefix = field.value != 0;
        if (field.number == 4) tok->sentence.trim = field.value != 0;
        if (field.number == 5) tok->sentence.escape = field.value != 0;
    }
    return whole(&message, "normalizer_spec", err);
}

/* Rules that would be applied to what is decoded. */
static wick_status read_denormalizer(struct wick_str bytes, wick_error *err)
{
    struct wick_tok_message message = {bytes.data, bytes.data + bytes.size};
    struct wick_tok_field field;
    while (wick_tok_message_next(&message, &field)) {
        if (field.number == 2 && field.wire == WICK_TOK_WIRE_BYTES && field.bytes.size)
            return wick_fail(err, WICK_NOT_SUPPORTED, "SentencePiece model: denormalizer_spec: rules for decoding are not supported");
    }
    return whole(&message, "denormalizer_spec", err);
}

/* Counts the pieces and reads the settings, whatever their order. */
static wick_status read_settings(struct wick_tok *tok, struct wick_str data, struct settings *settings, size_t *count, size_t *added, wick_error *err)
{
    struct wick_tok_message message = {data.data, data.data + data.size};
    struct wick_tok_field field;
    *settings = (struct settings){.type = TYPE_UNIGRAM, .unknown_surface = WICK_STR(" \xe2\x81\x87 "), .unk = -1, .bos = 1, .eos = 2};
    tok->sentence.prefix = tok->sentence.trim = tok->sentence.escape = true;
    while (wick_tok_message_next(&message, &field)) {
        if (field.wire != WICK_TOK_WIRE_BYTES) continue;
        if (field.number == TRAINER) WICK_TRY(read_trainer(tok, field.bytes, settings, err));
        if (field.number == NORMALIZER) WICK_TRY(read_normalizer(tok, field.bytes, err));
        if (field.number == DENORMALIZER) WICK_TRY(read_denormalizer(field.bytes, err));
        if (field.number != PIECES) continue;
        struct piece piece;
        WICK_TRY(read_piece(field.bytes, &piece, err));
        *added += piece.type != WICK_TOK_TYPE_NORMAL;
        if (++*count > WICK_TOK_ID_LIMIT) return wick_fail(err, WICK_INVALID_TOKENIZER, "SentencePiece model: too many pieces");
    }
    WICK_TRY(whole(&message, "the file", err));
    return *count ? WICK_OK : wick_fail(err, WICK_INVALID_TOKENIZER, "SentencePiece model: no pieces");
}

/* ---- pieces ---- */

static wick_status enter_piece(struct wick_tok *tok, int32_t id, const struct piece *piece, struct settings *settings, wick_error *err)
{
    bool control = piece->type == WICK_TOK_TYPE_CONTROL, unknown = piece->type == WICK_TOK_TYPE_UNKNOWN;
    WICK_TRY(wick_tok_set_piece(tok, id, piece->text, err));
    tok->scores[id] = piece->score;
    if (unknown && settings->unk >= 0)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "SentencePiece model: ids %d and %d are both unknown", settings->unk, id);
    if (unknown) settings->unk = id;
    if (control || unknown) tok->flags[id] = 0;
    if (piece->type == WICK_TOK_TYPE_BYTE) tok->flags[id] |= WICK_TOK_IS_BYTE;
    if (piece->type == WICK_TOK_TYPE_UNUSED) tok->flags[id] |= WICK_TOK_IS_UNUSED;
    if (piece->type == WICK_TOK_TYPE_USER_DEFINED) tok->flags[id] |= WICK_TOK_IS_USER;
    return WICK_OK;
}

static wick_status enter_pieces(struct wick_tok *tok, struct wick_str data, struct settings *settings, wick_error *err)
{
    struct wick_tok_message message = {data.data, data.data + data.size};
    struct wick_tok_field field;
    int32_t id = 0;
    while (wick_tok_message_next(&message, &field)) {
        struct piece piece;
        if (field.number != PIECES || field.wire != WICK_TOK_WIRE_BYTES) continue;
        WICK_TRY(read_piece(field.bytes, &piece, err));
        WICK_TRY(enter_piece(tok, id++, &piece, settings, err));
    }
    if (settings->unk < 0) return wick_fail(err, WICK_INVALID_TOKENIZER, "SentencePiece model: no piece is the unknown one");
    return WICK_OK;
}

/* Control pieces are special; what the user defined is cut out of the prepared text, but for Unigram, where it takes part by its score. */
static wick_status add_added(struct wick_tok *tok, const struct settings *settings, wick_error *err)
{
    size_t users = 0;
    struct wick_tok_added *kept = NULL;
    for (int32_t id = 0; id < tok->limit; id++) {
        bool user = tok->flags[id] & WICK_TOK_IS_USER;
        struct wick_tok_added added = {.content = tok->piece[id], .id = id, .special = !user, .normalized = user};
        if (tok->flags[id] & WICK_TOK_IN_MODEL && !user) continue;
        users += user;
        if (user && settings->type == TYPE_UNIGRAM) continue;
        WICK_TRY(wick_tok_add_added(tok, &added, err));
    }
    if (users) kept = WICK_NEW_ARRAY(&tok->arena, struct wick_tok_added, users);
    if (users && !kept) return wick_fail_oom(err, users, "pieces of the user");
    users = 0;
    for (int32_t id = 0; id < tok->limit; id++) {
        if (tok->flags[id] & WICK_TOK_IS_USER)
            kept[users++] = (struct wick_tok_added){.content = tok->piece[id], .pattern = tok->piece[id], .id = id, .normalized = true};
    }
    tok->patterns_as_given = true;
    return wick_tok_matcher_init(&tok->kept, &tok->arena, kept, users, true) ? WICK_OK : wick_fail_oom(err, users, "pieces of the user");
}

/* ---- models ---- */

static wick_status set_merges(struct wick_tok *tok, wick_error *err)
{
    size_t count = (size_t)tok->limit;
    float *scores = malloc(count * sizeof *scores);
    uint32_t *ranks = calloc(count, sizeof *ranks);
    wick_status status = scores && ranks ? WICK_OK : wick_fail_oom(err, count, "scores");
    for (size_t i = 0; status == WICK_OK && i < count; i++) scores[i] = (float)tok->scores[i];
    if (status == WICK_OK) status = wick_tok_ranks_of_scores(scores, count, ranks, err);
    for (size_t i = 0; status == WICK_OK && i < count; i++) {
        bool merges = (tok->flags[i] & WICK_TOK_IN_MODEL) && !(tok->flags[i] & WICK_TOK_IS_BYTE);
        if (!merges) ranks[i] = UINT32_MAX;
        tok->has_unused = tok->has_unused || (tok->flags[i] & WICK_TOK_IS_UNUSED);
    }
    if (status == WICK_OK) status = wick_tok_merges_from_ranks(tok, ranks, err);
    free(scores);
    free(ranks);
    return status;
}

static wick_status set_unigram(struct wick_tok *tok, wick_error *err)
{
    float low = HUGE_VALF;
    for (int32_t id = 0; id < tok->limit; id++) {
        float score = (float)tok->scores[id];
        if (!(tok->flags[id] & WICK_TOK_IN_MODEL) || tok->flags[id] & (WICK_TOK_IS_BYTE | WICK_TOK_IS_USER | WICK_TOK_IS_UNUSED)) continue;
        low = WICK_MIN(low, score);
    }
    tok->model = WICK_TOK_UNIGRAM;
    tok->narrow = true;
    tok->unk_score = (double)(float)((double)low - unknown_penalty);
    return wick_tok_make_trie(tok, err);
}

static wick_status set_words(struct wick_tok *tok, wick_error *err)
{
    struct wick_tok_step *step;
    tok->model = WICK_TOK_WORD_LEVEL;
    WICK_TRY(wick_tok_add_step(tok, &tok->splitters, &step, err));
    step->kind = WICK_TOK_SPLIT;
    step->behavior = tok->sentence.suffix ? WICK_TOK_MERGED_WITH_PREVIOUS : WICK_TOK_MERGED_WITH_NEXT;
    step->pattern = (struct wick_tok_pattern){.kind = WICK_TOK_BY_STRING, .string = WICK_STR("\xe2\x96\x81")};
    return WICK_OK;
}

static wick_status set_pipeline(struct wick_tok *tok, wick_error *err)
{
    struct wick_tok_step *step;
    WICK_TRY(wick_tok_add_step(tok, &tok->normalizers, &step, err));
    step->kind = WICK_TOK_SENTENCE;
    WICK_TRY(wick_tok_add_step(tok, &tok->decoder.replaces, &step, err));
    *step = (struct wick_tok_step){
        .kind = WICK_TOK_REPLACE, .content = WICK_STR(" "), .pattern = {.kind = WICK_TOK_BY_STRING, .string = WICK_STR("\xe2\x96\x81")}};
    tok->decoder.byte_fallback = tok->byte_fallback;
    tok->decoder.strip = WICK_STR(" ");
    if (tok->sentence.prefix || tok->sentence.trim) tok->decoder.lead = tok->sentence.trim ? WICK_TOK_LEAD_EACH : WICK_TOK_LEAD_ONCE;
    tok->decoder.strip_start = tok->decoder.lead != WICK_TOK_LEAD_KEPT;
    return WICK_OK;
}

/* Control pieces print nothing, the unknown one its surface. */
static wick_status set_texts(struct wick_tok *tok, const struct settings *settings, wick_error *err)
{
    for (int32_t id = 0; id < tok->limit; id++) {
        if (tok->flags[id] & WICK_TOK_IS_SPECIAL) tok->text[id] = WICK_STR("");
    }
    tok->text[settings->unk] = wick_tok_intern(tok, settings->unknown_surface);
    return tok->text[settings->unk].data ? WICK_OK : wick_fail_oom(err, settings->unknown_surface.size, "a piece");
}

static wick_status set_ends(struct wick_tok *tok, const struct settings *settings, wick_error *err)
{
    if (wick_tok_is_special(tok, settings->bos)) {
        tok->bos = settings->bos;
        WICK_TRY(wick_tok_list_add(tok, &tok->prefix, tok->bos, true, err));
    }
    if (wick_tok_is_special(tok, settings->eos)) WICK_TRY(wick_tok_list_add(tok, &tok->eos, settings->eos, true, err));
    return WICK_OK;
}

bool wick_tok_sentencepiece_probe(struct wick_str data)
{
    struct wick_tok_message message = {data.data, data.data + data.size};
    struct wick_tok_field field;
    struct piece piece;
    return wick_tok_message_next(&message, &field) && field.number == PIECES && field.wire == WICK_TOK_WIRE_BYTES &&
           read_piece(field.bytes, &piece, NULL) == WICK_OK;
}

wick_status wick_tok_sentencepiece_load(struct wick_tok *tok, struct wick_str data, const char *path, wick_error *err)
{
    struct settings settings;
    size_t count = 0, added = 0;
    (void)path;
    WICK_TRY(read_settings(tok, data, &settings, &count, &added, err));
    WICK_TRY(wick_tok_reserve(tok, (int32_t)count, count, added, err));
    tok->scores = WICK_NEW_ARRAY(&tok->arena, double, count);
    if (!tok->scores) return wick_fail_oom(err, count, "scores");
    WICK_TRY(enter_pieces(tok, data, &settings, err));
    tok->byte_fallback = settings.byte_fallback;
    tok->fuse_unk = true;
    tok->unk = settings.unk;
    WICK_TRY(set_pipeline(tok, err));
    WICK_TRY(wick_tok_finish_vocab(tok, err));
    if (settings.type == TYPE_BPE) WICK_TRY(set_merges(tok, err));
    if (settings.type == TYPE_UNIGRAM) WICK_TRY(set_unigram(tok, err));
    if (settings.type == TYPE_WORD) WICK_TRY(set_words(tok, err));
    WICK_TRY(add_added(tok, &settings, err));
    WICK_TRY(set_ends(tok, &settings, err));
    WICK_TRY(wick_tok_finish(tok, err));
    return set_texts(tok, &settings, err);
}
