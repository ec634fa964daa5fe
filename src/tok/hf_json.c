/* tok/hf_json.c - reads a Hugging Face tokenizer.json.
 *
 * The vocabulary and the merges make up nearly all of such a file. They are read in place by json_scan.c; the rest goes through
 * jansson with both replaced by empty ones. Next: hf_model.c for the model, hf_steps.c for the pipeline, build.c and build_end.c for the tables. */
#include "tok/hf.h"
#include "tok/json_scan.h"

#include "base/os.h"

#include <stdio.h>

/* ---- the large parts ---- */

static wick_status find_model_parts(struct wick_tok_json *json, struct wick_buf *scratch, struct wick_tok_hf_parts *parts, wick_error *err)
{
    struct wick_str key;
    bool first = true, more;
    WICK_TRY(wick_tok_json_expect(json, '{', err));
    for (;;) {
        WICK_TRY(wick_tok_json_next(json, '}', &first, &more, err));
        if (!more) return WICK_OK;
        WICK_TRY(wick_tok_json_key(json, scratch, &key, err));
        bool vocab = wick_str_is(key, "vocab") && (wick_tok_json_is(json, '{') || wick_tok_json_is(json, '['));
        bool merges = wick_str_is(key, "merges") && wick_tok_json_is(json, '[');
        struct wick_tok_hf_range *range = vocab ? &parts->vocab : merges ? &parts->merges : NULL;
        if (range && range->begin) return wick_fail(err, WICK_INVALID_TOKENIZER, "model: two %s", vocab ? "vocab" : "merges");
        if (range) range->begin = json->at;
        WICK_TRY(wick_tok_json_skip(json, err));
        if (range) range->end = json->at;
    }
}

static wick_status find_parts(struct wick_tok_json *json, struct wick_buf *scratch, struct wick_tok_hf_parts *parts, wick_error *err)
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
static wick_status parse_rest(struct wick_str data, const struct wick_tok_hf_parts *parts, json_t **out, wick_error *err)
{
    struct wick_tok_hf_range a = parts->vocab, b = parts->merges;
    struct wick_buf rest = {0};
    bool swap = b.begin && (!a.begin || b.begin < a.begin);
    struct wick_tok_hf_range order[2] = {swap ? b : a, swap ? a : b};
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

/* ---- added tokens ---- */

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
    int folder = slash ? (int)(slash - path) + 1 : 0, size = -1;
    struct wick_buf scratch = {0};
    struct wick_map map;
    /* <name>.tokenizer.json has files of its own, or else those of the folder. */
    if (wick_str_ends(wick_str_of(path), WICK_STR(".tokenizer.json")))
        size = snprintf(beside, sizeof beside, "%.*s.%s", (int)(strlen(path) - strlen(".tokenizer.json")), path, name);
    if (size < 0 || (size_t)size >= sizeof beside || !wick_path_exists(beside)) size = snprintf(beside, sizeof beside, "%.*s%s", folder, path, name);
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

static wick_status load_model(struct wick_tok *tok, const json_t *root, const struct wick_tok_hf_parts *parts, struct wick_buf *scratch, wick_error *err)
{
    const json_t *model = json_object_get(root, "model"), *added = json_object_get(root, "added_tokens");
    size_t count = 0;
    int32_t highest = -1;
    WICK_TRY(wick_tok_hf_model_begin(tok, model, parts, err));
    WICK_TRY(wick_tok_hf_model_vocab(tok, parts, scratch, false, &count, &highest, err));
    WICK_TRY(read_added(NULL, added, &highest, err));
    WICK_TRY(wick_tok_reserve(tok, highest + 1, count, json_array_size(added), err));
    WICK_TRY(wick_tok_hf_model_vocab(tok, parts, scratch, true, &count, &highest, err));
    WICK_TRY(wick_tok_hf_normalizer(tok, json_object_get(root, "normalizer"), err));
    WICK_TRY(wick_tok_hf_pre_tokenizer(tok, json_object_get(root, "pre_tokenizer"), err));
    WICK_TRY(wick_tok_hf_decoder(tok, json_object_get(root, "decoder"), err));
    WICK_TRY(wick_tok_finish_vocab(tok, err));
    WICK_TRY(wick_tok_hf_model_tables(tok, parts, err));
    WICK_TRY(read_added(tok, added, &highest, err));
    WICK_TRY(wick_tok_hf_model_end(tok, model, err));
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
    struct wick_tok_hf_parts parts = {.document = data.data};
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
