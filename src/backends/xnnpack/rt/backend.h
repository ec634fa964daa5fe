/* xnnpack/rt/backend.h - the XNNPACK backend of the runtime (runtime/backend.h): executes payloads that the original
 * exporter or ours wrote, by turning them into nodes of the execution graph. */
#ifndef WICK_XNNPACK_RT_BACKEND_H
#define WICK_XNNPACK_RT_BACKEND_H

#include "runtime/backend.h"

/* expand errors: INVALID_ARGUMENT, DELEGATE_INCOMPATIBLE, INVALID_PROGRAM (what in the payload is wrong, and where),
 * NOT_IMPLEMENTED (an unknown node kind), NOT_FOUND (a constant's key), OUT_OF_MEMORY. */
extern const struct wick_backend wick_backend_xnnpack;

#endif
