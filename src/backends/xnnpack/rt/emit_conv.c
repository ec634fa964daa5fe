/* xnnpack/rt/emit_conv.c - emitters of Conv2d, ConvTranspose2d and DepthwiseConv2d: the window is judged, weights are
 * packed, and a static quantization becomes part of them. */
#include "backends/xnnpack/rt/weights.h"
#include "backends/xnnpack/rt/window.h"

/* Far above any image, and small enough that products of two fit. */
enum { NUMBER_MAX = 1 << 24 };

/* Params of the node, from the fields of its table. */
static wick_status take_window(struct wick_xnn_expand *e, const struct wick_xnn_node *node, bool transposed, int32_t *p)
{
    static const uint8_t slots[] = {
        XNN_CONV_PADDING_TOP,  XNN_CONV_PADDING_RIGHT,      XNN_CONV_PADDING_BOTTOM,    XNN_CONV_PADDING_LEFT,    XNN_CONV_KERNEL_HEIGHT,
        XNN_CONV_KERNEL_WIDTH, XNN_CONV_SUBSAMPLING_HEIGHT, XNN_CONV_SUBSAMPLING_WIDTH, XNN_CONV_DILATION_HEIGHT, XNN_CONV_DILATION_WIDTH,
    };
    _Static_assert(WICK_ARRAY_SIZE(slots) == WICK_XNN_WINDOW_PARAMS, "in the order of window.h");
    const uint32_t *s = node->slots;
    uint64_t in = (uint64_t)s[XNN_CONV_GROUPS] * s[XNN_CONV_GROUP_INPUT_CHANNELS],
             out = (uint64_t)s[XNN_CONV_GROUPS] * s[XNN_CONV_GROUP_OUTPUT_CHANNELS];
    for (int i = 0; i < WICK_XNN_WINDOW_PARAMS; i++) {
        if (s[slots[i]] > NUMBER_MAX || (i >= WICK_XNN_KERNEL_H && s[slots[i]] == 0))
            return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "padding, kernel, stride or dilation (parameter %d) is %u", i, s[slots[i]]);
        p[i] = (int32_t)s[slots[i]];
    }
    if (in == 0 || out == 0 || in > NUMBER_MAX || out > NUMBER_MAX || s[XNN_CONV_ADJUSTMENT_HEIGHT] > NUMBER_MAX ||
        s[XNN_CONV_ADJUSTMENT_WIDTH] > NUMBER_MAX)
        return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "%llu channels to %llu, adjusted by %u, %u", (unsigned long long)in, (unsigned long long)out,
                               s[XNN_CONV_ADJUSTMENT_HEIGHT], s[XNN_CONV_ADJUSTMENT_WIDTH]);
    p[WICK_XNN_CHANNELS_IN] = (int32_t)in;
    p[WICK_XNN_CHANNELS_OUT] = (int32_t)out;
    p[WICK_XNN_TRANSPOSED] = transposed;
    p[WICK_XNN_ADJUST_H] = transposed ? (int32_t)s[XNN_CONV_ADJUSTMENT_HEIGHT] : 0;
    p[WICK_XNN_ADJUST_W] = transposed ? (int32_t)s[XNN_CONV_ADJUSTMENT_WIDTH] : 0;
    return WICK_OK;
}

/* A constant filter with exactly these dims. */
static wick_status take_filter(struct wick_xnn_expand *e, uint32_t index, uint64_t d0, int32_t d1, int32_t d2, uint64_t d3,
                               const struct wick_xnn_slot **filter)
{
    if (index == WICK_XNN_NO_ID) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "the filter is missing");
    const struct wick_xnn_slot *slot = *filter = &e->slots[index];
    const struct wick_xnn_dims *d = &slot->value->dims;
    if (slot->is_constant && d->count == 4 && d->items[0] == d0 && d->items[1] == (uint32_t)d1 && d->items[2] == (uint32_t)d2 && d->items[3] == d3)
        return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u is no constant of sizes [%llu, %d, %d, %llu]", slot->value->id,
                           (unsigned long long)d0, (int)d1, (int)d2, (unsigned long long)d3);
}

