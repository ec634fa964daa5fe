/* devtools/inspect.h - describing .pte, .ptd and .bpte files. Backends' payloads are described by printers that the caller passes. */
#ifndef WICK_DEVTOOLS_INSPECT_H
#define WICK_DEVTOOLS_INSPECT_H

#include "base/str.h"
#include "pte/payload_printer.h"

/* Appends the description of a file's bytes (16-aligned). NOT_SUPPORTED if they carry no known identifier. */
wick_status wick_inspect_text(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err);
wick_status wick_inspect_json(const void *data, size_t size, const struct wick_payload_printers *printers, struct wick_buf *out, wick_error *err);

#endif
