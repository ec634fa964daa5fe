/* ops/quantized/embedding.c - rows of 8-, 4- and 2-bit tables, dequantized by group as they are read. */
#include "ops/copy/cast.h"
#include "ops/ops.h"

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}

struct table {
    const struct wick_tensor *weight, *scales, *zero_points, *indices; /* zero_points NULL: 0 */
    struct wick_tensor *out;
    int bits;
    size_t rows, width, groups, group; /* width: elements a row */
};

/* Elements [0, width) of a packed row as integers. 8 bits: signed or not, as the type says; 4 bits: high nibble first, 8
 * added; 2 bits: low bits first, 2 added. */
static void unpack_row(const struct table *table, const uint8_t *packed, float *values)
{
    size_t width = table->width;
    switch (table->bits) {
    case 4:
        for (size_t i = 0; i < width; i += 2) {
            values[i] = (float)(packed[i / 2] >> 4) - 8.0f;
            values[i + 1] = (float)(packed[i / 2] & 15) - 8.0f;
        }
        break;
    case 2:
        for (size_t i = 0; i < width; i++) values[i] = (float)(packed[i / 4] >> (i % 4 * 2) & 3) - 2.0f;
        break;
    default:
        if (table->weight->shape.dtype == WICK_DTYPE_I8) {
            for (size_t i = 0; i < width; i++) values[i] = (float)(int8_t)packed[i];
        } else {
            for (size_t i = 0; i < width; i++) values[i] = (float)packed[i];
        }
        break;
    }
}

/* out[j] = (w[j] - zero point) * scale, of the group of j. scratch: width floats. */
static void read_row(const struct table *table, size_t row, void *out, float *scratch)
{
    const struct wick_tensor *weight = table->weight, *zero_points = table->zero_points;
    int dtype = table->out->shape.dtype;
    float *values = dtype == WICK_DTYPE_F32 ? out : scratch;
    unpack_row(table, (const uint8_t *)weight->data + row * (size_t)weight->shape.sizes[1], values);
    for (size_t g = 0; g < table->groups; g++) {
        float *part = values + g * table->group;
        float scale = (float)wick_element_double(table->scales->data, table->scales->shape.dtype, row * table->groups + g);
        float zero = zero_points ? (float)wick_element_double(zero_points->data, zero_points->shape.dtype, row * table->groups + g) : 0.0f;
        for (size_t j = 0; j < table->group; j++) part[j] = (part[j] - zero) * scale;
    }
    if (values == scratch) wick_cast(out, dtype, scratch, WICK_DTYPE_F32, table->width);
}

static wick_status check_table(const struct table *table, wick_error *err)
{
    const struct wick_tensor *weight = table->weight, *scales = table->scales, *zero_points = table->zero_points;
    int dtype = weight->shape.dtype, index = table->indices->shape.dtype, out = table->out->shape.dtype;
    if (dtype != WICK_DTYPE_U8 && !(table->bits == 8 && dtype == WICK_DTYPE_I8))
        return wick_fail(err, WICK_INVALID_TYPE, "weight is %s", wick_dtype_name(dtype));
    if (index != WICK_DTYPE_I64 && index != WICK_DTYPE_I32) return wick_fail(err, WICK_INVALID_TYPE, "indices are %s", wick_dtype_name(index));
    if (!wick_dtype_is_float(scales->shape.dtype) || !wick_dtype_is_float(out))
        return wick_fail(err, WICK_INVALID_TYPE, "scales are %s, out is %s", wick_dtype_name(scales->shape.dtype), wick_dtype_name(out));
    if (scales->shape.rank < 1 || scales->shape.rank > 2 || scales->shape.sizes[0] != weight->shape.sizes[0])
        return wick_fail(err, WICK_INVALID_ARGUMENT, "scales do not go with a table of %d rows", weight->shape.sizes[0]);
    if (table->groups == 0 || table->width % table->groups != 0)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "rows of %zu elements in %zu groups", table->width, table->groups);
    if (zero_points && (!wick_cast_known(zero_points->shape.dtype) || !wick_shape_same_sizes(&zero_points->shape, &scales->shape)))
        return wick_fail(err, WICK_INVALID_ARGUMENT, "zero points have not the sizes of the scales");
    if (wick_tensor_numel(table->out) != wick_tensor_numel(table->indices) * table->width)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "out has other sizes");
    if (!wick_shape_is_contiguous(&weight->shape) || !wick_shape_is_contiguous(&scales->shape) || !wick_shape_is_contiguous(&table->indices->shape) ||
        !wick_shape_is_contiguous(&table->out->shape) || (zero_points && !wick_shape_is_contiguous(&zero_points->shape)))
        return wick_fail(err, WICK_NOT_SUPPORTED, "tensors are not in contiguous dim order");
    return WICK_OK;
}

/* Arguments: weight, scales, zero points, quant_min, quant_max, indices. */
static wick_status run_embedding(const struct wick_args *args, int bits, uint32_t out, struct wick_run *run)
{
    struct table table = {.weight = wick_arg_tensor(args, 0),
                          .scales = wick_arg_tensor(args, 1),
                          .zero_points = wick_arg_tensor(args, 2),
                          .indices = wick_arg_tensor(args, 5),
                          .out = wick_arg_tensor(args, out),
                          .bits = bits};
    if (table.weight->shape.rank != 2) return wick_fail(run->err, WICK_INVALID_ARGUMENT, "weight has rank %u", table.weight->shape.rank);
    table.rows = (size_t)table.weight->shape.sizes[0];
    table.width = (size_t)table.weight->shape.sizes[1] * (size_t)(8 / bits);
    table.groups = table.scales->shape.rank == 2 ? (size_t)table.scales->shape.sizes[1] : 1;
    WICK_TRY(check_table(&table, run->err));
    table.group = table.width / table.groups;
    float *scratch = wick_arena_array(run->temp, table.width, sizeof *scratch, 64);
    if (!scratch) return wick_fail_oom(run->err, table.width * sizeof *scratch, "an embedding row");
    size_t count = wick_tensor_numel(table.indices), row_bytes = table.width * wick_dtype_size(table.out->shape.dtype);
    for (size_t i = 0; i < count; i++) {
        int64_t index = wick_element_int(table.indices->data, table.indices->shape.dtype, i);
        if (index < 0 || (uint64_t)index >= table.rows)
            return wick_fail(run->err, WICK_INVALID_ARGUMENT, "index %lld is outside a table of %zu rows", (long long)index, table.rows);
        read_row(&table, (size_t)index, (char *)table.out->data + i * row_bytes, scratch);
    }
    return WICK_OK;
}

#define EMBEDDING(id, bits, out)                                                                       \
    static wick_status run_##id(const struct wick_args *args, const void *state, struct wick_run *run) \
    {                                                                                                  \
        (void)state;                                                                                   \
        return run_embedding(args, bits, out, run);                                                    \
    }                                                                                                  \
    OP(id)

EMBEDDING(quantized_decomposed_embedding_byte_out, 8, 6);
EMBEDDING(quantized_decomposed_embedding_byte_dtype_out, 8, 7);
EMBEDDING(quantized_decomposed_embedding_4bit_out, 4, 6);
EMBEDDING(quantized_decomposed_embedding_4bit_dtype_out, 4, 7);
EMBEDDING(quantized_decomposed_embedding_2bit_out, 2, 6);
EMBEDDING(quantized_decomposed_embedding_2bit_dtype_out, 2, 7);
