/* xnnpack/rt/values.c - the values of a payload, judged once: types, quantization, where constants lie, which argument
 * of the call an external one is. Emitters build on what stands here (wick_xnn_slot). */
#include "backends/xnnpack/rt/expand.h"

#include "base/checked.h"
#include "tensor/half.h"

#include <math.h>

/* How elements of a serialized type are stored, and which quantization it needs. Types that are missing are refused. */
static const struct {
    int16_t lane;
    uint8_t quant;
} types[] = {
    [XNN_DATATYPE_FP32] = {WICK_DTYPE_F32, XNN_QUANT_NONE},           [XNN_DATATYPE_FP16] = {WICK_DTYPE_F16, XNN_QUANT_NONE},
    [XNN_DATATYPE_BF16] = {WICK_DTYPE_BF16, XNN_QUANT_NONE},          [XNN_DATATYPE_INT32] = {WICK_DTYPE_I32, XNN_QUANT_NONE},
    [XNN_DATATYPE_QINT8] = {WICK_DTYPE_I8, XNN_QUANT_PER_TENSOR},     [XNN_DATATYPE_QUINT8] = {WICK_DTYPE_U8, XNN_QUANT_PER_TENSOR},
    [XNN_DATATYPE_QINT32] = {WICK_DTYPE_I32, XNN_QUANT_PER_TENSOR},   [XNN_DATATYPE_QCINT8] = {WICK_XNN_NO_DTYPE, XNN_QUANT_PER_CHANNEL},
    [XNN_DATATYPE_QCINT32] = {WICK_DTYPE_I32, XNN_QUANT_PER_CHANNEL}, [XNN_DATATYPE_QCINT4] = {WICK_XNN_NO_DTYPE, XNN_QUANT_PER_CHANNEL},
    [XNN_DATATYPE_QBINT4] = {WICK_XNN_NO_DTYPE, XNN_QUANT_PER_GROUP}, [XNN_DATATYPE_QDINT8] = {WICK_DTYPE_I8, XNN_QUANT_PER_TOKEN},
};

static wick_status refuse_value(struct wick_xnn_expand *e, const struct wick_xnn_slot *slot, wick_status status, const char *why)
{
    return wick_fail(e->err, status, "value %u (%s): %s", slot->value->id, wick_xnn_datatype_name(slot->value->datatype), why);
}

/* ---- constants ---- */

static wick_status find_constant(struct wick_xnn_expand *e, uint32_t index, const uint8_t **data, size_t *size)
{
    const struct wick_xnn_constant *c = &e->file->constants[index];
    if (c->key.data) return e->payload->named_data(e->payload->user, c->key, data, size, e->err);
    *data = c->data;
    *size = (size_t)c->size;
    return WICK_OK;
}

/* Bytes of a constant of these dims: rows of 4-bit values fill whole bytes. */
static bool constant_bytes(const struct wick_xnn_value *v, size_t *bytes)
{
    bool nibbles = v->datatype == XNN_DATATYPE_QCINT4 || v->datatype == XNN_DATATYPE_QBINT4;
    size_t total = nibbles || v->datatype == XNN_DATATYPE_QCINT8 ? 1 : wick_dtype_size(types[v->datatype].lane);
    for (uint32_t i = 0; i < v->dims.count; i++) {
        size_t n = v->dims.items[i];
        if (n > INT32_MAX) return false;
        if (nibbles && i + 1 == v->dims.count) n = (n + 1) / 2;
        if (wick_mul_size(total, n, &total)) return false;
    }
    *bytes = total;
    return true;
}

static wick_status define_constant(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    size_t size = 0;
    if (slot->external || slot->is_dynamic) return refuse_value(e, slot, WICK_INVALID_PROGRAM, "cannot be a constant");
    if (!constant_bytes(slot->value, &slot->nbytes)) return refuse_value(e, slot, WICK_INVALID_PROGRAM, "is too large");
    wick_status status = find_constant(e, slot->value->constant, &slot->data, &size);
    if (status != WICK_OK) return wick_fail_in(e->err, status, "value %u", slot->value->id);
    if (size < slot->nbytes)
        return wick_fail(e->err, WICK_INVALID_PROGRAM, "value %u (%s): its dims need %zu bytes, the constant has %zu", slot->value->id,
                         wick_xnn_datatype_name(slot->value->datatype), slot->nbytes, size);
    slot->is_constant = slot->defined = true;
    return WICK_OK;
}

/* ---- scales ---- */

/* The serialized scales as an aligned array of `element` bytes each. */
static wick_status find_scales(struct wick_xnn_expand *e, const struct wick_xnn_slot *slot, size_t count, size_t element, const void **out)
{
    const struct wick_xnn_quant *q = &slot->value->quant;
    const uint8_t *data = q->scales;
    size_t size = (size_t)q->scale_count * element;
    if (q->scale_constant) {
        wick_status status = find_constant(e, q->scale_constant, &data, &size);
        if (status != WICK_OK) return wick_fail_in(e->err, status, "scales of value %u", slot->value->id);
    }
    if (count > q->scale_count || !data || size / element < count)
        return wick_fail(e->err, WICK_INVALID_PROGRAM, "value %u (%s): needs %zu scales, has %zu", slot->value->id,
                         wick_xnn_datatype_name(slot->value->datatype), count, data ? WICK_MIN((size_t)q->scale_count, size / element) : 0);
    *out = data;
    if ((uintptr_t)data % element == 0) return WICK_OK;
    void *copy = wick_arena_array(e->bind->arena, count, element, 64);
    if (!copy) return wick_fail_oom(e->err, count * element, "scales");
    memcpy(copy, data, count * element);
    *out = copy;
    return WICK_OK;
}

