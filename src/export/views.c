/* export/views.c - reshapes of contiguous tensors become views: the out shares its input's bytes, nothing is copied. Next: plan.c. */
#include "export/stages.h"

wick_status wick_stage_views(struct wick_graph *g, wick_error *err)
{
    const struct wick_opmeta *view = wick_graph_find_op(g, "executorch_prim::et_view.default");
    for (uint32_t n = 0; view && n < g->node_count; n++) {
        struct wick_graph_node *node = &g->nodes[n];
        if (node->dead || !node->op || strcmp(node->op->name, "aten::view_copy.out") != 0) continue;
        const struct wick_graph_value *in = &g->info[node->ids[0]], *out = &g->info[node->ids[2]];
        /* A constant's bytes are read-only, a caller's may go away: both are copied. So is what becomes an output. */
        if (in->origin != WICK_ORIGIN_COMPUTED || out->is_output) continue;
        node->op = view;
    }
    return wick_graph_status(g, err);
}
