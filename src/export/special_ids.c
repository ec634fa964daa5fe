/* export/special_ids.c - see special_ids.h. Next: metadata.c. */
#include "export/special_ids.h"

#include "base/json.h"
#include "export/beside.h"

static void add_eos(struct wick_special_ids *ids, int64_t id)
{
    for (uint32_t i = 0; i < ids->eos_count; i++)
        if (ids->eos[i] == id) return;
    if (id >= 0 && ids->eos_count < WICK_EOS_IDS_MAX) ids->eos[ids->eos_count++] = id;
}

static void set_bos(struct wick_special_ids *ids, int64_t id)
{
    if (ids->has_bos || id < 0) return;
    ids->has_bos = true;
    ids->bos = id;
}

static void from_gguf(struct wick_special_ids *ids, const struct wick_checkpoint *checkpoint)
{
    static const char *const ends[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"};
    int64_t id;
    if (wick_checkpoint_meta_int(checkpoint, "tokenizer.ggml.bos_token_id", &id, NULL) == WICK_OK) set_bos(ids, id);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(ends); i++)
        if (wick_checkpoint_meta_int(checkpoint, ends[i], &id, NULL) == WICK_OK) add_eos(ids, id);
}

/* An id, or a list of ids; null and anything else says nothing. */
static void from_object(struct wick_special_ids *ids, const json_t *root)
{
    const json_t *bos = json_object_get(root, "bos_token_id"), *eos = json_object_get(root, "eos_token_id");
    if (json_is_integer(bos)) set_bos(ids, json_integer_value(bos));
    if (json_is_integer(eos)) add_eos(ids, json_integer_value(eos));
    for (size_t i = 0; i < json_array_size(eos); i++)
        if (json_is_integer(json_array_get(eos, i))) add_eos(ids, json_integer_value(json_array_get(eos, i)));
}

wick_status wick_special_ids_find(struct wick_special_ids *ids, const struct wick_checkpoint *checkpoint, const char *path, wick_error *err)
{
    static const char *const files[] = {"generation_config.json", "config.json"};
    char found[WICK_BESIDE_MAX];
    *ids = (struct wick_special_ids){0};
    from_gguf(ids, checkpoint);
    if (ids->has_bos || ids->eos_count || !path) return WICK_OK;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(files); i++) {
        json_t *root;
        if (!wick_beside(path, files[i], found)) continue;
        WICK_TRY(wick_json_load(&root, found, WICK_INVALID_CONFIG, err));
        from_object(ids, root);
        from_object(ids, json_object_get(root, "text_config"));
        json_decref(root);
    }
    return WICK_OK;
}