static wick_status channel_scales(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    const struct wick_xnn_value *v = slot->value;
    const void *scales;
    if (v->quant.channel_dim < 0 || (uint32_t)v->quant.channel_dim >= v->dims.count)
        return refuse_value(e, slot, WICK_INVALID_PROGRAM, "its channel dim is none of its dims");
    slot->scale_count = v->dims.items[v->quant.channel_dim];
    WICK_TRY(find_scales(e, slot, slot->scale_count, sizeof(float), &scales));
    slot->channel_scales = scales;
    for (uint32_t i = 0; i < slot->scale_count; i++)
        if (!isnormal(slot->channel_scales[i]) || slot->channel_scales[i] < 0)
            return wick_fail(e->err, WICK_DELEGATE_INCOMPATIBLE, "value %u (%s): scale %u is %g; scales are positive, normal numbers", v->id,
                             wick_xnn_datatype_name(v->datatype), i, (double)slot->channel_scales[i]);
    return WICK_OK;
}

/* Files of before mid-2025 store group scales as f32; the factor undoes the truncation to bf16 on average. */
static wick_status truncated_scales(struct wick_xnn_expand *e, struct wick_xnn_slot *slot, size_t count)
{
    const void *scales;
    WICK_TRY(find_scales(e, slot, count, sizeof(float), &scales));
    uint16_t *halves = WICK_NEW_ARRAY(e->bind->arena, uint16_t, count);
    if (!halves) return wick_fail_oom(e->err, count * sizeof *halves, "scales");
    for (size_t i = 0; i < count; i++) halves[i] = (uint16_t)(wick_bits_from_f32(((const float *)scales)[i] * 1.00389105f) >> 16);
    slot->group_scales = halves;
    return WICK_OK;
}

static wick_status group_scales(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    const struct wick_xnn_value *v = slot->value;
    const struct wick_xnn_quant *q = &v->quant;
    if (v->dims.count != 2 || q->channel_dim != 0) return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "needs two dims, channels first");
    if (q->group_size < 32 || q->group_size % 32 != 0 || v->dims.items[1] % (uint32_t)q->group_size != 0)
        return wick_fail(e->err, WICK_DELEGATE_INCOMPATIBLE,
                         "value %u (%s): groups of %d in rows of %u; a group is a multiple of 32 that divides a row", v->id,
                         wick_xnn_datatype_name(v->datatype), (int)q->group_size, v->dims.items[1]);
    size_t count = (size_t)v->dims.items[0] * (v->dims.items[1] / (uint32_t)q->group_size);
    if (count > UINT32_MAX) return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "has too many groups");
    slot->scale_count = (uint32_t)count;
    if (q->scale_constant == 0 && !q->scales_bf16) WICK_TRY(truncated_scales(e, slot, count));
    else {
        const void *scales;
        WICK_TRY(find_scales(e, slot, count, sizeof(uint16_t), &scales));
        slot->group_scales = scales;
    }
    for (size_t i = 0; i < count; i++)
        if (slot->group_scales[i] < 0x80 || slot->group_scales[i] >= 0x7f80)
            return wick_fail(e->err, WICK_DELEGATE_INCOMPATIBLE, "value %u (%s): scale %zu is %g; scales are positive, normal numbers", v->id,
                             wick_xnn_datatype_name(v->datatype), i, (double)wick_f32_from_bf16(slot->group_scales[i]));
    return WICK_OK;
}

static wick_status define_quantization(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    const struct wick_xnn_value *v = slot->value;
    const struct wick_xnn_quant *q = &v->quant;
    if (types[v->datatype].quant == XNN_QUANT_NONE) return WICK_OK;
    if (q->kind != types[v->datatype].quant)
        return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "has another kind of quantization than its type");
    if (q->kind == XNN_QUANT_PER_TOKEN) {
        if (q->num_nonbatch_dims < 0 || q->num_nonbatch_dims > (int32_t)v->dims.count)
            return refuse_value(e, slot, WICK_INVALID_PROGRAM, "num_nonbatch_dims is larger than its rank");
        slot->is_dynamic = true;
        slot->nonbatch_dims = q->num_nonbatch_dims;
    } else if (q->kind == XNN_QUANT_PER_TENSOR) {
        int32_t low = v->datatype == XNN_DATATYPE_QINT8 ? -128 : 0;
        int32_t high = v->datatype == XNN_DATATYPE_QINT8 ? 127 : v->datatype == XNN_DATATYPE_QUINT8 ? 255 : 0;
        if (!isnormal(q->scale) || q->scale < 0) return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "its scale is no positive, normal number");
        if (q->zero_point < low || q->zero_point > high) return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "its zero point is out of range");
        slot->lane.scale = q->scale;
        slot->lane.zero_point = q->zero_point;
    } else if (!v->constant) return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "only constants are quantized by channel or group");
    return WICK_OK;
}

