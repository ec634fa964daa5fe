/* export/sidecar.h - the tokenizer beside the program, where the checkpoint or the configuration has one. */
#ifndef WICK_EXPORT_SIDECAR_H
#define WICK_EXPORT_SIDECAR_H

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "export/config.h"

/* Writes <program without .pte>.tokenizer.json: from a GGUF's own vocabulary, or a copy of base.tokenizer_path or of a tokenizer.json beside the
 * checkpoint. written: its path, "" if there is none to write. */
wick_status wick_sidecar_write(const struct wick_config *config, const struct wick_checkpoint *ckpt, const char *program_path, char *written, size_t written_size,
                               const struct wick_log *log, wick_error *err);

#endif
