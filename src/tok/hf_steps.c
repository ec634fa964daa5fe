/* tok/hf_steps.c - normalizer, pre_tokenizer, decoder and post_processor of a tokenizer.json, each a component or a Sequence of
 * components, become the steps of a wick_tok. */
#include "tok/base64.h"
#include "tok/hf.h"

enum { NESTING_LIMIT = 8 };

/* ---- fields ---- */

static struct wick_str text_of(const json_t *json) { return (struct wick_str){json_string_value(json), json ? json_string_length(json) : 0}; }

static wick_status need_text(const json_t *json, const char *key, struct wick_str *out, wick_error *err)
{
    *out = text_of(json_object_get(json, key));
    return out->data ? WICK_OK : wick_fail(err, WICK_INVALID_TOKENIZER, "%s: a string expected", key);
}

static wick_status need_char(const json_t *json, const char *key, struct wick_str *out, wick_error *err)
{
    WICK_TRY(need_text(json, key, out, err));
    bool one = out->size > 0 && wick_utf8_next(out->data, out->size, NULL) == out->size;
    return one ? WICK_OK : wick_fail(err, WICK_INVALID_TOKENIZER, "%s: one character expected", key);
}

/* An absent or null field has its default. */
static wick_status take_bool(const json_t *json, const char *key, bool missing, bool *out, wick_error *err)
{
    const json_t *value = json_object_get(json, key);
    *out = !value || json_is_null(value) ? missing : json_is_true(value);
    if (value && !json_is_null(value) && !json_is_boolean(value)) return wick_fail(err, WICK_INVALID_TOKENIZER, "%s: true or false expected", key);
    return WICK_OK;
}

static wick_status need_count(const json_t *json, const char *key, uint32_t *out, wick_error *err)
{
    const json_t *value = json_object_get(json, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > 1000000)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "%s: a small whole number expected", key);
    *out = (uint32_t)number;
    return WICK_OK;
}

static wick_status keep(struct wick_tok *tok, struct wick_str from, struct wick_str *to, wick_error *err)
{
    *to = wick_tok_intern(tok, from);
    return to->data ? WICK_OK : wick_fail_oom(err, from.size, "a step");
}

/* "pattern": {"String": ...} or {"Regex": ...}. */
static wick_status take_pattern(struct wick_tok *tok, const json_t *json, struct wick_tok_pattern *pattern, wick_error *err)
{
    const json_t *value = json_object_get(json, "pattern");
    struct wick_str string = text_of(json_object_get(value, "String")), regex = text_of(json_object_get(value, "Regex"));
    if (string.data) {
        pattern->kind = WICK_TOK_BY_STRING;
        return keep(tok, string, &pattern->string, err);
    }
    if (!regex.data) return wick_fail(err, WICK_INVALID_TOKENIZER, "pattern: {\"String\": ...} or {\"Regex\": ...} expected");
    pattern->kind = WICK_TOK_BY_REGEX;
    return wick_tok_regex_compile(&pattern->regex, regex, WICK_TOK_ONIGURUMA, err);
}

static wick_status not_known(struct wick_str type, const char *known, wick_error *err)
{
    return wick_fail(err, WICK_NOT_SUPPORTED, "type \"%.*s\" is not supported (supported: %s)", (int)WICK_MIN(type.size, 60), type.data, known);
}

/* ---- Sequence ---- */

typedef wick_status component_fn(struct wick_tok *tok, void *state, const json_t *json, struct wick_str type, wick_error *err);