/* ---- arguments of the call ---- */

static bool same_storage(int tensor, int lane)
{
    return tensor == lane || (tensor == WICK_DTYPE_QI8 && lane == WICK_DTYPE_I8) || (tensor == WICK_DTYPE_QU8 && lane == WICK_DTYPE_U8);
}

static wick_status define_external(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    const struct wick_xnn_value *v = slot->value;
    const struct wick_args *args = &e->payload->args;
    if (v->external_id >= args->count || slot->is_dynamic)
        return refuse_value(e, slot, WICK_INVALID_PROGRAM, slot->is_dynamic ? "cannot be external" : "the call has no such argument");
    const struct wick_value *arg = e->x->value(e->x, args->ids[v->external_id]);
    if (arg->tag != WICK_TAG_TENSOR) return refuse_value(e, slot, WICK_INVALID_PROGRAM, "the argument is no tensor");
    const struct wick_shape *shape = &arg->as.tensor->shape;
    slot->is_output = v->flags == WICK_XNN_VALUE_OUTPUT;
    /* Indices that the payload counts in 32 bits may be wanted in 64. */
    bool widened = slot->is_output && slot->lane.dtype == WICK_DTYPE_I32 && shape->dtype == WICK_DTYPE_I64;
    if (!widened && !same_storage(shape->dtype, slot->lane.dtype))
        return wick_fail(e->err, WICK_DELEGATE_INCOMPATIBLE, "value %u (%s): argument %u has type %s", v->id, wick_xnn_datatype_name(v->datatype),
                         v->external_id, wick_dtype_name(shape->dtype));
    if (shape->rank > WICK_XNN_RANK_MAX) return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "the argument has a rank above 6");
    slot->id = args->ids[v->external_id];
    slot->external = true;
    slot->defined = !slot->is_output;
    return WICK_OK;
}

/* In files of before 2024 a linear's float input says itself that it is to be quantized; nodes then mean the result. */
static wick_status define_legacy_dynamic(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    struct wick_xnn_slot *source = WICK_NEW(e->bind->arena, struct wick_xnn_slot);
    if (!source) return wick_fail_oom(e->err, sizeof *source, "values of an XNNPACK payload");
    if (slot->value->dq_datatype != XNN_DATATYPE_QINT8 || !slot->external || slot->is_output)
        return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "only inputs are quantized on the way in, to int8");
    *source = *slot;
    *slot = (struct wick_xnn_slot){.value = source->value, .index = source->index, .id = WICK_XNN_NO_ID, .rows = WICK_XNN_NO_ID};
    slot->lane = wick_xnn_lane_of(WICK_DTYPE_I8);
    slot->is_dynamic = true;
    slot->nonbatch_dims = 1;
    return wick_xnn_add_quantize(e, source, slot);
}

static wick_status define_value(struct wick_xnn_expand *e, struct wick_xnn_slot *slot)
{
    const struct wick_xnn_value *v = slot->value;
    if (v->datatype < 0 || (size_t)v->datatype >= WICK_ARRAY_SIZE(types) || types[v->datatype].lane == 0)
        return refuse_value(e, slot, WICK_DELEGATE_INCOMPATIBLE, "a payload cannot hold this type");
    slot->lane = wick_xnn_lane_of(types[v->datatype].lane);
    WICK_TRY(define_quantization(e, slot));
    if ((v->flags != 0) != (v->external_id != WICK_XNN_NO_ID))
        return refuse_value(e, slot, WICK_INVALID_PROGRAM, "is external without being input or output, or the reverse");
    if (v->flags) WICK_TRY(define_external(e, slot));
    if (v->constant) WICK_TRY(define_constant(e, slot));
    if (v->quant.kind == XNN_QUANT_PER_CHANNEL && types[v->datatype].quant == XNN_QUANT_PER_CHANNEL) WICK_TRY(channel_scales(e, slot));
    if (v->datatype == XNN_DATATYPE_QBINT4) WICK_TRY(group_scales(e, slot));
    return v->dq_datatype != XNN_DATATYPE_INVALID ? define_legacy_dynamic(e, slot) : WICK_OK;
}

wick_status wick_xnn_define_values(struct wick_xnn_expand *e)
{
    e->slots = WICK_NEW_ARRAY(e->bind->arena, struct wick_xnn_slot, e->file->value_count);
    if (!e->slots) return wick_fail_oom(e->err, e->file->value_count * sizeof *e->slots, "values of an XNNPACK payload");
    for (uint32_t i = 0; i < e->file->value_count; i++) {
        e->slots[i] = (struct wick_xnn_slot){.value = &e->file->values[i], .index = i, .id = WICK_XNN_NO_ID, .rows = WICK_XNN_NO_ID};
        WICK_TRY(define_value(e, &e->slots[i]));
    }
    return WICK_OK;
}
