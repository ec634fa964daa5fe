/* xnnpack/rt/lane.h - element formats of elementwise nodes: a lane turns stored elements into float32 and back.
 *
 * Nodes compute in float32 whatever is stored; halves are rounded to nearest even once, at the store. Statically
 * quantized values carry their scale and zero point here (the tensor only knows that they are bytes). */
#ifndef WICK_XNNPACK_RT_LANE_H
#define WICK_XNNPACK_RT_LANE_H

#include "tensor/dtype.h"

struct wick_ukernels;

enum { WICK_XNN_BLOCK = 512 }; /* elements that are converted at a time, on the stack */

/* No padding, so that states are compared by their bytes. */
struct wick_xnn_lane {
    int32_t dtype; /* F32, F16, BF16; I8 and U8 are quantized: real = (stored - zero_point) * scale */
    int32_t zero_point;
    float scale;
};

static inline struct wick_xnn_lane wick_xnn_lane_of(int dtype) { return (struct wick_xnn_lane){.dtype = dtype, .scale = 1.0f}; }
/* True for the formats above. */
bool wick_xnn_lane_known(int dtype);

/* Elements [first, first + count) of base as float32. */
void wick_xnn_lane_load(const struct wick_xnn_lane *lane, const struct wick_ukernels *uk, const void *base, size_t first, size_t count, float *out);
/* The reverse. Quantized: clamp(rint(x * (1 / scale)) + zero_point), the reciprocal taken in float32. */
void wick_xnn_lane_store(const struct wick_xnn_lane *lane, const struct wick_ukernels *uk, void *base, size_t first, size_t count, const float *in);

#endif
