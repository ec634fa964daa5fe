/* xnnpack/rt/emit_linear.c - FullyConnected: which product the types of input and filter ask for. Constant filters are
 * packed here; computed ones are packed by the operator when it runs (matmul.c). */
#include "backends/xnnpack/rt/linear.h"
#include "backends/xnnpack/rt/weights.h"

enum { TRANSPOSE_WEIGHTS = 1 };

static bool is_nibbles(int datatype) { return datatype == XNN_DATATYPE_QCINT4 || datatype == XNN_DATATYPE_QBINT4; }

/* The filter as the packer takes it, without bias. */
static wick_status take_filter(struct wick_xnn_expand *e, const struct wick_xnn_slot *filter, bool transposed, struct wick_gemm_weights *w)
{
    const struct wick_xnn_value *v = filter->value;
    if (v->dims.count != 2 || v->dims.items[0] == 0 || v->dims.items[1] == 0)
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u is no matrix", v->id);
    if (transposed && is_nibbles(v->datatype))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u: 4-bit weights cannot be transposed", v->id);
    *w = (struct wick_gemm_weights){.n = v->dims.items[transposed], .k = v->dims.items[!transposed], .w = filter->data, .transposed = transposed};
    if (filter->channel_scales && v->quant.channel_dim != (int32_t)transposed)
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u: its scales lie along dim %d", v->id, (int)v->quant.channel_dim);
    w->scales = filter->group_scales ? (const void *)filter->group_scales : filter->channel_scales;
    if (v->datatype == XNN_DATATYPE_QBINT4) w->group = (size_t)v->quant.group_size;
    return WICK_OK;
}

/* Weights that are bytes packed as floats would be read past alignment: the file's odd places are copied. */
static wick_status align_filter(struct wick_xnn_expand *e, const struct wick_xnn_slot *filter, struct wick_gemm_weights *w)
{
    size_t element = wick_dtype_size(filter->lane.dtype);
    if (element < 2 || (uintptr_t)w->w % element == 0) return WICK_OK;
    void *copy = wick_arena_alloc(e->bind->arena, filter->nbytes, 64);
    if (!copy) return wick_fail_oom(e->err, filter->nbytes, "weights");
    memcpy(copy, filter->data, filter->nbytes);
    w->w = copy;
    return WICK_OK;
}

/* Results that the kinds of input may have. */
static wick_status check_result(struct wick_xnn_expand *e, enum wick_xnn_input_kind kind, const struct wick_xnn_slot *x,
                                const struct wick_xnn_slot *y)
{
    bool fits = kind == WICK_XNN_STATIC ? y->lane.dtype == x->lane.dtype && !y->is_dynamic : wick_dtype_is_float(y->lane.dtype);
    if (fits) return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "result %u of type %s from an input of type %s", y->value->id,
                           wick_xnn_datatype_name(y->value->datatype), wick_xnn_datatype_name(x->value->datatype));
}

