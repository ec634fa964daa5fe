/* backends/xnnpack/fmt/schema.h - the schema of XNNPACK payloads (identifiers XN01 and XN00); see flat/flat.h for the rows.
 *
 * The union of both generations: fields of retired features stand where they stood. A node's union name is the kind,
 * its table the layout, which kinds share. A field whose name ends in "_id" holds a serialized value id. */
#ifndef WICK_BACKENDS_XNNPACK_FMT_SCHEMA_H
#define WICK_BACKENDS_XNNPACK_FMT_SCHEMA_H

#include "flat/flat.h"

/* clang-format off */
#define XNN_TABLES(X, P)                                                                            \
    X##_TABLE(P, GRAPH, "XNNGraph")                                                                 \
        X##_FIELD(P, GRAPH, VERSION, "version", STRING, 0, 0)                                       \
        X##_FIELD(P, GRAPH, XNODES, "xnodes", TABLES, XNN_TABLE_XNODE, 0)                           \
        X##_FIELD(P, GRAPH, XVALUES, "xvalues", TABLES, XNN_TABLE_XVALUE, 0)                        \
        X##_FIELD(P, GRAPH, NUM_EXTERNS, "num_externs", SCALAR, FLAT_U32, 0)                        \
        X##_FIELD(P, GRAPH, INPUT_IDS, "input_ids", VECTOR, FLAT_U32, 0)                            \
        X##_FIELD(P, GRAPH, OUTPUT_IDS, "output_ids", VECTOR, FLAT_U32, 0)                          \
        X##_FIELD(P, GRAPH, CONSTANT_BUFFER, "constant_buffer", TABLES, XNN_TABLE_BUFFER, 0)        \
        X##_FIELD(P, GRAPH, MEM_BUFFER_SIZES, "mem_buffer_sizes", VECTOR, FLAT_U32, 0)              \
        X##_FIELD(P, GRAPH, CONSTANT_DATA, "constant_data", TABLES, XNN_TABLE_CONSTANT, 0)          \
    X##_END(P, GRAPH)                                                                               \
    X##_TABLE(P, BUFFER, "Buffer")                                                                  \
        X##_FIELD(P, BUFFER, STORAGE, "storage", VECTOR, FLAT_U8, 16)                               \
    X##_END(P, BUFFER)                                                                              \
    X##_TABLE(P, CONSTANT, "ConstantDataOffset")                                                    \
        X##_FIELD(P, CONSTANT, OFFSET, "offset", SCALAR, FLAT_U64, 0)                               \
        X##_FIELD(P, CONSTANT, SIZE, "size", SCALAR, FLAT_U64, 0)                                   \
        X##_FIELD(P, CONSTANT, NAMED_KEY, "named_key", STRING, 0, 0)                                \
    X##_END(P, CONSTANT)                                                                            \
    X##_TABLE(P, XNODE, "XNode")                                                                    \
        X##_UNION(P, XNODE, NODE, "xnode_union", XNN_UNION_NODE)                                    \
        X##_FIELD(P, XNODE, DEBUG_HANDLE, "debug_handle", SCALAR, FLAT_U32, 0)                      \
        X##_FIELD(P, XNODE, OUTPUT_MIN_MAX, "output_min_max", TABLE, XNN_TABLE_MIN_MAX, 0)          \
    X##_END(P, XNODE)                                                                               \
    X##_TABLE(P, MIN_MAX, "OutputMinMax")                                                           \
        X##_FIELD(P, MIN_MAX, OUTPUT_MIN, "output_min", SCALAR, FLAT_F32, 0)                        \
        X##_FIELD(P, MIN_MAX, OUTPUT_MAX, "output_max", SCALAR, FLAT_F32, 0)                        \
    X##_END(P, MIN_MAX)                                                                             \
    X##_TABLE(P, XVALUE, "XValue")                                                                  \
        X##_UNION(P, XVALUE, VALUE, "xvalue_union", XNN_UNION_VALUE)                                \
    X##_END(P, XVALUE)                                                                              \
    X##_TABLE(P, TENSOR, "XNNTensorValue")                                                          \
        X##_FIELD(P, TENSOR, DATATYPE, "datatype", ENUM, XNN_ENUM_DATATYPE, 0)                      \
        X##_FIELD(P, TENSOR, NUM_DIMS, "num_dims", SCALAR, FLAT_U32, 0)                             \
        X##_FIELD(P, TENSOR, DIMS, "dims", VECTOR, FLAT_U32, 0)                                     \
        X##_FIELD(P, TENSOR, CONSTANT_BUFFER_IDX, "constant_buffer_idx", SCALAR, FLAT_U32, 0)       \
        X##_FIELD(P, TENSOR, EXTERNAL_ID, "external_id", SCALAR, FLAT_U32, 0)                       \
        X##_FIELD(P, TENSOR, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                   \
        X##_FIELD(P, TENSOR, ID_OUT, "id_out", SCALAR, FLAT_U32, 0)                                 \
        X##_FIELD(P, TENSOR, DQ_DATATYPE, "dq_datatype", ENUM, XNN_ENUM_DATATYPE, 0)                \
    X##_END(P, TENSOR)                                                                              \
    X##_TABLE(P, QUANTIZED_TENSOR, "XNNQuantizedTensorValue")                                       \
        X##_FIELD(P, QUANTIZED_TENSOR, TENSOR_VALUE, "tensor_value", TABLE, XNN_TABLE_TENSOR, 0)    \
        X##_UNION(P, QUANTIZED_TENSOR, PARAMS, "quant_params", XNN_UNION_QUANT)                     \
    X##_END(P, QUANTIZED_TENSOR)                                                                    \
    X##_TABLE(P, PER_CHANNEL, "PerChannelQuant")                                                    \
        X##_FIELD(P, PER_CHANNEL, SCALE, "scale", VECTOR, FLAT_F32, 0)                              \
        X##_FIELD(P, PER_CHANNEL, CHANNEL_DIM, "channel_dim", SCALAR, FLAT_I32, 0)                  \
        X##_FIELD(P, PER_CHANNEL, SCALE_BUFFER_IDX, "scale_buffer_idx", SCALAR, FLAT_U32, 0)        \
        X##_FIELD(P, PER_CHANNEL, NUM_SCALES, "num_scales", SCALAR, FLAT_U32, 0)                    \
    X##_END(P, PER_CHANNEL)                                                                         \
    X##_TABLE(P, PER_TENSOR, "PerTensorQuant")                                                      \
        X##_FIELD(P, PER_TENSOR, SCALE, "scale", SCALAR, FLAT_F32, 0)                               \
        X##_FIELD(P, PER_TENSOR, ZERO_POINT, "zero_point", SCALAR, FLAT_I32, 0)                     \
    X##_END(P, PER_TENSOR)                                                                          \
    X##_TABLE(P, PER_TOKEN, "PerTokenDynamicQuant")                                                 \
        X##_FIELD(P, PER_TOKEN, NUM_NONBATCH_DIMS, "num_nonbatch_dims", SCALAR, FLAT_I32, 0)        \
    X##_END(P, PER_TOKEN)                                                                           \
    X##_TABLE(P, PER_GROUP, "PerChannelGroupQuant")                                                 \
        X##_FIELD(P, PER_GROUP, SCALE, "scale", VECTOR, FLAT_F32, 0)                                \
        X##_FIELD(P, PER_GROUP, CHANNEL_DIM, "channel_dim", SCALAR, FLAT_I32, 0)                    \
        X##_FIELD(P, PER_GROUP, GROUP_SIZE, "group_size", SCALAR, FLAT_I32, 0)                      \
        X##_FIELD(P, PER_GROUP, SCALE_BF16, "scale_bf16", VECTOR, FLAT_U16, 0)                      \
        X##_FIELD(P, PER_GROUP, SCALE_BUFFER_IDX, "scale_buffer_idx", SCALAR, FLAT_U32, 0)          \
        X##_FIELD(P, PER_GROUP, NUM_SCALES, "num_scales", SCALAR, FLAT_U32, 0)                      \
    X##_END(P, PER_GROUP)                                                                           \
    X##_TABLE(P, NODE_1X1, "_XNNNode1x1")                                                           \
        X##_FIELD(P, NODE_1X1, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                           \
        X##_FIELD(P, NODE_1X1, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                         \
        X##_FIELD(P, NODE_1X1, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                 \
    X##_END(P, NODE_1X1)                                                                            \
    X##_TABLE(P, NODE_2X1, "_XNNNode2x1")                                                           \
        X##_FIELD(P, NODE_2X1, INPUT1_ID, "input1_id", SCALAR, FLAT_U32, 0)                         \
        X##_FIELD(P, NODE_2X1, INPUT2_ID, "input2_id", SCALAR, FLAT_U32, 0)                         \
        X##_FIELD(P, NODE_2X1, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                         \
        X##_FIELD(P, NODE_2X1, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                 \
    X##_END(P, NODE_2X1)                                                                            \
    X##_TABLE(P, CAT, "_XNNCat")                                                                    \
        X##_FIELD(P, CAT, AXIS, "axis", SCALAR, FLAT_U32, 0)                                        \
        X##_FIELD(P, CAT, INPUT1_ID, "input1_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, CAT, INPUT2_ID, "input2_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, CAT, INPUT3_ID, "input3_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, CAT, INPUT4_ID, "input4_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, CAT, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, CAT, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                      \
        X##_FIELD(P, CAT, INPUT5_ID, "input5_id", SCALAR, FLAT_U32, 0)                              \
    X##_END(P, CAT)                                                                                 \
    X##_TABLE(P, FULLY_CONNECTED, "XNNFullyConnected")                                              \
        X##_FIELD(P, FULLY_CONNECTED, INPUT1_ID, "input1_id", SCALAR, FLAT_U32, 0)                  \
        X##_FIELD(P, FULLY_CONNECTED, FILTER_ID, "filter_id", SCALAR, FLAT_U32, 0)                  \
        X##_FIELD(P, FULLY_CONNECTED, BIAS_ID, "bias_id", SCALAR, FLAT_U32, 0)                      \
        X##_FIELD(P, FULLY_CONNECTED, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                  \
        X##_FIELD(P, FULLY_CONNECTED, FLAGS, "flags", SCALAR, FLAT_U32, 0)                          \
    X##_END(P, FULLY_CONNECTED)                                                                     \
    X##_TABLE(P, CONV, "_XNNNodeConv")                                                              \
        X##_FIELD(P, CONV, PADDING_TOP, "padding_top", SCALAR, FLAT_U32, 0)                         \
        X##_FIELD(P, CONV, PADDING_RIGHT, "padding_right", SCALAR, FLAT_U32, 0)                     \
        X##_FIELD(P, CONV, PADDING_BOTTOM, "padding_bottom", SCALAR, FLAT_U32, 0)                   \
        X##_FIELD(P, CONV, PADDING_LEFT, "padding_left", SCALAR, FLAT_U32, 0)                       \
        X##_FIELD(P, CONV, KERNEL_HEIGHT, "kernel_height", SCALAR, FLAT_U32, 0)                     \
        X##_FIELD(P, CONV, KERNEL_WIDTH, "kernel_width", SCALAR, FLAT_U32, 0)                       \
        X##_FIELD(P, CONV, SUBSAMPLING_HEIGHT, "subsampling_height", SCALAR, FLAT_U32, 0)           \
        X##_FIELD(P, CONV, SUBSAMPLING_WIDTH, "subsampling_width", SCALAR, FLAT_U32, 0)             \
        X##_FIELD(P, CONV, DILATION_HEIGHT, "dilation_height", SCALAR, FLAT_U32, 0)                 \
        X##_FIELD(P, CONV, DILATION_WIDTH, "dilation_width", SCALAR, FLAT_U32, 0)                   \
        X##_FIELD(P, CONV, GROUP_INPUT_CHANNELS, "group_input_channels", SCALAR, FLAT_U32, 0)       \
        X##_FIELD(P, CONV, GROUP_OUTPUT_CHANNELS, "group_output_channels", SCALAR, FLAT_U32, 0)     \
        X##_FIELD(P, CONV, GROUPS, "groups", SCALAR, FLAT_U32, 0)                                   \
        X##_FIELD(P, CONV, ADJUSTMENT_HEIGHT, "adjustment_height", SCALAR, FLAT_U32, 0)             \
        X##_FIELD(P, CONV, ADJUSTMENT_WIDTH, "adjustment_width", SCALAR, FLAT_U32, 0)               \
        X##_FIELD(P, CONV, INPUT1_ID, "input1_id", SCALAR, FLAT_U32, 0)                             \
        X##_FIELD(P, CONV, FILTER_ID, "filter_id", SCALAR, FLAT_U32, 0)                             \
        X##_FIELD(P, CONV, BIAS_ID, "bias_id", SCALAR, FLAT_U32, 0)                                 \
        X##_FIELD(P, CONV, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                             \
        X##_FIELD(P, CONV, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                     \
    X##_END(P, CONV)                                                                                \
    X##_TABLE(P, POOLING, "_XNNPooling2D")                                                          \
        X##_FIELD(P, POOLING, PADDING_TOP, "padding_top", SCALAR, FLAT_U32, 0)                      \
        X##_FIELD(P, POOLING, PADDING_RIGHT, "padding_right", SCALAR, FLAT_U32, 0)                  \
        X##_FIELD(P, POOLING, PADDING_BOTTOM, "padding_bottom", SCALAR, FLAT_U32, 0)                \
        X##_FIELD(P, POOLING, PADDING_LEFT, "padding_left", SCALAR, FLAT_U32, 0)                    \
        X##_FIELD(P, POOLING, POOLING_HEIGHT, "pooling_height", SCALAR, FLAT_U32, 0)                \
        X##_FIELD(P, POOLING, POOLING_WIDTH, "pooling_width", SCALAR, FLAT_U32, 0)                  \
        X##_FIELD(P, POOLING, STRIDE_HEIGHT, "stride_height", SCALAR, FLAT_U32, 0)                  \
        X##_FIELD(P, POOLING, STRIDE_WIDTH, "stride_width", SCALAR, FLAT_U32, 0)                    \
        X##_FIELD(P, POOLING, DILATION_HEIGHT, "dilation_height", SCALAR, FLAT_U32, 0)              \
        X##_FIELD(P, POOLING, DILATION_WIDTH, "dilation_width", SCALAR, FLAT_U32, 0)                \
        X##_FIELD(P, POOLING, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                            \
        X##_FIELD(P, POOLING, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                          \
        X##_FIELD(P, POOLING, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                  \
    X##_END(P, POOLING)                                                                             \
    X##_TABLE(P, ARG_MAX_POOLING, "XNNArgMaxPooling2d")                                             \
        X##_FIELD(P, ARG_MAX_POOLING, PADDING_TOP, "padding_top", SCALAR, FLAT_U32, 0)              \
        X##_FIELD(P, ARG_MAX_POOLING, PADDING_RIGHT, "padding_right", SCALAR, FLAT_U32, 0)          \
        X##_FIELD(P, ARG_MAX_POOLING, PADDING_BOTTOM, "padding_bottom", SCALAR, FLAT_U32, 0)        \
        X##_FIELD(P, ARG_MAX_POOLING, PADDING_LEFT, "padding_left", SCALAR, FLAT_U32, 0)            \
        X##_FIELD(P, ARG_MAX_POOLING, POOLING_HEIGHT, "pooling_height", SCALAR, FLAT_U32, 0)        \
        X##_FIELD(P, ARG_MAX_POOLING, POOLING_WIDTH, "pooling_width", SCALAR, FLAT_U32, 0)          \
        X##_FIELD(P, ARG_MAX_POOLING, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                    \
        X##_FIELD(P, ARG_MAX_POOLING, OUTPUT_VALUE_ID, "output_value_id", SCALAR, FLAT_U32, 0)      \
        X##_FIELD(P, ARG_MAX_POOLING, OUTPUT_INDEX_ID, "output_index_id", SCALAR, FLAT_U32, 0)      \
        X##_FIELD(P, ARG_MAX_POOLING, FLAGS, "flags", SCALAR, FLAT_U32, 0)                          \
    X##_END(P, ARG_MAX_POOLING)                                                                     \
    X##_TABLE(P, TRANSPOSE, "XNNStaticTranspose")                                                   \
        X##_FIELD(P, TRANSPOSE, NUM_DIMS, "num_dims", SCALAR, FLAT_U32, 0)                          \
        X##_FIELD(P, TRANSPOSE, PERM, "perm", VECTOR, FLAT_U32, 0)                                  \
        X##_FIELD(P, TRANSPOSE, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                          \
        X##_FIELD(P, TRANSPOSE, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                        \
        X##_FIELD(P, TRANSPOSE, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                \
    X##_END(P, TRANSPOSE)                                                                           \
    X##_TABLE(P, RESHAPE, "XNNStaticReshape")                                                       \
        X##_FIELD(P, RESHAPE, NUM_DIMS, "num_dims", SCALAR, FLAT_U32, 0)                            \
        X##_FIELD(P, RESHAPE, NEW_SHAPE, "new_shape", VECTOR, FLAT_U32, 0)                          \
        X##_FIELD(P, RESHAPE, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                            \
        X##_FIELD(P, RESHAPE, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                          \
        X##_FIELD(P, RESHAPE, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                  \
    X##_END(P, RESHAPE)                                                                             \
    X##_TABLE(P, SLICE, "XNNStaticSlice")                                                           \
        X##_FIELD(P, SLICE, NUM_DIMS, "num_dims", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, SLICE, OFFSETS, "offsets", VECTOR, FLAT_U32, 0)                                \
        X##_FIELD(P, SLICE, SIZES, "sizes", VECTOR, FLAT_U32, 0)                                    \
        X##_FIELD(P, SLICE, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, SLICE, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                            \
        X##_FIELD(P, SLICE, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                    \
    X##_END(P, SLICE)                                                                               \
    X##_TABLE(P, PAD, "XNNStaticConstantPad")                                                       \
        X##_FIELD(P, PAD, PRE_PADDINGS, "pre_paddings", VECTOR, FLAT_U32, 0)                        \
        X##_FIELD(P, PAD, POST_PADDINGS, "post_paddings", VECTOR, FLAT_U32, 0)                      \
        X##_FIELD(P, PAD, PADDING_VALUE, "padding_value", SCALAR, FLAT_F32, 0)                      \
        X##_FIELD(P, PAD, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                                \
        X##_FIELD(P, PAD, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, PAD, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                      \
    X##_END(P, PAD)                                                                                 \
    X##_TABLE(P, RESIZE, "XNNStaticResizeBilinear2D")                                               \
        X##_FIELD(P, RESIZE, NEW_HEIGHT, "new_height", SCALAR, FLAT_U32, 0)                         \
        X##_FIELD(P, RESIZE, NEW_WIDTH, "new_width", SCALAR, FLAT_U32, 0)                           \
        X##_FIELD(P, RESIZE, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                             \
        X##_FIELD(P, RESIZE, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                           \
        X##_FIELD(P, RESIZE, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                   \
    X##_END(P, RESIZE)                                                                              \
    X##_TABLE(P, ELU, "XNNELU")                                                                     \
        X##_FIELD(P, ELU, ALPHA, "alpha", SCALAR, FLAT_F32, 0)                                      \
        X##_FIELD(P, ELU, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                                \
        X##_FIELD(P, ELU, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, ELU, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                      \
    X##_END(P, ELU)                                                                                 \
    X##_TABLE(P, LEAKY_RELU, "XNNLeakyReLU")                                                        \
        X##_FIELD(P, LEAKY_RELU, NEGATIVE_SLOPE, "negative_slope", SCALAR, FLAT_F32, 0)             \
        X##_FIELD(P, LEAKY_RELU, INPUT_ID, "input_id", SCALAR, FLAT_U32, 0)                         \
        X##_FIELD(P, LEAKY_RELU, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                       \
        X##_FIELD(P, LEAKY_RELU, FLAGS, "flags", SCALAR, FLAT_U32, 0)                               \
    X##_END(P, LEAKY_RELU)                                                                          \
    X##_TABLE(P, ATTENTION, "XNNScaledDotProductAttention")                                         \
        X##_FIELD(P, ATTENTION, QUERY_ID, "query_id", SCALAR, FLAT_U32, 0)                          \
        X##_FIELD(P, ATTENTION, KEY_ID, "key_id", SCALAR, FLAT_U32, 0)                              \
        X##_FIELD(P, ATTENTION, VALUE_ID, "value_id", SCALAR, FLAT_U32, 0)                          \
        X##_FIELD(P, ATTENTION, SCALE_ID, "scale_id", SCALAR, FLAT_U32, 0)                          \
        X##_FIELD(P, ATTENTION, MASK_ID, "mask_id", SCALAR, FLAT_U32, 0)                            \
        X##_FIELD(P, ATTENTION, OUTPUT_ID, "output_id", SCALAR, FLAT_U32, 0)                        \
        X##_FIELD(P, ATTENTION, FLAGS, "flags", SCALAR, FLAT_U32, 0)                                \
    X##_END(P, ATTENTION)

