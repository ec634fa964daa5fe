/* xnnpack/rt/emit_conv.c - emitters of Conv2d, ConvTranspose2d and DepthwiseConv2d with float weights. */
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/window.h"

#include "tensor/half.h"

static wick_status take_window(struct wick_xnn_expand *e, const struct wick_xnn_node *node, bool transposed, int32_t *p)
{
    static const uint8_t slots[WICK_XNN_WINDOW_PARAMS] = {
        [WICK_XNN_TOP] = XNN_CONV_PADDING_TOP, [WICK_XNN_RIGHT] = XNN_CONV_PADDING_RIGHT, [WICK_XNN_BOTTOM] = XNN_CONV_PADDING_BOTTOM, [WICK_XNN_LEFT] = XNN_CONV_PADDING_LEFT,
        [WICK_XNN_KERNEL_H] = XNN_CONV_KERNEL_HEIGHT, [WICK_XNN_KERNEL_W] = XNN_CONV_KERNEL_WIDTH, [WICK_XNN_STRIDE_H] = XNN_CONV_SUBSAMPLING_HEIGHT,
        [WICK_XNN_STRIDE_W] = XNN_CONV_SUBSAMPLING_WIDTH, [WICK_XNN_DILATION_H] = XNN_CONV_DILATION_HEIGHT, [WICK_XNN_DILATION_W] = XNN_CONV_DILATION_WIDTH};
    uint64_t in = (uint64_t)node->slots[XNN_CONV_GROUPS] * node->slots[XNN_CONV_GROUP_INPUT_CHANNELS], out = (uint64_t)node->slots[XNN_CONV_GROUPS] * node->slots[XNN_CONV_GROUP_OUTPUT_CHANNELS];
    for (int i = 0; i < WICK_XNN_WINDOW_PARAMS; i++) {
        uint32_t number = node->slots[slots[i]];
        if (number > 1 << 24 || (i >= WICK_XNN_KERNEL_H && number == 0)) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "its window has the number %u", number);
        p[i] = (int32_t)number;
    }
    if (in == 0 || out == 0 || in > INT32_MAX || out > INT32_MAX) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "has %llu channels in, %llu out", (unsigned long long)in, (unsigned long long)out);
    p[WICK_XNN_CHANNELS_IN] = (int32_t)in;
    p[WICK_XNN_CHANNELS_OUT] = (int32_t)out;
    p[WICK_XNN_TRANSPOSED] = transposed;
    p[WICK_XNN_ADJUST_H] = (int32_t)(node->slots[XNN_CONV_ADJUSTMENT_HEIGHT] & INT32_MAX);
    p[WICK_XNN_ADJUST_W] = (int32_t)(node->slots[XNN_CONV_ADJUSTMENT_WIDTH] & INT32_MAX);
    return WICK_OK;
}

/* A constant of `count` floats as aligned f32; index absent: zeros. */
static wick_status take_floats(struct wick_xnn_expand *e, uint32_t index, size_t count, const float **out)
{
    float *copy = WICK_NEW_ARRAY(e->bind->arena, float, count);
    *out = copy;
    if (!copy) return wick_fail_oom(e->err, count * sizeof *copy, "convolution weights");
    if (index == WICK_XNN_NO_ID) return WICK_OK;
    const struct wick_xnn_slot *slot = &e->slots[index];
    int dtype = slot->lane.dtype;
    if (!slot->is_constant || (dtype != WICK_DTYPE_F32 && dtype != WICK_DTYPE_F16) || slot->value->quant.kind != XNN_QUANT_NONE)
        return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "value %u (%s) as weight or bias: not supported", slot->value->id, wick_xnn_datatype_name(slot->value->datatype));
    if (slot->nbytes != count * wick_dtype_size(dtype)) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "value %u has %zu bytes for %zu numbers", slot->value->id, slot->nbytes, count);
    if (dtype == WICK_DTYPE_F32) memcpy(copy, slot->data, slot->nbytes);
    for (size_t i = 0; i < count && dtype == WICK_DTYPE_F16; i++) {
        uint16_t half;
        memcpy(&half, slot->data + 2 * i, 2);
        copy[i] = wick_f32_from_f16(half);
    }
    return WICK_OK;
}

