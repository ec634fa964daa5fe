/* export/decompose.c - what no backend took: a quantized linear as operators of the portable and quantized libraries,
 * so that the program runs anywhere with the same arithmetic. Next: views.c. */
#include "export/stages.h"

#include "graph/irops.h"
#include "graph/quantized.h"

/* x as a matrix of rows that were quantized to 8 bits and back. */
static uint32_t rounded_rows(struct wick_graph *g, uint32_t x)
{
    const struct wick_shape *shape = wick_graph_shape(g, x);
    struct wick_shape params[2] = {*shape, *shape};
    for (int i = 0; i < 2; i++) params[i].sizes[shape->rank - 1] = 1;
    params[0].dtype = WICK_DTYPE_F64;
    params[1].dtype = WICK_DTYPE_I64;
    uint32_t i8 = wick_graph_int(g, WICK_DTYPE_I8), low = wick_graph_int(g, -128), high = wick_graph_int(g, 127),
             f32 = wick_graph_int(g, WICK_DTYPE_F32);
    uint32_t q[2] = {wick_graph_tensor(g, &params[0]), wick_graph_tensor(g, &params[1])};
    wick_graph_effect(g, "quantized_decomposed::choose_qparams_per_token_asymmetric.out", 4, x, i8, q[0], q[1]);
    uint32_t rows = wick_graph_call(g, "quantized_decomposed::quantize_per_token.out", 6, x, q[0], q[1], low, high, i8);
    return wick_graph_call(g, "quantized_decomposed::dequantize_per_token.out", 7, rows, q[0], q[1], low, high, i8, f32);
}

/* Activations are quantized and dequantized per row, unless only weights are; the weight stays int8 with its group scales (mixed_linear). */
static void decompose_linear(struct wick_graph *g, const struct wick_graph_node *node)
{
    uint32_t x = node->ids[0], weight = node->ids[1], bias = node->ids[2], out = node->ids[3];
    const struct wick_shape *shape = wick_graph_shape(g, x);
    bool dynamic = g->values[x].as.tensor->dynamism != WICK_STATIC;
    uint32_t first_new = g->value_count;
    x = wick_graph_cast(g, x, WICK_DTYPE_F32);
    if (node->op == &wick_ir_dynamic_linear) x = rounded_rows(g, x);
    int64_t columns = shape->sizes[shape->rank - 1], n = wick_graph_shape(g, weight)->sizes[0];
    uint32_t flat = wick_graph_call(g, "aten::view_copy.out", 2, x, wick_graph_ints(g, 2, (int64_t)-1, columns));
    struct wick_source *scale_source = wick_quantized_scales(g->info[weight].quantized, &g->arena, WICK_DTYPE_F32, true);
    uint32_t scales = wick_graph_constant(g, wick_graph_name(g, "%s.scales", g->info[weight].name), scale_source);
    uint32_t mixed = wick_graph_call(g, "quantized_decomposed::mixed_linear.out", 5, flat, weight, scales, wick_graph_none(g), wick_graph_none(g));
    uint32_t sizes = shape->rank == 3 ? wick_graph_ints(g, 3, (int64_t)1, (int64_t)-1, n) : wick_graph_ints(g, 2, (int64_t)-1, n);
    uint32_t rows_out = wick_graph_call(g, "aten::view_copy.out", 2, mixed, sizes);
    rows_out = wick_graph_cast(g, rows_out, wick_graph_shape(g, out)->dtype);
    if (g->values[bias].tag == WICK_TAG_TENSOR) wick_graph_call(g, "aten::add.out", 3, rows_out, bias, wick_graph_int(g, 1));
    if (g->status != WICK_OK) return;
    for (uint32_t i = first_new; dynamic && i < g->value_count; i++)
        if (g->values[i].tag == WICK_TAG_TENSOR && g->info[i].origin == WICK_ORIGIN_COMPUTED) g->values[i].as.tensor->dynamism = WICK_DYNAMIC_BOUND;
    /* The last call writes the old out itself. */
    struct wick_graph_node *last = &g->nodes[g->node_count - 1];
    last->ids[last->count - 1] = out;
}

static bool is_quantized_linear(const struct wick_graph_node *node)
{
    return !node->dead && (node->op == &wick_ir_dynamic_linear || node->op == &wick_ir_weight_linear);
}

wick_status wick_stage_decompose(struct wick_graph *g, wick_error *err)
{
    const struct wick_graph_node *old = g->nodes;
    uint32_t count = g->node_count;
    bool any = false;
    for (uint32_t n = 0; n < count; n++) any |= is_quantized_linear(&old[n]);
    if (!any) return WICK_OK;
    g->nodes = NULL;
    g->node_count = g->node_capacity = 0;
    for (uint32_t n = 0; n < count && g->status == WICK_OK; n++) {
        if (old[n].dead) continue;
        g->scope = old[n].scope;
        if (is_quantized_linear(&old[n])) decompose_linear(g, &old[n]);
        else wick_graph_append(g, &old[n]);
    }
    return wick_graph_status(g, err);
}
