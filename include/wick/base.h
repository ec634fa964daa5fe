/* wick/base.h - what every other public header builds on: status codes, error text, versions.
 *
 * C11 and C++ clean; FFI-flat: no varargs, no inline functions needed by callers. */
#ifndef WICK_BASE_H
#define WICK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define WICK_API
#else
#define WICK_API __attribute__((visibility("default")))
#endif

/* Every code of the library. 0x00-0x32 equal ExecuTorch's runtime/core/error.h, so that a status
 * can cross the border between both; ours start at 0x100. X(NAME, value, text). */
#define WICK_STATUS_LIST(X)                                                                        \
    X(OK, 0x00, "ok")                                                                              \
    X(INTERNAL, 0x01, "internal error")                                                            \
    X(INVALID_STATE, 0x02, "invalid state")                                                        \
    X(END_OF_METHOD, 0x03, "end of method")                                                        \
    X(ALREADY_LOADED, 0x04, "already loaded")                                                      \
    X(NOT_SUPPORTED, 0x10, "not supported")                                                        \
    X(NOT_IMPLEMENTED, 0x11, "not implemented")                                                    \
    X(INVALID_ARGUMENT, 0x12, "invalid argument")                                                  \
    X(INVALID_TYPE, 0x13, "invalid type")                                                          \
    X(OPERATOR_MISSING, 0x14, "operator missing")                                                  \
    X(TOO_MANY_KERNELS, 0x15, "too many kernels")                                                  \
    X(ALREADY_REGISTERED, 0x16, "already registered")                                              \
    X(NOT_FOUND, 0x20, "not found")                                                                \
    X(OUT_OF_MEMORY, 0x21, "out of memory")                                                        \
    X(ACCESS_FAILED, 0x22, "access failed")                                                        \
    X(INVALID_PROGRAM, 0x23, "invalid program")                                                    \
    X(INVALID_EXTERNAL_DATA, 0x24, "invalid external data")                                        \
    X(OUT_OF_RESOURCES, 0x25, "out of resources")                                                  \
    X(DELEGATE_INCOMPATIBLE, 0x30, "delegate payload incompatible")                                \
    X(DELEGATE_OUT_OF_MEMORY, 0x31, "delegate out of memory")                                      \
    X(DELEGATE_INVALID_HANDLE, 0x32, "delegate handle invalid")                                    \
    X(CANCELLED, 0x100, "cancelled")                                                               \
    X(INVALID_CHECKPOINT, 0x101, "invalid checkpoint")                                             \
    X(INVALID_TOKENIZER, 0x102, "invalid tokenizer")                                               \
    X(INVALID_CONFIG, 0x103, "invalid configuration")                                              \
    X(CONTEXT_FULL, 0x104, "context full")

typedef enum wick_status {
#define WICK_STATUS_ENUM(name, value, text) WICK_##name = value,
    WICK_STATUS_LIST(WICK_STATUS_ENUM)
#undef WICK_STATUS_ENUM
} wick_status;

/* Short text of a code ("invalid program"); "unknown status" for a number that is none. Static storage. */
WICK_API const char *wick_status_text(wick_status status);

/* What went wrong, for a person. Functions that judge outside input take one last; NULL is allowed.
 * `message` names what, where (file offset, key, operator or tensor name) and why; never empty after a failure.
 * Owned by the caller; nothing in it needs freeing. */
typedef struct wick_error {
    wick_status status;
    char message[504];
} wick_error;

typedef enum wick_log_level { WICK_LOG_DEBUG, WICK_LOG_INFO, WICK_LOG_WARN, WICK_LOG_ERROR, WICK_LOG_OFF } wick_log_level;

/* Receives one line without a newline. Called from the thread that logs; must not call back into wick. */
typedef void (*wick_log_fn)(void *user, wick_log_level level, const char *line);

/* Progress of long work: `stage` is a short noun ("quantize"), done and total in the stage's unit
 * (total 0: unknown). Return false to cancel: the work then fails with WICK_CANCELLED and leaves nothing behind. */
typedef bool (*wick_progress_fn)(void *user, const char *stage, uint64_t done, uint64_t total);

/* "0.1.0". Static storage. */
WICK_API const char *wick_version(void);

#ifdef __cplusplus
}
#endif
#endif
