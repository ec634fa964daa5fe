/* xnnpack/rt/emit_plain.c - emitters of nodes that become one operator with few numbers: elementwise, movement, pooling.
 * Each checks types (an operator trusts them) and gathers the parameters; sizes are judged by the operators' rules. */
#include "backends/xnnpack/rt/expand.h"

static bool is_quantized(const struct wick_xnn_slot *slot) { return slot->lane.dtype == WICK_DTYPE_I8 || slot->lane.dtype == WICK_DTYPE_U8; }

static wick_status need_lane(struct wick_xnn_expand *e, const struct wick_xnn_slot *slot)
{
    if (wick_xnn_lane_known(slot->lane.dtype)) return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "value %u has type %s, which this node does not take", slot->value->id,
                           wick_dtype_name(slot->lane.dtype));
}

static wick_status need_same(struct wick_xnn_expand *e, const struct wick_xnn_slot *a, const struct wick_xnn_slot *b)
{
    if (memcmp(&a->lane, &b->lane, sizeof a->lane) == 0) return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "values %u (%s) and %u (%s) differ in type or quantization", a->value->id,
                           wick_dtype_name(a->lane.dtype), b->value->id, wick_dtype_name(b->lane.dtype));
}

/* One input, one result, both through lanes; a state only if there is something to say. */
static wick_status add_unary(struct wick_xnn_expand *e, const struct wick_op *op, uint32_t in, uint32_t out, bool numbers, float a, float b,
                             const uint32_t *params)
{
    struct wick_xnn_slot *x, *y;
    WICK_TRY(wick_xnn_input(e, in, &x));
    WICK_TRY(wick_xnn_output(e, out, &y));
    WICK_TRY(need_lane(e, x));
    WICK_TRY(need_lane(e, y));
    const void *state = NULL;
    struct wick_xnn_unary s = {x->lane, y->lane, a, b};
    if (numbers || is_quantized(x) || is_quantized(y)) WICK_TRY(wick_xnn_state(e, &s, sizeof s, &state));
    return wick_xnn_add(e, op, (uint32_t[]){x->id, params ? *params : 0}, params ? 2 : 1, &y, 1, state);
}

wick_status wick_xnn_emit_unary(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return add_unary(e, op, node->slots[0], node->slots[1], false, 0, 0, NULL);
}

wick_status wick_xnn_emit_clamp(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    float min, max;
    wick_xnn_clamp_of(node, &min, &max);
    return add_unary(e, op, node->slots[0], node->slots[1], true, min, max, NULL);
}

wick_status wick_xnn_emit_scaled_unary(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return add_unary(e, op, node->slots[1], node->slots[2], true, wick_f32_from_bits(node->slots[0]), 0, NULL);
}
