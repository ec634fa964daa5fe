/* tok/merge.c - byte-pair merging of one piece: the one engine of all BPE formats.
 *
 * Symbols form a linked list; a binary heap holds the possible merges by (rank, position), so a piece of n symbols takes
 * O(n log n). A piece that is a vocabulary entry whose symbols merge into just that entry is answered by one look-up; which
 * entries are such is found out on first use and remembered in tok->alone, the only thing written after loading: every thread
 * would write the same value. */
#include "tok/model.h"

#include "base/checked.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* ---- symbols ---- */

/* Room for `count` symbols in all. */
static bool reserve_symbols(struct wick_tok_work *work, size_t count)
{
    size_t bytes, heap_bytes, room = count + count / 2 + 64;
    if (count <= work->symbol_capacity) return true;
    if (wick_mul_size(room, sizeof *work->symbols, &bytes) || wick_mul_size(room * 3, sizeof *work->heap, &heap_bytes)) return false;
    struct wick_tok_symbol *symbols = realloc(work->symbols, bytes);
    if (!symbols) return false;
    work->symbols = symbols;
    work->symbol_capacity = room;
    /* At most n - 1 merges to begin with, and two more for each merge done. */
    uint64_t *heap = realloc(work->heap, heap_bytes);
    if (!heap) return work->symbol_capacity = 0, false;
    work->heap = heap;
    work->heap_capacity = room * 3;
    return true;
}

static void add_symbol(struct wick_tok_work *work, int32_t id)
{
    work->symbols[work->symbol_count++].id = id;
}

/* The first symbols of a byte-level piece. Bytes without a token vanish, as in the original. */
static void byte_symbols(struct wick_tok_work *work, struct wick_str piece)
{
    const struct wick_tok *tok = work->tok;
    bool unknown = false;
    for (size_t i = 0; i < piece.size; i++) {
        int32_t id = tok->byte_ids[(unsigned char)piece.data[i]];
        if (id < 0 && !(unknown && tok->fuse_unk)) id = tok->unk;
        else if (id < 0) continue;
        unknown = tok->byte_ids[(unsigned char)piece.data[i]] < 0;
        if (id >= 0) add_symbol(work, id);
    }
}

/* The byte tokens of an unknown character: all of its bytes or none. */
static bool fallback_symbols(struct wick_tok_work *work, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (work->tok->byte_ids[(unsigned char)bytes[i]] < 0) return false;
    }
    for (size_t i = 0; i < size; i++) add_symbol(work, work->tok->byte_ids[(unsigned char)bytes[i]]);
    return true;
}

/* The first symbols of a piece of characters. A byte that is not UTF-8 counts as an unknown character. */
static void char_symbols(struct wick_tok_work *work, struct wick_str piece)
{
    const struct wick_tok *tok = work->tok;
    bool unknown = false;
    for (size_t i = 0, n; i < piece.size; i += n) {
        unsigned char c = (unsigned char)piece.data[i];
        n = c < 0x80 ? 1 : wick_utf8_next(piece.data + i, piece.size - i, NULL);
        bool valid = n > 0;
        if (!valid) n = 1;
        int32_t id = c < 0x80 ? tok->char_ids[c] : valid ? wick_tok_map_find(&tok->by_key, tok->key, (struct wick_str){piece.data + i, n}) : -1;
        if (id < 0 && tok->byte_fallback && fallback_symbols(work, piece.data + i, n)) continue;
        bool fuse = unknown && tok->fuse_unk;
        unknown = id < 0;
        if (id < 0 && fuse) continue;
        if (id < 0) id = tok->unk;
        if (id >= 0) add_symbol(work, id);
    }
}