static wick_status emit_constant(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_xnn_slot *filter)
{
    static const struct wick_op *const ops[] = {&wick_xnn_op_fully_connected, &wick_xnn_op_dynamic_fully_connected,
                                                &wick_xnn_op_static_fully_connected};
    uint32_t in = node->slots[XNN_FULLY_CONNECTED_INPUT1_ID], bias = node->slots[XNN_FULLY_CONNECTED_BIAS_ID], ids[3];
    struct wick_xnn_slot *x = &e->slots[in], *y;
    struct wick_gemm_weights w;
    enum wick_xnn_input_kind kind = x->is_dynamic ? WICK_XNN_DYNAMIC : wick_xnn_is_quantized(x) ? WICK_XNN_STATIC : WICK_XNN_FLOAT;
    const struct wick_gemm *gemm = wick_xnn_choose_gemm(e->bind->ukernels, kind, filter->value->datatype);
    if (!gemm)
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "a filter of type %s for an input of type %s",
                               wick_xnn_datatype_name(filter->value->datatype), wick_xnn_datatype_name(x->value->datatype));
    if (kind == WICK_XNN_DYNAMIC) WICK_TRY(wick_xnn_dynamic_input(e, in, 1, &ids[0], &ids[1]));
    else WICK_TRY(wick_xnn_lane_input(e, in, &x));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_FULLY_CONNECTED_OUTPUT_ID], &y));
    WICK_TRY(check_result(e, kind, x, y));
    WICK_TRY(take_filter(e, filter, node->slots[XNN_FULLY_CONNECTED_FLAGS] & TRANSPOSE_WEIGHTS, &w));
    WICK_TRY(align_filter(e, filter, &w));
    struct wick_xnn_linear s = {.x = x->lane, .y = y->lane, .gemm = *gemm, .n = w.n, .k = w.k, .group = w.group};
    if (kind == WICK_XNN_STATIC) {
        const float *scales;
        WICK_TRY(wick_xnn_take_requantization(e, x, filter, bias, y, w.n, &scales, &w.bias));
        w.scales = scales;
        s.y.scale = 1.0f;
    } else WICK_TRY(wick_xnn_take_floats(e, bias, w.n, &w.bias));
    wick_xnn_clamp_in(node, y, &s.min, &s.max);
    WICK_TRY(wick_xnn_take_packed(e, gemm, &w, 1, &s.packed));
    wick_xnn_release_filter(e, filter);
    const int32_t sizes[2] = {(int32_t)w.n, (int32_t)w.k};
    const void *state;
    uint32_t count = kind == WICK_XNN_DYNAMIC ? 2 : 1;
    if (kind != WICK_XNN_DYNAMIC) ids[0] = x->id;
    WICK_TRY(wick_xnn_params(e, sizes, 2, &ids[count]));
    WICK_TRY(wick_xnn_state(e, &s, sizeof s, &state));
    return wick_xnn_add(e, ops[kind], ids, count + 1, &y, 1, state);
}

/* (x, filter, [bias,] params: transposed) > y. */
static wick_status emit_computed(struct wick_xnn_expand *e, const struct wick_xnn_node *node)
{
    struct wick_xnn_slot *x, *filter, *bias, *y;
    uint32_t ids[4], count = 2;
    int32_t transposed = node->slots[XNN_FULLY_CONNECTED_FLAGS] & TRANSPOSE_WEIGHTS;
    WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_FULLY_CONNECTED_INPUT1_ID], &x));
    WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_FULLY_CONNECTED_FILTER_ID], &filter));
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_FULLY_CONNECTED_OUTPUT_ID], &y));
    if (wick_xnn_is_quantized(x) || wick_xnn_is_quantized(filter) || !wick_dtype_is_float(y->lane.dtype))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "a filter that is computed must be floats, like input and result");
    ids[0] = x->id;
    ids[1] = filter->id;
    if (node->slots[XNN_FULLY_CONNECTED_BIAS_ID] != WICK_XNN_NO_ID) {
        WICK_TRY(wick_xnn_lane_input(e, node->slots[XNN_FULLY_CONNECTED_BIAS_ID], &bias));
        if (wick_xnn_is_quantized(bias)) return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "its bias is no float");
        ids[count++] = bias->id;
    }
    struct wick_xnn_bounds s = {0};
    const void *state;
    wick_xnn_clamp_of(node, &s.min, &s.max);
    WICK_TRY(wick_xnn_params(e, &transposed, 1, &ids[count]));
    WICK_TRY(wick_xnn_state(e, &s, sizeof s, &state));
    return wick_xnn_add(e, count == 3 ? &wick_xnn_op_computed_fully_connected_bias : &wick_xnn_op_computed_fully_connected, ids, count + 1, &y, 1,
                        state);
}

wick_status wick_xnn_emit_linear(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    (void)op;
    uint32_t in = node->slots[XNN_FULLY_CONNECTED_INPUT1_ID], filter = node->slots[XNN_FULLY_CONNECTED_FILTER_ID];
    if (in == WICK_XNN_NO_ID || filter == WICK_XNN_NO_ID) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "input or filter is missing");
    return e->slots[filter].is_constant ? emit_constant(e, node, &e->slots[filter]) : emit_computed(e, node);
}
