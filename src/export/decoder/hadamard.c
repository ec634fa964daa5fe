/* export/decoder/hadamard.c - rotations that a program computes as it runs: R3 and R4. */
#include "export/decoder/parts.h"

#include "export/rotations.h"

static uint32_t transform(struct wick_decoder *d, uint32_t x)
{
    /* The operator takes f32 and f16. */
    if (d->b->dtype == WICK_DTYPE_BF16) x = wick_decoder_wide(d, x);
    return wick_decoder_cast(d, wick_graph_call(d->g, "llama::fast_hadamard_transform.out", 1, x), d->b->dtype);
}

uint32_t wick_decoder_hadamard(struct wick_decoder *d, uint32_t x, int block)
{
    struct wick_graph *g = d->g;
    if (g->status != WICK_OK) return WICK_NO_VALUE;
    const struct wick_shape *shape = wick_graph_shape(g, x);
    int32_t size = shape->sizes[shape->rank - 1], n = block ? block : size, part = n % 28 == 0 ? n / 28 : n;
    if (n <= 0 || (part & (part - 1)) != 0) {
        wick_graph_fail(g, WICK_NOT_SUPPORTED, "a Hadamard transform of %d elements, which are neither 2^n nor 28 * 2^n: not supported", n);
        return WICK_NO_VALUE;
    }
    if (n == size || shape->rank != 3) return transform(d, x);
    x = wick_graph_call(g, "aten::view_copy.out", 2, x, wick_graph_ints(g, 4, (int64_t)1, (int64_t)-1, (int64_t)(size / n), (int64_t)n));
    return wick_graph_call(g, "aten::view_copy.out", 2, transform(d, x), wick_graph_ints(g, 3, (int64_t)1, (int64_t)-1, (int64_t)size));
}

uint32_t wick_decoder_turn_heads(struct wick_decoder *d, uint32_t x)
{
    return d->b->rotations && d->b->rotations->r3 ? wick_decoder_hadamard(d, x, 0) : x;
}

uint32_t wick_decoder_turn_hidden(struct wick_decoder *d, uint32_t x)
{
    if (d->b->hadamard_w2) return wick_decoder_hadamard(d, x, 0);
    return d->b->rotations && d->b->rotations->r4 ? wick_decoder_hadamard(d, x, d->b->rotations->r4_block) : x;
}