/* Calls take for the component, or for each of a Sequence, in order. */
static wick_status walk(struct wick_tok *tok, void *state, const json_t *json, const char *list, component_fn *take, int depth, wick_error *err)
{
    struct wick_str type;
    if (!json_is_object(json)) return wick_fail(err, WICK_INVALID_TOKENIZER, "an object expected");
    WICK_TRY(need_text(json, "type", &type, err));
    if (!wick_str_is(type, "Sequence")) {
        wick_status status = take(tok, state, json, type, err);
        return status == WICK_OK ? WICK_OK : wick_fail_in(err, status, "%.*s", (int)WICK_MIN(type.size, 60), type.data);
    }
    const json_t *items = json_object_get(json, list);
    if (!json_is_array(items)) return wick_fail(err, WICK_INVALID_TOKENIZER, "%s: an array expected", list);
    if (depth == NESTING_LIMIT) return wick_fail(err, WICK_INVALID_TOKENIZER, "%s: nested too deeply", list);
    for (size_t i = 0; i < json_array_size(items); i++) {
        wick_status status = walk(tok, state, json_array_get(items, i), list, take, depth + 1, err);
        if (status != WICK_OK) return wick_fail_in(err, status, "%s[%zu]", list, i);
    }
    return WICK_OK;
}

static wick_status walk_section(struct wick_tok *tok, void *state, const json_t *json, const char *section, const char *list, component_fn *take,
                                wick_error *err)
{
    if (!json || json_is_null(json)) return WICK_OK;
    wick_status status = walk(tok, state, json, list, take, 0, err);
    return status == WICK_OK ? WICK_OK : wick_fail_in(err, status, "%s", section);
}

/* ---- normalizer ---- */

/* Steps of one kind each, in the original's order. */
static wick_status take_bert(struct wick_tok *tok, const json_t *json, wick_error *err)
{
    bool clean, han, lower, accents;
    WICK_TRY(take_bool(json, "clean_text", true, &clean, err));
    WICK_TRY(take_bool(json, "handle_chinese_chars", true, &han, err));
    WICK_TRY(take_bool(json, "lowercase", true, &lower, err));
    WICK_TRY(take_bool(json, "strip_accents", lower, &accents, err));
    const struct wick_tok_step steps[] = {{.kind = WICK_TOK_CLEAN},
                                          {.kind = WICK_TOK_SPACE_HAN},
                                          {.kind = WICK_TOK_FORM, .form = WICK_TOK_NFD},
                                          {.kind = WICK_TOK_DROP_MARKS, .left = true},
                                          {.kind = WICK_TOK_LOWERCASE}};
    const bool wanted[] = {clean, han, accents, accents, lower};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(steps); i++) {
        struct wick_tok_step *step;
        if (!wanted[i]) continue;
        WICK_TRY(wick_tok_add_step(tok, &tok->normalizers, &step, err));
        *step = steps[i];
    }
    return WICK_OK;
}

static wick_status take_precompiled(struct wick_tok *tok, const json_t *json, struct wick_tok_step *step, wick_error *err)
{
    struct wick_str text = text_of(json_object_get(json, "precompiled_charsmap"));
    struct wick_buf blob = {0};
    step->kind = WICK_TOK_PRECOMPILED;
    if (tok->sentence.map.unit_count) return wick_fail(err, WICK_NOT_SUPPORTED, "a second Precompiled");
    if (!text.data) return wick_fail(err, WICK_INVALID_TOKENIZER, "precompiled_charsmap: a string expected");
    wick_status status = text.size == 0 || wick_tok_base64(text, &blob)
                             ? wick_tok_charsmap_init(&tok->sentence.map, &tok->arena, (struct wick_str){blob.data, blob.size}, err)
                             : wick_fail(err, WICK_INVALID_TOKENIZER, "precompiled_charsmap: not base64");
    wick_buf_free(&blob);
    return status;
}

