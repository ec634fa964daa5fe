/* pte/payload_printer.h - the contract between `wick inspect` and backends: how a delegate's payload is shown. */
#ifndef WICK_PTE_PAYLOAD_PRINTER_H
#define WICK_PTE_PAYLOAD_PRINTER_H

#include "base/str.h"

struct wick_payload_printer {
    const char *backend_id; /* "XnnpackBackend" */
    wick_status (*json)(const void *data, size_t size, struct wick_buf *out, wick_error *err);
    /* One short line: "2 Convert, 2 FullyConnected". */
    wick_status (*line)(const void *data, size_t size, struct wick_buf *out, wick_error *err);
};

struct wick_payload_printers {
    const struct wick_payload_printer *items;
    size_t count;
};

#endif