#define XNN_UNIONS(X, P)                                                                            \
    X##_CHOICE(P, NODE, "XNodeUnion")                                                               \
        X##_MEMBER(P, NODE, ADD, "XNNAdd", XNN_TABLE_NODE_2X1)                                      \
        X##_MEMBER(P, NODE, FULLY_CONNECTED, "XNNFullyConnected", XNN_TABLE_FULLY_CONNECTED)        \
        X##_MEMBER(P, NODE, SOFTMAX, "XNNSoftmax", XNN_TABLE_NODE_1X1)                              \
        X##_MEMBER(P, NODE, SIGMOID, "XNNSigmoid", XNN_TABLE_NODE_1X1)                              \
        X##_MEMBER(P, NODE, STATIC_TRANSPOSE, "XNNStaticTranspose", XNN_TABLE_TRANSPOSE)            \
        X##_MEMBER(P, NODE, CLAMP, "XNNClamp", XNN_TABLE_NODE_1X1)                                  \
        X##_MEMBER(P, NODE, CONV_2D, "XNNConv2d", XNN_TABLE_CONV)                                   \
        X##_MEMBER(P, NODE, DIV, "XNNDiv", XNN_TABLE_NODE_2X1)                                      \
        X##_MEMBER(P, NODE, STATIC_RESIZE_BILINEAR_2D, "XNNStaticResizeBilinear2D", XNN_TABLE_RESIZE) \
        X##_MEMBER(P, NODE, STATIC_CONSTANT_PAD, "XNNStaticConstantPad", XNN_TABLE_PAD)             \
        X##_MEMBER(P, NODE, AVG_POOLING_2D, "XNNAvgPooling2d", XNN_TABLE_POOLING)                   \
        X##_MEMBER(P, NODE, MINIMUM, "XNNMinimum", XNN_TABLE_NODE_2X1)                              \
        X##_MEMBER(P, NODE, DEPTHWISE_CONV_2D, "XNNDepthwiseConv2d", XNN_TABLE_CONV)                \
        X##_MEMBER(P, NODE, MAX_POOLING_2D, "XNNMaxPooling2d", XNN_TABLE_POOLING)                   \
        X##_MEMBER(P, NODE, MULTIPLY, "XNNMultiply", XNN_TABLE_NODE_2X1)                            \
        X##_MEMBER(P, NODE, SUBTRACT, "XNNSubtract", XNN_TABLE_NODE_2X1)                            \
        X##_MEMBER(P, NODE, FLOOR, "XNNFloor", XNN_TABLE_NODE_1X1)                                  \
        X##_MEMBER(P, NODE, CONVERT, "XNNConvert", XNN_TABLE_NODE_1X1)                              \
        X##_MEMBER(P, NODE, GLOBAL_AVG_POOLING_2D, "XNNGlobalAvgPooling2d", XNN_TABLE_NODE_1X1)     \
        X##_MEMBER(P, NODE, STATIC_RESHAPE, "XNNStaticReshape", XNN_TABLE_RESHAPE)                  \
        X##_MEMBER(P, NODE, ARG_MAX_POOLING_2D, "XNNArgMaxPooling2d", XNN_TABLE_ARG_MAX_POOLING)    \
        X##_MEMBER(P, NODE, SQUARE_ROOT, "XNNSquareRoot", XNN_TABLE_NODE_1X1)                       \
        X##_MEMBER(P, NODE, CEILING, "XNNCeiling", XNN_TABLE_NODE_1X1)                              \
        X##_MEMBER(P, NODE, HARDSWISH, "XNNHardswish", XNN_TABLE_NODE_1X1)                          \
        X##_MEMBER(P, NODE, LEAKY_RELU, "XNNLeakyReLU", XNN_TABLE_LEAKY_RELU)                       \
        X##_MEMBER(P, NODE, MAXIMUM, "XNNMaximum", XNN_TABLE_NODE_2X1)                              \
        X##_MEMBER(P, NODE, NEGATE, "XNNNegate", XNN_TABLE_NODE_1X1)                                \
        X##_MEMBER(P, NODE, SQUARE, "XNNSquare", XNN_TABLE_NODE_1X1)                                \
        X##_MEMBER(P, NODE, ELU, "XNNELU", XNN_TABLE_ELU)                                           \
        X##_MEMBER(P, NODE, ABS, "XNNAbs", XNN_TABLE_NODE_1X1)                                      \
        X##_MEMBER(P, NODE, PRELU, "XNNPReLU", XNN_TABLE_NODE_2X1)                                  \
        X##_MEMBER(P, NODE, CONCATENATE_2, "XNNConcatenate2", XNN_TABLE_CAT)                        \
        X##_MEMBER(P, NODE, CONCATENATE_3, "XNNConcatenate3", XNN_TABLE_CAT)                        \
        X##_MEMBER(P, NODE, CONCATENATE_4, "XNNConcatenate4", XNN_TABLE_CAT)                        \
        X##_MEMBER(P, NODE, STATIC_SLICE, "XNNStaticSlice", XNN_TABLE_SLICE)                        \
        X##_MEMBER(P, NODE, SCALED_DOT_PRODUCT_ATTENTION, "XNNScaledDotProductAttention", XNN_TABLE_ATTENTION) \
        X##_MEMBER(P, NODE, BATCH_MATRIX_MULTIPLY, "XNNBatchMatrixMultiply", XNN_TABLE_NODE_2X1)    \
        X##_MEMBER(P, NODE, CONCATENATE_5, "XNNConcatenate5", XNN_TABLE_CAT)                        \
        X##_MEMBER(P, NODE, CONV_TRANSPOSE_2D, "XNNConvTranspose2d", XNN_TABLE_CONV)                \
        X##_MEMBER(P, NODE, RECIPROCAL_SQUARE_ROOT, "XNNReciprocalSquareRoot", XNN_TABLE_NODE_1X1)  \
        X##_MEMBER(P, NODE, LOG, "XNNLog", XNN_TABLE_NODE_1X1)                                      \
        X##_MEMBER(P, NODE, GELU, "XNNGelu", XNN_TABLE_NODE_1X1)                                    \
        X##_MEMBER(P, NODE, TANH, "XNNTanh", XNN_TABLE_NODE_1X1)                                    \
        X##_MEMBER(P, NODE, EXP, "XNNExp", XNN_TABLE_NODE_1X1)                                      \
        X##_MEMBER(P, NODE, SIN, "XNNSin", XNN_TABLE_NODE_1X1)                                      \
        X##_MEMBER(P, NODE, COPY, "XNNCopy", XNN_TABLE_NODE_1X1)                                    \
        X##_MEMBER(P, NODE, COS, "XNNCos", XNN_TABLE_NODE_1X1)                                      \
    X##_CHOICE_END(P, NODE)                                                                         \
    X##_CHOICE(P, VALUE, "XValueUnion")                                                             \
        X##_MEMBER(P, VALUE, TENSOR, "XNNTensorValue", XNN_TABLE_TENSOR)                            \
        X##_MEMBER(P, VALUE, QUANTIZED_TENSOR, "XNNQuantizedTensorValue", XNN_TABLE_QUANTIZED_TENSOR) \
    X##_CHOICE_END(P, VALUE)                                                                        \
    X##_CHOICE(P, QUANT, "XNNQuantParams")                                                          \
        X##_MEMBER(P, QUANT, PER_CHANNEL, "PerChannelQuant", XNN_TABLE_PER_CHANNEL)                 \
        X##_MEMBER(P, QUANT, PER_TENSOR, "PerTensorQuant", XNN_TABLE_PER_TENSOR)                    \
        X##_MEMBER(P, QUANT, PER_TOKEN, "PerTokenDynamicQuant", XNN_TABLE_PER_TOKEN)                \
        X##_MEMBER(P, QUANT, PER_GROUP, "PerChannelGroupQuant", XNN_TABLE_PER_GROUP)                \
    X##_CHOICE_END(P, QUANT)