static wick_status take_normalizer(struct wick_tok *tok, void *state, const json_t *json, struct wick_str type, wick_error *err)
{
    static const struct {
        const char *name;
        enum wick_tok_form form;
    } forms[] = {{"NFC", WICK_TOK_NFC}, {"NFD", WICK_TOK_NFD}, {"NFKC", WICK_TOK_NFKC}, {"NFKD", WICK_TOK_NFKD}};
    struct wick_tok_step *step;
    struct wick_str text;
    (void)state;
    if (wick_str_is(type, "BertNormalizer")) return take_bert(tok, json, err);
    WICK_TRY(wick_tok_add_step(tok, &tok->normalizers, &step, err));
    for (size_t i = 0; i < WICK_ARRAY_SIZE(forms); i++) {
        if (!wick_str_is(type, forms[i].name)) continue;
        step->kind = WICK_TOK_FORM;
        step->form = forms[i].form;
        return WICK_OK;
    }
    if (wick_str_is(type, "Lowercase")) {
        step->kind = WICK_TOK_LOWERCASE;
        return WICK_OK;
    }
    if (wick_str_is(type, "Strip")) {
        step->kind = WICK_TOK_STRIP;
        WICK_TRY(take_bool(json, "strip_left", true, &step->left, err));
        return take_bool(json, "strip_right", true, &step->right, err);
    }
    if (wick_str_is(type, "Prepend")) {
        step->kind = WICK_TOK_PREPEND;
        WICK_TRY(need_text(json, "prepend", &text, err));
        return keep(tok, text, &step->content, err);
    }
    if (wick_str_is(type, "Replace")) {
        step->kind = WICK_TOK_REPLACE;
        WICK_TRY(need_text(json, "content", &text, err));
        WICK_TRY(keep(tok, text, &step->content, err));
        return take_pattern(tok, json, &step->pattern, err);
    }
    if (wick_str_is(type, "Precompiled")) return take_precompiled(tok, json, step, err);
    step->kind = wick_str_is(type, "StripAccents") ? WICK_TOK_DROP_MARKS : wick_str_is(type, "Nmt") ? WICK_TOK_NMT : WICK_TOK_BYTES;
    if (step->kind != WICK_TOK_BYTES || wick_str_is(type, "ByteLevel")) return WICK_OK;
    return not_known(
        type, "Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, Replace, BertNormalizer, Nmt, Precompiled, ByteLevel", err);
}

wick_status wick_tok_hf_normalizer(struct wick_tok *tok, const json_t *json, wick_error *err)
{
    return walk_section(tok, NULL, json, "normalizer", "normalizers", take_normalizer, err);
}

/* ---- pre_tokenizer ---- */

static wick_status take_behavior(const json_t *json, bool needed, enum wick_tok_behavior *out, wick_error *err)
{
    static const struct {
        const char *name;
        enum wick_tok_behavior behavior;
    } names[] = {{"Removed", WICK_TOK_REMOVED},
                 {"Isolated", WICK_TOK_ISOLATED},
                 {"MergedWithPrevious", WICK_TOK_MERGED_WITH_PREVIOUS},
                 {"MergedWithNext", WICK_TOK_MERGED_WITH_NEXT},
                 {"Contiguous", WICK_TOK_CONTIGUOUS}};
    struct wick_str text = text_of(json_object_get(json, "behavior"));
    *out = WICK_TOK_ISOLATED;
    if (!text.data && !needed) return WICK_OK;
    for (size_t i = 0; text.data && i < WICK_ARRAY_SIZE(names); i++) {
        if (!wick_str_is(text, names[i].name)) continue;
        *out = names[i].behavior;
        return WICK_OK;
    }
    return wick_fail(err, WICK_INVALID_TOKENIZER, "behavior: Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous expected");
}

static wick_status take_metaspace(struct wick_tok *tok, const json_t *json, struct wick_tok_step *step, wick_error *err)
{
    struct wick_str mark, scheme = text_of(json_object_get(json, "prepend_scheme"));
    bool prefix;
    step->kind = WICK_TOK_METASPACE;
    WICK_TRY(need_char(json, "replacement", &mark, err));
    WICK_TRY(keep(tok, mark, &step->content, err));
    WICK_TRY(take_bool(json, "split", true, &step->split, err));
    WICK_TRY(take_bool(json, "add_prefix_space", true, &prefix, err));
    step->prepend = prefix ? WICK_TOK_PREPEND_ALWAYS : WICK_TOK_PREPEND_NEVER;
    if (!scheme.data) return WICK_OK;
    if (wick_str_is(scheme, "first")) step->prepend = WICK_TOK_PREPEND_FIRST;
    else if (wick_str_is(scheme, "never")) step->prepend = WICK_TOK_PREPEND_NEVER;
    else if (!wick_str_is(scheme, "always")) return wick_fail(err, WICK_INVALID_TOKENIZER, "prepend_scheme: always, first or never expected");
    if (!prefix && step->prepend != WICK_TOK_PREPEND_NEVER)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "add_prefix_space: contradicts prepend_scheme");
    return WICK_OK;
}

