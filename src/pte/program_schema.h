/* pte/program_schema.h - the schema of .pte programs (identifier ET12); see flat/flat.h for the rows. */
#ifndef WICK_PTE_PROGRAM_SCHEMA_H
#define WICK_PTE_PROGRAM_SCHEMA_H

#include "flat/flat.h"
#include "tensor/dtype.h"

/* clang-format off */
#define PTE_TABLES(X, P)                                                                           \
    X##_TABLE(P, PROGRAM, "Program")                                                               \
        X##_FIELD(P, PROGRAM, VERSION, "version", SCALAR, FLAT_U32, 0)                             \
        X##_FIELD(P, PROGRAM, EXECUTION_PLAN, "execution_plan", TABLES, PTE_TABLE_PLAN, 0)         \
        X##_FIELD(P, PROGRAM, CONSTANT_BUFFER, "constant_buffer", TABLES, PTE_TABLE_BUFFER, 0)     \
        X##_FIELD(P, PROGRAM, BACKEND_DELEGATE_DATA, "backend_delegate_data", TABLES, PTE_TABLE_INLINE_DATA, 0) \
        X##_FIELD(P, PROGRAM, SEGMENTS, "segments", TABLES, PTE_TABLE_SEGMENT, 0)                  \
        X##_FIELD(P, PROGRAM, CONSTANT_SEGMENT, "constant_segment", TABLE, PTE_TABLE_SUBSEGMENTS, 0) \
        X##_FIELD(P, PROGRAM, MUTABLE_DATA_SEGMENTS, "mutable_data_segments", TABLES, PTE_TABLE_SUBSEGMENTS, 0) \
        X##_FIELD(P, PROGRAM, NAMED_DATA, "named_data", TABLES, PTE_TABLE_NAMED_DATA, 0)           \
    X##_END(P, PROGRAM)                                                                            \
    X##_TABLE(P, PLAN, "ExecutionPlan")                                                            \
        X##_FIELD(P, PLAN, NAME, "name", STRING, 0, 0)                                             \
        X##_FIELD(P, PLAN, CONTAINER_META_TYPE, "container_meta_type", TABLE, PTE_TABLE_CONTAINER, 0) \
        X##_FIELD(P, PLAN, VALUES, "values", TABLES, PTE_TABLE_VALUE, 0)                           \
        X##_FIELD(P, PLAN, INPUTS, "inputs", VECTOR, FLAT_I32, 0)                                  \
        X##_FIELD(P, PLAN, OUTPUTS, "outputs", VECTOR, FLAT_I32, 0)                                \
        X##_FIELD(P, PLAN, CHAINS, "chains", TABLES, PTE_TABLE_CHAIN, 0)                           \
        X##_FIELD(P, PLAN, OPERATORS, "operators", TABLES, PTE_TABLE_OPERATOR, 0)                  \
        X##_FIELD(P, PLAN, DELEGATES, "delegates", TABLES, PTE_TABLE_DELEGATE, 0)                  \
        X##_FIELD(P, PLAN, BUFFER_SIZES, "non_const_buffer_sizes", VECTOR, FLAT_I64, 0)            \
        X##_FIELD(P, PLAN, BUFFER_DEVICES, "non_const_buffer_device", TABLES, PTE_TABLE_BUFFER_DEVICE, 0) \
    X##_END(P, PLAN)                                                                               \
    X##_TABLE(P, BUFFER_DEVICE, "NonConstBufferDevice")                                            \
        X##_FIELD(P, BUFFER_DEVICE, BUFFER_IDX, "buffer_idx", SCALAR, FLAT_I32, 0)                 \
        X##_FIELD(P, BUFFER_DEVICE, DEVICE_TYPE, "device_type", ENUM, PTE_ENUM_DEVICE, 0)          \
        X##_FIELD(P, BUFFER_DEVICE, DEVICE_INDEX, "device_index", SCALAR, FLAT_I8, 0)              \
    X##_END(P, BUFFER_DEVICE)                                                                      \
    X##_TABLE(P, CONTAINER, "ContainerMetadata")                                                   \
        X##_FIELD(P, CONTAINER, INP, "encoded_inp_str", STRING, 0, 0)                              \
        X##_FIELD(P, CONTAINER, OUT, "encoded_out_str", STRING, 0, 0)                              \
    X##_END(P, CONTAINER)                                                                          \
    X##_TABLE(P, CHAIN, "Chain")                                                                   \
        X##_FIELD(P, CHAIN, INPUTS, "inputs", VECTOR, FLAT_I32, 0)                                 \
        X##_FIELD(P, CHAIN, OUTPUTS, "outputs", VECTOR, FLAT_I32, 0)                               \
        X##_FIELD(P, CHAIN, INSTRUCTIONS, "instructions", TABLES, PTE_TABLE_INSTRUCTION, 0)        \
        X##_FIELD(P, CHAIN, STACKTRACE, "stacktrace", TABLES, PTE_TABLE_FRAME_LIST, 0)             \
    X##_END(P, CHAIN)                                                                              \
    X##_TABLE(P, INSTRUCTION, "Instruction")                                                       \
        X##_UNION(P, INSTRUCTION, ARGS, "instr_args", PTE_UNION_INSTR)                             \
    X##_END(P, INSTRUCTION)                                                                        \
    X##_TABLE(P, KERNEL_CALL, "KernelCall")                                                        \
        X##_FIELD(P, KERNEL_CALL, OP_INDEX, "op_index", SCALAR, FLAT_I32, 0)                       \
        X##_FIELD(P, KERNEL_CALL, ARGS, "args", VECTOR, FLAT_I32, 0)                               \
    X##_END(P, KERNEL_CALL)                                                                        \
    X##_TABLE(P, DELEGATE_CALL, "DelegateCall")                                                    \
        X##_FIELD(P, DELEGATE_CALL, DELEGATE_INDEX, "delegate_index", SCALAR, FLAT_I32, 0)         \
        X##_FIELD(P, DELEGATE_CALL, ARGS, "args", VECTOR, FLAT_I32, 0)                             \
    X##_END(P, DELEGATE_CALL)                                                                      \
    X##_TABLE(P, MOVE_CALL, "MoveCall")                                                            \
        X##_FIELD(P, MOVE_CALL, FROM, "move_from", SCALAR, FLAT_I32, 0)                            \
        X##_FIELD(P, MOVE_CALL, TO, "move_to", SCALAR, FLAT_I32, 0)                                \
    X##_END(P, MOVE_CALL)                                                                          \
    X##_TABLE(P, JUMP_FALSE, "JumpFalseCall")                                                      \
        X##_FIELD(P, JUMP_FALSE, COND, "cond_value_index", SCALAR, FLAT_I32, 0)                    \
        X##_FIELD(P, JUMP_FALSE, DESTINATION, "destination_instruction", SCALAR, FLAT_I32, 0)      \
    X##_END(P, JUMP_FALSE)                                                                         \
    X##_TABLE(P, FREE_CALL, "FreeCall")                                                            \
        X##_FIELD(P, FREE_CALL, VALUE, "value_index", SCALAR, FLAT_I32, 0)                         \
    X##_END(P, FREE_CALL)                                                                          \
    X##_TABLE(P, FRAME_LIST, "FrameList")                                                          \
        X##_FIELD(P, FRAME_LIST, ITEMS, "items", TABLES, PTE_TABLE_FRAME, 0)                       \
    X##_END(P, FRAME_LIST)                                                                         \
    X##_TABLE(P, FRAME, "Frame")                                                                   \
        X##_FIELD(P, FRAME, FILENAME, "filename", STRING, 0, 0)                                    \
        X##_FIELD(P, FRAME, LINENO, "lineno", SCALAR, FLAT_I32, 0)                                 \
        X##_FIELD(P, FRAME, NAME, "name", STRING, 0, 0)                                            \
        X##_FIELD(P, FRAME, CONTEXT, "context", STRING, 0, 0)                                      \
    X##_END(P, FRAME)                                                                              \
    X##_TABLE(P, OPERATOR, "Operator")                                                             \
        X##_FIELD(P, OPERATOR, NAME, "name", STRING, 0, 0)                                         \
        X##_FIELD(P, OPERATOR, OVERLOAD, "overload", STRING, 0, 0)                                 \
    X##_END(P, OPERATOR)                                                                           \
    X##_TABLE(P, DELEGATE, "BackendDelegate")                                                      \
        X##_FIELD(P, DELEGATE, ID, "id", STRING, 0, 0)                                             \
        X##_FIELD(P, DELEGATE, PROCESSED, "processed", TABLE, PTE_TABLE_DATA_REFERENCE, 0)         \
        X##_FIELD(P, DELEGATE, COMPILE_SPECS, "compile_specs", TABLES, PTE_TABLE_COMPILE_SPEC, 0)  \
    X##_END(P, DELEGATE)                                                                           \
    X##_TABLE(P, DATA_REFERENCE, "BackendDelegateDataReference")                                   \
        X##_FIELD(P, DATA_REFERENCE, LOCATION, "location", ENUM, PTE_ENUM_DATA_LOCATION, 0)        \
        X##_FIELD(P, DATA_REFERENCE, INDEX, "index", SCALAR, FLAT_U32, 0)                          \
    X##_END(P, DATA_REFERENCE)                                                                     \
    X##_TABLE(P, COMPILE_SPEC, "CompileSpec")                                                      \
        X##_FIELD(P, COMPILE_SPEC, KEY, "key", STRING, 0, 0)                                       \
        X##_FIELD(P, COMPILE_SPEC, VALUE, "value", VECTOR, FLAT_U8, 0)                             \
    X##_END(P, COMPILE_SPEC)                                                                       \
    X##_TABLE(P, BUFFER, "Buffer")                                                                 \
        X##_FIELD(P, BUFFER, STORAGE, "storage", VECTOR, FLAT_U8, 16)                              \
    X##_END(P, BUFFER)                                                                             \
    X##_TABLE(P, INLINE_DATA, "BackendDelegateInlineData")                                         \
        X##_FIELD(P, INLINE_DATA, DATA, "data", VECTOR, FLAT_U8, 16)                               \
    X##_END(P, INLINE_DATA)                                                                        \
    X##_TABLE(P, SEGMENT, "DataSegment")                                                           \
        X##_FIELD(P, SEGMENT, OFFSET, "offset", SCALAR, FLAT_U64, 0)                               \
        X##_FIELD(P, SEGMENT, SIZE, "size", SCALAR, FLAT_U64, 0)                                   \
    X##_END(P, SEGMENT)                                                                            \
    X##_TABLE(P, SUBSEGMENTS, "SubsegmentOffsets")                                                 \
        X##_FIELD(P, SUBSEGMENTS, SEGMENT_INDEX, "segment_index", SCALAR, FLAT_U32, 0)             \
        X##_FIELD(P, SUBSEGMENTS, OFFSETS, "offsets", VECTOR, FLAT_U64, 0)                         \
    X##_END(P, SUBSEGMENTS)                                                                        \
    X##_TABLE(P, NAMED_DATA, "NamedData")                                                          \
        X##_FIELD(P, NAMED_DATA, KEY, "key", STRING, 0, 0)                                         \
        X##_FIELD(P, NAMED_DATA, SEGMENT_INDEX, "segment_index", SCALAR, FLAT_U32, 0)              \
    X##_END(P, NAMED_DATA)                                                                         \
    X##_TABLE(P, VALUE, "EValue")                                                                  \
        X##_UNION(P, VALUE, VAL, "val", PTE_UNION_KIND)                                            \
    X##_END(P, VALUE)                                                                              \
    X##_TABLE(P, NIL, "Null")                                                                      \
    X##_END(P, NIL)                                                                                \
    X##_TABLE(P, INT, "Int")                                                                       \
        X##_FIELD(P, INT, VAL, "int_val", SCALAR, FLAT_I64, 0)                                     \
    X##_END(P, INT)                                                                                \
    X##_TABLE(P, BOOLEAN, "Bool")                                                                  \
        X##_FIELD(P, BOOLEAN, VAL, "bool_val", SCALAR, FLAT_BOOL, 0)                               \
    X##_END(P, BOOLEAN)                                                                            \
    X##_TABLE(P, DOUBLE, "Double")                                                                 \
        X##_FIELD(P, DOUBLE, VAL, "double_val", SCALAR, FLAT_F64, 0)                               \
    X##_END(P, DOUBLE)                                                                             \
    X##_TABLE(P, STRING, "String")                                                                 \
        X##_FIELD(P, STRING, VAL, "string_val", STRING, 0, 0)                                      \
    X##_END(P, STRING)                                                                             \
    X##_TABLE(P, INT_LIST, "IntList")                                                              \
        X##_FIELD(P, INT_LIST, ITEMS, "items", VECTOR, FLAT_I64, 0)                                \
    X##_END(P, INT_LIST)                                                                           \
    X##_TABLE(P, DOUBLE_LIST, "DoubleList")                                                        \
        X##_FIELD(P, DOUBLE_LIST, ITEMS, "items", VECTOR, FLAT_F64, 0)                             \
    X##_END(P, DOUBLE_LIST)                                                                        \
    X##_TABLE(P, BOOL_LIST, "BoolList")                                                            \
        X##_FIELD(P, BOOL_LIST, ITEMS, "items", VECTOR, FLAT_BOOL, 0)                              \
    X##_END(P, BOOL_LIST)                                                                          \
    X##_TABLE(P, TENSOR_LIST, "TensorList")                                                        \
        X##_FIELD(P, TENSOR_LIST, ITEMS, "items", VECTOR, FLAT_I32, 0)                             \
    X##_END(P, TENSOR_LIST)                                                                        \
    X##_TABLE(P, OPTIONAL_TENSOR_LIST, "OptionalTensorList")                                       \
        X##_FIELD(P, OPTIONAL_TENSOR_LIST, ITEMS, "items", VECTOR, FLAT_I32, 0)                    \
    X##_END(P, OPTIONAL_TENSOR_LIST)                                                               \
    X##_TABLE(P, TENSOR, "Tensor")                                                                 \
        X##_FIELD(P, TENSOR, SCALAR_TYPE, "scalar_type", ENUM, PTE_ENUM_SCALAR_TYPE, 0)            \
        X##_FIELD(P, TENSOR, STORAGE_OFFSET, "storage_offset", SCALAR, FLAT_I32, 0)                \
        X##_FIELD(P, TENSOR, SIZES, "sizes", VECTOR, FLAT_I32, 0)                                  \
        X##_FIELD(P, TENSOR, DIM_ORDER, "dim_order", VECTOR, FLAT_U8, 0)                           \
        X##_FIELD(P, TENSOR, REQUIRES_GRAD, "requires_grad", SCALAR, FLAT_BOOL, 0)                 \
        X##_FIELD(P, TENSOR, DATA_BUFFER_IDX, "data_buffer_idx", SCALAR, FLAT_U32, 0)              \
        X##_FIELD(P, TENSOR, ALLOCATION_INFO, "allocation_info", TABLE, PTE_TABLE_ALLOCATION, 0)   \
        X##_FIELD(P, TENSOR, LAYOUT, "layout", SCALAR, FLAT_I8, 0)                                 \
        X##_FIELD(P, TENSOR, SHAPE_DYNAMISM, "shape_dynamism", ENUM, PTE_ENUM_DYNAMISM, 0)         \
        X##_FIELD(P, TENSOR, EXTRA_TENSOR_INFO, "extra_tensor_info", TABLE, PTE_TABLE_EXTRA, 0)    \
    X##_END(P, TENSOR)                                                                             \
    X##_TABLE(P, ALLOCATION, "AllocationDetails")                                                  \
        X##_FIELD(P, ALLOCATION, MEMORY_ID, "memory_id", SCALAR, FLAT_U32, 0)                      \
        X##_FIELD(P, ALLOCATION, OFFSET_LOW, "memory_offset_low", SCALAR, FLAT_U32, 0)             \
        X##_FIELD(P, ALLOCATION, OFFSET_HIGH, "memory_offset_high", SCALAR, FLAT_U32, 0)           \
    X##_END(P, ALLOCATION)                                                                         \
    X##_TABLE(P, EXTRA, "ExtraTensorInfo")                                                         \
        X##_FIELD(P, EXTRA, MUTABLE_SEGMENTS_IDX, "mutable_data_segments_idx", SCALAR, FLAT_U64, 0) \
        X##_FIELD(P, EXTRA, NAME, "fully_qualified_name", STRING, 0, 0)                            \
        X##_FIELD(P, EXTRA, LOCATION, "location", ENUM, PTE_ENUM_TENSOR_LOCATION, 0)               \
        X##_FIELD(P, EXTRA, DEVICE_TYPE, "device_type", ENUM, PTE_ENUM_DEVICE, 0)                  \
        X##_FIELD(P, EXTRA, DEVICE_INDEX, "device_index", SCALAR, FLAT_I8, 0)                      \
    X##_END(P, EXTRA)

