/* ops/index/add.h - adding one element to another, for operators that accumulate. */
#ifndef WICK_OPS_INDEX_ADD_H
#define WICK_OPS_INDEX_ADD_H

#include "tensor/half.h"
#include "tensor/tensor.h"

/* *to += *from, both of the type; integers wrap, bool is "or". False for a type without addition. */
static inline bool wick_element_add(void *to, const void *from, int dtype)
{
    switch (dtype) {
    case WICK_DTYPE_F32: *(float *)to += *(const float *)from; return true;
    case WICK_DTYPE_F64: *(double *)to += *(const double *)from; return true;
    case WICK_DTYPE_F16:
        *(uint16_t *)to = wick_f16_from_f32(wick_f32_from_f16(*(uint16_t *)to) + wick_f32_from_f16(*(const uint16_t *)from));
        return true;
    case WICK_DTYPE_BF16:
        *(uint16_t *)to = wick_bf16_from_f32(wick_f32_from_bf16(*(uint16_t *)to) + wick_f32_from_bf16(*(const uint16_t *)from));
        return true;
    case WICK_DTYPE_U8:
    case WICK_DTYPE_I8: *(uint8_t *)to = (uint8_t)(*(uint8_t *)to + *(const uint8_t *)from); return true;
    case WICK_DTYPE_I16: *(uint16_t *)to = (uint16_t)(*(uint16_t *)to + *(const uint16_t *)from); return true;
    case WICK_DTYPE_I32: *(uint32_t *)to += *(const uint32_t *)from; return true;
    case WICK_DTYPE_I64: *(uint64_t *)to += *(const uint64_t *)from; return true;
    case WICK_DTYPE_BOOL: *(uint8_t *)to = (uint8_t)((*(uint8_t *)to | *(const uint8_t *)from) != 0); return true;
    default: return false;
    }
}

#endif
