/* ops/llama/hadamard.c - llama::fast_hadamard_transform along the last dim, of 2^n or 28 * 2^n elements.
 *
 * 2^n: the orthonormal Walsh-Hadamard transform in natural order. 28 * 2^n: rows of 2^n are transformed so, then every column of 28 is
 * multiplied by the matrix below, without a factor 1/sqrt(28): the convention of the rotations it undoes. */
#include "ops/copy/cast.h"
#include "ops/ops.h"
#include "runtime/op.h"

#include <math.h>

/* Row r holds the signs of inputs 0..27 in output r. */
static const char hadamard28[28][29] = {
    "+------++----++-+--+-+--++--", "-+-----+++-----+-+--+-+--++-", "--+-----+++---+-+-+----+--++", "---+-----+++---+-+-+-+--+--+",
    "----+-----+++---+-+-+++--+--", "-----+-----++++--+-+--++--+-", "------++----++-+--+-+--++--+", "--++++-+-------++--+++-+--+-",
    "---++++-+-----+-++--+-+-+--+", "+---+++--+----++-++--+-+-+--", "++---++---+----++-++--+-+-+-", "+++---+----+----++-++--+-+-+",
    "++++--------+-+--++-++--+-+-", "-++++--------+++--++--+--+-+", "-+-++-++--++--+--------++++-", "+-+-++--+--++--+--------++++",
    "-+-+-++--+--++--+----+---+++", "+-+-+-++--+--+---+---++---++", "++-+-+-++--+------+--+++---+", "-++-+-+-++--+------+-++++---",
    "+-++-+---++--+------+-++++--", "-++--++-+-++-+++----++------", "+-++--++-+-++-+++-----+-----", "++-++---+-+-++-+++-----+----",
    "-++-++-+-+-+-+--+++-----+---", "--++-++++-+-+----+++-----+--", "+--++-+-++-+-+----+++-----+-", "++--++-+-++-+-+----++------+",
};

static void transform(float *x, size_t n)
{
    for (size_t half = 1; half < n; half *= 2)
        for (size_t i = 0; i < n; i += 2 * half)
            for (size_t j = i; j < i + half; j++) {
                float a = x[j], b = x[j + half];
                x[j] = a + b;
                x[j + half] = a - b;
            }
    float scale = 1.0f / sqrtf((float)n);
    for (size_t i = 0; i < n; i++) x[i] *= scale;
}

static void mix(float *x, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        float column[28], sum;
        for (size_t r = 0; r < 28; r++) column[r] = x[r * n + c];
        for (size_t r = 0; r < 28; r++) {
            sum = 0;
            for (size_t k = 0; k < 28; k++) sum += hadamard28[r][k] == '+' ? column[k] : -column[k];
            x[r * n + c] = sum;
        }
    }
}

static bool is_power(size_t n) { return n > 0 && (n & (n - 1)) == 0; }

static wick_status run_llama_fast_hadamard_transform_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *x = wick_arg_tensor(args, 0), *y = wick_arg_tensor(args, 1);
    size_t n = x->shape.rank ? (size_t)x->shape.sizes[x->shape.rank - 1] : 0, size = wick_dtype_size(x->shape.dtype);
    size_t rows = n ? wick_tensor_numel(x) / n : 0, part = is_power(n) ? n : n % 28 == 0 ? n / 28 : 0;
    if (!is_power(part) || (x->shape.dtype != WICK_DTYPE_F32 && x->shape.dtype != WICK_DTYPE_F16) || y->shape.dtype != x->shape.dtype ||
        !wick_shape_is_contiguous(&x->shape))
        return wick_fail(run->err, WICK_INVALID_ARGUMENT,
                         "llama::fast_hadamard_transform: rows of %zu elements; 2^n or 28 * 2^n of f32 or f16 are wanted", n);
    float *row = wick_arena_array(run->temp, n, sizeof *row, 64);
    if (!row) return wick_fail_oom(run->err, n * sizeof *row, "llama::fast_hadamard_transform");
    for (size_t r = 0; r < rows; r++) {
        wick_cast(row, WICK_DTYPE_F32, (const char *)x->data + r * n * size, x->shape.dtype, n);
        for (size_t i = 0; i < n; i += part) transform(row + i, part);
        if (part != n) mix(row, part);
        wick_cast((char *)y->data + r * n * size, y->shape.dtype, row, WICK_DTYPE_F32, n);
    }
    return WICK_OK;
}

const struct wick_op wick_op_llama_fast_hadamard_transform_out = {.meta = &wick_opmeta_llama_fast_hadamard_transform_out,
                                                                  .run = run_llama_fast_hadamard_transform_out};
