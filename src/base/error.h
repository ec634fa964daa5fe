/* base/error.h - filling wick_error and passing statuses on. */
#ifndef WICK_BASE_ERROR_H
#define WICK_BASE_ERROR_H

#include "wick/base.h"

#if defined(__GNUC__)
#define WICK_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define WICK_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WICK_PRINTF(fmt, first)
#define WICK_MUST_CHECK
#endif

/* Writes status and text into err (NULL allowed) and returns status: `return wick_fail(err, WICK_X, "...")`. */
wick_status wick_fail(wick_error *err, wick_status status, const char *format, ...) WICK_PRINTF(3, 4);

/* Puts "prefix: " before the message already in err; for a caller that knows the file or key. Returns err's status. */
wick_status wick_fail_in(wick_error *err, wick_status status, const char *format, ...) WICK_PRINTF(3, 4);

/* Out of memory, with what was wanted. */
wick_status wick_fail_oom(wick_error *err, size_t bytes, const char *what);

#define WICK_TRY(call)                                                                             \
    do {                                                                                           \
        wick_status try_status_ = (call);                                                          \
        if (try_status_ != WICK_OK) return try_status_;                                            \
    } while (0)

/* The same in a function that cleans up at `done:` and has a variable `status`. */
#define WICK_TRY_GOTO(call)                                                                        \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != WICK_OK) goto done;                                                          \
    } while (0)

#define WICK_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define WICK_MIN(a, b) ((a) < (b) ? (a) : (b))
#define WICK_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
