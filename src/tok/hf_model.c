/* tok/hf_model.c - the model of a tokenizer.json: BPE, Unigram, WordPiece or WordLevel. Vocabulary and merges are read in place, its options from
 * the tree. */
#include "tok/hf.h"
#include "tok/json_scan.h"

#include <math.h>

/* ---- vocabulary ---- */

/* {"piece": id, ...}. Counts the entries and finds the highest id; with `enter`, enters them. */
static wick_status read_object(struct wick_tok *tok, bool enter, const struct wick_tok_hf_parts *parts, struct wick_buf *scratch, size_t *count,
                               int32_t *highest, wick_error *err)
{
    struct wick_tok_json json = {parts->document, parts->vocab.begin, parts->vocab.end};
    bool first = true, more = true;
    *count = 0;
    WICK_TRY(wick_tok_json_expect(&json, '{', err));
    for (;;) {
        struct wick_str piece;
        int32_t id;
        WICK_TRY(wick_tok_json_next(&json, '}', &first, &more, err));
        if (!more) return WICK_OK;
        WICK_TRY(wick_tok_json_key(&json, scratch, &piece, err));
        WICK_TRY(wick_tok_json_id(&json, &id, err));
        if (id >= WICK_TOK_ID_LIMIT)
            return wick_fail(err, WICK_INVALID_TOKENIZER, "token \"%.*s\": id %d is not in [0, %d)", (int)WICK_MIN(piece.size, 80), piece.data, id,
                             WICK_TOK_ID_LIMIT);
        if (enter) WICK_TRY(wick_tok_set_piece(tok, id, piece, err));
        *highest = WICK_MAX(*highest, id);
        ++*count;
    }
}

/* [["piece", score], ...]: the id is the place. */
static wick_status read_scored(struct wick_tok *tok, bool enter, const struct wick_tok_hf_parts *parts, struct wick_buf *scratch, size_t *count,
                               int32_t *highest, wick_error *err)
{
    struct wick_tok_json json = {parts->document, parts->vocab.begin, parts->vocab.end};
    bool first = true, more = true;
    if (enter) tok->scores = WICK_NEW_ARRAY(&tok->arena, double, (size_t)tok->limit);
    if (enter && !tok->scores) return wick_fail_oom(err, (size_t)tok->limit, "scores");
    *count = 0;
    WICK_TRY(wick_tok_json_expect(&json, '[', err));
    for (;; ++*count) {
        struct wick_str piece;
        double score;
        WICK_TRY(wick_tok_json_next(&json, ']', &first, &more, err));
        if (!more) break;
        if (*count == WICK_TOK_ID_LIMIT) return wick_fail(err, WICK_INVALID_TOKENIZER, "more than %d pieces", WICK_TOK_ID_LIMIT);
        WICK_TRY(wick_tok_json_expect(&json, '[', err));
        WICK_TRY(wick_tok_json_string(&json, scratch, &piece, err));
        WICK_TRY(wick_tok_json_expect(&json, ',', err));
        if (enter) WICK_TRY(wick_tok_set_listed(tok, (int32_t)*count, piece, true, err));
        WICK_TRY(wick_tok_json_number(&json, &score, err));
        WICK_TRY(wick_tok_json_expect(&json, ']', err));
        if (enter) tok->scores[*count] = score;
    }
    if (*count == 0) return wick_fail(err, WICK_INVALID_TOKENIZER, "no pieces");
    *highest = WICK_MAX(*highest, (int32_t)*count - 1);
    return WICK_OK;
}

/* ---- merges ---- */

static wick_status count_merges(struct wick_tok_json json, size_t *count, wick_error *err)
{
    bool first = true, more;
    *count = 0;
    WICK_TRY(wick_tok_json_expect(&json, '[', err));
    for (;; ++*count) {
        WICK_TRY(wick_tok_json_next(&json, ']', &first, &more, err));
        if (!more) return WICK_OK;
        WICK_TRY(wick_tok_json_skip(&json, err));
    }
}

/* Scratch of the merge reader. */
struct merge_reader {
    struct wick_tok_json json;
    struct wick_buf left, right, join;
};

/* ["left", "right"]. */
static wick_status read_pair(struct merge_reader *reader, struct wick_str *left, struct wick_str *right, wick_error *err)
{
    WICK_TRY(wick_tok_json_expect(&reader->json, '[', err));
    WICK_TRY(wick_tok_json_string(&reader->json, &reader->left, left, err));
    WICK_TRY(wick_tok_json_expect(&reader->json, ',', err));
    WICK_TRY(wick_tok_json_string(&reader->json, &reader->right, right, err));
    return wick_tok_json_expect(&reader->json, ']', err);
}

