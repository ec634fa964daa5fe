/* xnnpack/rt/emit_linear.c - FullyConnected: which product the types of input and filter ask for, packing straight from the file's bytes, and their
 * pages given back. */
#include "backends/xnnpack/rt/expand.h"
#include "backends/xnnpack/rt/linear.h"

#include "tensor/half.h"

enum { TRANSPOSE_WEIGHTS = 1 };

/* input and filter types to a product; NULL: not one that nodes come with. */
static const struct wick_gemm *choose(const struct wick_ukernels *uk, bool dynamic, int filter)
{
    switch (filter) {
    case XNN_DATATYPE_FP32: return dynamic ? NULL : &uk->gemm_f32;
    case XNN_DATATYPE_FP16: return dynamic ? NULL : &uk->gemm_f16;
    case XNN_DATATYPE_BF16: return dynamic ? NULL : &uk->gemm_bf16;
    case XNN_DATATYPE_QCINT8: return dynamic ? &uk->gemm_qd8_qc8 : &uk->gemm_f32_qc8;
    case XNN_DATATYPE_QCINT4: return dynamic ? &uk->gemm_qd8_qc4 : &uk->gemm_f32_qc4;
    case XNN_DATATYPE_QBINT4: return dynamic ? &uk->gemm_qd8_qb4 : NULL;
    default: return NULL;
    }
}

/* The bias as f32, aligned; NULL if there is none. */
static wick_status take_bias(struct wick_xnn_expand *e, uint32_t index, size_t n, const float **bias)
{
    *bias = NULL;
    if (index == WICK_XNN_NO_ID) return WICK_OK;
    const struct wick_xnn_slot *slot = &e->slots[index];
    int dtype = slot->lane.dtype;
    if (!slot->is_constant || (dtype != WICK_DTYPE_F32 && dtype != WICK_DTYPE_F16) || slot->nbytes != n * wick_dtype_size(dtype))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "bias %u is not a constant of %zu floats", slot->value->id, n);
    float *copy = WICK_NEW_ARRAY(e->bind->arena, float, n);
    if (!copy) return wick_fail_oom(e->err, n * sizeof *copy, "bias");
    if (dtype == WICK_DTYPE_F32) memcpy(copy, slot->data, n * sizeof *copy);
    for (size_t i = 0; i < n && dtype == WICK_DTYPE_F16; i++) {
        uint16_t half;
        memcpy(&half, slot->data + 2 * i, 2);
        copy[i] = wick_f32_from_f16(half);
    }
    *bias = copy;
    return WICK_OK;
}

static wick_status take_filter(struct wick_xnn_expand *e, const struct wick_xnn_slot *filter, bool transposed, struct wick_gemm_weights *w)
{
    const struct wick_xnn_value *v = filter->value;
    bool nibbles = v->datatype == XNN_DATATYPE_QCINT4 || v->datatype == XNN_DATATYPE_QBINT4;
    if (!filter->is_constant) return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "filter %u is computed at run time: not supported", v->id);
    if (v->dims.count != 2 || v->dims.items[0] == 0 || v->dims.items[1] == 0) return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u is no matrix", v->id);
    if (transposed && nibbles) return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u: 4-bit weights cannot be transposed", v->id);
    *w = (struct wick_gemm_weights){.n = v->dims.items[transposed], .k = v->dims.items[!transposed], .w = filter->data, .transposed = transposed};
    if (v->quant.kind == XNN_QUANT_PER_CHANNEL && v->quant.channel_dim != (int32_t)transposed)
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u: scales along dim %d", v->id, (int)v->quant.channel_dim);
    w->scales = filter->group_scales ? (const void *)filter->group_scales : filter->channel_scales;
    if (v->datatype == XNN_DATATYPE_QBINT4) w->group = (size_t)v->quant.group_size;
    return WICK_OK;
}

static void release(struct wick_xnn_expand *e, const struct wick_xnn_slot *filter)
{
    if (e->file->constants[filter->value->constant].key.data && e->payload->named_data_done) e->payload->named_data_done(e->payload->user, filter->data, filter->nbytes);
}

wick_status wick_xnn_emit_linear(struct wick_xnn_expand *e, const struct wick_xnn_node *node, const struct wick_op *op)
{
    uint32_t in = node->slots[XNN_FULLY_CONNECTED_INPUT1_ID], filter_index = node->slots[XNN_FULLY_CONNECTED_FILTER_ID], flags = node->slots[XNN_FULLY_CONNECTED_FLAGS];
    struct wick_xnn_slot *x = NULL, *y;
    struct wick_gemm_weights w;
    uint32_t ids[3];
    if (in == WICK_XNN_NO_ID || filter_index == WICK_XNN_NO_ID) return wick_xnn_refuse(e, WICK_INVALID_PROGRAM, "input or filter is missing");
    const struct wick_xnn_slot *filter = &e->slots[filter_index];
    bool dynamic = e->slots[in].is_dynamic;
    WICK_TRY(take_filter(e, filter, flags & TRANSPOSE_WEIGHTS, &w));
    WICK_TRY(take_bias(e, node->slots[XNN_FULLY_CONNECTED_BIAS_ID], w.n, &w.bias));
    const struct wick_gemm *gemm = choose(e->bind->ukernels, dynamic, filter->value->datatype);
    if (dynamic) WICK_TRY(wick_xnn_dynamic_input(e, in, 1, &ids[0], &ids[1]));
    else {
        WICK_TRY(wick_xnn_lane_input(e, in, &x));
        ids[0] = x->id;
    }
    WICK_TRY(wick_xnn_output(e, node->slots[XNN_FULLY_CONNECTED_OUTPUT_ID], &y));
    if (!gemm || (x && wick_xnn_is_quantized(x)) || wick_xnn_is_quantized(y) || !wick_dtype_is_float(y->lane.dtype))
        return wick_xnn_refuse(e, WICK_NOT_SUPPORTED, "a filter of type %s with this input and result: not supported", wick_xnn_datatype_name(filter->value->datatype));
    struct wick_xnn_linear *s = WICK_NEW(e->bind->arena, struct wick_xnn_linear);
    if (!s) return wick_fail_oom(e->err, sizeof *s, "fully connected node");
    *s = (struct wick_xnn_linear){.x = x ? x->lane : wick_xnn_lane_of(WICK_DTYPE_F32), .y = y->lane, .gemm = *gemm, .n = w.n, .k = w.k, .group = w.group};
    wick_xnn_clamp_of(node, &s->min, &s->max);
    WICK_TRY(wick_xnn_pack_linear(gemm, &w, e->bind, &s->packed));
    release(e, filter);
    const int32_t sizes[2] = {(int32_t)w.n, (int32_t)w.k};
    WICK_TRY(wick_xnn_params(e, sizes, 2, &ids[dynamic ? 2 : 1]));
    return wick_xnn_add(e, dynamic ? &wick_xnn_op_dynamic_fully_connected : op, ids, dynamic ? 3 : 2, &y, 1, s);
}