/* The same where characters within a word and the last one are spelled with an affix. */
static void affixed_symbols(struct wick_tok_work *work, struct wick_str piece)
{
    const struct wick_tok *tok = work->tok;
    bool unknown = false;
    for (size_t i = 0, n; i < piece.size; i += n) {
        n = wick_utf8_next(piece.data + i, piece.size - i, NULL);
        if (n == 0) n = 1;
        struct wick_buf *spelled = &work->spelled;
        spelled->size = 0;
        if (i > 0) wick_buf_append(spelled, tok->inner.data, tok->inner.size);
        wick_buf_append(spelled, piece.data + i, n);
        if (i + n == piece.size) wick_buf_append(spelled, tok->last.data, tok->last.size);
        if (spelled->failed) work->out->failed = true;
        if (spelled->failed) return;
        int32_t id = wick_tok_map_find(&tok->by_key, tok->key, (struct wick_str){spelled->data, spelled->size});
        if (id < 0 && tok->byte_fallback && reserve_symbols(work, work->symbol_count + spelled->size + piece.size) &&
            fallback_symbols(work, spelled->data, spelled->size))
            continue;
        bool fuse = unknown && tok->fuse_unk;
        unknown = id < 0;
        if (id < 0 && fuse) continue;
        if (id < 0) id = tok->unk;
        if (id >= 0) add_symbol(work, id);
    }
}

/* ---- the heap of possible merges, smallest (rank << 32 | position) first ---- */

