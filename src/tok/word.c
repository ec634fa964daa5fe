/* tok/word.c - the models that take a word at a time: WordPiece (the longest entry, then the longest one that goes on, and so on) and
 * WordLevel (the word is an entry, or unknown). */
#include "tok/model.h"

wick_status wick_tok_word_level_piece(struct wick_tok_work *work, struct wick_str piece)
{
    const struct wick_tok *tok = work->tok;
    int32_t id = piece.size <= tok->key_limit ? wick_tok_map_find(&tok->by_key, tok->key, piece) : -1;
    if (id >= 0) {
        wick_ids_push(work->out, id);
        return WICK_OK;
    }
    bool bytes = tok->byte_fallback;
    for (size_t i = 0; bytes && i < piece.size; i++) bytes = tok->byte_ids[(unsigned char)piece.data[i]] >= 0;
    for (size_t i = 0; bytes && i < piece.size; i++) wick_ids_push(work->out, tok->byte_ids[(unsigned char)piece.data[i]]);
    bool again = tok->fuse_unk && work->unknown_until && work->unknown_until == work->out->count;
    if (bytes || again) return WICK_OK;
    if (tok->unk < 0) return wick_fail(work->err, WICK_INVALID_ARGUMENT, "text: a word is not in the vocabulary, which has no unknown token");
    wick_ids_push(work->out, tok->unk);
    work->unknown_until = work->out->count;
    return WICK_OK;
}

/* The longest entry at text[at] from a node of the trie on; its size in *size. -1: none. */
static int32_t longest(const struct wick_tok_trie *trie, uint32_t node, struct wick_str text, size_t at, size_t *size)
{
    int32_t best = -1;
    for (size_t end = at; trie->nodes && node != UINT32_MAX && end < text.size; end++) {
        node = wick_tok_trie_step(trie, node, (uint8_t)text.data[end]);
        if (node == 0) break;
        bool whole = end + 1 == text.size || ((unsigned char)text.data[end + 1] & 0xc0) != 0x80;
        if (trie->nodes[node].id < 0 || !whole) continue;
        best = trie->nodes[node].id;
        *size = end + 1 - at;
    }
    return best;
}

wick_status wick_tok_word_piece(struct wick_tok_work *work, struct wick_str piece)
{
    const struct wick_tok *tok = work->tok;
    size_t chars = 0, before = work->out->count, size = 0;
    for (size_t i = 0; i < piece.size; i++) chars += ((unsigned char)piece.data[i] & 0xc0) != 0x80;
    bool known = chars <= tok->word_chars_max;
    for (size_t at = 0; known && at < piece.size; at += size) {
        int32_t id = longest(&tok->trie, at ? tok->inner_node : 0, piece, at, &size);
        known = id >= 0;
        if (known) wick_ids_push(work->out, id);
    }
    if (known) return WICK_OK;
    /* A word that does not come out even is unknown as a whole. */
    work->out->count = before;
    if (tok->unk < 0) return wick_fail(work->err, WICK_INVALID_ARGUMENT, "text: a word is not in the vocabulary, which has no unknown token");
    wick_ids_push(work->out, tok->unk);
    return WICK_OK;
}
