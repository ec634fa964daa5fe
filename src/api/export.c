/* api/export.c - implements wick/export.h with the families, operators and lowerings of this build. */
#include "export/config_set.h"
#include "export/family.h"
#include "export/pipeline.h"
#include "base/os.h"

#define WICK_OP(profile, id, name) extern const struct wick_opmeta wick_opmeta_##id;
#include "ops/ops.def"
#undef WICK_OP

static const struct wick_opmeta *const metas[] = {
#define WICK_OP(profile, id, name) &wick_opmeta_##id,
#include "ops/ops.def"
#undef WICK_OP
};

#define WICK_FAMILY(id) extern const struct wick_family wick_family_##id;
#include "models/models.def"
#undef WICK_FAMILY

static const struct wick_family *const families[] = {
#define WICK_FAMILY(id) &wick_family_##id,
#include "models/models.def"
#undef WICK_FAMILY
};

#define WICK_BACKEND(id, name) extern const struct wick_lowering wick_lowering_##id;
#include "backends/backends.def"
#undef WICK_BACKEND

static const struct wick_lowering *const lowerings[] = {
#define WICK_BACKEND(id, name) &wick_lowering_##id,
#include "backends/backends.def"
#undef WICK_BACKEND
};

static const struct wick_opmeta_table op_table = {metas, WICK_ARRAY_SIZE(metas)};
static const struct wick_family_table family_table = {families, WICK_ARRAY_SIZE(families)};
static const struct wick_lowering_table lowering_table = {lowerings, WICK_ARRAY_SIZE(lowerings)};
static const struct wick_export_tables tables = {&op_table, &family_table, &lowering_table};

wick_status wick_export(const wick_export_options *options, wick_export_summary *summary, wick_error *err)
{
    if (options->struct_size != sizeof *options) return wick_fail(err, WICK_INVALID_ARGUMENT, "wick_export_options: struct_size is %zu, not %zu", options->struct_size, sizeof *options);
    return wick_pipeline_run(options, &tables, summary, err);
}

size_t wick_export_key_count(void) { return WICK_KEY_COUNT; }

bool wick_export_key_at(size_t index, wick_export_key *key)
{
    static const char *const types[] = {"bool", "int", "float", "text", "text", "list", "mapping"};
    static const char *const meanings[WICK_KEY_COUNT] = {
#define WICK_KEY_HELP(id, text) [WICK_KEY_##id] = text,
#include "export/config_help.def"
#undef WICK_KEY_HELP
    };
    if (index >= WICK_KEY_COUNT) return false;
    const struct wick_key_info *info = wick_config_info((enum wick_key)index);
    const char *choices = info->choices && strchr(info->choices, ':') ? strchr(info->choices, ':') + 1 : info->choices;
    *key = (wick_export_key){info->name, types[info->type], info->value, choices && *choices ? choices : NULL, meanings[index] ? meanings[index] : ""};
    return true;
}

void wick_export_abandon(void) { wick_writer_discard_all_signal(); }
