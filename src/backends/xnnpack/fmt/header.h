/* backends/xnnpack/fmt/header.h - where the parts of a payload lie. Inside src/backends/xnnpack/fmt only. */
#ifndef WICK_BACKENDS_XNNPACK_FMT_HEADER_H
#define WICK_BACKENDS_XNNPACK_FMT_HEADER_H

#include "base/error.h"

struct wick_xnn_header {
    bool present; /* XH00; else the payload is the bare tables (before 2024) */
    const uint8_t *tables, *constants;
    size_t table_bytes, constant_bytes;
};

/* INVALID_ARGUMENT if the payload is too short or a part does not lie within it. */
wick_status wick_xnn_header_read(const void *data, size_t size, struct wick_xnn_header *header, wick_error *err) WICK_MUST_CHECK;

#endif
