/* xnnpack/rt/emit_plain.c - emitters of nodes that become one operator with few numbers: elementwise, movement, images.
 * Each checks types (an operator trusts them) and gathers the parameters; sizes are judged by the operators' rules. */
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/window.h"

#include "tensor/half.h"

#include <math.h>

/* Numbers of the file are unsigned; what does not fit is no size. */
static wick_status take_numbers(struct wick_xnn_expand *e, const uint32_t *from, uint32_t count, int32_t *to)
{
    for (uint32_t i = 0; i < count; i++) {
        if (from[i] > INT32_MAX) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "the parameter %u is too large", from[i]);
        to[i] = (int32_t)from[i];
    }
    return WICK_OK;
}

/* ---- elementwise ---- */

/* One input, one result, both through lanes; a state only if there is something to say. */
static wick_status add_mapped(struct wick_xnn_expand *e, const struct wick_op *op, uint32_t in, uint32_t out, bool numbers, float a, float b,
                              const uint32_t *params)
{
    struct wick_xnn_slot *x, *y;
    WICK_TRY(wick_xnn_lane_input(e, in, &x));
    WICK_TRY(wick_xnn_output(e, out, &y));
    bool fits = op == &wick_xnn_op_convert ? wick_xnn_lane_known(y->lane.dtype) : y->lane.dtype == x->lane.dtype;
    if (!fits || y->is_dynamic)
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "result %u has a type that this node does not make", y->value->id);
    const void *state = NULL;
    struct wick_xnn_unary s = {x->lane, y->lane, a, b};
    if (numbers || wick_xnn_is_quantized(x) || wick_xnn_is_quantized(y)) WICK_TRY(wick_xnn_state(e, &s, sizeof s, &state));
    return wick_xnn_add(e, op, (uint32_t[]){x->id, params ? *params : 0}, params ? 2 : 1, &y, 1, state);
}

wick_status wick_xnn_emit_unary(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return add_mapped(e, op, node->slots[XNN_NODE_1X1_INPUT_ID], node->slots[XNN_NODE_1X1_OUTPUT_ID], false, 0, 0, NULL);
}

wick_status wick_xnn_emit_clamp(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    float min, max;
    wick_xnn_clamp_of(node, &min, &max);
    if (!(min <= max)) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "clamps to [%g, %g]", (double)min, (double)max);
    return add_mapped(e, op, node->slots[XNN_NODE_1X1_INPUT_ID], node->slots[XNN_NODE_1X1_OUTPUT_ID], true, min, max, NULL);
}

wick_status wick_xnn_emit_elu(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return add_mapped(e, op, node->slots[XNN_ELU_INPUT_ID], node->slots[XNN_ELU_OUTPUT_ID], true, wick_xnn_slot_f32(node, XNN_ELU_ALPHA), 0, NULL);
}

wick_status wick_xnn_emit_leaky_relu(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return add_mapped(e, op, node->slots[XNN_LEAKY_RELU_INPUT_ID], node->slots[XNN_LEAKY_RELU_OUTPUT_ID], true,
                      wick_xnn_slot_f32(node, XNN_LEAKY_RELU_NEGATIVE_SLOPE), 0, NULL);
}

wick_status wick_xnn_emit_softmax(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return wick_xnn_emit_unary(e, node, op);
}

/* fp32 -> qdint8 is the dynamic quantization; everything else goes through lanes. */
wick_status wick_xnn_emit_convert(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    uint32_t out = node->slots[XNN_NODE_1X1_OUTPUT_ID];
    if (out == WICK_XNN_NO_ID || !e->slots[out].is_dynamic) return wick_xnn_emit_unary(e, node, op);
    struct wick_xnn_slot *x, *y;
    WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_NODE_1X1_INPUT_ID], &x));
    WICK_TRY(wick_xnn_output(e, out, &y));
    return wick_xnn_add_quantize(e, x, y);
}

wick_status wick_xnn_emit_binary(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    struct wick_xnn_slot *a, *b, *y;
    WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_NODE_2X1_INPUT1_ID], &a));
    WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_NODE_2X1_INPUT2_ID], &b));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_NODE_2X1_OUTPUT_ID], &y));
    if (a->lane.dtype != b->lane.dtype || a->lane.dtype != y->lane.dtype || y->is_dynamic)
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "its values have the types %s, %s and %s; one is needed",
                               wick_dtype_name(a->lane.dtype), wick_dtype_name(b->lane.dtype), wick_dtype_name(y->lane.dtype));
    struct wick_xnn_binary s = {.a = a->lane, .b = b->lane, .y = y->lane};
    bool may_clamp = node->kind == XNN_NODE_ADD || node->kind == XNN_NODE_SUBTRACT || node->kind == XNN_NODE_MULTIPLY || node->kind == XNN_NODE_DIV;
    s.clamped = wick_xnn_clamp_of(node, &s.min, &s.max) && may_clamp;
    if (!s.clamped) s.min = s.max = 0;
    const void *state = NULL;
    if (s.clamped || wick_xnn_is_quantized(y)) WICK_TRY(wick_xnn_state(e, &s, sizeof s, &state));
    return wick_xnn_add(e, op, (uint32_t[]){a->id, b->id}, 2, &y, 1, state);
}