static void heap_push(struct wick_tok_work *work, uint64_t key)
{
    uint64_t *heap = work->heap;
    size_t at = work->heap_count++;
    for (; at > 0 && heap[(at - 1) / 2] > key; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = key;
}

static uint64_t heap_pop(struct wick_tok_work *work)
{
    uint64_t *heap = work->heap, top = heap[0], last = heap[--work->heap_count];
    size_t at = 0, count = work->heap_count;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return top;
}

/* What an unused piece was merged from. */
struct wick_tok_split_back {
    int32_t left, right;
};

static bool remember(struct wick_tok_work *work, const struct wick_tok_merge *merge)
{
    if (!work->tok->has_unused || !(work->tok->flags[merge->id] & WICK_TOK_IS_UNUSED)) return true;
    if (!work->undo) work->undo = calloc((size_t)work->tok->limit, sizeof *work->undo);
    if (!work->undo) return false;
    work->undo[merge->id] = (struct wick_tok_split_back){merge->left + 1, merge->right + 1};
    return true;
}

/* Appends a symbol's id; an unused piece as what it was merged from, and so on down. */
static void put_symbol(struct wick_tok_work *work, int32_t id)
{
    if (!work->undo) {
        wick_ids_push(work->out, id);
        return;
    }
    struct wick_ids *stack = &work->undone;
    stack->count = 0;
    wick_ids_push(stack, id);
    while (stack->count && !stack->failed) {
        id = stack->data[--stack->count];
        struct wick_tok_split_back back = work->undo[id];
        if (!(work->tok->flags[id] & WICK_TOK_IS_UNUSED) || back.left == 0) {
            wick_ids_push(work->out, id);
            continue;
        }
        wick_ids_push(stack, back.right - 1);
        wick_ids_push(stack, back.left - 1);
    }
    if (stack->failed) work->out->failed = true;
}

/* Looks up what the symbol and its next one merge into. */
static void consider(struct wick_tok_work *work, uint32_t at, bool push)
{
    struct wick_tok_symbol *symbol = &work->symbols[at];
    const struct wick_tok_merge *merge =
        symbol->next == NONE ? NULL : wick_tok_pairs_find(&work->tok->pairs, symbol->id, work->symbols[symbol->next].id);
    symbol->rank = merge ? merge->rank : NONE;
    if (!merge) return;
    symbol->merged = merge->id;
    if (!remember(work, merge)) work->out->failed = true;
    if (push) heap_push(work, (uint64_t)merge->rank << 32 | at);
}

/* Joins the symbol with its next one. */
static void apply(struct wick_tok_work *work, uint32_t at)
{
    struct wick_tok_symbol *symbol = &work->symbols[at], *gone = &work->symbols[symbol->next];
    symbol->id = symbol->merged;
    symbol->next = gone->next;
    if (gone->next != NONE) work->symbols[gone->next].prev = at;
    gone->rank = NONE;
}

/* Short pieces, nearly all of them: look for the lowest rank each time, without a heap. */
static void merge_few(struct wick_tok_work *work)
{
    for (;;) {
        uint32_t best = NONE, rank = NONE;
        for (uint32_t at = 0; at != NONE; at = work->symbols[at].next) {
            if (work->symbols[at].rank < rank) best = at, rank = work->symbols[at].rank;
        }
        if (best == NONE) return;
        apply(work, best);
        consider(work, best, false);
        if (work->symbols[best].prev != NONE) consider(work, work->symbols[best].prev, false);
    }
}

static void merge_many(struct wick_tok_work *work)
{
    work->heap_count = 0;
    for (uint32_t at = 0; at != NONE; at = work->symbols[at].next) {
        if (work->symbols[at].rank != NONE) heap_push(work, (uint64_t)work->symbols[at].rank << 32 | at);
    }
    while (work->heap_count) {
        uint64_t key = heap_pop(work);
        uint32_t at = (uint32_t)key;
        /* What stands at a position only grows, so an entry is out of date exactly if the rank there has changed. */
        if (work->symbols[at].rank != key >> 32) continue;
        apply(work, at);
        consider(work, at, true);
        if (work->symbols[at].prev != NONE) consider(work, work->symbols[at].prev, true);
    }
}

static void merge_symbols(struct wick_tok_work *work)
{
    enum { FEW = 24 };
    size_t count = work->symbol_count;
    for (size_t i = 0; i < count; i++) {
        work->symbols[i].prev = i ? (uint32_t)i - 1 : NONE;
        work->symbols[i].next = i + 1 < count ? (uint32_t)i + 1 : NONE;
    }
    for (size_t i = 0; i < count; i++) consider(work, (uint32_t)i, false);
    if (count <= FEW) merge_few(work);
    else merge_many(work);
}

/* ---- pieces ---- */

static wick_status merge_whole(struct wick_tok_work *work, struct wick_str piece)
{
    const struct wick_tok *tok = work->tok;
    bool plain = tok->ignore_merges || !(tok->has_unused || tok->inner.size || tok->last.size);
    int32_t id = plain && piece.size <= tok->key_limit ? wick_tok_map_find(&tok->by_key, tok->key, piece) : -1;
    unsigned char known = id >= 0 ? atomic_load_explicit(&tok->alone[id], memory_order_relaxed) : 2;
    if (id >= 0 && (tok->ignore_merges || known == 1)) {
        wick_ids_push(work->out, id);
        return WICK_OK;
    }
    if (piece.size >= NONE || !reserve_symbols(work, piece.size)) return wick_fail_oom(work->err, piece.size, "the symbols of a piece");
    work->symbol_count = 0;
    if (tok->byte_level) byte_symbols(work, piece);
    else if (tok->inner.size || tok->last.size) affixed_symbols(work, piece);
    else char_symbols(work, piece);
    if (work->symbol_count == 0) return WICK_OK;
    merge_symbols(work);
    if (known == 0) {
        bool one = work->symbols[0].next == NONE && work->symbols[0].id == id;
        atomic_store_explicit(&tok->alone[id], one ? 1 : 2, memory_order_relaxed);
    }
    for (uint32_t at = 0; at != NONE; at = work->symbols[at].next) put_symbol(work, work->symbols[at].id);
    return WICK_OK;
}

/* The end of the word that begins at `from`: the next mark that follows another character, if no merge joins the two. */
static size_t word_end(const struct wick_tok *tok, struct wick_str piece, size_t from)
{
    struct wick_str mark = tok->cut, rest = {piece.data + from, piece.size - from};
    size_t at = 0;
    while (wick_str_starts((struct wick_str){rest.data + at, rest.size - at}, mark)) at += mark.size;
    while (at < rest.size) {
        const char *next = memchr(rest.data + at, mark.data[0], rest.size - at);
        if (!next) break;
        at = (size_t)(next - rest.data);
        struct wick_str here = {next, rest.size - at};
        if (!wick_str_starts(here, mark)) {
            at++;
        } else if (at > 0 && !tok->cut_joins[(unsigned char)next[-1]]) {
            return from + at;
        } else {
            /* Not here; nor within the run of marks. */
            while (wick_str_starts((struct wick_str){rest.data + at, rest.size - at}, mark)) at += mark.size;
        }
    }
    return piece.size;
}

wick_status wick_tok_merge_piece(struct wick_tok_work *work, struct wick_str piece)
{
    if (work->tok->cut.size == 0) return merge_whole(work, piece);
    for (size_t from = 0, end; from < piece.size; from = end) {
        end = word_end(work->tok, piece, from);
        WICK_TRY(merge_whole(work, (struct wick_str){piece.data + from, end - from}));
    }
    return WICK_OK;
}