static wick_status take_image(struct wick_xnn_expand *e, const struct wick_xnn_node *node, struct wick_xnn_slot **x, struct wick_xnn_slot **y,
                              enum wick_xnn_input_kind *kind)
{
    uint32_t in = node->slots[XNN_CONV_INPUT1_ID];
    if (in == WICK_XNN_NO_ID) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "the image is missing");
    *x = &e->slots[in];
    *kind = (*x)->is_dynamic ? WICK_XNN_DYNAMIC : wick_xnn_is_quantized(*x) ? WICK_XNN_STATIC : WICK_XNN_FLOAT;
    if (*kind != WICK_XNN_DYNAMIC) WICK_TRY(wick_xnn_lane_input(e, in, x));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_CONV_OUTPUT_ID], y));
    bool fits = *kind == WICK_XNN_STATIC ? (*y)->lane.dtype == (*x)->lane.dtype && !(*y)->is_dynamic : wick_dtype_is_float((*y)->lane.dtype);
    if (fits) return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "result %u of type %s from an image of type %s", (*y)->value->id,
                           wick_xnn_datatype_name((*y)->value->datatype), wick_xnn_datatype_name((*x)->value->datatype));
}

/* The packed filter of a convolution: every output channel is a row of kernel h * kernel w * group_in. */
static wick_status pack_filter(struct wick_xnn_expand *e, const struct wick_xnn_node *node, enum wick_xnn_input_kind kind,
                               const struct wick_xnn_slot *x, const struct wick_xnn_slot *filter, const struct wick_xnn_slot *y,
                               struct wick_xnn_convolution *s)
{
    const struct wick_gemm *gemm = wick_xnn_choose_gemm(e->bind->ukernels, kind, filter->value->datatype);
    size_t taps = (size_t)node->slots[XNN_CONV_KERNEL_HEIGHT] * node->slots[XNN_CONV_KERNEL_WIDTH], out = s->groups * s->group_out;
    struct wick_gemm_weights w = {.n = s->group_out, .k = taps * s->group_in, .w = filter->data};
    uint32_t bias = node->slots[XNN_CONV_BIAS_ID];
    bool nibbles = filter->value->datatype == XNN_DATATYPE_QCINT4 || filter->value->datatype == XNN_DATATYPE_QBINT4;
    if (!gemm || nibbles || (filter->channel_scales && filter->value->quant.channel_dim != 0))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "a filter of type %s for an image of type %s",
                               wick_xnn_datatype_name(filter->value->datatype), wick_xnn_datatype_name(x->value->datatype));
    if (wick_dtype_is_float(filter->lane.dtype)) {
        /* Halves are widened once: the kernel for float rows takes them all. */
        const float *floats;
        gemm = &e->bind->ukernels->gemm_f32;
        WICK_TRY(wick_xnn_take_floats(e, node->slots[XNN_CONV_FILTER_ID], out * w.k, &floats));
        w.w = floats;
    }
    if (kind == WICK_XNN_STATIC) {
        const float *scales;
        WICK_TRY(wick_xnn_take_requantization(e, x, filter, bias, y, out, &scales, &w.bias));
        w.scales = scales;
    } else {
        w.scales = filter->channel_scales;
        WICK_TRY(wick_xnn_take_floats(e, bias, out, &w.bias));
    }
    s->gemm = *gemm;
    s->packed_bytes = gemm->packed_size(w.n, w.k, 0);
    WICK_TRY(wick_xnn_take_packed(e, gemm, &w, s->groups, &s->packed));
    wick_xnn_release_filter(e, filter);
    return WICK_OK;
}

static wick_status add_convolution(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op, bool transposed)
{
    struct wick_xnn_slot *x, *y;
    const struct wick_xnn_slot *filter;
    enum wick_xnn_input_kind kind;
    int32_t p[WICK_XNN_CONV_PARAMS];
    uint32_t ids[3], count = 1;
    const void *state;
    WICK_TRY(take_window(e, node, transposed, p));
    WICK_TRY(take_image(e, node, &x, &y, &kind));
    WICK_TRY(take_filter(e, node->slots[XNN_CONV_FILTER_ID], (uint64_t)p[WICK_XNN_CHANNELS_OUT], p[WICK_XNN_KERNEL_H], p[WICK_XNN_KERNEL_W],
                         node->slots[XNN_CONV_GROUP_INPUT_CHANNELS], &filter));
    struct wick_xnn_convolution s = {.x = x->lane, .y = y->lane, .groups = node->slots[XNN_CONV_GROUPS]};
    s.group_in = node->slots[XNN_CONV_GROUP_INPUT_CHANNELS];
    s.group_out = node->slots[XNN_CONV_GROUP_OUTPUT_CHANNELS];
    wick_xnn_clamp_in(node, y, &s.min, &s.max);
    WICK_TRY(pack_filter(e, node, kind, x, filter, y, &s));
    if (kind == WICK_XNN_STATIC) s.y.scale = 1.0f;
    if (kind == WICK_XNN_DYNAMIC) {
        WICK_TRY(wick_xnn_dynamic_input(e, x->index, 3, &ids[0], &ids[1]));
        count = 2;
        op = &wick_xnn_op_dynamic_convolution;
    } else ids[0] = x->id;
    WICK_TRY(wick_xnn_params(e, p, WICK_XNN_CONV_PARAMS, &ids[count]));
    WICK_TRY(wick_xnn_state(e, &s, sizeof s, &state));
    return wick_xnn_add(e, op, ids, count + 1, &y, 1, state);
}

