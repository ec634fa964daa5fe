/* tok/build_end.c - the end of loading: what follows from vocabulary, merges and steps. Afterwards the tokenizer is constant. */
#include "tok/model.h"

/* The normalized tokens are looked for in normalized text, so their patterns are normalized too. */
static wick_status normalize_patterns(struct wick_tok *tok, wick_error *err)
{
    struct wick_tok_work work = {.tok = tok, .err = err};
    wick_status status = WICK_OK;
    for (size_t i = 0; status == WICK_OK && i < tok->added_count; i++) {
        struct wick_str text = tok->added[i].content;
        if (!tok->added[i].normalized || tok->patterns_as_given) continue;
        status = wick_tok_normalize(&work, &text);
        if (status != WICK_OK || wick_str_equal(text, tok->added[i].content)) continue;
        tok->added[i].pattern = wick_tok_intern(tok, text);
        if (!tok->added[i].pattern.data) status = wick_fail_oom(err, text.size, "an added token");
    }
    for (int i = 0; i < 2; i++) wick_buf_free(&work.text[i]);
    wick_tok_matching_free(work.matching);
    return status;
}

/* ---- cut ---- */

/* True if what stands before a symbol in the text is what stands before it in the list of symbols: unknown characters do not
 * vanish from between. */
static bool keeps_unknown(const struct wick_tok *tok)
{
    if (tok->unk >= 0) return true;
    for (int b = 0; b < 256; b++) {
        if (!tok->byte_fallback || tok->byte_ids[b] < 0) return false;
    }
    return true;
}

/* True if the piece ends with one that stands for something else than its spelling. */
static bool ends_with_stand_in(const struct wick_tok *tok, struct wick_str piece)
{
    if (tok->unk >= 0 && wick_str_ends(piece, tok->piece[tok->unk])) return true;
    return piece.size >= 6 && wick_tok_byte_of((struct wick_str){piece.data + piece.size - 6, 6}) >= 0;
}

/* Vocabularies that mark word begins by a character merge whole texts as one piece. Where no merge joins what precedes the mark
 * with it, words can be merged singly, with the same result and mostly by one look-up. */
static void find_cut(struct wick_tok *tok)
{
    static const char *const marks[] = {"\xe2\x96\x81", " "};
    if (tok->model != WICK_TOK_BPE || tok->byte_level || tok->ignore_merges || tok->has_unused || tok->inner.size || tok->last.size ||
        !keeps_unknown(tok))
        return;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(marks) && tok->cut.size == 0; i++) {
        struct wick_str mark = wick_str_of(marks[i]);
        if (wick_tok_map_find(&tok->by_key, tok->key, mark) >= 0) tok->cut = mark;
    }
    for (size_t i = 0; tok->cut.size && i <= tok->pairs.mask; i++) {
        const struct wick_tok_merge *merge = &tok->pairs.slots[i];
        if (merge->left < 0 || !wick_str_starts(tok->piece[merge->right], tok->cut)) continue;
        struct wick_str left = tok->piece[merge->left];
        if (ends_with_stand_in(tok, left)) tok->cut = (struct wick_str){0};
        else if (left.size && !wick_str_ends(left, tok->cut)) tok->cut_joins[(unsigned char)left.data[left.size - 1]] = true;
    }
}

/* ---- texts ---- */

/* The characters a byte-level piece stands for, or the piece itself. */
static struct wick_str byte_level_text(struct wick_tok *tok, int32_t id, struct wick_str piece, struct wick_buf *scratch)
{
    if ((tok->flags[id] & WICK_TOK_IS_ADDED) || (tok->byte_level && !tok->key[id].data)) return piece;
    if (tok->byte_level) return tok->key[id];
    scratch->size = 0;
    for (size_t i = 0; i < piece.size;) {
        uint32_t code = 0;
        size_t n = wick_utf8_next(piece.data + i, piece.size - i, &code);
        int value = n ? wick_tok_char_byte(code) : -1;
        if (value < 0) return piece;
        char byte = (char)value;
        wick_buf_append(scratch, &byte, 1);
        i += n;
    }
    return (struct wick_str){scratch->data ? scratch->data : "", scratch->size};
}

/* One step on *text, which then may borrow `out`. */
static wick_status apply(const struct wick_tok_step *step, struct wick_str *text, struct wick_buf *out, struct wick_tok_matching **matching,
                         wick_error *err)
{
    out->size = 0;
    WICK_TRY(wick_tok_normalize_step(step, matching, *text, out, err));
    *text = (struct wick_str){out->data ? out->data : "", out->size};
    return WICK_OK;
}

/* Working space for one text after the other. */
struct texts {
    struct wick_buf scratch[8];
    struct wick_tok_matching *matching;
    const char *bytes; /* all 256, for the byte tokens */
};

/* A text that may be scratch is kept; equal ones share the piece. */
static wick_status keep_text(struct wick_tok *tok, int32_t id, struct wick_str text, struct wick_str *to, wick_error *err)
{
    *to = wick_str_equal(text, tok->piece[id]) ? tok->piece[id] : wick_tok_intern(tok, text);
    return to->data ? WICK_OK : wick_fail_oom(err, text.size, "texts");
}

