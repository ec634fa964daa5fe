/* api/tables.c - the default tables, from ops/ops.def and backends/backends.def: `full` takes all, the small profiles
 * the operators of language models; backends as the build chose. The linker drops what no table names. */
#include "api/tables.h"

#ifdef WICK_PROFILE_full
#define OPS_llm(row) row
#define OPS_all(row) row
#else
#define OPS_llm(row) row
#define OPS_all(row)
#endif

#define WICK_OP(profile, id, name) OPS_##profile(extern const struct wick_op wick_op_##id;)
#include "ops/ops.def"
#undef WICK_OP

static const struct wick_op *const ops[] = {
#define WICK_OP(profile, id, name) OPS_##profile(&wick_op_##id COMMA)
#define COMMA ,
#include "ops/ops.def"
#undef WICK_OP
};

const struct wick_op_table wick_default_ops = {ops, WICK_ARRAY_SIZE(ops)};

#if WICK_BACKENDS
#define WICK_BACKEND(id, name) extern const struct wick_backend wick_backend_##id;
#include "backends/backends.def"
#undef WICK_BACKEND

static const struct wick_backend *const backends[] = {
#define WICK_BACKEND(id, name) &wick_backend_##id,
#include "backends/backends.def"
#undef WICK_BACKEND
};

const struct wick_backend_table wick_default_backends = {backends, WICK_ARRAY_SIZE(backends)};
#else
const struct wick_backend_table wick_default_backends = {NULL, 0};
#endif