static wick_status take_byte_level(struct wick_tok *tok, const json_t *json, wick_error *err)
{
    bool prefix, regex;
    if (tok->byte_level) return wick_fail(err, WICK_NOT_SUPPORTED, "a second ByteLevel");
    WICK_TRY(take_bool(json, "add_prefix_space", true, &prefix, err));
    WICK_TRY(take_bool(json, "use_regex", true, &regex, err));
    return wick_tok_add_byte_level(tok, prefix, regex, err);
}

static wick_status take_pre_tokenizer(struct wick_tok *tok, void *state, const json_t *json, struct wick_str type, wick_error *err)
{
    bool single;
    struct wick_str text;
    (void)state;
    if (wick_str_is(type, "ByteLevel")) return take_byte_level(tok, json, err);
    struct wick_tok_step *step;
    WICK_TRY(wick_tok_add_step(tok, &tok->splitters, &step, err));
    step->kind = WICK_TOK_SPLIT;
    if (wick_str_is(type, "Split")) {
        WICK_TRY(take_behavior(json, true, &step->behavior, err));
        WICK_TRY(take_bool(json, "invert", false, &step->invert, err));
        return take_pattern(tok, json, &step->pattern, err);
    }
    if (wick_str_is(type, "Digits")) {
        WICK_TRY(take_bool(json, "individual_digits", false, &single, err));
        step->behavior = single ? WICK_TOK_ISOLATED : WICK_TOK_CONTIGUOUS;
        step->pattern = (struct wick_tok_pattern){.kind = WICK_TOK_BY_CLASS, .class = WICK_TOK_CLASS_NUMERIC};
        return WICK_OK;
    }
    if (wick_str_is(type, "Punctuation")) {
        step->pattern = (struct wick_tok_pattern){.kind = WICK_TOK_BY_CLASS, .class = WICK_TOK_CLASS_PUNCTUATION};
        return take_behavior(json, false, &step->behavior, err);
    }
    if (wick_str_is(type, "WhitespaceSplit")) {
        step->pattern = (struct wick_tok_pattern){.kind = WICK_TOK_BY_CLASS, .class = WICK_TOK_CLASS_SPACE};
        step->behavior = WICK_TOK_REMOVED;
        return WICK_OK;
    }
    if (wick_str_is(type, "BertPreTokenizer")) {
        step->pattern = (struct wick_tok_pattern){.kind = WICK_TOK_BY_CLASS, .class = WICK_TOK_CLASS_SPACE};
        step->behavior = WICK_TOK_REMOVED;
        WICK_TRY(wick_tok_add_step(tok, &tok->splitters, &step, err));
        *step = (struct wick_tok_step){
            .kind = WICK_TOK_SPLIT, .behavior = WICK_TOK_ISOLATED, .pattern = {.kind = WICK_TOK_BY_CLASS, .class = WICK_TOK_CLASS_PUNCTUATION}};
        return WICK_OK;
    }
    if (wick_str_is(type, "CharDelimiterSplit")) {
        WICK_TRY(need_char(json, "delimiter", &text, err));
        step->behavior = WICK_TOK_REMOVED;
        return keep(tok, text, &step->pattern.string, err);
    }
    if (wick_str_is(type, "FixedLength")) {
        step->kind = WICK_TOK_LENGTH;
        WICK_TRY(need_count(json, "length", &step->start, err));
        return step->start ? WICK_OK : wick_fail(err, WICK_INVALID_TOKENIZER, "length: at least 1 expected");
    }
    if (wick_str_is(type, "Whitespace")) {
        step->pattern.kind = WICK_TOK_BY_REGEX;
        step->behavior = WICK_TOK_REMOVED;
        step->invert = true;
        return wick_tok_regex_compile(&step->pattern.regex, WICK_STR("\\w+|[^\\w\\s]+"), WICK_TOK_RUST, err);
    }
    if (wick_str_is(type, "Metaspace")) {
        /* The alphabet of the bytes has no such character. */
        if (tok->byte_level) return wick_fail(err, WICK_NOT_SUPPORTED, "Metaspace after ByteLevel");
        return take_metaspace(tok, json, step, err);
    }
    return not_known(type,
                     "Sequence, ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, Metaspace, BertPreTokenizer, CharDelimiterSplit, "
                     "FixedLength",
                     err);
}

