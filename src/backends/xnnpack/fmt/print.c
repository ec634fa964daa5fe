/* backends/xnnpack/fmt/print.c - payloads for `wick inspect`. */
#include "backends/xnnpack/fmt/payload.h"
#include "pte/payload_printer.h"

static wick_status print_line(const void *data, size_t size, struct wick_buf *out, wick_error *err)
{
    struct wick_arena arena;
    struct wick_xnn_graph *graph;
    uint32_t counts[XNN_NODE_COUNT] = {0};
    wick_arena_init(&arena, &wick_allocator_heap);
    wick_status status = wick_xnn_payload_parse(data, size, &arena, &graph, err);
    for (uint32_t i = 0; status == WICK_OK && i < graph->node_count; i++) counts[graph->nodes[i].kind]++;
    for (uint32_t kind = 0, first = 1; status == WICK_OK && kind < XNN_NODE_COUNT; kind++) {
        if (!counts[kind]) continue;
        wick_buf_printf(out, "%s%u %s", first ? "" : ", ", counts[kind], wick_xnn_node_name((uint8_t)kind));
        first = 0;
    }
    wick_arena_release(&arena);
    return status;
}

extern const struct wick_payload_printer wick_payload_printer_xnnpack;
const struct wick_payload_printer wick_payload_printer_xnnpack = {"XnnpackBackend", wick_xnn_payload_print_json, print_line};
