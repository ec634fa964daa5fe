/* tok/build.c - the part of loading that all formats share: vocabulary, keys, merges, added tokens. build_end.c derives the rest. */
#include "tok/model.h"
#include "tok/patterns.h"

#include "base/checked.h"
#include "base/os.h"

#include <stdlib.h>

struct wick_tok *wick_tok_new(void)
{
    struct wick_tok *tok = calloc(1, sizeof *tok);
    if (!tok) return NULL;
    wick_arena_init(&tok->arena, &wick_allocator_heap);
    tok->format = "";
    tok->seed = wick_now_ns() * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)tok;
    tok->unk = tok->bos = -1;
    for (int i = 0; i < 256; i++) tok->byte_ids[i] = -1;
    for (int i = 0; i < 128; i++) tok->char_ids[i] = -1;
    return tok;
}

static void free_steps(struct wick_tok_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) wick_tok_regex_free(steps->items[i].pattern.regex);
}

void wick_tok_free(struct wick_tok *tok)
{
    if (!tok) return;
    free_steps(&tok->normalizers);
    free_steps(&tok->splitters);
    free_steps(&tok->decoder.replaces);
    wick_arena_release(&tok->arena);
    free(tok);
}

wick_status wick_tok_reserve(struct wick_tok *tok, int32_t limit, size_t count, size_t added, wick_error *err)
{
    size_t pieces = count + added;
    if (limit < 0 || limit > WICK_TOK_ID_LIMIT || count > WICK_TOK_ID_LIMIT || added > WICK_TOK_ID_LIMIT) {
        return wick_fail(err, WICK_INVALID_TOKENIZER, "vocabulary: ids up to %d and %zu pieces are more than the %d allowed", limit - 1, pieces,
                         WICK_TOK_ID_LIMIT);
    }
    /* A few holes are normal; a small file must not ask for much memory by one large id. */
    if ((size_t)limit > 4 * pieces + 65536) {
        return wick_fail(err, WICK_INVALID_TOKENIZER, "vocabulary: the id %d is out of proportion to %zu pieces", limit - 1, pieces);
    }
    size_t room = (size_t)limit;
    tok->limit = limit;
    tok->piece = WICK_NEW_ARRAY(&tok->arena, struct wick_str, room);
    tok->key = WICK_NEW_ARRAY(&tok->arena, struct wick_str, room);
    tok->text = WICK_NEW_ARRAY(&tok->arena, struct wick_str, room);
    tok->flags = WICK_NEW_ARRAY(&tok->arena, uint8_t, room);
    tok->alone = WICK_NEW_ARRAY(&tok->arena, atomic_uchar, room);
    tok->added = WICK_NEW_ARRAY(&tok->arena, struct wick_tok_added, added);
    tok->added_capacity = added;
    bool maps = wick_tok_map_init(&tok->by_piece, &tok->arena, pieces, tok->seed) && wick_tok_map_init(&tok->by_key, &tok->arena, count, ~tok->seed);
    if (!tok->piece || !tok->key || !tok->text || !tok->flags || !tok->alone || !tok->added || !maps) return wick_fail_oom(err, room, "a vocabulary");
    return WICK_OK;
}

struct wick_str wick_tok_intern(struct wick_tok *tok, struct wick_str string)
{
    return (struct wick_str){wick_arena_copy(&tok->arena, string.data ? string.data : "", string.size), string.size};
}

/* Puts a piece at an id that must be free; the caller looks for the piece first. */
static wick_status place(struct wick_tok *tok, int32_t id, struct wick_str piece, wick_error *err)
{
    if (id < 0 || id >= tok->limit)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "token \"%.*s\": id %d is not in [0, %d)", (int)WICK_MIN(piece.size, 80), piece.data, id,
                         tok->limit);
    if (tok->piece[id].data) {
        return wick_fail(err, WICK_INVALID_TOKENIZER, "id %d belongs to both \"%.*s\" and \"%.*s\"", id, (int)WICK_MIN(tok->piece[id].size, 80),
                         tok->piece[id].data, (int)WICK_MIN(piece.size, 80), piece.data);
    }
    tok->piece[id] = wick_tok_intern(tok, piece);
    if (!tok->piece[id].data) return wick_fail_oom(err, piece.size, "a piece");
    int32_t other = wick_tok_map_add(&tok->by_piece, tok->piece, id);
    if (other >= 0)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "token \"%.*s\" has both id %d and id %d", (int)WICK_MIN(piece.size, 80), piece.data, other,
                         id);
    return WICK_OK;
}

