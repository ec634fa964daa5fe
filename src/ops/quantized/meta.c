/* ops/quantized/meta.c - rules of quantized_decomposed::*. */
#include "ops/rules.h"

#define OP(id, wire, sig, rule) const struct wick_opmeta wick_opmeta_##id = {.name = wire, .signature = sig, .infer = rule}

/* The element type a call names in argument k. */
static wick_status read_dtype(const struct wick_args *args, uint32_t k, int *dtype, wick_error *err)
{
    int64_t number = wick_arg_int(args, k);
    *dtype = number < 0 || number >= WICK_DTYPE_COUNT ? -1 : (int)number;
    return *dtype < 0 ? wick_fail(err, WICK_INVALID_ARGUMENT, "%lld is no element type", (long long)number) : WICK_OK;
}

/* ---- parameters ---- */

static wick_status infer_choose(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const int32_t one = 1;
    if (wick_arg_int(args, 1) >= wick_arg_int(args, 2)) return wick_fail(err, WICK_INVALID_ARGUMENT, "quant_min is not below quant_max");
    outs[0] = wick_shape_make(WICK_DTYPE_F64, 1, &one);
    outs[1] = wick_shape_make(WICK_DTYPE_I64, 1, &one);
    return WICK_OK;
}

static wick_status infer_choose_per_token(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *input = &wick_arg_tensor(args, 0)->shape;
    if (input->rank == 0) return wick_fail(err, WICK_INVALID_ARGUMENT, "the input has no dims");
    outs[0] = wick_shape_make(WICK_DTYPE_F64, input->rank, input->sizes);
    outs[0].sizes[input->rank - 1] = 1;
    outs[1] = outs[0];
    outs[1].dtype = WICK_DTYPE_I64;
    return WICK_OK;
}

OP(quantized_decomposed_choose_qparams_Tensor_out, "quantized_decomposed::choose_qparams.Tensor_out", "TIIFI>TT", infer_choose);
OP(quantized_decomposed_choose_qparams_per_token_asymmetric_out, "quantized_decomposed::choose_qparams_per_token_asymmetric.out", "TI>TT",
   infer_choose_per_token);

/* ---- quantize, dequantize: the input's sizes; the type is argument k, or out_dtype (argument o) if that is given ---- */

static wick_status like_with(const struct wick_args *args, uint32_t k, struct wick_shape *outs, wick_error *err)
{
    int dtype;
    WICK_TRY(read_dtype(args, k, &dtype, err));
    outs[0] = wick_arg_tensor(args, 0)->shape;
    outs[0].dtype = (uint8_t)dtype;
    return WICK_OK;
}

static wick_status like_float(const struct wick_args *args, uint32_t o, struct wick_shape *outs, wick_error *err)
{
    if (!wick_arg_is_none(args, o)) return like_with(args, o, outs, err);
    outs[0] = wick_arg_tensor(args, 0)->shape;
    outs[0].dtype = WICK_DTYPE_F32;
    return WICK_OK;
}

static wick_status infer_quantize_5(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return like_with(args, 5, outs, err); }
static wick_status infer_quantize_6(const struct wick_args *args, struct wick_shape *outs, wick_error *err) { return like_with(args, 6, outs, err); }
static wick_status infer_dequantize_6(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return like_float(args, 6, outs, err);
}
static wick_status infer_dequantize_7(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return like_float(args, 7, outs, err);
}

OP(quantized_decomposed_quantize_per_tensor_out, "quantized_decomposed::quantize_per_tensor.out", "TFIIII>T", infer_quantize_5);
OP(quantized_decomposed_quantize_per_tensor_Tensor_out, "quantized_decomposed::quantize_per_tensor.Tensor_out", "TTTIII>T", infer_quantize_5);
OP(quantized_decomposed_quantize_per_channel_out, "quantized_decomposed::quantize_per_channel.out", "TTTIIII>T", infer_quantize_6);
OP(quantized_decomposed_quantize_per_token_out, "quantized_decomposed::quantize_per_token.out", "TTTIII>T", infer_quantize_5);
OP(quantized_decomposed_dequantize_per_tensor_out, "quantized_decomposed::dequantize_per_tensor.out", "TFIIIIi>T", infer_dequantize_6);
OP(quantized_decomposed_dequantize_per_tensor_Tensor_out, "quantized_decomposed::dequantize_per_tensor.Tensor_out", "TTTIIIi>T", infer_dequantize_6);
OP(quantized_decomposed_dequantize_per_channel_out, "quantized_decomposed::dequantize_per_channel.out", "TTtIIIIi>T", infer_dequantize_7);
OP(quantized_decomposed_dequantize_per_token_out, "quantized_decomposed::dequantize_per_token.out", "TTTIIII>T", infer_quantize_6);

/* ---- embeddings: weight [V, bytes a row], indices any shape ---- */

