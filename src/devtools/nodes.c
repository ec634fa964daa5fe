/* devtools/nodes.c - an execution graph as text. */
#include "devtools/nodes.h"

#include <inttypes.h>

static void put_tensor(const struct wick_exec_graph *graph, uint32_t id, struct wick_buf *out)
{
    const struct wick_tensor *tensor = graph->values[id].as.tensor;
    wick_buf_printf(out, "%s%%%u %s[", tensor->constant ? "=" : "", id, wick_dtype_name(tensor->shape.dtype));
    for (uint32_t d = 0; d < tensor->shape.rank; d++) wick_buf_printf(out, "%s%" PRId64, d ? "," : "", (int64_t)tensor->shape.sizes[d]);
    wick_buf_text(out, "]");
}

static void put_list(const struct wick_exec_graph *graph, const struct wick_value *value, struct wick_buf *out)
{
    bool tensors = value->tag == WICK_TAG_TENSOR_LIST || value->tag == WICK_TAG_OPTIONAL_TENSOR_LIST;
    wick_buf_text(out, "[");
    for (uint32_t i = 0; i < value->as.list.count; i++) {
        int32_t item = value->as.list.indices[i];
        if (i) wick_buf_text(out, ", ");
        if (item < 0) wick_buf_text(out, "none");
        else if (tensors) put_tensor(graph, (uint32_t)item, out);
        else wick_buf_printf(out, "%" PRId64, graph->values[item].as.i);
    }
    wick_buf_text(out, "]");
}

static void put_value(const struct wick_exec_graph *graph, uint32_t id, struct wick_buf *out)
{
    const struct wick_value *value = &graph->values[id];
    switch (value->tag) {
    case WICK_TAG_NONE: wick_buf_text(out, "none"); break;
    case WICK_TAG_TENSOR: put_tensor(graph, id, out); break;
    case WICK_TAG_INT: wick_buf_printf(out, "%" PRId64, value->as.i); break;
    case WICK_TAG_BOOL: wick_buf_text(out, value->as.b ? "true" : "false"); break;
    case WICK_TAG_DOUBLE: wick_buf_printf(out, "%g", value->as.d); break;
    case WICK_TAG_INT_LIST:
    case WICK_TAG_TENSOR_LIST:
    case WICK_TAG_OPTIONAL_TENSOR_LIST: put_list(graph, value, out); break;
    default: wick_buf_printf(out, "%%%u", id); break;
    }
}

void wick_nodes_text(const struct wick_exec_graph *graph, struct wick_buf *out)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        wick_buf_printf(out, "%5u  %5u  %s(", i, node->instruction, wick_node_name(node));
        uint32_t inputs = node->kind == WICK_NODE_CALL ? wick_signature_inputs(node->op->meta->signature) : node->count;
        for (uint32_t k = 0; k < node->count; k++) {
            if (k) wick_buf_text(out, k == inputs ? ") -> " : ", ");
            put_value(graph, node->ids[k], out);
        }
        wick_buf_text(out, inputs < node->count ? "" : ")");
        if (node->kind == WICK_NODE_JUMP_FALSE) wick_buf_printf(out, " -> node %u", node->target);
        wick_buf_text(out, "\n");
    }
}