wick_status wick_tok_set_piece(struct wick_tok *tok, int32_t id, struct wick_str piece, wick_error *err)
{
    WICK_TRY(place(tok, id, piece, err));
    tok->flags[id] = WICK_TOK_IN_MODEL;
    return WICK_OK;
}

wick_status wick_tok_set_listed(struct wick_tok *tok, int32_t id, struct wick_str piece, bool in_model, wick_error *err)
{
    if (wick_tok_map_find(&tok->by_piece, tok->piece, piece) < 0) {
        WICK_TRY(place(tok, id, piece, err));
        tok->flags[id] = in_model ? WICK_TOK_IN_MODEL : 0;
        return WICK_OK;
    }
    tok->piece[id] = wick_tok_intern(tok, piece);
    return tok->piece[id].data ? WICK_OK : wick_fail_oom(err, piece.size, "a piece");
}

/* The bytes that a piece in the byte-level alphabet stands for; data NULL if a character is not of it (or out of memory, which
 * *failed tells apart). */
static struct wick_str unmap(struct wick_tok *tok, struct wick_str piece, bool *failed)
{
    char *bytes = wick_arena_alloc(&tok->arena, piece.size + 1, 1);
    size_t size = 0;
    *failed = !bytes;
    for (size_t i = 0; bytes && i < piece.size;) {
        uint32_t code = 0;
        size_t n = wick_utf8_next(piece.data + i, piece.size - i, &code);
        int byte = n ? wick_tok_char_byte(code) : -1;
        if (byte < 0) return (struct wick_str){0};
        bytes[size++] = (char)byte;
        i += n;
    }
    return (struct wick_str){bytes, size};
}

int wick_tok_byte_of(struct wick_str piece)
{
    static const char digits[] = "0123456789ABCDEFabcdef";
    int value = 0;
    if (piece.size != 6 || memcmp(piece.data, "<0x", 3) != 0 || piece.data[5] != '>') return -1;
    for (int i = 3; i < 5; i++) {
        const char *at = piece.data[i] ? strchr(digits, piece.data[i]) : NULL;
        if (!at) return -1;
        int digit = (int)(at - digits);
        value = value * 16 + (digit >= 16 ? digit - 6 : digit);
    }
    return value;
}

/* The ids of the first symbols: single bytes, or the byte tokens and single ASCII characters. */
static void find_first_symbols(struct wick_tok *tok)
{
    for (int b = 0; b < 256; b++) {
        char byte = (char)b, name[] = "<0x00>";
        name[3] = "0123456789ABCDEF"[b >> 4];
        name[4] = "0123456789ABCDEF"[b & 15];
        struct wick_str one = {&byte, 1}, fallback = {name, 6};
        if (tok->byte_level) tok->byte_ids[b] = wick_tok_map_find(&tok->by_key, tok->key, one);
        else if (tok->byte_fallback) tok->byte_ids[b] = wick_tok_map_find(&tok->by_key, tok->key, fallback);
        if (b < 128 && !tok->byte_level) tok->char_ids[b] = wick_tok_map_find(&tok->by_key, tok->key, one);
    }
}

wick_status wick_tok_finish_vocab(struct wick_tok *tok, wick_error *err)
{
    for (int32_t id = 0; id < tok->limit; id++) {
        bool failed = false;
        if (!(tok->flags[id] & WICK_TOK_IN_MODEL)) continue;
        tok->key[id] = tok->byte_level ? unmap(tok, tok->piece[id], &failed) : tok->piece[id];
        if (failed) return wick_fail_oom(err, tok->piece[id].size, "a piece");
        if (!tok->key[id].data || tok->key[id].size == 0) continue;
        (void)wick_tok_map_add(&tok->by_key, tok->key, id); /* pieces differ, so do keys */
        tok->key_limit = WICK_MAX(tok->key_limit, tok->key[id].size);
    }
    find_first_symbols(tok);
    return WICK_OK;
}