/* ---- movement: result and inputs store the same elements ---- */

static wick_status add_moved(struct wick_xnn_expand *e, const struct wick_op *op, uint32_t in, uint32_t out, const int32_t *params, uint32_t count,
                             const void *state)
{
    struct wick_xnn_slot *x, *y;
    uint32_t ids[2];
    WICK_TRY(wick_xnn_input(e, in, &x));
    WICK_TRY(wick_xnn_output(e, out, &y));
    WICK_TRY(wick_xnn_need_same(e, x, y));
    ids[0] = x->id;
    if (params) WICK_TRY(wick_xnn_params(e, params, count, &ids[1]));
    return wick_xnn_add(e, op, ids, params ? 2 : 1, &y, 1, state);
}

/* A result of the call has a place of its own, so that its bytes are copied; inside the payload they are shared. */
static const struct wick_op *copying(const struct wick_xnn_expand *e, uint32_t out, const struct wick_op *shared, const struct wick_op *copied)
{
    return out != WICK_XNN_NO_ID && e->slots[out].external ? copied : shared;
}

wick_status wick_xnn_emit_copy(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    uint32_t out = node->slots[XNN_NODE_1X1_OUTPUT_ID];
    return add_moved(e, copying(e, out, op, &wick_xnn_op_copy_out), node->slots[XNN_NODE_1X1_INPUT_ID], out, NULL, 0, NULL);
}

wick_status wick_xnn_emit_reshape(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    const struct wick_xnn_dims *shape = wick_xnn_slot_list(node, XNN_RESHAPE_NEW_SHAPE);
    int32_t params[WICK_XNN_RANK_MAX];
    uint32_t out = node->slots[XNN_RESHAPE_OUTPUT_ID];
    WICK_TRY(take_numbers(e, shape->items, shape->count, params));
    return add_moved(e, copying(e, out, op, &wick_xnn_op_static_reshape_out), node->slots[XNN_RESHAPE_INPUT_ID], out, params, shape->count, NULL);
}

wick_status wick_xnn_emit_transpose(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    const struct wick_xnn_dims *perm = wick_xnn_slot_list(node, XNN_TRANSPOSE_PERM);
    int32_t params[WICK_XNN_RANK_MAX];
    WICK_TRY(take_numbers(e, perm->items, perm->count, params));
    return add_moved(e, op, node->slots[XNN_TRANSPOSE_INPUT_ID], node->slots[XNN_TRANSPOSE_OUTPUT_ID], params, perm->count, NULL);
}

wick_status wick_xnn_emit_slice(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    const struct wick_xnn_dims *offsets = wick_xnn_slot_list(node, XNN_SLICE_OFFSETS), *sizes = wick_xnn_slot_list(node, XNN_SLICE_SIZES);
    int32_t params[2 * WICK_XNN_RANK_MAX];
    if (offsets->count != sizes->count) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "%u offsets, %u sizes", offsets->count, sizes->count);
    WICK_TRY(take_numbers(e, offsets->items, offsets->count, params));
    WICK_TRY(take_numbers(e, sizes->items, sizes->count, params + offsets->count));
    return add_moved(e, op, node->slots[XNN_SLICE_INPUT_ID], node->slots[XNN_SLICE_OUTPUT_ID], params, 2 * offsets->count, NULL);
}

wick_status wick_xnn_emit_pad(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    const struct wick_xnn_dims *pre = wick_xnn_slot_list(node, XNN_PAD_PRE_PADDINGS), *post = wick_xnn_slot_list(node, XNN_PAD_POST_PADDINGS);
    struct wick_xnn_slot *x;
    int32_t params[2 * WICK_XNN_RANK_MAX];
    WICK_TRY(wick_xnn_input(e, node->slots[XNN_PAD_INPUT_ID], &x));
    uint32_t rank = wick_xnn_bound(e, x->id)->rank;
    if (pre->count < rank || post->count < rank) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "has paddings for fewer than its %u dims", rank);
    WICK_TRY(take_numbers(e, pre->items, rank, params));
    WICK_TRY(take_numbers(e, post->items, rank, params + rank));
    float value = wick_xnn_slot_f32(node, XNN_PAD_PADDING_VALUE);
    struct wick_xnn_pad pad = {0};
    const void *state;
    if (x->lane.dtype == WICK_DTYPE_I32) pad.bits = (uint32_t)(int32_t)(value >= -2147483648.0f && value < 2147483648.0f ? value : 0);
    else wick_xnn_lane_store(&x->lane, e->bind->ukernels, &pad.bits, 0, 1, &value);
    WICK_TRY(wick_xnn_state(e, &pad, sizeof pad, &state));
    return add_moved(e, op, node->slots[XNN_PAD_INPUT_ID], node->slots[XNN_PAD_OUTPUT_ID], params, 2 * rank, state);
}

