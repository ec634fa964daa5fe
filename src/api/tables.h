/* api/tables.h - the operators and backends of this build. */
#ifndef WICK_API_TABLES_H
#define WICK_API_TABLES_H

#include "runtime/backend.h"

extern const struct wick_op_table wick_default_ops;
extern const struct wick_backend_table wick_default_backends;

#endif