wick_status wick_tok_make_trie(struct wick_tok *tok, wick_error *err)
{
    size_t count = 0;
    int32_t *ids = malloc(((size_t)tok->limit + 1) * sizeof *ids);
    if (!ids) return wick_fail_oom(err, (size_t)tok->limit, "a vocabulary");
    for (int32_t id = 0; id < tok->limit; id++) {
        if (!(tok->flags[id] & WICK_TOK_IN_MODEL) || (tok->flags[id] & (WICK_TOK_IS_BYTE | WICK_TOK_IS_UNUSED))) continue;
        if (tok->key[id].size > WICK_TOK_TRIE_PIECE_LIMIT) {
            free(ids);
            return wick_fail(err, WICK_NOT_SUPPORTED, "id %d: pieces of more than %d bytes are not supported", id, WICK_TOK_TRIE_PIECE_LIMIT);
        }
        ids[count++] = id;
    }
    bool ok = wick_tok_trie_init(&tok->trie, &tok->arena, tok->key, ids, count);
    free(ids);
    return ok ? WICK_OK : wick_fail_oom(err, count, "a vocabulary");
}

/* ---- merges ---- */

struct ranked {
    float score;
    uint32_t id;
};

static int best_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

wick_status wick_tok_ranks_of_scores(const float *scores, size_t count, uint32_t *ranks, wick_error *err)
{
    size_t kept = 0, bytes;
    struct ranked *order = wick_mul_size(count + 1, sizeof *order, &bytes) ? NULL : malloc(bytes);
    if (!order) return wick_fail_oom(err, count, "scores");
    for (size_t i = 0; i < count; i++) {
        ranks[i] = UINT32_MAX;
        if (scores[i] > -1e10f) order[kept++] = (struct ranked){scores[i], (uint32_t)i}; /* NaN never merges either */
    }
    qsort(order, kept, sizeof *order, best_first);
    for (size_t i = 0, rank = 0; i < kept; i++) {
        if (i && order[i].score != order[i - 1].score) rank++;
        ranks[order[i].id] = (uint32_t)rank;
    }
    free(order);
    return WICK_OK;
}

struct merges {
    struct wick_tok_merge *items;
    size_t count, capacity;
};

static bool merges_push(struct merges *merges, struct wick_tok_merge merge)
{
    if (merges->count == merges->capacity) {
        size_t capacity = merges->capacity ? merges->capacity * 2 : 4096, bytes;
        struct wick_tok_merge *items = wick_mul_size(capacity, sizeof *items, &bytes) ? NULL : realloc(merges->items, bytes);
        if (!items) return false;
        merges->items = items;
        merges->capacity = capacity;
    }
    merges->items[merges->count++] = merge;
    return true;
}

wick_status wick_tok_merges_from_ranks(struct wick_tok *tok, const uint32_t *ranks, wick_error *err)
{
    enum { PIECE_LIMIT = 256 }; /* longer pieces are never merged: their cuts cost the square of the length */
    struct merges merges = {0};
    bool ok = true;
    for (int32_t id = 0; ok && id < tok->limit; id++) {
        struct wick_str key = tok->key[id];
        if (ranks[id] == UINT32_MAX || key.size < 2 || key.size > PIECE_LIMIT || !(tok->flags[id] & WICK_TOK_IN_MODEL)) continue;
        for (size_t cut = 1; ok && cut < key.size; cut++) {
            if (!tok->byte_level && ((unsigned char)key.data[cut] & 0xc0) == 0x80) continue;
            int32_t left = wick_tok_map_find(&tok->by_key, tok->key, (struct wick_str){key.data, cut});
            if (left < 0) continue;
            int32_t right = wick_tok_map_find(&tok->by_key, tok->key, (struct wick_str){key.data + cut, key.size - cut});
            if (right >= 0) ok = merges_push(&merges, (struct wick_tok_merge){left, right, ranks[id], id});
        }
    }
    ok = ok && wick_tok_pairs_init(&tok->pairs, &tok->arena, merges.count, tok->seed);
    for (size_t i = 0; ok && i < merges.count; i++) {
        wick_tok_pairs_set(&tok->pairs, merges.items[i].left, merges.items[i].right, merges.items[i].rank, merges.items[i].id);
    }
    free(merges.items);
    return ok ? WICK_OK : wick_fail_oom(err, merges.count, "merges");
}

