/* base/log.h - log lines go to a callback the host sets; nothing by default. */
#ifndef WICK_BASE_LOG_H
#define WICK_BASE_LOG_H

#include "base/error.h"

/* Where a library object's lines go. Zero-initialised: nowhere. */
struct wick_log {
    wick_log_fn write;
    void *user;
    wick_log_level level; /* lines below it are not formatted */
};

void wick_log_line(const struct wick_log *log, wick_log_level level, const char *format, ...) WICK_PRINTF(3, 4);

#endif
