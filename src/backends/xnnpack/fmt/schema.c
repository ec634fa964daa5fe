/* backends/xnnpack/fmt/schema.c - the descriptors of the payload format, expanded from its list. */
#include "backends/xnnpack/fmt/schema.h"

XNN_TABLES(FLAT_FIELDS, XNN)
XNN_UNIONS(FLAT_FIELDS, XNN)
XNN_ENUMS(FLAT_FIELDS, XNN)
static const struct wick_flat_table xnn_tables[] = {XNN_TABLES(FLAT_LIST, XNN)};
static const struct wick_flat_union xnn_unions[] = {XNN_UNIONS(FLAT_LIST, XNN)};
static const struct wick_flat_enum xnn_enums[] = {XNN_ENUMS(FLAT_LIST, XNN)};

const struct wick_flat_schema wick_xnn_schema = {
    .name = "XNNPACK payload", .idents = {"XN01", "XN00"}, .tables = xnn_tables, .unions = xnn_unions, .enums = xnn_enums,
    .table_count = XNN_TABLE_COUNT, .union_count = XNN_UNION_COUNT, .enum_count = XNN_ENUM_COUNT, .root = XNN_TABLE_GRAPH,
};