wick_status wick_xnn_emit_concatenate(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    static const uint8_t inputs[] = {XNN_CAT_INPUT1_ID, XNN_CAT_INPUT2_ID, XNN_CAT_INPUT3_ID, XNN_CAT_INPUT4_ID, XNN_CAT_INPUT5_ID};
    uint32_t count = wick_signature_inputs(op->meta->signature) - 1, ids[WICK_ARRAY_SIZE(inputs) + 1];
    struct wick_xnn_slot *y;
    int32_t axis;
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_CAT_OUTPUT_ID], &y));
    for (uint32_t k = 0; k < count; k++) {
        struct wick_xnn_slot *x;
        WICK_TRY(wick_xnn_input(e, node->slots[inputs[k]], &x));
        WICK_TRY(wick_xnn_need_same(e, x, y));
        ids[k] = x->id;
    }
    WICK_TRY(take_numbers(e, &node->slots[XNN_CAT_AXIS], 1, &axis));
    WICK_TRY(wick_xnn_params(e, &axis, 1, &ids[count]));
    return wick_xnn_add(e, op, ids, count + 1, &y, 1, NULL);
}

/* ---- images ---- */

wick_status wick_xnn_emit_pool(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    /* Fields 0-9 of the table are the window in the order of window.h. */
    int32_t params[WICK_XNN_WINDOW_PARAMS];
    uint32_t id;
    float min, max;
    WICK_TRY(take_numbers(e, node->slots, WICK_XNN_WINDOW_PARAMS, params));
    /* Average pooling does not use the dilation, and leaves it 0. */
    for (int i = WICK_XNN_DILATION_H; i <= WICK_XNN_DILATION_W; i++)
        if (params[i] == 0 || node->kind == XNN_NODE_AVG_POOLING_2D) params[i] = 1;
    WICK_TRY(wick_xnn_params(e, params, WICK_XNN_WINDOW_PARAMS, &id));
    bool clamped = wick_xnn_clamp_of(node, &min, &max);
    return add_mapped(e, op, node->slots[XNN_POOLING_INPUT_ID], node->slots[XNN_POOLING_OUTPUT_ID], clamped, min, max, &id);
}

wick_status wick_xnn_emit_global_pool(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    enum { KEEP_DIMS = 0x40 };
    int32_t keep = (node->slots[XNN_NODE_1X1_FLAGS] & KEEP_DIMS) != 0;
    uint32_t id;
    float min, max;
    WICK_TRY(wick_xnn_params(e, &keep, 1, &id));
    bool clamped = wick_xnn_clamp_of(node, &min, &max);
    return add_mapped(e, op, node->slots[XNN_NODE_1X1_INPUT_ID], node->slots[XNN_NODE_1X1_OUTPUT_ID], clamped, min, max, &id);
}

wick_status wick_xnn_emit_arg_pool(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    int32_t params[WICK_XNN_WINDOW_PARAMS];
    uint32_t ids[2];
    struct wick_xnn_slot *x, *outs[2];
    WICK_TRY(wick_xnn_input(e, node->slots[XNN_ARG_MAX_POOLING_INPUT_ID], &x));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_ARG_MAX_POOLING_OUTPUT_VALUE_ID], &outs[0]));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_ARG_MAX_POOLING_OUTPUT_INDEX_ID], &outs[1]));
    if (x->lane.dtype != WICK_DTYPE_F32 || outs[0]->lane.dtype != WICK_DTYPE_F32 || outs[1]->lane.dtype != WICK_DTYPE_I32 || outs[0] == outs[1])
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "needs an fp32 input, an fp32 and an int32 result");
    /* Windows lie beside each other: the stride is the kernel. */
    WICK_TRY(take_numbers(e, node->slots, WICK_XNN_KERNEL_W + 1, params));
    params[WICK_XNN_STRIDE_H] = params[WICK_XNN_KERNEL_H];
    params[WICK_XNN_STRIDE_W] = params[WICK_XNN_KERNEL_W];
    params[WICK_XNN_DILATION_H] = params[WICK_XNN_DILATION_W] = 1;
    ids[0] = x->id;
    WICK_TRY(wick_xnn_params(e, params, WICK_XNN_WINDOW_PARAMS, &ids[1]));
    return wick_xnn_add(e, op, ids, 2, outs, 2, NULL);
}

wick_status wick_xnn_emit_resize(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    enum { ALIGN_CORNERS = 8 };
    int32_t params[3];
    uint32_t id;
    WICK_TRY(take_numbers(e, (uint32_t[]){node->slots[XNN_RESIZE_NEW_HEIGHT], node->slots[XNN_RESIZE_NEW_WIDTH]}, 2, params));
    params[2] = (node->slots[XNN_RESIZE_FLAGS] & ALIGN_CORNERS) != 0;
    WICK_TRY(wick_xnn_params(e, params, 3, &id));
    return add_mapped(e, op, node->slots[XNN_RESIZE_INPUT_ID], node->slots[XNN_RESIZE_OUTPUT_ID], false, 0, 0, &id);
}
