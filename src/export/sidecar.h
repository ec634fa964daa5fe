/* export/sidecar.h - the tokenizer and the chat template beside the program, where the checkpoint or the configuration has one. */
#ifndef WICK_EXPORT_SIDECAR_H
#define WICK_EXPORT_SIDECAR_H

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "export/config.h"

/* Writes <program without .pte>.tokenizer.<json, model or bin>: a copy of base.tokenizer_path, else a GGUF's own vocabulary, else a copy of the
 * tokenizer beside the checkpoint (tokenizer.json, tokenizer.model, tekken.json, tokenizer.bin); and .chat_template.jinja where there is a template.
 * A copied tokenizer's tokenizer_config.json, which names special tokens, goes along. written: the path of the tokenizer, "" if there is none to write. */
wick_status wick_sidecar_write(const struct wick_config *config, const struct wick_checkpoint *ckpt, const char *program_path, char *written, size_t written_size,
                               const struct wick_log *log, wick_error *err);

#endif
