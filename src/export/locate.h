/* export/locate.h - a checkpoint that is not named: where earlier runs of the original, or of its download library, left it. */
#ifndef WICK_EXPORT_LOCATE_H
#define WICK_EXPORT_LOCATE_H

#include "base/log.h"
#include "export/config.h"

/* Gives base.checkpoint its value if it has none and base.model_class has weights of its own: the original's converted copy, else a snapshot of the
 * download cache. Nothing is fetched: INVALID_CONFIG names the repository and both places. */
wick_status wick_locate_checkpoint(struct wick_config *config, const struct wick_log *log, wick_error *err);

#endif
