/* ops/copy/cast.h - converting elements between types, as C casts do.
 *
 * Rounding to a float type is to nearest even; to an integer type towards zero, then modulo 2^bits, with NaN and what an
 * int64 cannot hold giving INT64_MIN first; to bool "is not zero". */
#ifndef WICK_OPS_COPY_CAST_H
#define WICK_OPS_COPY_CAST_H

#include "tensor/value.h"

/* u8 i8 i16 i32 i64 u16 u32 u64 bits16 f16 bf16 f32 f64 bool. */
bool wick_cast_known(int dtype);
/* INVALID_TYPE naming the types unless both are known or they are equal. */
wick_status wick_cast_check(int to, int from, wick_error *err);

/* n adjacent elements; both types known or equal. The two must not overlap, unless they are the same bytes. */
void wick_cast(void *out, int out_dtype, const void *in, int in_dtype, size_t n);

/* As wick_strided_copy, converting. */
void wick_strided_cast(void *out, int out_dtype, const int64_t *out_strides, const void *in, int in_dtype, const int64_t *in_strides,
                       const int32_t *sizes, int rank);

/* One element. An integer of any type up to 64 bits comes back exactly (u64 above INT64_MAX wraps). */
double wick_element_double(const void *data, int dtype, size_t index);
int64_t wick_element_int(const void *data, int dtype, size_t index);
/* A Scalar (INT, DOUBLE, BOOL) as one element of the type; room for 16 bytes. */
wick_status wick_scalar_element(const struct wick_value *value, int dtype, void *element, wick_error *err);

#endif
