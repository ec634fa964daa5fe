/* tok/unigram.c - Unigram: of all ways to cut a text into pieces, the one with the highest sum of scores (Viterbi).
 *
 * Where no piece reaches over a place, what stands before it is settled and goes out, so that the table only spans a few words whatever the
 * length of the text. Time is the text's length times that of the longest piece, which is limited at load. */
#include "tok/model.h"

#include "base/checked.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* The best way to a place of the text. */
struct wick_tok_best {
    double score;
    uint32_t from; /* where its last piece begins, relative to the table; NONE: no way yet */
    int32_t id;
};

struct viterbi {
    struct wick_tok_work *work;
    struct wick_str text;
    size_t begin;   /* where the table begins */
    size_t reach;   /* the farthest place a piece reaches */
    size_t unknown; /* where a run of unknown characters begins; text.size: none */
    bool lost;      /* there is no token for a character, not even the unknown one */
    bool narrow;    /* sums are rounded to single precision, as in SentencePiece */
};

static bool reserve(struct wick_tok_work *work, size_t count)
{
    size_t bytes, room = count + count / 2 + 256;
    if (count <= work->best_capacity) return true;
    struct wick_tok_best *best = wick_mul_size(room, sizeof *best, &bytes) ? NULL : realloc(work->best, bytes);
    if (!best) return false;
    work->best = best;
    work->best_capacity = room;
    return true;
}

/* Opens the table up to a place that a piece reaches. */
static bool open_to(struct viterbi *v, size_t place)
{
    if (place <= v->reach) return true;
    if (place - v->begin >= NONE || !reserve(v->work, place - v->begin + 1)) return false;
    for (size_t i = v->reach + 1; i <= place; i++) v->work->best[i - v->begin].from = NONE;
    v->reach = place;
    return true;
}

static bool offer(struct viterbi *v, size_t from, size_t to, int32_t id, double score)
{
    if (!open_to(v, to)) return false;
    struct wick_tok_best *best = &v->work->best[to - v->begin];
    double sum = v->work->best[from - v->begin].score + score;
    if (v->narrow) sum = (double)(float)sum;
    if (best->from != NONE && !(sum > best->score)) return true;
    best->score = sum;
    best->from = (uint32_t)(from - v->begin);
    best->id = id;
    return true;
}

/* ---- ids out ---- */

/* A run of unknown characters: its bytes where they have tokens, else one unknown token. */
static void put_unknown(struct viterbi *v, size_t end)
{
    const struct wick_tok *tok = v->work->tok;
    bool bytes = tok->byte_fallback && v->unknown < end;
    if (v->unknown >= end) return;
    for (size_t i = v->unknown; bytes && i < end; i++) bytes = tok->byte_ids[(unsigned char)v->text.data[i]] >= 0;
    for (size_t i = v->unknown; bytes && i < end; i++) wick_ids_push(v->work->out, tok->byte_ids[(unsigned char)v->text.data[i]]);
    if (!bytes && tok->unk >= 0) wick_ids_push(v->work->out, tok->unk);
    v->lost = v->lost || (!bytes && tok->unk < 0);
    v->unknown = v->text.size;
}

/* The best way to the end of the table goes out; the table begins anew there. The way is reversed in place: `from` becomes where the piece
 * that begins here ends. */
static void settle(struct viterbi *v, size_t end)
{
    struct wick_tok_best *best = v->work->best;
    uint32_t last = (uint32_t)(end - v->begin), at = last, next = NONE;
    int32_t id = -1;
    double score = best[last].score;
    while (at != NONE) {
        struct wick_tok_best here = best[at];
        best[at].from = next;
        best[at].id = id; /* of the piece that begins here */
        next = at;
        id = here.id;
        at = at == 0 ? NONE : here.from;
    }
    for (at = 0; at != last; at = best[at].from) {
        bool unknown = best[at].id < 0;
        if (unknown && v->unknown == v->text.size) v->unknown = v->begin + at;
        if (unknown && v->work->tok->fuse_unk) continue;
        put_unknown(v, unknown ? v->begin + best[at].from : v->begin + at);
        if (!unknown) wick_ids_push(v->work->out, best[at].id);
    }
    v->begin = v->reach = end;
    best[0] = (struct wick_tok_best){.score = score, .from = NONE, .id = -1};
}

/* ---- the table ---- */

static double score_of(const struct wick_tok *tok, int32_t id, size_t size)
{
    /* What the user defined wins over what the training found: trained scores are negative. */
    if (tok->flags[id] & WICK_TOK_IS_USER) return (double)(float)(0.1 * (double)size - 0.1);
    return tok->scores[id];
}

/* Offers every piece that begins at a place. */
static bool extend(struct viterbi *v, size_t at)
{
    const struct wick_tok *tok = v->work->tok;
    const struct wick_tok_trie *trie = &tok->trie;
    size_t n = wick_utf8_next(v->text.data + at, v->text.size - at, NULL);
    bool single = false;
    uint32_t node = 0;
    if (n == 0) n = 1;
    for (size_t end = at; trie->nodes && end < v->text.size; end++) {
        node = wick_tok_trie_step(trie, node, (uint8_t)v->text.data[end]);
        if (node == 0) break;
        int32_t id = trie->nodes[node].id;
        if (id < 0) continue;
        size_t size = end + 1 - at;
        if (!offer(v, at, end + 1, id, score_of(tok, id, size))) return false;
        single = single || size == n;
    }
    return single || offer(v, at, at + n, -1, tok->unk_score);
}

wick_status wick_tok_unigram_piece(struct wick_tok_work *work, struct wick_str piece)
{
    struct viterbi v = {.work = work, .text = piece, .unknown = piece.size, .narrow = work->tok->narrow};
    if (piece.size == 0) return WICK_OK;
    if (!reserve(work, 1)) return wick_fail_oom(work->err, piece.size, "the pieces of a text");
    work->best[0] = (struct wick_tok_best){.score = 0, .from = NONE, .id = -1};
    for (size_t at = 0, n; at < piece.size; at += n) {
        n = wick_utf8_next(piece.data + at, piece.size - at, NULL);
        if (n == 0) n = 1;
        if (at > v.begin && at == v.reach) settle(&v, at);
        if (!extend(&v, at)) return wick_fail_oom(work->err, piece.size, "the pieces of a text");
    }
    settle(&v, piece.size);
    put_unknown(&v, piece.size);
    if (v.lost) return wick_fail(work->err, WICK_INVALID_ARGUMENT, "text: a character is not in the vocabulary, which has no unknown token");
    return WICK_OK;
}
