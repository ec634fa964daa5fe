/* tok/hf_json.c - reads a Hugging Face tokenizer.json with a BPE model.
 *
 * The vocabulary and the merges make up nearly all of such a file. They are read in place by json_scan.c; the rest goes through
 * jansson with both replaced by empty ones. Next: hf_steps.c for the pipeline, build.c and build_end.c for the tables. */
#include "tok/hf.h"
#include "tok/json_scan.h"

#include "base/os.h"

#include <stdio.h>

/* ---- the large parts ---- */

/* Where the values of model.vocab and model.merges stand in the document; begin NULL: absent. */
struct range {
    const char *begin, *end;
};
struct parts {
    const char *document;
    struct range vocab, merges;
};

static wick_status find_model_parts(struct wick_tok_json *json, struct wick_buf *scratch, struct parts *parts, wick_error *err)
{
    struct wick_str key;
    bool first = true, more;
    WICK_TRY(wick_tok_json_expect(json, '{', err));
    for (;;) {
        WICK_TRY(wick_tok_json_next(json, '}', &first, &more, err));
        if (!more) return WICK_OK;
        WICK_TRY(wick_tok_json_key(json, scratch, &key, err));
        bool vocab = wick_str_is(key, "vocab") && wick_tok_json_is(json, '{'), merges = wick_str_is(key, "merges") && wick_tok_json_is(json, '[');
        struct range *range = vocab ? &parts->vocab : merges ? &parts->merges : NULL;
        if (range && range->begin) return wick_fail(err, WICK_INVALID_TOKENIZER, "model: two %s", vocab ? "vocab" : "merges");
        if (range) range->begin = json->at;
        WICK_TRY(wick_tok_json_skip(json, err));
        if (range) range->end = json->at;
    }
}

static wick_status find_parts(struct wick_tok_json *json, struct wick_buf *scratch, struct parts *parts, wick_error *err)
{
    struct wick_str key;
    bool first = true, more;
    WICK_TRY(wick_tok_json_expect(json, '{', err));
    for (;;) {
        WICK_TRY(wick_tok_json_next(json, '}', &first, &more, err));
        if (!more) return wick_tok_json_end(json, err);
        WICK_TRY(wick_tok_json_key(json, scratch, &key, err));
        if (wick_str_is(key, "model") && wick_tok_json_is(json, '{')) WICK_TRY(find_model_parts(json, scratch, parts, err));
        else WICK_TRY(wick_tok_json_skip(json, err));
    }
}

/* The document without the large parts. */
static wick_status parse_rest(struct wick_str data, const struct parts *parts, json_t **out, wick_error *err)
{
    struct range a = parts->vocab, b = parts->merges;
    struct wick_buf rest = {0};
    bool swap = b.begin && (!a.begin || b.begin < a.begin);
    struct range order[2] = {swap ? b : a, swap ? a : b};
    const char *at = data.data;
    for (int i = 0; i < 2; i++) {
        if (!order[i].begin) continue;
        wick_buf_append(&rest, at, (size_t)(order[i].begin - at));
        wick_buf_text(&rest, *order[i].begin == '{' ? "{}" : "[]");
        at = order[i].end;
    }
    wick_buf_append(&rest, at, (size_t)(data.data + data.size - at));
    wick_status status = rest.failed ? wick_fail_oom(err, data.size, "JSON")
                                     : wick_json_parse(out, rest.data, rest.size, "without vocab and merges", WICK_INVALID_TOKENIZER, err);
    wick_buf_free(&rest);
    return status;
}

/* ---- vocabulary ---- */

/* Counts the entries and finds the highest id; with `tok`, enters them. */
static wick_status read_vocab(struct wick_tok *tok, const struct parts *parts, struct wick_buf *scratch, size_t *count, int32_t *highest,
                              wick_error *err)
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
        if (tok) WICK_TRY(wick_tok_set_piece(tok, id, piece, err));
        *highest = WICK_MAX(*highest, id);
        ++*count;
    }
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
    reader->join.size = 0;
    wick_buf_append(&reader->join, left.data, left.size);
    wick_buf_append(&reader->join, right.data, right.size);
    if (reader->join.failed) return wick_fail_oom(err, left.size + right.size, "a merge");
    WICK_TRY(find_piece(tok, left, &ids[0], err));
    WICK_TRY(find_piece(tok, right, &ids[1], err));
    WICK_TRY(find_piece(tok, (struct wick_str){reader->join.data, reader->join.size}, &ids[2], err));
    wick_tok_pairs_set(&tok->pairs, ids[0], ids[1], rank, ids[2]);
    return WICK_OK;
}

static wick_status read_merges(struct wick_tok *tok, const struct parts *parts, wick_error *err)
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

/* ---- model and added tokens ---- */

