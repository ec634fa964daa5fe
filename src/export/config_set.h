/* export/config_set.h - how the readers of YAML and overrides put values into a configuration. What they read is JSON to them; an interpolation
 * stays text until config_resolve.c. */
#ifndef WICK_EXPORT_CONFIG_SET_H
#define WICK_EXPORT_CONFIG_SET_H

#include "base/json.h"
#include "export/config.h"

enum wick_key_type { WICK_TYPE_BOOL, WICK_TYPE_INT, WICK_TYPE_FLOAT, WICK_TYPE_STRING, WICK_TYPE_OPTIONAL, WICK_TYPE_LIST, WICK_TYPE_OBJECT };
enum { WICK_CONFIG_NAME_BYTES = 160, WICK_CONFIG_DEPTH_MAX = 16 };

struct wick_key_info {
    const char *name;
    enum wick_key_type type;
    const char *value;   /* default; NULL: null */
    const char *choices; /* separated by |, after the name of the original's enumeration and a colon if it has one; NULL: any */
};
const struct wick_key_info *wick_config_info(enum wick_key key);
/* Takes a list or a mapping as its value. */
bool wick_config_is_structured(enum wick_key key);

/* Sets the key `name`, or the field of a structured key that it leads to ("base.lora_config.lora_rank", "multimethod.methods.0.method_name").
 * written: a scalar as it was written, for errors, or NULL. An unknown name is INVALID_CONFIG with the nearest one; the error names
 * the key. A mapping is merged into the mapping that is there, as the original does. */
wick_status wick_config_set(struct wick_config *config, const char *name, const json_t *value, const char *written, wick_error *err);
/* The same for a known key. */
wick_status wick_config_set_key(struct wick_config *config, enum wick_key key, const json_t *value, const char *written, wick_error *err);

bool wick_config_find(const char *name, enum wick_key *key);
bool wick_config_is_section(const char *name);
/* INVALID_CONFIG: "Key 'nope' not in 'ModelConfig'" and the nearest name. */
wick_status wick_config_unknown(const char *name, wick_error *err);

/* config_shape.c: the fields of structured keys. Checks what is there by type; `whole` fills in defaults and demands required fields.
 * A new reference in out. */
wick_status wick_config_shape(enum wick_key key, const json_t *value, bool whole, json_t **out, wick_error *err);
/* "str", "int", "list" ...: what the original calls the type of a value. */
const char *wick_config_type_name(const json_t *value);

/* config_resolve.c: does the text hold an interpolation, ${...}, or is it ??? (to be given yet) in a structured value? */
bool wick_config_is_pending(const json_t *value);

#endif