/* What WordPiece's decoder drops. */
static void clean_up(struct wick_str *text, struct wick_buf *a, struct wick_buf *b)
{
    static const char *const pairs[][2] = {{" .", "."},     {" ?", "?"},     {" !", "!"},           {" ,", ","},   {" ' ", "'"},   {" n't", "n't"},
                                           {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(pairs); i++) {
        struct wick_str from = wick_str_of(pairs[i][0]), to = wick_str_of(pairs[i][1]);
        struct wick_buf *out = i % 2 ? b : a;
        out->size = 0;
        for (size_t at = 0; at < text->size;) {
            bool here = wick_str_starts((struct wick_str){text->data + at, text->size - at}, from);
            wick_buf_append(out, here ? to.data : text->data + at, here ? to.size : 1);
            at += here ? from.size : 1;
        }
        *text = (struct wick_str){out->data ? out->data : "", out->size};
    }
}

/* WordPiece: a token follows with a blank unless it is spelled as one that goes on. */
static wick_status word_texts(struct wick_tok *tok, struct wick_str *text, struct wick_str *first, struct texts *texts, wick_error *err)
{
    struct wick_str inner = tok->decoder.word_inner;
    bool goes_on = wick_str_starts(*text, inner);
    struct wick_buf *joined = &texts->scratch[3];
    joined->size = 0;
    if (!goes_on) wick_buf_append(joined, " ", 1);
    wick_buf_append(joined, text->data + (goes_on ? inner.size : 0), text->size - (goes_on ? inner.size : 0));
    *text = (struct wick_str){joined->data ? joined->data : "", joined->size};
    if (tok->decoder.word_cleanup) clean_up(text, &texts->scratch[4], &texts->scratch[5]);
    if (tok->decoder.word_cleanup) clean_up(first, &texts->scratch[6], &texts->scratch[7]);
    for (size_t i = 3; i < WICK_ARRAY_SIZE(texts->scratch); i++) {
        if (texts->scratch[i].failed) return wick_fail_oom(err, text->size, "texts");
    }
    return WICK_OK;
}

/* The steps of the decoder that see single tokens: `source` becomes text[id] and, where that differs, first[id]. */
static wick_status stepped_text(struct wick_tok *tok, int32_t id, struct wick_str source, struct texts *texts, wick_error *err)
{
    struct wick_str text = source, first;
    for (size_t i = 0; i < tok->decoder.replaces.count; i++) {
        WICK_TRY(apply(&tok->decoder.replaces.items[i], &text, &texts->scratch[i % 2], &texts->matching, err));
    }
    first = text;
    if (tok->decoder.word_inner.data) WICK_TRY(word_texts(tok, &text, &first, texts, err));
    if (tok->decoder.metaspace.size) {
        struct wick_tok_step blank = {
            .kind = WICK_TOK_REPLACE, .content = WICK_STR(" "), .pattern = {.kind = WICK_TOK_BY_STRING, .string = tok->decoder.metaspace}};
        struct wick_buf *out = &texts->scratch[tok->decoder.replaces.count % 2];
        WICK_TRY(apply(&blank, &text, out, &texts->matching, err));
        blank.content = WICK_STR("");
        WICK_TRY(apply(&blank, &first, &texts->scratch[2], &texts->matching, err));
    }
    if (tok->first) WICK_TRY(keep_text(tok, id, first, &tok->first[id], err));
    return keep_text(tok, id, text, &tok->text[id], err);
}

static wick_status find_text(struct wick_tok *tok, int32_t id, struct texts *texts, wick_error *err)
{
    struct wick_str source = tok->text[id].data ? tok->text[id] : tok->piece[id];
    int byte = tok->decoder.byte_fallback ? wick_tok_byte_of(source) : -1;
    if (byte >= 0) {
        tok->text[id] = (struct wick_str){texts->bytes + byte, 1};
        tok->flags[id] |= WICK_TOK_IS_BYTE;
        if (tok->first) tok->first[id] = tok->text[id];
        return WICK_OK;
    }
    if (!tok->decoder.byte_level) return stepped_text(tok, id, source, texts, err);
    struct wick_str text = byte_level_text(tok, id, source, &texts->scratch[0]);
    if (text.data == texts->scratch[0].data) return keep_text(tok, id, text, &tok->text[id], err);
    tok->text[id] = text;
    return WICK_OK;
}

/* What every id prints. A normalized added token prints what it was looked for as, like in the original. */
static wick_status find_texts(struct wick_tok *tok, wick_error *err)
{
    struct texts texts = {.matching = NULL};
    wick_status status = WICK_OK;
    char *bytes = wick_arena_alloc(&tok->arena, 256, 1);
    bool first = tok->decoder.metaspace_first || tok->decoder.word_inner.data;
    if (first) tok->first = WICK_NEW_ARRAY(&tok->arena, struct wick_str, (size_t)tok->limit);
    if (!bytes || (first && !tok->first)) return wick_fail_oom(err, 256, "texts");
    for (int i = 0; i < 256; i++) bytes[i] = (char)i;
    texts.bytes = bytes;
    for (size_t i = 0; i < tok->added_count; i++) tok->text[tok->added[i].id] = tok->added[i].pattern;
    for (int32_t id = 0; status == WICK_OK && id < tok->limit; id++) {
        if (tok->piece[id].data) status = find_text(tok, id, &texts, err);
    }
    for (size_t i = 0; i < WICK_ARRAY_SIZE(texts.scratch); i++) wick_buf_free(&texts.scratch[i]);
    wick_tok_matching_free(texts.matching);
    return status;
}

/* ---- ends ---- */

static int32_t named(const struct wick_tok *tok, const char *name)
{
    int32_t id = wick_tok_id_of(tok, wick_str_of(name));
    return id >= 0 && (tok->flags[id] & WICK_TOK_IS_ADDED) ? id : -1;
}

static wick_status find_ends(struct wick_tok *tok, wick_error *err)
{
    static const char *const begins[] = {"<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
                                         "[BOS]"};
    static const char *const ends[] = {"</s>", "<eos>", "<|end_of_text|>", "<|endoftext|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "[EOS]",
                                       "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<end_of_turn>", "<|end|>", "<|eot|>", "<|return|>",
                                       "<|end_of_turn|>"};
    if (tok->bos < 0 && tok->prefix.count) tok->bos = tok->prefix.ids[0];
    for (size_t i = 0; i < WICK_ARRAY_SIZE(begins) && tok->bos < 0; i++) tok->bos = named(tok, begins[i]);
    if (tok->eos.count == 0 && tok->suffix.count) WICK_TRY(wick_tok_list_add(tok, &tok->eos, tok->suffix.ids[0], true, err));
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ends); i++) {
        int32_t id = named(tok, ends[i]);
        if (id >= 0) WICK_TRY(wick_tok_list_add(tok, &tok->eos, id, true, err));
    }
    return WICK_OK;
}