#define PTE_UNIONS(X, P)                                                                           \
    X##_CHOICE(P, KIND, "KernelTypes")                                                             \
        X##_MEMBER(P, KIND, NIL, "Null", PTE_TABLE_NIL)                                            \
        X##_MEMBER(P, KIND, INT, "Int", PTE_TABLE_INT)                                             \
        X##_MEMBER(P, KIND, BOOLEAN, "Bool", PTE_TABLE_BOOLEAN)                                    \
        X##_MEMBER(P, KIND, DOUBLE, "Double", PTE_TABLE_DOUBLE)                                    \
        X##_MEMBER(P, KIND, TENSOR, "Tensor", PTE_TABLE_TENSOR)                                    \
        X##_MEMBER(P, KIND, STRING, "String", PTE_TABLE_STRING)                                    \
        X##_MEMBER(P, KIND, INT_LIST, "IntList", PTE_TABLE_INT_LIST)                               \
        X##_MEMBER(P, KIND, DOUBLE_LIST, "DoubleList", PTE_TABLE_DOUBLE_LIST)                      \
        X##_MEMBER(P, KIND, BOOL_LIST, "BoolList", PTE_TABLE_BOOL_LIST)                            \
        X##_MEMBER(P, KIND, TENSOR_LIST, "TensorList", PTE_TABLE_TENSOR_LIST)                      \
        X##_MEMBER(P, KIND, OPTIONAL_TENSOR_LIST, "OptionalTensorList", PTE_TABLE_OPTIONAL_TENSOR_LIST) \
    X##_CHOICE_END(P, KIND)                                                                        \
    X##_CHOICE(P, INSTR, "InstructionArguments")                                                   \
        X##_MEMBER(P, INSTR, KERNEL_CALL, "KernelCall", PTE_TABLE_KERNEL_CALL)                     \
        X##_MEMBER(P, INSTR, DELEGATE_CALL, "DelegateCall", PTE_TABLE_DELEGATE_CALL)               \
        X##_MEMBER(P, INSTR, MOVE_CALL, "MoveCall", PTE_TABLE_MOVE_CALL)                           \
        X##_MEMBER(P, INSTR, JUMP_FALSE, "JumpFalseCall", PTE_TABLE_JUMP_FALSE)                    \
        X##_MEMBER(P, INSTR, FREE_CALL, "FreeCall", PTE_TABLE_FREE_CALL)                           \
    X##_CHOICE_END(P, INSTR)