wick_status wick_xnn_emit_conv(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return add_convolution(e, node, op, false);
}

wick_status wick_xnn_emit_conv_transpose(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    return add_convolution(e, node, op, true);
}

/* ---- depthwise ---- */

/* The filter as floats: whole numbers stay whole, their scales come in at the end. */
static wick_status widen_filter(struct wick_xnn_expand *e, const struct wick_xnn_slot *filter, size_t count, const float **out)
{
    if (wick_dtype_is_float(filter->lane.dtype)) return wick_xnn_take_floats(e, filter->index, count, out);
    bool bytes = filter->value->datatype == XNN_DATATYPE_QCINT8 || filter->value->datatype == XNN_DATATYPE_QINT8;
    if (!bytes || (filter->channel_scales && filter->value->quant.channel_dim != 3))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "a filter of type %s", wick_xnn_datatype_name(filter->value->datatype));
    float *floats = WICK_NEW_ARRAY(e->bind->arena, float, count);
    if (!floats) return wick_fail_oom(e->err, count * sizeof *floats, "weights");
    for (size_t i = 0; i < count; i++) floats[i] = (float)(int8_t)filter->data[i];
    *out = floats;
    return WICK_OK;
}

/* Bias and scales of a depthwise node: sum * scale + bias, in units of y. */
static wick_status take_depthwise_bias(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_xnn_slot *x,
                                       const struct wick_xnn_slot *filter, const struct wick_xnn_slot *y, size_t out, struct wick_xnn_depthwise *s)
{
    uint32_t bias = node->slots[XNN_CONV_BIAS_ID];
    float *zeros;
    if (wick_xnn_is_quantized(x)) return wick_xnn_take_requantization(e, x, filter, bias, y, out, &s->scales, &s->bias);
    WICK_TRY(wick_xnn_take_floats(e, bias, out, &s->bias));
    if (s->bias) return WICK_OK;
    s->bias = zeros = WICK_NEW_ARRAY(e->bind->arena, float, out);
    return zeros ? WICK_OK : wick_fail_oom(e->err, out * sizeof *zeros, "bias");
}

wick_status wick_xnn_emit_depthwise(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    struct wick_xnn_slot *x, *y;
    const struct wick_xnn_slot *filter;
    enum wick_xnn_input_kind kind;
    int32_t p[WICK_XNN_CONV_PARAMS];
    uint32_t ids[2];
    const void *state;
    WICK_TRY(take_window(e, node, false, p));
    WICK_TRY(take_image(e, node, &x, &y, &kind));
    if (kind == WICK_XNN_DYNAMIC || node->slots[XNN_CONV_GROUP_INPUT_CHANNELS] != 1)
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "%u channels a group, image of type %s", node->slots[XNN_CONV_GROUP_INPUT_CHANNELS],
                               wick_xnn_datatype_name(x->value->datatype));
    size_t out = (size_t)p[WICK_XNN_CHANNELS_OUT], taps = (size_t)p[WICK_XNN_KERNEL_H] * (size_t)p[WICK_XNN_KERNEL_W];
    WICK_TRY(take_filter(e, node->slots[XNN_CONV_FILTER_ID], 1, p[WICK_XNN_KERNEL_H], p[WICK_XNN_KERNEL_W], out, &filter));
    if ((kind == WICK_XNN_STATIC) != (filter->value->quant.kind != XNN_QUANT_NONE))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "a filter of type %s for an image of type %s",
                               wick_xnn_datatype_name(filter->value->datatype), wick_xnn_datatype_name(x->value->datatype));
    struct wick_xnn_depthwise s = {.x = x->lane, .y = y->lane, .multiplier = node->slots[XNN_CONV_GROUP_OUTPUT_CHANNELS]};
    WICK_TRY(widen_filter(e, filter, out * taps, &s.weights));
    WICK_TRY(take_depthwise_bias(e, node, x, filter, y, out, &s));
    wick_xnn_clamp_in(node, y, &s.min, &s.max);
    if (kind == WICK_XNN_STATIC) s.x.scale = s.y.scale = 1.0f;
    ids[0] = x->id;
    WICK_TRY(wick_xnn_params(e, p, WICK_XNN_CONV_PARAMS, &ids[1]));
    WICK_TRY(wick_xnn_state(e, &s, sizeof s, &state));
    return wick_xnn_add(e, op, ids, 2, &y, 1, state);
}
