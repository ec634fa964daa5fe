/* export/recognize.c - see recognize.h. Next: the family's build. */
#include "export/recognize.h"

#include "base/json.h"
#include "export/beside.h"

static bool in_list(const char *const *list, struct wick_str name)
{
    for (; *list; list++)
        if (wick_str_is(name, *list)) return true;
    return false;
}

static const struct wick_family *by_class(const struct wick_family_table *families, const char *model_class)
{
    for (size_t i = 0; i < families->count; i++)
        if (in_list(families->families[i]->model_classes, wick_str_of(model_class))) return families->families[i];
    return NULL;
}

static wick_status unknown_class(const struct wick_family_table *families, const char *model_class, wick_error *err)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < families->count; i++)
        for (const char *const *c = families->families[i]->model_classes; *c && count < WICK_ARRAY_SIZE(names) - 1; c++) names[count++] = *c;
    names[count] = NULL;
    const char *near = wick_nearest_name(model_class, names);
    return wick_fail(err, WICK_NOT_SUPPORTED, "base.model_class=%s: not supported%s%s%s", model_class, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static wick_status hf_family(struct wick_recognized *r, const struct wick_family_table *families, const char *path, wick_error *err)
{
    json_t *root;
    WICK_TRY(wick_json_load(&root, path, WICK_INVALID_CONFIG, err));
    const json_t *type = json_object_get(root, "model_type");
    for (size_t i = 0; json_is_string(type) && i < families->count; i++)
        if (in_list(families->families[i]->hf_types, wick_str_of(json_string_value(type)))) r->family = families->families[i];
    wick_status status = r->family ? WICK_OK
                                   : wick_fail(err, WICK_NOT_SUPPORTED, "%s: model_type %s: not supported", path, json_is_string(type) ? json_string_value(type) : "(none)");
    json_decref(root);
    return status;
}

static wick_status gguf_family(struct wick_recognized *r, const struct wick_family_table *families, wick_error *err)
{
    struct wick_str arch;
    WICK_TRY(wick_checkpoint_meta_str(r->checkpoint, "general.architecture", &arch, err));
    for (size_t i = 0; i < families->count; i++)
        if (in_list(families->families[i]->gguf_types, arch)) r->family = families->families[i];
    return r->family ? WICK_OK : wick_fail(err, WICK_NOT_SUPPORTED, "GGUF: general.architecture %.*s: not supported", (int)WICK_MIN(arch.size, (size_t)64), arch.data);
}

wick_status wick_recognize(struct wick_recognized *r, const struct wick_config *config, const struct wick_family_table *families, wick_error *err)
{
    *r = (struct wick_recognized){0};
    const char *path = wick_config_text(config, WICK_KEY_BASE_CHECKPOINT), *model_class = wick_config_text(config, WICK_KEY_BASE_MODEL_CLASS);
    const char *params = wick_config_text(config, WICK_KEY_BASE_PARAMS);
    char found[WICK_BESIDE_MAX];
    if (!path) return wick_fail(err, WICK_INVALID_CONFIG, "base.checkpoint: missing; name a .pth, .safetensors or .gguf file, or a folder with one");
    WICK_TRY(wick_checkpoint_open(&r->checkpoint, path, err));
    bool gguf = strcmp(wick_checkpoint_format(r->checkpoint), "gguf") == 0, hf = !gguf && wick_beside(path, "config.json", found);
    if (config->values[WICK_KEY_BASE_MODEL_CLASS].given || (!gguf && !hf)) r->family = by_class(families, model_class);
    else if (gguf) WICK_TRY(gguf_family(r, families, err));
    else WICK_TRY(hf_family(r, families, found, err));
    if (!r->family) return unknown_class(families, model_class, err);
    wick_hparams_init(&r->hparams);
    if (!gguf && !hf && !params && wick_beside(path, "params.json", found)) params = found;
    /* params.json describes a model whole, as the original reads it: what it does not say is a default of every class. */
    if (gguf || hf || !params) r->family->defaults(model_class, &r->hparams);
    if (gguf) WICK_TRY(wick_hparams_load_gguf(&r->hparams, r->checkpoint, err));
    else if (hf) WICK_TRY(wick_hparams_load_hf(&r->hparams, found, err));
    if (params) WICK_TRY(wick_hparams_load(&r->hparams, params, err));
    r->family->adjust(model_class, &r->hparams);
    return wick_hparams_finish(&r->hparams, err);
}

void wick_recognized_release(struct wick_recognized *r)
{
    wick_checkpoint_close(r->checkpoint);
    r->checkpoint = NULL;
}