/* ---- steps, added tokens, lists ---- */

wick_status wick_tok_add_step(struct wick_tok *tok, struct wick_tok_steps *steps, struct wick_tok_step **step, wick_error *err)
{
    *step = NULL;
    if (!steps->items) steps->items = WICK_NEW_ARRAY(&tok->arena, struct wick_tok_step, WICK_TOK_STEP_LIMIT);
    if (!steps->items) return wick_fail_oom(err, WICK_TOK_STEP_LIMIT, "steps");
    if (steps->count == WICK_TOK_STEP_LIMIT) return wick_fail(err, WICK_NOT_SUPPORTED, "more than %d steps", WICK_TOK_STEP_LIMIT);
    *step = &steps->items[steps->count++];
    return WICK_OK;
}

wick_status wick_tok_add_split(struct wick_tok *tok, struct wick_str pattern, enum wick_tok_dialect dialect, wick_error *err)
{
    struct wick_tok_step *step;
    WICK_TRY(wick_tok_add_step(tok, &tok->splitters, &step, err));
    step->kind = WICK_TOK_SPLIT;
    step->behavior = WICK_TOK_ISOLATED;
    step->pattern.kind = WICK_TOK_BY_REGEX;
    return wick_tok_regex_compile(&step->pattern.regex, pattern, dialect, err);
}

wick_status wick_tok_add_byte_level(struct wick_tok *tok, bool prefix_space, bool use_regex, wick_error *err)
{
    struct wick_tok_step *step;
    WICK_TRY(wick_tok_add_step(tok, &tok->splitters, &step, err));
    step->kind = WICK_TOK_BYTE_LEVEL;
    step->behavior = WICK_TOK_ISOLATED;
    step->prefix_space = prefix_space;
    step->pattern.kind = WICK_TOK_BY_REGEX;
    tok->byte_level = true;
    return use_regex ? wick_tok_regex_compile(&step->pattern.regex, WICK_STR(WICK_TOK_GPT2_PATTERN), WICK_TOK_ONIGURUMA, err) : WICK_OK;
}

wick_status wick_tok_add_added(struct wick_tok *tok, const struct wick_tok_added *token, wick_error *err)
{
    int32_t id = wick_tok_map_find(&tok->by_piece, tok->piece, token->content);
    if (token->content.size == 0) return WICK_OK;
    if (tok->added_count == tok->added_capacity) return wick_fail(err, WICK_INTERNAL, "more added tokens than announced");
    if (id < 0) {
        id = token->id;
        WICK_TRY(place(tok, id, token->content, err));
    }
    struct wick_tok_added *added = &tok->added[tok->added_count++];
    *added = *token;
    added->content = added->pattern = tok->piece[id];
    added->id = id;
    tok->flags[id] |= WICK_TOK_IS_ADDED;
    if (token->special) tok->flags[id] |= WICK_TOK_IS_SPECIAL;
    return WICK_OK;
}

wick_status wick_tok_list_add(struct wick_tok *tok, struct wick_tok_id_list *list, int32_t id, bool once, wick_error *err)
{
    for (size_t i = 0; once && i < list->count; i++) {
        if (list->ids[i] == id) return WICK_OK;
    }
    int32_t *ids = WICK_NEW_ARRAY(&tok->arena, int32_t, list->count + 1);
    if (!ids) return wick_fail_oom(err, list->count, "a list of ids");
    if (list->count) memcpy(ids, list->ids, list->count * sizeof *ids);
    ids[list->count++] = id;
    list->ids = ids;
    return WICK_OK;
}
