/* export/sidecar.c - see sidecar.h. */
#include "export/sidecar.h"

#include "base/os.h"
#include "export/beside.h"
#include "export/chat_template.h"
#include "tok/tok.h"

#include <stdio.h>
#include <stdlib.h>

static wick_status write_file(const char *path, const void *data, size_t size, wick_error *err)
{
    struct wick_writer *writer;
    WICK_TRY(wick_writer_open(&writer, path, err));
    wick_status status = wick_writer_write(writer, data, size, err);
    if (status == WICK_OK) return wick_writer_commit(writer, err);
    wick_writer_discard(writer);
    return status;
}

static wick_status copy_file(const char *from, const char *to, wick_error *err)
{
    struct wick_map map;
    WICK_TRY(wick_map_open(&map, from, err));
    wick_status status = write_file(to, map.data ? (const void *)map.data : "", map.size, err);
    wick_map_close(&map);
    return status;
}

/* The arrays of a vocabulary in the layout tok wants; one block each. */
struct vocabulary {
    struct wick_tok_vocab vocab;
    int32_t *types;
    float *scores;
};

static wick_status read_vocabulary(struct vocabulary *v, const struct wick_checkpoint *ckpt, wick_error *err)
{
    struct wick_meta_array tokens, array;
    int64_t id;
    bool flag;
    *v = (struct vocabulary){.vocab = {.bos = -1, .eos = -1}};
    WICK_TRY(wick_checkpoint_meta_str(ckpt, "tokenizer.ggml.model", &v->vocab.model, err));
    WICK_TRY(wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.tokens", WICK_META_STRS, &tokens, err));
    (void)wick_checkpoint_meta_str(ckpt, "tokenizer.ggml.pre", &v->vocab.pre, NULL);
    v->vocab.tokens = tokens.strings;
    v->vocab.count = tokens.count;
    v->types = calloc(tokens.count + 1, sizeof *v->types);
    v->scores = calloc(tokens.count + 1, sizeof *v->scores);
    if (!v->types || !v->scores) return wick_fail_oom(err, tokens.count * 8, "tokenizer");
    if (wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.token_type", WICK_META_INTS, &array, NULL) == WICK_OK) {
        if (array.count != tokens.count) return wick_fail(err, WICK_INVALID_CHECKPOINT, "GGUF: tokenizer.ggml.token_type has %zu entries for %zu tokens", array.count, tokens.count);
        for (size_t i = 0; i < array.count; i++) v->types[i] = (int32_t)wick_meta_array_int(&array, i);
        v->vocab.types = v->types;
    }
    if (wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.scores", WICK_META_FLOATS, &array, NULL) == WICK_OK && array.count == tokens.count) {
        for (size_t i = 0; i < array.count; i++) v->scores[i] = (float)wick_meta_array_float(&array, i);
        v->vocab.scores = v->scores;
    }
    if (wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.merges", WICK_META_STRS, &array, NULL) == WICK_OK) {
        v->vocab.merges = array.strings;
        v->vocab.merge_count = array.count;
    }
    if (wick_checkpoint_meta_int(ckpt, "tokenizer.ggml.bos_token_id", &id, NULL) == WICK_OK && id >= 0 && id <= INT32_MAX) v->vocab.bos = (int32_t)id;
    if (wick_checkpoint_meta_int(ckpt, "tokenizer.ggml.eos_token_id", &id, NULL) == WICK_OK && id >= 0 && id <= INT32_MAX) v->vocab.eos = (int32_t)id;
    (void)wick_checkpoint_meta_bool(ckpt, "tokenizer.ggml.add_bos_token", &v->vocab.add_bos, NULL);
    (void)wick_checkpoint_meta_bool(ckpt, "tokenizer.ggml.add_eos_token", &v->vocab.add_eos, NULL);
    if (wick_checkpoint_meta_bool(ckpt, "tokenizer.ggml.add_space_prefix", &flag, NULL) == WICK_OK) v->vocab.no_space_prefix = !flag;
    return WICK_OK;
}

static wick_status write_vocabulary(const struct wick_checkpoint *ckpt, const char *path, wick_error *err)
{
    struct vocabulary v;
    struct wick_buf json = {0};
    wick_status status = read_vocabulary(&v, ckpt, err);
    if (status == WICK_OK) status = wick_tok_vocab_to_json(&v.vocab, &json, err);
    if (status == WICK_OK && json.failed) status = wick_fail_oom(err, json.size, path);
    if (status == WICK_OK) status = write_file(path, json.data, json.size, err);
    wick_buf_free(&json);
    free(v.types);
    free(v.scores);
    return status;
}

/* ---- what stands beside the checkpoint ---- */

/* What is a JSON object is a tokenizer.json or a tekken.json; other tokenizers keep the ending by which they are known. */
static const char *ending_of(const char *tokenizer)
{
    struct wick_map map;
    const char *dot = strrchr(tokenizer, '.');
    if (wick_map_open(&map, tokenizer, NULL) != WICK_OK) return "json"; /* copying it says why */
    size_t at = 0;
    while (at < map.size && strchr(" \t\r\n", map.data[at]) && map.data[at]) at++;
    bool json = at < map.size && map.data[at] == '{';
    wick_map_close(&map);
    return json || !dot ? "json" : strcmp(dot, ".bin") == 0 ? "bin" : "model";
}

/* The tokenizer beside the checkpoint, or in it when it is a folder. */
static bool find_tokenizer(const char *checkpoint, char out[WICK_BESIDE_MAX])
{
    static const char *const names[] = {"tokenizer.json", "tokenizer.model", "tekken.json", "tokenizer.bin"};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(names); i++)
        if (wick_beside(checkpoint, names[i], out)) return true;
    return false;
}

