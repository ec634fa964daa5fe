/* export/recognize.h - what model a checkpoint is: its family and hyper-parameters, from the configuration and the files. */
#ifndef WICK_EXPORT_RECOGNIZE_H
#define WICK_EXPORT_RECOGNIZE_H

#include "checkpoint/checkpoint.h"
#include "export/config.h"
#include "export/family.h"

struct wick_recognized {
    struct wick_checkpoint *checkpoint;
    const struct wick_family *family;
    struct wick_hparams hparams;
};

/* Opens base.checkpoint and settles family and hyper-parameters, later ones winning: the class's defaults, the checkpoint's own description (GGUF
 * metadata, config.json or params.json beside it), base.params. base.model_class chooses the family when given; else the description does. */
wick_status wick_recognize(struct wick_recognized *r, const struct wick_config *config, const struct wick_family_table *families, wick_error *err);
void wick_recognized_release(struct wick_recognized *r);

#endif