#define XNN_ENUMS(X, P)                                                                             \
    X##_ENUM(P, DATATYPE, "XNNDatatype", FLAT_I16)                                                  \
        X##_VALUE(P, DATATYPE, INVALID, "xnn_datatype_invalid", 0)                                  \
        X##_VALUE(P, DATATYPE, FP32, "xnn_datatype_fp32", 1)                                        \
        X##_VALUE(P, DATATYPE, FP16, "xnn_datatype_fp16", 2)                                        \
        X##_VALUE(P, DATATYPE, QINT8, "xnn_datatype_qint8", 3)                                      \
        X##_VALUE(P, DATATYPE, QUINT8, "xnn_datatype_quint8", 4)                                    \
        X##_VALUE(P, DATATYPE, QINT32, "xnn_datatype_qint32", 5)                                    \
        X##_VALUE(P, DATATYPE, QCINT8, "xnn_datatype_qcint8", 6)                                    \
        X##_VALUE(P, DATATYPE, QCINT32, "xnn_datatype_qcint32", 7)                                  \
        X##_VALUE(P, DATATYPE, QCINT4, "xnn_datatype_qcint4", 8)                                    \
        X##_VALUE(P, DATATYPE, QDINT8, "xnn_datatype_qdint8", 9)                                    \
        X##_VALUE(P, DATATYPE, QBINT4, "xnn_datatype_qbint4", 10)                                   \
        X##_VALUE(P, DATATYPE, QPINT8, "xnn_datatype_qpint8", 11)                                   \
        X##_VALUE(P, DATATYPE, INT32, "xnn_datatype_int32", 12)                                     \
        X##_VALUE(P, DATATYPE, PFP32, "xnn_datatype_pfp32", 13)                                     \
        X##_VALUE(P, DATATYPE, BF16, "xnn_datatype_bf16", 14)                                       \
    X##_ENUM_END(P, DATATYPE)
/* clang-format on */

enum { XNN_TABLES(FLAT_INDEX, XNN) XNN_TABLE_COUNT };
enum { XNN_UNIONS(FLAT_INDEX, XNN) XNN_UNION_COUNT };
enum { XNN_ENUMS(FLAT_INDEX, XNN) XNN_ENUM_COUNT };
XNN_TABLES(FLAT_IDS, XNN)
XNN_UNIONS(FLAT_IDS, XNN)
XNN_ENUMS(FLAT_IDS, XNN)

extern const struct wick_flat_schema wick_xnn_schema;

#endif