/* "<program without .pte>.<tail>" */
static wick_status name_sidecar(char *out, size_t size, const char *program, const char *tail, wick_error *err)
{
    size_t stem = strlen(program) - (wick_str_ends(wick_str_of(program), WICK_STR(".pte")) ? 4 : 0);
    int written = snprintf(out, size, "%.*s.%s", (int)stem, program, tail);
    return written >= 0 && (size_t)written < size ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "export.output_name: path too long");
}

static wick_status write_template(const struct wick_config *config, const struct wick_checkpoint *ckpt, const char *program, wick_error *err)
{
    struct wick_buf text = {0};
    char path[WICK_BESIDE_MAX];
    bool found;
    wick_status status = name_sidecar(path, sizeof path, program, "chat_template.jinja", err);
    if (status == WICK_OK) status = wick_chat_template_find(&text, &found, ckpt, wick_config_text(config, WICK_KEY_BASE_CHECKPOINT), err);
    if (status == WICK_OK && text.failed) status = wick_fail_oom(err, text.size, path);
    if (status == WICK_OK && found) status = write_file(path, text.data, text.size, err);
    wick_buf_free(&text);
    return status;
}

/* What the tokenizer's folder says of special tokens. */
static wick_status copy_names(const char *tokenizer, const char *program, wick_error *err)
{
    char from[WICK_BESIDE_MAX], to[WICK_BESIDE_MAX];
    if (!wick_beside(tokenizer, "tokenizer_config.json", from)) return WICK_OK;
    WICK_TRY(name_sidecar(to, sizeof to, program, "tokenizer_config.json", err));
    return copy_file(from, to, err);
}

wick_status wick_sidecar_write(const struct wick_config *config, const struct wick_checkpoint *ckpt, const char *program_path, char *written, size_t written_size,
                               const struct wick_log *log, wick_error *err)
{
    const char *given = wick_config_text(config, WICK_KEY_BASE_TOKENIZER_PATH);
    char found[WICK_BESIDE_MAX], tail[32];
    written[0] = 0;
    WICK_TRY(write_template(config, ckpt, program_path, err));
    struct wick_meta_array tokens;
    bool embedded = wick_checkpoint_meta_array(ckpt, "tokenizer.ggml.tokens", WICK_META_STRS, &tokens, NULL) == WICK_OK;
    if (!given && !embedded && find_tokenizer(wick_config_text(config, WICK_KEY_BASE_CHECKPOINT), found)) given = found;
    if (!given && !embedded) return WICK_OK;
    snprintf(tail, sizeof tail, "tokenizer.%s", given ? ending_of(given) : "json");
    WICK_TRY(name_sidecar(written, written_size, program_path, tail, err));
    if (given) {
        WICK_TRY(copy_file(given, written, err));
        return copy_names(given, program_path, err);
    }
    /* The program is good without it: say so and go on. */
    wick_error why;
    if (write_vocabulary(ckpt, written, &why) == WICK_OK) return WICK_OK;
    wick_log_line(log, WICK_LOG_WARN, "no tokenizer written: %s", why.message);
    written[0] = 0;
    return WICK_OK;
}
