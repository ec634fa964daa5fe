/* ops/ops.h - declares every operator of ops.def: its rule (wick_opmeta_<id>) and its kernel (wick_op_<id>). */
#ifndef WICK_OPS_OPS_H
#define WICK_OPS_OPS_H

#include "runtime/op.h"

#define WICK_OP(profile, id, name)                                                                 \
    extern const struct wick_opmeta wick_opmeta_##id;                                              \
    extern const struct wick_op wick_op_##id;
#include "ops/ops.def"
#undef WICK_OP

#endif
