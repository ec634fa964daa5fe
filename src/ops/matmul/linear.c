/* ops/matmul/linear.c - aten::linear: out = input x weight^T + bias, with weights that are constant packed at bind. */
#include "ops/matmul/product.h"

/* (input [.., K], weight [N, K], bias; out [.., N]) */
static wick_status run_linear(const struct wick_args *args, const void *state, struct wick_run *run)
{
    const struct wick_tensor *in = wick_arg_tensor(args, 0), *weight = wick_arg_tensor(args, 1), *bias = wick_arg_tensor(args, 2);
    struct wick_tensor *out = wick_arg_tensor(args, 3);
    (void)state;
    if (in->shape.dtype != out->shape.dtype || weight->shape.dtype != out->shape.dtype || (bias && bias->shape.dtype != out->shape.dtype))
        return wick_fail(run->err, WICK_INVALID_TYPE, "input is %s, weight %s, out %s: they must be of one type", wick_dtype_name(in->shape.dtype),
                         wick_dtype_name(weight->shape.dtype), wick_dtype_name(out->shape.dtype));
    if (!wick_shape_is_contiguous(&in->shape) || !wick_shape_is_contiguous(&out->shape))
        return wick_fail(run->err, WICK_NOT_SUPPORTED, "a linear layer on a layout that is not contiguous");
    size_t n = (size_t)weight->shape.sizes[0], k = (size_t)weight->shape.sizes[1];
    if (n == 0) return WICK_OK;
    struct wick_product product = {.dtype = in->shape.dtype, .batch = 1, .m = wick_tensor_numel(out) / n, .n = n, .k = k, .a = in->data,
                                   .w = weight->data, .out = out->data, .a_row = (int64_t)k, .a_k = 1, .w_k = weight->strides[1],
                                   .w_column = weight->strides[0], .out_row = (int64_t)n, .out_column = 1};
    if (bias) {
        product.bias = bias->data;
        product.bias_stride = bias->shape.sizes[0] == 1 ? 0 : 1;
    }
    return wick_product_run(&product, run);
}
const struct wick_op wick_op_aten_linear_out = {&wick_opmeta_aten_linear_out, NULL, run_linear};
