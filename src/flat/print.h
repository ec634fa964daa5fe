/* flat/print.h - a verified buffer as JSON, a schema as text. */
#ifndef WICK_FLAT_PRINT_H
#define WICK_FLAT_PRINT_H

#include "flat/read.h"

/* Appends the table as JSON, with the field order, names and omissions of `flatc --json --strict-json`: a field is printed if
 * it is present, an enum by name if it has one, a union as two fields. Differences: a real number that is not finite is the string
 * "inf", "-inf" or "nan"; a vector of bytes longer than bytes_max (0: no limit) is {"bytes": count, "omitted": true}.
 * indent: spaces that the line of the opening brace has. Out of memory sticks in out->failed. */
void wick_flat_print_json(const struct wick_flat_schema *schema, unsigned table, struct flat_table at, size_t bytes_max, unsigned indent, struct wick_buf *out);

/* Appends the schema in the FlatBuffers language (.fbs), from which `flatc` understands the format's files. */
void wick_flat_print_schema(const struct wick_flat_schema *schema, struct wick_buf *out);

#endif
