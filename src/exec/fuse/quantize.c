/* exec/fuse/quantize.c - a fused row that only a quantization reads is quantized where it is made. */
#include "exec/fuse.h"
#include "exec/fuse/rows.h"

/* Parameters for each row of the last dim. */
static bool is_by_rows(const struct wick_fuse *fuse, const struct wick_node *node)
{
    const struct wick_tensor *dims = fuse->graph->values[node->ids[1]].as.tensor;
    return dims->constant && dims->data && dims->shape.dtype == WICK_DTYPE_I32 && dims->capacity >= sizeof(int32_t) &&
           *(const int32_t *)dims->data == 1;
}

static wick_status apply(struct wick_fuse *fuse)
{
    struct wick_exec_graph *graph = fuse->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        if (node->kind != WICK_NODE_CALL || strcmp(node->op->meta->name, "xnn::quantize") != 0 || node->state || !is_by_rows(fuse, node)) continue;
        const struct wick_node *made = wick_fuse_producer(fuse, node->ids[0], i, true, wick_rows_rms_norm.meta->name, wick_rows_swiglu.meta->name);
        if (!made) continue;
        uint32_t ids[8], inputs = wick_signature_inputs(made->op->meta->signature);
        for (uint32_t k = 0; k < inputs; k++) ids[k] = made->ids[k];
        ids[inputs] = node->writes[0];
        ids[inputs + 1] = node->writes[1];
        if (!wick_fuse_can_call(fuse, ids, inputs, 2)) continue;
        WICK_TRY(wick_fuse_call(fuse, (uint32_t)(made - graph->nodes), wick_rows_quantized(made->op), ids, inputs, 2));
        fuse->dead[i] = true;
    }
    return WICK_OK;
}

const struct wick_fusion wick_fusion_quantize = {"quantize", apply};
