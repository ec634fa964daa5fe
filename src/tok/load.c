/* tok/load.c - finds the format of a tokenizer file and loads it; see formats.def. */
#include "tok/model.h"

#include "base/os.h"

#include <stdio.h>

static const struct wick_tok_format formats[] = {
#define WICK_TOK_FORMAT(name) {#name, wick_tok_##name##_probe, wick_tok_##name##_load},
#include "tok/formats.def"
#undef WICK_TOK_FORMAT
};

/* path NULL: from memory. */
static wick_status load(struct wick_tok **out, struct wick_str data, const char *name, const char *path, wick_error *err)
{
    const struct wick_tok_format *format = NULL;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(formats) && !format; i++) {
        if (data.size && formats[i].probe(data)) format = &formats[i];
    }
    if (!format)
        return wick_fail(err, WICK_INVALID_TOKENIZER, "%s: not a tokenizer file of a known format (tokenizer.json, SentencePiece .model, tiktoken, llama2.c .bin)", name);
    struct wick_tok *tok = wick_tok_new();
    if (!tok) return wick_fail_oom(err, sizeof *tok, "a tokenizer");
    tok->format = format->name;
    wick_status status = format->load(tok, data, path, err);
    if (status != WICK_OK) {
        wick_tok_free(tok);
        return wick_fail_in(err, status, "%s", name);
    }
    *out = tok;
    return WICK_OK;
}

wick_status wick_tok_load_memory(struct wick_tok **tok, const void *data, size_t size, const char *name, wick_error *err)
{
    *tok = NULL;
    return load(tok, (struct wick_str){data, size}, name, NULL, err);
}

wick_status wick_tok_load(struct wick_tok **tok, const char *path, wick_error *err)
{
    char inside[4096];
    struct wick_map map;
    *tok = NULL;
    if (wick_path_is_folder(path)) {
        int size = snprintf(inside, sizeof inside, "%s/tokenizer.json", path);
        if (size < 0 || (size_t)size >= sizeof inside) return wick_fail(err, WICK_INVALID_ARGUMENT, "%s: the path is too long", path);
        path = inside;
    }
    WICK_TRY(wick_map_open(&map, path, err));
    wick_status status = load(tok, (struct wick_str){(const char *)map.data, map.size}, path, path, err);
    wick_map_close(&map);
    return status;
}