#define PTE_ENUMS(X, P)                                                                            \
    X##_ENUM(P, SCALAR_TYPE, "ScalarType", FLAT_I8)                                                \
        WICK_DTYPE_LIST(X##_DTYPE)                                                                 \
    X##_ENUM_END(P, SCALAR_TYPE)                                                                   \
    X##_ENUM(P, DYNAMISM, "TensorShapeDynamism", FLAT_I8)                                          \
        X##_VALUE(P, DYNAMISM, STATIC, "STATIC", 0)                                                \
        X##_VALUE(P, DYNAMISM, BOUND, "DYNAMIC_BOUND", 1)                                          \
        X##_VALUE(P, DYNAMISM, UNBOUND, "DYNAMIC_UNBOUND", 2)                                      \
    X##_ENUM_END(P, DYNAMISM)                                                                      \
    X##_ENUM(P, TENSOR_LOCATION, "TensorDataLocation", FLAT_I8)                                    \
        X##_VALUE(P, TENSOR_LOCATION, SEGMENT, "SEGMENT", 0)                                       \
        X##_VALUE(P, TENSOR_LOCATION, EXTERNAL, "EXTERNAL", 1)                                     \
    X##_ENUM_END(P, TENSOR_LOCATION)                                                               \
    X##_ENUM(P, DATA_LOCATION, "DataLocation", FLAT_I8)                                            \
        X##_VALUE(P, DATA_LOCATION, INLINE, "INLINE", 0)                                           \
        X##_VALUE(P, DATA_LOCATION, SEGMENT, "SEGMENT", 1)                                         \
    X##_ENUM_END(P, DATA_LOCATION)                                                                 \
    X##_ENUM(P, DEVICE, "DeviceType", FLAT_I8)                                                     \
        X##_VALUE(P, DEVICE, CPU, "CPU", 0)                                                        \
        X##_VALUE(P, DEVICE, CUDA, "CUDA", 1)                                                      \
    X##_ENUM_END(P, DEVICE)
/* clang-format on */

enum { PTE_TABLES(FLAT_INDEX, PTE) PTE_TABLE_COUNT };
enum { PTE_UNIONS(FLAT_INDEX, PTE) PTE_UNION_COUNT };
enum { PTE_ENUMS(FLAT_INDEX, PTE) PTE_ENUM_COUNT };
PTE_TABLES(FLAT_IDS, PTE)
PTE_UNIONS(FLAT_IDS, PTE)
PTE_ENUMS(FLAT_IDS, PTE)

extern const struct wick_flat_schema wick_pte_schema;

#endif
