/* export/ids.h - what base.metadata says of special tokens, against the tokenizer that goes with the program. */
#ifndef WICK_EXPORT_IDS_H
#define WICK_EXPORT_IDS_H

#include "base/log.h"
#include "export/config.h"

/* Warns where they disagree; base.metadata is what the program records. tokenizer_path: "" if there is none. */
void wick_ids_compare(const struct wick_config *config, const char *tokenizer_path, int64_t vocab_size, const struct wick_log *log);

#endif