static wick_status read_options(struct wick_tok *tok, const json_t *model, wick_error *err)
{
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(affixes); i++) {
        const json_t *affix = json_object_get(model, affixes[i]);
        if (json_string_length(affix)) return wick_fail(err, WICK_NOT_SUPPORTED, "model.%s: only none is supported", affixes[i]);
    }
    tok->byte_fallback = json_is_true(json_object_get(model, "byte_fallback"));
    tok->fuse_unk = json_is_true(json_object_get(model, "fuse_unk"));
    tok->ignore_merges = json_is_true(json_object_get(model, "ignore_merges"));
    return WICK_OK;
}

static wick_status check_model(const json_t *root, const struct parts *parts, const json_t **out, wick_error *err)
{
    const json_t *model = json_object_get(root, "model"), *type = json_object_get(model, "type");
    if (!json_is_object(model)) return wick_fail(err, WICK_INVALID_TOKENIZER, "model: an object expected");
    if (type && strcmp(json_is_string(type) ? json_string_value(type) : "", "BPE") != 0) {
        return wick_fail(err, WICK_NOT_SUPPORTED, "model.type: \"%s\" is not supported (supported: BPE)",
                         json_is_string(type) ? json_string_value(type) : "?");
    }
    if (!parts->vocab.begin) return wick_fail(err, WICK_INVALID_TOKENIZER, "model.vocab: an object expected");
    if (!parts->merges.begin) return wick_fail(err, WICK_INVALID_TOKENIZER, "model.merges: an array expected");
    *out = model;
    return WICK_OK;
}

static wick_status added_of(const json_t *item, struct wick_tok_added *out, wick_error *err)
{
    const json_t *content = json_object_get(item, "content"), *id = json_object_get(item, "id"), *normalized = json_object_get(item, "normalized");
    json_int_t number = json_integer_value(id);
    if (!json_is_string(content)) return wick_fail(err, WICK_INVALID_TOKENIZER, "content: a string expected");
    if (!json_is_integer(id) || number < 0 || number >= WICK_TOK_ID_LIMIT)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "id: a number in [0, %d) expected", WICK_TOK_ID_LIMIT);
    *out = (struct wick_tok_added){
        .content = {json_string_value(content), json_string_length(content)},
        .id = (int32_t)number,
        .special = json_is_true(json_object_get(item, "special")),
        .single_word = json_is_true(json_object_get(item, "single_word")),
        .lstrip = json_is_true(json_object_get(item, "lstrip")),
        .rstrip = json_is_true(json_object_get(item, "rstrip")),
    };
    out->normalized = normalized ? json_is_true(normalized) : !out->special;
    return WICK_OK;
}

/* Highest id of the added tokens; with `tok`, enters them. */
static wick_status read_added(struct wick_tok *tok, const json_t *list, int32_t *highest, wick_error *err)
{
    if (list && !json_is_null(list) && !json_is_array(list)) return wick_fail(err, WICK_INVALID_TOKENIZER, "added_tokens: an array expected");
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct wick_tok_added added;
        wick_status status = added_of(json_array_get(list, i), &added, err);
        if (status == WICK_OK) *highest = WICK_MAX(*highest, added.id);
        if (status == WICK_OK && tok) status = wick_tok_add_added(tok, &added, err);
        if (status != WICK_OK) return wick_fail_in(err, status, "added_tokens[%zu]", i);
    }
    return WICK_OK;
}

/* ---- files beside it ---- */

/* A special token is named by a string or by an object with "content"; anything else names none (id -1). */
static wick_status token_named(const struct wick_tok *tok, struct wick_tok_json *json, struct wick_buf *scratch, int32_t *id, wick_error *err)
{
    struct wick_str key, name;
    bool first = true, more = true;
    *id = -1;
    if (wick_tok_json_is(json, '"')) {
        WICK_TRY(wick_tok_json_string(json, scratch, &name, err));
        *id = wick_tok_id_of(tok, name);
        return WICK_OK;
    }
    if (!wick_tok_json_is(json, '{')) return wick_tok_json_skip(json, err);
    WICK_TRY(wick_tok_json_expect(json, '{', err));
    for (;;) {
        WICK_TRY(wick_tok_json_next(json, '}', &first, &more, err));
        if (!more) return WICK_OK;
        WICK_TRY(wick_tok_json_key(json, scratch, &key, err));
        bool content = wick_str_is(key, "content") && wick_tok_json_is(json, '"');
        if (!content) WICK_TRY(wick_tok_json_skip(json, err));
        if (content) WICK_TRY(wick_tok_json_string(json, scratch, &name, err));
        if (content) *id = wick_tok_id_of(tok, name);
    }
}