/* "left right" with the only blank between them; a line "#version" is passed over (left->data NULL). */
static wick_status read_line(struct merge_reader *reader, struct wick_str *left, struct wick_str *right, wick_error *err)
{
    struct wick_str line;
    WICK_TRY(wick_tok_json_string(&reader->json, &reader->left, &line, err));
    *left = *right = (struct wick_str){0};
    if (wick_str_starts(line, WICK_STR("#version"))) return WICK_OK;
    const char *blank = line.size ? memchr(line.data, ' ', line.size) : NULL;
    size_t at = blank ? (size_t)(blank - line.data) : 0;
    if (!blank || memchr(blank + 1, ' ', line.size - at - 1))
        return wick_fail(err, WICK_INVALID_TOKENIZER, "two pieces with one blank between them expected");
    *left = (struct wick_str){line.data, at};
    *right = (struct wick_str){blank + 1, line.size - at - 1};
    return WICK_OK;
}

static wick_status find_piece(const struct wick_tok *tok, struct wick_str piece, int32_t *id, wick_error *err)
{
    *id = wick_tok_map_find(&tok->by_piece, tok->piece, piece);
    if (*id >= 0) return WICK_OK;
    return wick_fail(err, WICK_INVALID_TOKENIZER, "\"%.*s\" is not in the vocabulary", (int)WICK_MIN(piece.size, 80), piece.data);
}

static wick_status read_merge(struct wick_tok *tok, struct merge_reader *reader, uint32_t rank, bool *taken, wick_error *err)
{
    struct wick_str left, right;
    int32_t ids[3];
    if (wick_tok_json_is(&reader->json, '[')) WICK_TRY(read_pair(reader, &left, &right, err));
    else WICK_TRY(read_line(reader, &left, &right, err));
    *taken = left.data != NULL;
    if (!*taken) return WICK_OK;
    if (right.size < tok->inner.size)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "\"%.*s\" is shorter than continuing_subword_prefix", (int)right.size, right.data);
    reader->join.size = 0;
    wick_buf_append(&reader->join, left.data, left.size);
    wick_buf_append(&reader->join, right.data + tok->inner.size, right.size - tok->inner.size);
    if (reader->join.failed) return wick_fail_oom(err, left.size + right.size, "a merge");
    WICK_TRY(find_piece(tok, left, &ids[0], err));
    WICK_TRY(find_piece(tok, right, &ids[1], err));
    WICK_TRY(find_piece(tok, (struct wick_str){reader->join.data, reader->join.size}, &ids[2], err));
    wick_tok_pairs_set(&tok->pairs, ids[0], ids[1], rank, ids[2]);
    return WICK_OK;
}

static wick_status read_merges(struct wick_tok *tok, const struct wick_tok_hf_parts *parts, wick_error *err)
{
    struct merge_reader reader = {.json = {parts->document, parts->merges.begin, parts->merges.end}};
    size_t count = 0;
    uint32_t rank = 0;
    bool first = true, more = true, taken = false;
    wick_status status = WICK_OK;
    WICK_TRY_GOTO(count_merges(reader.json, &count, err));
    if (count > UINT32_MAX / 4 || !wick_tok_pairs_init(&tok->pairs, &tok->arena, count, tok->seed)) {
        status = wick_fail_oom(err, count, "merges");
        goto done;
    }
    WICK_TRY_GOTO(wick_tok_json_expect(&reader.json, '[', err));
    for (size_t i = 0;; i++) {
        WICK_TRY_GOTO(wick_tok_json_next(&reader.json, ']', &first, &more, err));
        if (!more) break;
        status = read_merge(tok, &reader, rank, &taken, err);
        if (status != WICK_OK) {
            status = wick_fail_in(err, status, "model.merges[%zu]", i);
            break;
        }
        rank += taken;
    }
done:
    wick_buf_free(&reader.left);
    wick_buf_free(&reader.right);
    wick_buf_free(&reader.join);
    return status;
}

/* ---- the model ---- */

static struct wick_str text_of(const json_t *json) { return (struct wick_str){json_string_value(json), json ? json_string_length(json) : 0}; }

/* Older files do not name the type. */
static wick_status find_type(struct wick_tok *tok, const json_t *model, const struct wick_tok_hf_parts *parts, wick_error *err)
{
    struct wick_str type = text_of(json_object_get(model, "type"));
    bool list = parts->vocab.begin && *parts->vocab.begin == '[';
    if (wick_str_is(type, "BPE") || (!type.data && parts->merges.begin)) tok->model = WICK_TOK_BPE;
    else if (wick_str_is(type, "Unigram") || (!type.data && list)) tok->model = WICK_TOK_UNIGRAM;
    else if (wick_str_is(type, "WordPiece") || (!type.data && json_object_get(model, "continuing_subword_prefix"))) tok->model = WICK_TOK_WORD_PIECE;
    else if (wick_str_is(type, "WordLevel") || !type.data) tok->model = WICK_TOK_WORD_LEVEL;
    else
        return wick_fail(err, WICK_NOT_SUPPORTED, "model.type: \"%.*s\" is not supported (supported: BPE, Unigram, WordPiece, WordLevel)",
                         (int)WICK_MIN(type.size, 60), type.data);
    if (!parts->vocab.begin || list != (tok->model == WICK_TOK_UNIGRAM))
        return wick_fail(err, WICK_INVALID_TOKENIZER, "model.vocab: an %s expected", tok->model == WICK_TOK_UNIGRAM ? "array" : "object");
    if (tok->model == WICK_TOK_BPE && !parts->merges.begin) return wick_fail(err, WICK_INVALID_TOKENIZER, "model.merges: an array expected");
    return WICK_OK;
}

