/* xnnpack/rt/weights.c - constant filters and biases on their way into packed form; see weights.h. Bytes are read
 * straight from the file's mapping, once, by all threads; afterwards the mapping's pages can go. */
#include "backends/xnnpack/rt/weights.h"
#include "backends/xnnpack/rt/linear.h"

#include "base/checked.h"
#include "tensor/half.h"

const struct wick_gemm *wick_xnn_choose_gemm(const struct wick_ukernels *uk, enum wick_xnn_input_kind kind, int datatype)
{
    bool bytes = kind != WICK_XNN_FLOAT;
    switch (datatype) {
    case XNN_DATATYPE_FP32: return bytes ? NULL : &uk->gemm_f32;
    case XNN_DATATYPE_FP16: return bytes ? NULL : &uk->gemm_f16;
    case XNN_DATATYPE_BF16: return bytes ? NULL : &uk->gemm_bf16;
    case XNN_DATATYPE_QINT8: return kind == WICK_XNN_STATIC ? &uk->gemm_qd8_qc8 : NULL;
    case XNN_DATATYPE_QCINT8: return bytes ? &uk->gemm_qd8_qc8 : &uk->gemm_f32_qc8;
    case XNN_DATATYPE_QCINT4: return bytes ? &uk->gemm_qd8_qc4 : &uk->gemm_f32_qc4;
    case XNN_DATATYPE_QBINT4: return kind == WICK_XNN_DYNAMIC ? &uk->gemm_qd8_qb4 : NULL;
    default: return NULL;
    }
}

static wick_status need_constant(struct wick_xnn_expand *e, const struct wick_xnn_slot *slot, size_t count)
{
    size_t element = wick_dtype_size(slot->lane.dtype);
    if (slot->is_constant && element && slot->nbytes == count * element) return WICK_OK;
    return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "value %u (%s) is no constant of %zu numbers", slot->value->id,
                           wick_xnn_datatype_name(slot->value->datatype), count);
}

wick_status wick_xnn_take_floats(struct wick_xnn_expand *e, uint32_t index, size_t count, const float **out)
{
    *out = NULL;
    if (index == WICK_XNN_NO_ID) return WICK_OK;
    const struct wick_xnn_slot *slot = &e->slots[index];
    WICK_TRY(need_constant(e, slot, count));
    if (!wick_dtype_is_float(slot->lane.dtype))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "value %u has type %s, floats are needed", slot->value->id,
                               wick_xnn_datatype_name(slot->value->datatype));
    if (slot->lane.dtype == WICK_DTYPE_F32 && (uintptr_t)slot->data % sizeof(float) == 0) {
        *out = (const float *)(const void *)slot->data;
        return WICK_OK;
    }
    float *copy = WICK_NEW_ARRAY(e->bind->arena, float, count);
    if (!copy) return wick_fail_oom(e->err, count * sizeof *copy, "weights");
    *out = copy;
    if (slot->lane.dtype == WICK_DTYPE_F32) {
        if (count) memcpy(copy, slot->data, slot->nbytes);
        return WICK_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, slot->data + 2 * i, 2);
        copy[i] = slot->lane.dtype == WICK_DTYPE_F16 ? wick_f32_from_f16(half) : wick_f32_from_bf16(half);
    }
    return WICK_OK;
}

wick_status wick_xnn_take_requantization(struct wick_xnn_expand *e, const struct wick_xnn_slot *x, const struct wick_xnn_slot *filter, uint32_t bias,
                                         const struct wick_xnn_slot *y, size_t n, const float **scales, const float **floats)
{
    const struct wick_xnn_slot *whole = bias == WICK_XNN_NO_ID ? NULL : &e->slots[bias];
    float *out = WICK_NEW_ARRAY(e->bind->arena, float, n), *sums = WICK_NEW_ARRAY(e->bind->arena, float, n);
    if (!out || !sums) return wick_fail_oom(e->err, 2 * n * sizeof *out, "weights");
    if (whole) {
        WICK_TRY(need_constant(e, whole, n));
        if (whole->lane.dtype != WICK_DTYPE_I32)
            return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "bias %u has type %s, whole numbers are needed", whole->value->id,
                                   wick_xnn_datatype_name(whole->value->datatype));
    }
    if (filter->lane.zero_point != 0 || (filter->channel_scales && filter->scale_count != n))
        return wick_xnn_refuse(e, WICK_DELEGATE_INCOMPATIBLE, "filter %u: %u scales and zero point %d for %zu channels", filter->value->id,
                               filter->scale_count, (int)filter->lane.zero_point, n);
    for (size_t i = 0; i < n; i++) {
        int32_t number = 0;
        if (whole) memcpy(&number, whole->data + 4 * i, 4);
        out[i] = x->lane.scale * (filter->channel_scales ? filter->channel_scales[i] : filter->lane.scale) / y->lane.scale;
        sums[i] = (float)number * out[i];
    }
    *scales = out;
    *floats = sums;
    return WICK_OK;
}