static wick_status read_ends(struct wick_tok *tok, struct wick_tok_json *json, struct wick_buf *scratch, wick_error *err)
{
    struct wick_str key;
    bool first = true, more = true;
    WICK_TRY(wick_tok_json_expect(json, '{', err));
    for (;;) {
        int32_t id = -1;
        WICK_TRY(wick_tok_json_next(json, '}', &first, &more, err));
        if (!more) return WICK_OK;
        WICK_TRY(wick_tok_json_key(json, scratch, &key, err));
        bool bos = wick_str_is(key, "bos_token"), eos = wick_str_is(key, "eos_token");
        if (bos || eos) WICK_TRY(token_named(tok, json, scratch, &id, err));
        else WICK_TRY(wick_tok_json_skip(json, err));
        if (bos && tok->bos < 0) tok->bos = id;
        if (eos && tok->eos.count == 0 && id >= 0) WICK_TRY(wick_tok_list_add(tok, &tok->eos, id, true, err));
    }
}

/* BOS and EOS by the names a file beside `path` gives them, where they are not known yet. */
static wick_status read_beside(struct wick_tok *tok, const char *path, const char *name, wick_error *err)
{
    char beside[4096];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    struct wick_buf scratch = {0};
    struct wick_map map;
    int size = snprintf(beside, sizeof beside, "%.*s%s", folder, path, name);
    if (size < 0 || (size_t)size >= sizeof beside || !wick_path_exists(beside)) return WICK_OK;
    WICK_TRY(wick_map_open(&map, beside, err));
    const char *data = (const char *)map.data;
    struct wick_tok_json json = {data, data, data ? data + map.size : NULL};
    wick_status status = read_ends(tok, &json, &scratch, err);
    if (status != WICK_OK) status = wick_fail_in(err, status, "%s", name);
    wick_map_close(&map);
    wick_buf_free(&scratch);
    return status;
}

/* ---- the file ---- */

static wick_status load_model(struct wick_tok *tok, const json_t *root, const struct parts *parts, struct wick_buf *scratch, wick_error *err)
{
    const json_t *model = NULL, *added = json_object_get(root, "added_tokens");
    size_t count = 0;
    int32_t highest = -1;
    WICK_TRY(check_model(root, parts, &model, err));
    WICK_TRY(read_options(tok, model, err));
    wick_status status = read_vocab(NULL, parts, scratch, &count, &highest, err);
    if (status == WICK_OK) WICK_TRY(read_added(NULL, added, &highest, err));
    if (status == WICK_OK) status = wick_tok_reserve(tok, highest + 1, count, json_array_size(added), err);
    if (status == WICK_OK) status = read_vocab(tok, parts, scratch, &count, &highest, err);
    if (status != WICK_OK) return wick_fail_in(err, status, "model.vocab");
    WICK_TRY(wick_tok_hf_normalizer(tok, json_object_get(root, "normalizer"), err));
    WICK_TRY(wick_tok_hf_pre_tokenizer(tok, json_object_get(root, "pre_tokenizer"), err));
    WICK_TRY(wick_tok_hf_decoder(tok, json_object_get(root, "decoder"), err));
    WICK_TRY(wick_tok_finish_vocab(tok, err));
    WICK_TRY(read_merges(tok, parts, err));
    WICK_TRY(read_added(tok, added, &highest, err));
    const json_t *unk = json_object_get(model, "unk_token");
    if (json_is_string(unk)) tok->unk = wick_tok_id_of(tok, (struct wick_str){json_string_value(unk), json_string_length(unk)});
    return wick_tok_hf_post_processor(tok, json_object_get(root, "post_processor"), err);
}

bool wick_tok_hf_json_probe(struct wick_str data)
{
    size_t i = 0;
    while (i < data.size && strchr(" \t\r\n", data.data[i]) && data.data[i]) i++;
    return i < data.size && data.data[i] == '{';
}

wick_status wick_tok_hf_json_load(struct wick_tok *tok, struct wick_str data, const char *path, wick_error *err)
{
    struct wick_tok_json json = {data.data, data.data, data.data + data.size};
    struct parts parts = {.document = data.data};
    struct wick_buf scratch = {0};
    json_t *root = NULL;
    wick_status status = WICK_OK;
    WICK_TRY_GOTO(find_parts(&json, &scratch, &parts, err));
    WICK_TRY_GOTO(parse_rest(data, &parts, &root, err));
    WICK_TRY_GOTO(load_model(tok, root, &parts, &scratch, err));
    if (path) WICK_TRY_GOTO(read_beside(tok, path, "tokenizer_config.json", err));
    if (path) WICK_TRY_GOTO(read_beside(tok, path, "special_tokens_map.json", err));
    WICK_TRY_GOTO(wick_tok_finish(tok, err));
done:
    json_decref(root);
    wick_buf_free(&scratch);
    return status;
}
