/* export/decoder/hadamard.c - rotations that a program computes as it runs. */
#include "export/decoder/parts.h"

uint32_t wick_decoder_hadamard(struct wick_decoder *d, uint32_t x)
{
    struct wick_graph *g = d->g;
    if (g->status != WICK_OK) return WICK_NO_VALUE;
    const struct wick_shape *shape = wick_graph_shape(g, x);
    int32_t n = shape->sizes[shape->rank - 1], part = n % 28 == 0 ? n / 28 : n;
    if (n <= 0 || ((part & (part - 1)) != 0 && (n & (n - 1)) != 0)) {
        wick_graph_fail(g, WICK_NOT_SUPPORTED, "a Hadamard transform of %d elements, which are neither 2^n nor 28 * 2^n: not supported", n);
        return WICK_NO_VALUE;
    }
    /* The operator takes f32 and f16. */
    if (d->b->dtype == WICK_DTYPE_BF16) x = wick_decoder_wide(d, x);
    return wick_decoder_cast(d, wick_graph_call(g, "llama::fast_hadamard_transform.out", 1, x), d->b->dtype);
}
