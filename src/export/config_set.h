/* export/config_set.h - how the readers of YAML and overrides put values into a configuration. */
#ifndef WICK_EXPORT_CONFIG_SET_H
#define WICK_EXPORT_CONFIG_SET_H

#include "export/config.h"

/* text NULL is null; LIST and OBJECT take JSON text. The error names the key. */
wick_status wick_config_set(struct wick_config *config, enum wick_key key, const char *text, wick_error *err);
/* INVALID_CONFIG with the nearest name if there is no such key. */
wick_status wick_config_find(const char *name, enum wick_key *key, wick_error *err);
bool wick_config_is_section(const char *name);
/* Takes a list or a mapping as its value. */
bool wick_config_is_structured(enum wick_key key);

#endif
