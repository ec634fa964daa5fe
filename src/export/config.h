/* export/config.h - the export configuration: the original's LlmConfig keys, from YAML and `section.key=value`. */
#ifndef WICK_EXPORT_CONFIG_H
#define WICK_EXPORT_CONFIG_H

#include "base/arena.h"
#include "base/str.h"

enum wick_key {
#define WICK_KEY(id, name, type, value, choices) WICK_KEY_##id,
#include "export/config.def"
#undef WICK_KEY
    WICK_KEY_COUNT
};

struct wick_config_value {
    bool null, given; /* given: by file or override, not the default */
    bool pending;     /* text is JSON that holds interpolations; not after wick_config_resolve */
    bool b;           /* the one of the key's type counts; the others are 0 */
    int64_t i;
    double d;
    const char *text; /* STRING; LIST and OBJECT as JSON */
};

struct wick_config {
    struct wick_arena arena;
    bool resolved; /* texts are what they are: "${" is no interpolation any more */
    struct wick_config_value values[WICK_KEY_COUNT];
};

/* Fills in the defaults. */
wick_status wick_config_init(struct wick_config *config, wick_error *err);
void wick_config_release(struct wick_config *config);

/* Merges a YAML file and those that its `defaults` name. Unknown keys are refused with the nearest known name, values by type and choice; errors
 * give file, line and key. */
wick_status wick_config_load(struct wick_config *config, const char *path, wick_error *err);
/* One command-line override: "model.use_kv_cache=True", "+key=value", "++key=value", quotes as people write them for
 * the original: base.metadata="{\"get_bos_id\":1}", 'quantization.embedding_quantize="4,32"', lists, null. */
wick_status wick_config_override(struct wick_config *config, const char *text, wick_error *err);
/* After the last override: ${oc.env:NAME}, ${section.key}; defaults of structured values, in the original's order of fields. */
wick_status wick_config_resolve(struct wick_config *config, wick_error *err);
/* The construction checks of LlmConfig and what this build does not support, by name. */
wick_status wick_config_check(const struct wick_config *config, wick_error *err);

static inline bool wick_config_bool(const struct wick_config *c, enum wick_key key) { return c->values[key].b; }
static inline int64_t wick_config_int(const struct wick_config *c, enum wick_key key) { return c->values[key].i; }
/* NULL when null. */
static inline const char *wick_config_text(const struct wick_config *c, enum wick_key key) { return c->values[key].null ? NULL : c->values[key].text; }
static inline bool wick_config_is(const struct wick_config *c, enum wick_key key, const char *text)
{
    return !c->values[key].null && strcmp(c->values[key].text, text) == 0;
}
/* The truth value backend.<section>.<name>; false where there is no such key. */
bool wick_config_backend(const struct wick_config *c, const char *section, const char *name);
const char *wick_config_key_name(enum wick_key key);

/* The whole as YAML that wick_config_load reads; for --dump-after=config. */
void wick_config_print(const struct wick_config *config, struct wick_buf *out);

#endif
