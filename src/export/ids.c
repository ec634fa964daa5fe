/* export/ids.c - see ids.h. Configurations are copied from model to model, and their ids with them: a program then never ends, or begins with a word. */
#include "export/ids.h"

#include "base/json.h"
#include "tok/tok.h"

struct comparison {
    const struct wick_tok *tok; /* NULL: none */
    int64_t vocab_size;
    const struct wick_log *log;
};

static void compare_id(const struct comparison *c, const char *name, int64_t id)
{
    if (id < 0 || id >= c->vocab_size) {
        wick_log_line(c->log, WICK_LOG_WARN, "base.metadata: %s: %lld is outside the vocabulary of %lld", name, (long long)id, (long long)c->vocab_size);
        return;
    }
    if (!c->tok || id > INT32_MAX) return;
    struct wick_str piece = wick_tok_piece(c->tok, (int32_t)id);
    if (!piece.data) wick_log_line(c->log, WICK_LOG_WARN, "base.metadata: %s: the tokenizer has no token %lld", name, (long long)id);
    else if (!wick_tok_is_special(c->tok, (int32_t)id))
        wick_log_line(c->log, WICK_LOG_WARN, "base.metadata: %s: %lld is the plain text '%.*s' in the tokenizer; is it of another model?", name, (long long)id,
                      (int)WICK_MIN(piece.size, (size_t)40), piece.data);
}

static void compare_bos(const struct comparison *c, const json_t *bos)
{
    if (!json_is_integer(bos)) return;
    int64_t id = json_integer_value(bos);
    compare_id(c, "get_bos_id", id);
    if (c->tok && wick_tok_adds_bos(c->tok) && wick_tok_bos(c->tok) >= 0 && wick_tok_bos(c->tok) != id)
        wick_log_line(c->log, WICK_LOG_WARN, "base.metadata: get_bos_id is %lld, the tokenizer begins texts with %d: the program records %lld", (long long)id, (int)wick_tok_bos(c->tok),
                      (long long)id);
}

void wick_ids_compare(const struct wick_config *config, const char *tokenizer_path, int64_t vocab_size, const struct wick_log *log)
{
    const char *text = wick_config_text(config, WICK_KEY_BASE_METADATA);
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    struct wick_tok *tok = NULL;
    if (!json_is_object(root)) {
        json_decref(root);
        return;
    }
    if (*tokenizer_path && wick_tok_load(&tok, tokenizer_path, NULL) != WICK_OK) tok = NULL;
    const struct comparison c = {tok, vocab_size, log};
    const json_t *eos = json_object_get(root, "get_eos_ids");
    compare_bos(&c, json_object_get(root, "get_bos_id"));
    if (json_is_integer(eos)) compare_id(&c, "get_eos_ids", json_integer_value(eos));
    for (size_t i = 0; i < json_array_size(eos); i++)
        if (json_is_integer(json_array_get(eos, i))) compare_id(&c, "get_eos_ids", json_integer_value(json_array_get(eos, i)));
    wick_tok_free(tok);
    json_decref(root);
}