/* For text of which only parts are trusted, whose places are those of the text before normalization. */
static bool make_trusted(struct wick_tok *tok)
{
    struct wick_tok_added *added = WICK_NEW_ARRAY(&tok->arena, struct wick_tok_added, tok->added_count);
    if (!added) return false;
    for (size_t i = 0; i < tok->added_count; i++) {
        added[i] = tok->added[i];
        if (!added[i].special) continue;
        added[i].pattern = added[i].content;
        added[i].normalized = false;
    }
    return wick_tok_matcher_init(&tok->trusted, &tok->arena, added, tok->added_count, false);
}

wick_status wick_tok_finish(struct wick_tok *tok, wick_error *err)
{
    WICK_TRY(normalize_patterns(tok, err));
    if (!tok->pairs.slots && !wick_tok_pairs_init(&tok->pairs, &tok->arena, 0, tok->seed)) return wick_fail_oom(err, 0, "merges");
    if (!wick_tok_matcher_init(&tok->raw, &tok->arena, tok->added, tok->added_count, false) ||
        !wick_tok_matcher_init(&tok->normalized, &tok->arena, tok->added, tok->added_count, true) || !make_trusted(tok)) {
        return wick_fail_oom(err, tok->added_count, "added tokens");
    }
    find_cut(tok);
    WICK_TRY(find_texts(tok, err));
    return find_ends(tok, err);
}

/* ---- facts ---- */

const char *wick_tok_format(const struct wick_tok *tok) { return tok->format; }
int32_t wick_tok_vocab_size(const struct wick_tok *tok) { return tok->limit; }
int32_t wick_tok_id_of(const struct wick_tok *tok, struct wick_str piece) { return wick_tok_map_find(&tok->by_piece, tok->piece, piece); }
int32_t wick_tok_bos(const struct wick_tok *tok) { return tok->bos; }
bool wick_tok_adds_bos(const struct wick_tok *tok) { return tok->prefix.count > 0 && tok->prefix.ids[0] == tok->bos; }

struct wick_str wick_tok_piece(const struct wick_tok *tok, int32_t id)
{
    return id >= 0 && id < tok->limit ? tok->piece[id] : (struct wick_str){0};
}

bool wick_tok_is_special(const struct wick_tok *tok, int32_t id) { return id >= 0 && id < tok->limit && (tok->flags[id] & WICK_TOK_IS_SPECIAL); }

static const int32_t *list_of(const struct wick_tok_id_list *list, size_t *count)
{
    *count = list->count;
    return list->ids;
}

const int32_t *wick_tok_eos(const struct wick_tok *tok, size_t *count) { return list_of(&tok->eos, count); }
const int32_t *wick_tok_prefix(const struct wick_tok *tok, size_t *count) { return list_of(&tok->prefix, count); }
const int32_t *wick_tok_suffix(const struct wick_tok *tok, size_t *count) { return list_of(&tok->suffix, count); }