static wick_status take_image(struct wick_xnn_expand *e, const struct wick_xnn_node *node, struct wick_xnn_slot **x, struct wick_xnn_slot **y)
{
    uint32_t in = node->slots[XNN_CONV_INPUT1_ID];
    if (in != WICK_XNN_NO_ID && e->slots[in].is_dynamic) return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "a dynamically quantized image: not supported");
    WICK_TRY(wick_xnn_lane_input(e, in, x));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_CONV_OUTPUT_ID], y));
    if (wick_xnn_is_quantized(*x) || wick_xnn_is_quantized(*y) || !wick_dtype_is_float((*y)->lane.dtype))
        return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "a statically quantized image: not supported");
    return WICK_OK;
}

static wick_status add_convolution(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op, bool transposed)
{
    struct wick_xnn_slot *x, *y;
    int32_t p[WICK_XNN_CONV_PARAMS];
    struct wick_xnn_convolution *s = WICK_NEW(e->bind->arena, struct wick_xnn_convolution);
    uint32_t ids[2];
    if (!s) return wick_fail_oom(e->err, sizeof *s, "convolution node");
    WICK_TRY(take_window(e, node, transposed, p));
    WICK_TRY(take_image(e, node, &x, &y));
    *s = (struct wick_xnn_convolution){.x = x->lane, .y = y->lane, .groups = node->slots[XNN_CONV_GROUPS]};
    size_t out = (size_t)p[WICK_XNN_CHANNELS_OUT], taps = (size_t)p[WICK_XNN_KERNEL_H] * (size_t)p[WICK_XNN_KERNEL_W];
    WICK_TRY(take_floats(e, node->slots[XNN_CONV_FILTER_ID], out * taps * node->slots[XNN_CONV_GROUP_INPUT_CHANNELS], &s->weights));
    WICK_TRY(take_floats(e, node->slots[XNN_CONV_BIAS_ID], out, &s->bias));
    wick_xnn_clamp_of(node, &s->min, &s->max);
    ids[0] = x->id;
    WICK_TRY(wick_xnn_params(e, p, WICK_XNN_CONV_PARAMS, &ids[1]));
    return wick_xnn_add(e, op, ids, 2, &y, 1, s);
}

wick_status wick_xnn_emit_conv(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op) { return add_convolution(e, node, op, false); }
wick_status wick_xnn_emit_conv_transpose(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op) { return add_convolution(e, node, op, true); }

wick_status wick_xnn_emit_depthwise(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    struct wick_xnn_slot *x, *y;
    int32_t p[WICK_XNN_CONV_PARAMS];
    struct wick_xnn_depthwise *s = WICK_NEW(e->bind->arena, struct wick_xnn_depthwise);
    uint32_t ids[2];
    if (!s) return wick_fail_oom(e->err, sizeof *s, "convolution node");
    WICK_TRY(take_window(e, node, false, p));
    WICK_TRY(take_image(e, node, &x, &y));
    if (node->slots[XNN_CONV_GROUP_INPUT_CHANNELS] != 1) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "has %u channels a group", node->slots[XNN_CONV_GROUP_INPUT_CHANNELS]);
    *s = (struct wick_xnn_depthwise){.x = x->lane, .y = y->lane, .multiplier = node->slots[XNN_CONV_GROUP_OUTPUT_CHANNELS]};
    size_t out = (size_t)p[WICK_XNN_CHANNELS_OUT], taps = (size_t)p[WICK_XNN_KERNEL_H] * (size_t)p[WICK_XNN_KERNEL_W];
    WICK_TRY(take_floats(e, node->slots[XNN_CONV_FILTER_ID], out * taps, &s->weights));
    WICK_TRY(take_floats(e, node->slots[XNN_CONV_BIAS_ID], out, &s->bias));
    wick_xnn_clamp_of(node, &s->min, &s->max);
    ids[0] = x->id;
    WICK_TRY(wick_xnn_params(e, p, WICK_XNN_CONV_PARAMS, &ids[1]));
    return wick_xnn_add(e, op, ids, 2, &y, 1, s);
}