wick_status wick_tok_hf_pre_tokenizer(struct wick_tok *tok, const json_t *json, wick_error *err)
{
    return walk_section(tok, NULL, json, "pre_tokenizer", "pretokenizers", take_pre_tokenizer, err);
}

/* ---- decoder ---- */

/* Tokens are single strings until a step joins them; what follows sees the whole text. */
struct decoder_state {
    bool joined;
};

static wick_status take_strip(struct wick_tok *tok, const struct decoder_state *state, const json_t *json, wick_error *err)
{
    struct wick_tok_step strip = {.kind = WICK_TOK_TRIM};
    struct wick_str mark;
    WICK_TRY(need_char(json, "content", &mark, err));
    WICK_TRY(need_count(json, "start", &strip.start, err));
    WICK_TRY(need_count(json, "stop", &strip.stop, err));
    WICK_TRY(keep(tok, mark, &strip.content, err));
    if (state->joined) {
        if (tok->decoder.strip.size) return wick_fail(err, WICK_NOT_SUPPORTED, "a second Strip of the whole text");
        tok->decoder.strip = strip.content;
        tok->decoder.strip_start = strip.start;
        tok->decoder.strip_stop = strip.stop;
        return WICK_OK;
    }
    struct wick_tok_step *step;
    WICK_TRY(wick_tok_add_step(tok, &tok->decoder.replaces, &step, err));
    *step = strip;
    return WICK_OK;
}

/* The end of a word prints a blank, but for the last one's. */
static wick_status take_suffix(struct wick_tok *tok, struct decoder_state *state, const json_t *json, wick_error *err)
{
    struct wick_tok_step *step;
    struct wick_str suffix;
    state->joined = true;
    WICK_TRY(need_text(json, "suffix", &suffix, err));
    WICK_TRY(wick_tok_add_step(tok, &tok->decoder.replaces, &step, err));
    *step = (struct wick_tok_step){.kind = WICK_TOK_REPLACE, .content = WICK_STR(" "), .pattern = {.kind = WICK_TOK_BY_STRING}};
    tok->decoder.strip = WICK_STR(" ");
    tok->decoder.strip_stop = 1;
    return keep(tok, suffix, &step->pattern.string, err);
}

