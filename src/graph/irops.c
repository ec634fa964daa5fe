/* graph/irops.c - see irops.h. */
#include "graph/irops.h"

static wick_status infer_quantized_linear(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *x = &wick_arg_tensor(args, 0)->shape, *w = &wick_arg_tensor(args, 1)->shape;
    if (x->rank < 1 || w->rank != 2 || x->sizes[x->rank - 1] != w->sizes[1])
        return wick_fail(err, WICK_INVALID_ARGUMENT, "quantized linear: the last size of x is not the columns of the weight");
    outs[0] = *x;
    outs[0].sizes[x->rank - 1] = w->sizes[0];
    return WICK_OK;
}

const struct wick_opmeta wick_ir_weight_linear = {.name = "wick::weight_linear", .signature = "TTt>T", .infer = infer_quantized_linear};
const struct wick_opmeta wick_ir_dynamic_linear = {.name = "wick::dynamic_linear", .signature = "TTt>T", .infer = infer_quantized_linear};

uint32_t wick_graph_cast(struct wick_graph *g, uint32_t x, int dtype)
{
    if (g->status != WICK_OK) return WICK_NO_VALUE;
    struct wick_shape shape = *wick_graph_shape(g, x);
    if (shape.dtype == dtype) return x;
    shape.dtype = (uint8_t)dtype;
    uint32_t out = wick_graph_tensor(g, &shape);
    wick_graph_effect(g, "aten::_to_copy.out", 4, x, wick_graph_bool(g, false), wick_graph_none(g), out);
    return out;
}
