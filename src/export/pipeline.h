/* export/pipeline.h - a checkpoint becomes a program: the stages in their order. */
#ifndef WICK_EXPORT_PIPELINE_H
#define WICK_EXPORT_PIPELINE_H

#include "export/family.h"
#include "graph/lower.h"
#include "base/log.h"
#include "wick/export.h"

/* What this build can do; from .def lists, by whoever links (src/api). */
struct wick_export_tables {
    const struct wick_opmeta_table *ops;
    const struct wick_family_table *families;
    const struct wick_lowering_table *lowerings;
};

wick_status wick_pipeline_run(const wick_export_options *options, const struct wick_export_tables *tables, wick_export_summary *summary, wick_error *err);

#endif