static wick_status take_decoder(struct wick_tok *tok, void *user, const json_t *json, struct wick_str type, wick_error *err)
{
    struct decoder_state *state = user;
    struct wick_tok_decoder *decoder = &tok->decoder;
    struct wick_str text;
    if (wick_str_is(type, "Strip")) return take_strip(tok, state, json, err);
    if (wick_str_is(type, "Fuse")) {
        state->joined = true;
        return WICK_OK;
    }
    if (state->joined || decoder->metaspace.size) return wick_fail(err, WICK_NOT_SUPPORTED, "only Strip may follow a step that joins tokens");
    if (wick_str_is(type, "ByteLevel")) {
        if (decoder->replaces.count || decoder->byte_fallback) return wick_fail(err, WICK_NOT_SUPPORTED, "ByteLevel after other steps");
        decoder->byte_level = state->joined = true;
        return WICK_OK;
    }
    if (wick_str_is(type, "WordPiece")) {
        state->joined = true;
        WICK_TRY(need_text(json, "prefix", &text, err));
        WICK_TRY(take_bool(json, "cleanup", true, &decoder->word_cleanup, err));
        return keep(tok, text, &decoder->word_inner, err);
    }
    if (wick_str_is(type, "BPEDecoder")) return take_suffix(tok, state, json, err);
    if (wick_str_is(type, "ByteFallback")) {
        decoder->byte_fallback = true;
        return WICK_OK;
    }
    if (wick_str_is(type, "Metaspace")) {
        struct wick_tok_step step = {0};
        WICK_TRY(take_metaspace(tok, json, &step, err));
        decoder->metaspace = step.content;
        decoder->metaspace_first = step.prepend != WICK_TOK_PREPEND_NEVER;
        return WICK_OK;
    }
    if (wick_str_is(type, "Replace")) {
        struct wick_tok_step *step;
        WICK_TRY(wick_tok_add_step(tok, &decoder->replaces, &step, err));
        step->kind = WICK_TOK_REPLACE;
        WICK_TRY(need_text(json, "content", &text, err));
        WICK_TRY(keep(tok, text, &step->content, err));
        return take_pattern(tok, json, &step->pattern, err);
    }
    return not_known(type, "Sequence, ByteLevel, ByteFallback, Fuse, Strip, Replace, Metaspace, WordPiece, BPEDecoder", err);
}

wick_status wick_tok_hf_decoder(struct wick_tok *tok, const json_t *json, wick_error *err)
{
    struct decoder_state state = {false};
    tok->decoder.join_blank = !json || json_is_null(json);
    return walk_section(tok, &state, json, "decoder", "decoders", take_decoder, err);
}

/* ---- post_processor ---- */

static wick_status add_end(struct wick_tok *tok, struct wick_tok_id_list *list, const json_t *id, wick_error *err)
{
    json_int_t value = json_integer_value(id);
    if (!json_is_integer(id) || value < 0 || value >= tok->limit || !tok->piece[value].data)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "an id of the vocabulary expected");
    return wick_tok_list_add(tok, list, (int32_t)value, false, err);
}

/* "single" lists special tokens around the sequence; their ids are in "special_tokens". */
static wick_status take_template(struct wick_tok *tok, const json_t *json, wick_error *err)
{
    const json_t *items = json_object_get(json, "single"), *tokens = json_object_get(json, "special_tokens");
    struct wick_tok_id_list *list = &tok->prefix;
    if (!json_is_array(items)) return wick_fail(err, WICK_INVALID_TOKENIZER, "single: an array expected");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i), *special = json_object_get(item, "SpecialToken");
        if (json_object_get(item, "Sequence")) {
            list = &tok->suffix;
            continue;
        }
        const char *name = json_string_value(json_object_get(special, "id"));
        const json_t *ids = name ? json_object_get(json_object_get(tokens, name), "ids") : NULL;
        if (!json_is_array(ids))
            return wick_fail(err, WICK_INVALID_TOKENIZER, "single[%zu]: a Sequence, or a SpecialToken of special_tokens, expected", i);
        for (size_t k = 0; k < json_array_size(ids); k++) WICK_TRY(add_end(tok, list, json_array_get(ids, k), err));
    }
    return WICK_OK;
}

static wick_status take_post_processor(struct wick_tok *tok, void *state, const json_t *json, struct wick_str type, wick_error *err)
{
    (void)state;
    if (wick_str_is(type, "ByteLevel")) return WICK_OK; /* moves offsets only */
    if (wick_str_is(type, "TemplateProcessing")) return take_template(tok, json, err);
    if (wick_str_is(type, "RobertaProcessing") || wick_str_is(type, "BertProcessing")) {
        WICK_TRY(add_end(tok, &tok->prefix, json_array_get(json_object_get(json, "cls"), 1), err));
        return add_end(tok, &tok->suffix, json_array_get(json_object_get(json, "sep"), 1), err);
    }
    return not_known(type, "Sequence, ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing", err);
}

wick_status wick_tok_hf_post_processor(struct wick_tok *tok, const json_t *json, wick_error *err)
{
    return walk_section(tok, NULL, json, "post_processor", "processors", take_post_processor, err);
}