static wick_status infer_rows(const struct wick_args *args, int per_byte, int dtype, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *weight = &wick_arg_tensor(args, 0)->shape, *indices = &wick_arg_tensor(args, 5)->shape;
    if (weight->rank != 2 || indices->rank >= WICK_RANK_MAX || weight->sizes[1] > INT32_MAX / per_byte)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "weight has rank %u, the indices %u", weight->rank, indices->rank);
    outs[0] = wick_shape_make(dtype, indices->rank, indices->sizes);
    outs[0].sizes[outs[0].rank++] = weight->sizes[1] * per_byte;
    return WICK_OK;
}

static wick_status infer_rows_dtype(const struct wick_args *args, int per_byte, struct wick_shape *outs, wick_error *err)
{
    int dtype = wick_arg_tensor(args, 1)->shape.dtype;
    if (!wick_arg_is_none(args, 6)) WICK_TRY(read_dtype(args, 6, &dtype, err));
    return infer_rows(args, per_byte, dtype, outs, err);
}

#define EMBEDDING(width, per_byte)                                                                                             \
    static wick_status infer_embedding_##width(const struct wick_args *args, struct wick_shape *outs, wick_error *err)         \
    {                                                                                                                          \
        return infer_rows(args, per_byte, wick_arg_tensor(args, 1)->shape.dtype, outs, err);                                   \
    }                                                                                                                          \
    static wick_status infer_embedding_##width##_dtype(const struct wick_args *args, struct wick_shape *outs, wick_error *err) \
    {                                                                                                                          \
        return infer_rows_dtype(args, per_byte, outs, err);                                                                    \
    }

EMBEDDING(byte, 1)
EMBEDDING(4bit, 2)
EMBEDDING(2bit, 4)

OP(quantized_decomposed_embedding_byte_out, "quantized_decomposed::embedding_byte.out", "TTtIIT>T", infer_embedding_byte);
OP(quantized_decomposed_embedding_byte_dtype_out, "quantized_decomposed::embedding_byte.dtype_out", "TTtIITi>T", infer_embedding_byte_dtype);
OP(quantized_decomposed_embedding_4bit_out, "quantized_decomposed::embedding_4bit.out", "TTtIIT>T", infer_embedding_4bit);
OP(quantized_decomposed_embedding_4bit_dtype_out, "quantized_decomposed::embedding_4bit.dtype_out", "TTtIITi>T", infer_embedding_4bit_dtype);
OP(quantized_decomposed_embedding_2bit_out, "quantized_decomposed::embedding_2bit.out", "TTtIIT>T", infer_embedding_2bit);
OP(quantized_decomposed_embedding_2bit_dtype_out, "quantized_decomposed::embedding_2bit.dtype_out", "TTtIITi>T", infer_embedding_2bit_dtype);

/* ---- arithmetic ---- */

/* input [M, K]; weight [K, N] or, transposed, [N, K]. */
static wick_status infer_product(const struct wick_args *args, bool transposed, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *input = &wick_arg_tensor(args, 0)->shape, *weight = &wick_arg_tensor(args, 1)->shape;
    if (input->rank != 2 || weight->rank != 2 || input->sizes[1] != weight->sizes[transposed ? 1 : 0]) {
        char a[128], b[128];
        wick_shape_text(input, a);
        wick_shape_text(weight, b);
        return wick_fail(err, WICK_INVALID_ARGUMENT, "input %s and weight %s do not multiply", a, b);
    }
    const int32_t sizes[2] = {input->sizes[0], weight->sizes[transposed ? 0 : 1]};
    outs[0] = wick_shape_make(input->dtype, 2, sizes);
    return WICK_OK;
}

static wick_status infer_mixed_mm(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    return infer_product(args, false, outs, err);
}

static wick_status infer_mixed_linear(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    int dtype = wick_arg_tensor(args, 0)->shape.dtype;
    if (!wick_arg_is_none(args, 4)) WICK_TRY(read_dtype(args, 4, &dtype, err));
    WICK_TRY(infer_product(args, true, outs, err));
    outs[0].dtype = (uint8_t)dtype;
    return WICK_OK;
}

static wick_status infer_add(const struct wick_args *args, struct wick_shape *outs, wick_error *err)
{
    const struct wick_shape *a = &wick_arg_tensor(args, 0)->shape, *b = &wick_arg_tensor(args, 5)->shape;
    outs[0] = *a;
    if (a->dtype != b->dtype || !wick_shape_same_sizes(a, b)) return wick_fail(err, WICK_INVALID_ARGUMENT, "the operands differ in type or size");
    return WICK_OK;
}

OP(quantized_decomposed_add_out, "quantized_decomposed::add.out", "TFIIITFIIIFIII>T", infer_add);
OP(quantized_decomposed_mixed_mm_out, "quantized_decomposed::mixed_mm.out", "TTTt>T", infer_mixed_mm);
OP(quantized_decomposed_mixed_linear_out, "quantized_decomposed::mixed_linear.out", "TTTti>T", infer_mixed_linear);