static wick_status take_affix(struct wick_tok *tok, const json_t *model, const char *key, const char *missing, struct wick_str *out, wick_error *err)
{
    const json_t *affix = json_object_get(model, key);
    struct wick_str text = json_is_string(affix) ? text_of(affix) : wick_str_of(missing);
    *out = wick_tok_intern(tok, text);
    return out->data ? WICK_OK : wick_fail_oom(err, text.size, "an affix");
}

wick_status wick_tok_hf_model_begin(struct wick_tok *tok, const json_t *model, const struct wick_tok_hf_parts *parts, wick_error *err)
{
    if (!json_is_object(model)) return wick_fail(err, WICK_INVALID_TOKENIZER, "model: an object expected");
    WICK_TRY(find_type(tok, model, parts, err));
    tok->byte_fallback = json_is_true(json_object_get(model, "byte_fallback"));
    tok->fuse_unk = tok->model == WICK_TOK_UNIGRAM || json_is_true(json_object_get(model, "fuse_unk"));
    tok->ignore_merges = json_is_true(json_object_get(model, "ignore_merges"));
    const json_t *dropout = json_object_get(model, "dropout"), *chars = json_object_get(model, "max_input_chars_per_word");
    if (json_is_number(dropout) && json_number_value(dropout) > 0)
        return wick_fail(err, WICK_NOT_SUPPORTED, "model.dropout: only none is supported: ids would be random");
    json_int_t limit = json_is_integer(chars) ? json_integer_value(chars) : 100;
    tok->word_chars_max = limit < 0 ? 0 : limit > INT32_MAX ? INT32_MAX : (uint32_t)limit;
    if (tok->model == WICK_TOK_BPE) {
        WICK_TRY(take_affix(tok, model, "continuing_subword_prefix", "", &tok->inner, err));
        return take_affix(tok, model, "end_of_word_suffix", "", &tok->last, err);
    }
    return tok->model == WICK_TOK_WORD_PIECE ? take_affix(tok, model, "continuing_subword_prefix", "##", &tok->inner, err) : WICK_OK;
}

wick_status wick_tok_hf_model_vocab(struct wick_tok *tok, const struct wick_tok_hf_parts *parts, struct wick_buf *scratch, bool enter, size_t *count,
                                    int32_t *highest, wick_error *err)
{
    wick_status status = tok->model == WICK_TOK_UNIGRAM ? read_scored(tok, enter, parts, scratch, count, highest, err)
                                                        : read_object(tok, enter, parts, scratch, count, highest, err);
    return status == WICK_OK ? WICK_OK : wick_fail_in(err, status, "model.vocab");
}

wick_status wick_tok_hf_model_tables(struct wick_tok *tok, const struct wick_tok_hf_parts *parts, wick_error *err)
{
    static const double unknown_penalty = 10;
    if (tok->model == WICK_TOK_BPE) return read_merges(tok, parts, err);
    if (tok->model == WICK_TOK_WORD_LEVEL) return WICK_OK;
    WICK_TRY(wick_tok_make_trie(tok, err));
    tok->inner_node = wick_tok_trie_walk(&tok->trie, tok->inner);
    double lowest = HUGE_VAL;
    for (int32_t id = 0; tok->scores && id < tok->limit; id++) {
        if (tok->piece[id].data && tok->scores[id] < lowest) lowest = tok->scores[id];
    }
    tok->unk_score = lowest - unknown_penalty;
    return WICK_OK;
}

wick_status wick_tok_hf_model_end(struct wick_tok *tok, const json_t *model, wick_error *err)
{
    struct wick_str name = text_of(json_object_get(model, "unk_token"));
    const json_t *id = json_object_get(model, "unk_id");
    if (tok->model != WICK_TOK_UNIGRAM) {
        if (name.data) tok->unk = wick_tok_id_of(tok, name);
        return WICK_OK;
    }
    if (!json_is_integer(id)) return WICK_OK;
    if (json_integer_value(id) < 0 || json_integer_value(id) >= tok->limit || !tok->piece[json_integer_value(id)].data)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "model.unk_id: not an id of the vocabulary");
    tok->unk = (int32_t)json_integer_value(id);
    return WICK_OK;
}
