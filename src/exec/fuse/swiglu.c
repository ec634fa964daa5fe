/* exec/fuse/swiglu.c - sigmoid(gate), * gate, * up: three calls become one (Shazeer, 2020). */
#include "exec/fuse.h"
#include "exec/fuse/rows.h"

static void gate_row(const struct wick_args *args, const struct wick_ukernels *uk, size_t row, size_t n, float *y)
{
    const float *gate = (const float *)wick_arg_tensor(args, 0)->data + row * n, *up = (const float *)wick_arg_tensor(args, 1)->data + row * n;
    uk->sigmoid(n, gate, y);
    uk->mul(n, gate, y, y);
    uk->mul(n, y, up, y);
}

static wick_status run_gate(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return wick_rows_run(args, 2, false, gate_row, run);
}

static wick_status run_quantized(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    return wick_rows_run(args, 2, true, gate_row, run);
}

static const struct wick_opmeta meta = {"fused::swiglu", "TT>T", WICK_ALIAS_NONE, wick_rows_infer};
static const struct wick_opmeta quantized_meta = {"fused::swiglu_quantize", "TT>TT", WICK_ALIAS_NONE, wick_rows_infer_quantized};
const struct wick_op wick_rows_swiglu = {.meta = &meta, .run = run_gate};
const struct wick_op wick_rows_swiglu_quantized = {.meta = &quantized_meta, .run = run_quantized};

enum { SILU, SIGMOID, PARTS };

struct match {
    const struct wick_node *parts[PARTS];
    uint32_t gate, up;
};

static bool is_same_shape(const struct wick_fuse *fuse, uint32_t a, uint32_t b)
{
    return wick_shape_same_sizes(&fuse->graph->values[a].as.tensor->shape, &fuse->graph->values[b].as.tensor->shape);
}

static bool match_gate(const struct wick_fuse *fuse, uint32_t at, struct match *m)
{
    const struct wick_node *last = &fuse->graph->nodes[at], **p = m->parts;
    for (uint32_t u = 0; u < 2; u++) {
        p[SILU] = wick_fuse_producer(fuse, last->ids[1 - u], at, true, "xnn::multiply", "aten::mul.out");
        m->up = last->ids[u];
        for (uint32_t g = 0; p[SILU] && g < 2; g++) {
            m->gate = p[SILU]->ids[g];
            p[SIGMOID] = wick_fuse_producer(fuse, p[SILU]->ids[1 - g], at, true, "xnn::sigmoid", "aten::sigmoid.out");
            if (!p[SIGMOID] || p[SIGMOID]->ids[0] != m->gate) continue;
            return wick_fuse_is_f32(fuse, last) && wick_fuse_is_f32(fuse, p[SILU]) && wick_fuse_is_f32(fuse, p[SIGMOID]) &&
                   is_same_shape(fuse, m->gate, m->up) && fuse->graph->values[m->gate].as.tensor->shape.rank > 0 &&
                   wick_fuse_is_quiet(fuse, m->parts, PARTS, at, m->gate) && wick_fuse_is_quiet(fuse, m->parts, PARTS, at, m->up);
        }
    }
    return false;
}

static wick_status apply(struct wick_fuse *fuse)
{
    struct wick_exec_graph *graph = fuse->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct wick_node *node = &graph->nodes[i];
        struct match m;
        if (node->kind != WICK_NODE_CALL ||
            (strcmp(node->op->meta->name, "xnn::multiply") != 0 && strcmp(node->op->meta->name, "aten::mul.out") != 0))
            continue;
        if (!match_gate(fuse, i, &m)) continue;
        uint32_t ids[] = {m.gate, m.up, node->writes[0]};
        if (!wick_fuse_can_call(fuse, ids, 2, 1)) continue;
        WICK_TRY(wick_fuse_call(fuse, i, &wick_rows_swiglu, ids, 2, 1));
        for (int k = 0; k < PARTS; k++) fuse->dead[m.parts[k] - graph->nodes] = true;
    }
    return WICK_OK;
}

const struct wick_fusion wick_fusion_swiglu = {"swiglu", apply};
