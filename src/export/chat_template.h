/* export/chat_template.h - the chat template that comes with a checkpoint. */
#ifndef WICK_EXPORT_CHAT_TEMPLATE_H
#define WICK_EXPORT_CHAT_TEMPLATE_H

#include "base/str.h"
#include "checkpoint/checkpoint.h"

/* Appends the Jinja text to out: GGUF's tokenizer.chat_template, else chat_template.jinja, chat_template.json or the chat_template of
 * tokenizer_config.json beside the checkpoint at `path` (of several named ones, "default"). *found: there is one. A file that is no JSON is
 * INVALID_CONFIG. */
wick_status wick_chat_template_find(struct wick_buf *out, bool *found, const struct wick_checkpoint *checkpoint, const char *path, wick_error *err);

#endif