void wick_xnn_clamp_in(const struct wick_xnn_node *node, const struct wick_xnn_slot *y, float *min, float *max)
{
    wick_xnn_clamp_of(node, min, max);
    if (!wick_xnn_is_quantized(y)) return;
    *min /= y->lane.scale;
    *max /= y->lane.scale;
}

/* ---- packing, once for all nodes that use the same weights ---- */

struct wick_xnn_packed {
    struct wick_xnn_packed *next;
    void (*kernel)(const struct wick_gemm_call *call, size_t n0, size_t n1);
    struct wick_gemm_weights w;
    size_t groups;
    const void *packed;
};

static bool same_request(const struct wick_xnn_packed *p, const struct wick_gemm *gemm, const struct wick_gemm_weights *w, size_t groups)
{
    return p->kernel == gemm->run && p->groups == groups && p->w.n == w->n && p->w.k == w->k && p->w.group == w->group && p->w.w == w->w &&
           p->w.transposed == w->transposed && p->w.scales == w->scales && p->w.bias == w->bias;
}

/* Of a row of weights as the payload has it. */
static size_t row_bytes(const struct wick_ukernels *uk, const struct wick_gemm *gemm, size_t k)
{
    if (gemm == &uk->gemm_f32) return k * sizeof(float);
    if (gemm == &uk->gemm_f16 || gemm == &uk->gemm_bf16) return k * sizeof(uint16_t);
    return gemm == &uk->gemm_qd8_qb4 || gemm == &uk->gemm_qd8_qc4 || gemm == &uk->gemm_f32_qc4 ? (k + 1) / 2 : k;
}

wick_status wick_xnn_take_packed(struct wick_xnn_expand *e, const struct wick_gemm *gemm, const struct wick_gemm_weights *w, size_t groups,
                                 const void **packed)
{
    for (const struct wick_xnn_packed *p = e->packed; p; p = p->next) {
        if (!same_request(p, gemm, w, groups)) continue;
        *packed = p->packed;
        return WICK_OK;
    }
    size_t bytes = gemm->packed_size(w->n, w->k, w->group), total, row = row_bytes(e->bind->ukernels, gemm, w->k);
    struct wick_xnn_packed *entry = WICK_NEW(e->bind->arena, struct wick_xnn_packed);
    char *memory = wick_mul_size(bytes, groups, &total) ? NULL : wick_arena_alloc(e->bind->arena, total, 64);
    if (!entry || !memory) return wick_fail_oom(e->err, bytes, "packed weights");
    struct wick_gemm_weights part = *w;
    for (size_t g = 0; g < groups; g++) {
        part.w = (const char *)w->w + g * w->n * row;
        part.scales = w->scales ? (const float *)w->scales + g * w->n : NULL;
        part.bias = w->bias ? w->bias + g * w->n : NULL;
        wick_xnn_pack(gemm, &part, row, memory + g * bytes, e->bind);
    }
    *entry = (struct wick_xnn_packed){e->packed, gemm->run, *w, groups, memory};
    e->packed = entry;
    *packed = memory;
    return WICK_OK;
}

static bool is_named(const struct wick_xnn_expand *e, uint32_t constant) { return constant && e->file->constants[constant].key.data; }

void wick_xnn_release_filter(struct wick_xnn_expand *e, const struct wick_xnn_slot *filter)
{
    const struct wick_xnn_value *v = filter->value;
    if (!e->payload->named_data_done) return;
    if (is_named(e, v->constant)) e->payload->named_data_done(e->payload->user, filter->data, filter->nbytes);
    if (!is_named(e, v->quant.scale_constant)) return;
    if (filter->group_scales)
        e->payload->named_data_done(e->payload->user, (const void *)filter->group_scales, filter->scale_count * sizeof(uint16_t));
    else if (filter->channel_scales)
        e->payload->named_data_done(e->payload->user, (const void *)filter->channel_scales, filter->scale_count * sizeof(float));
}
