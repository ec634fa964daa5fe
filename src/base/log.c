/* base/log.c - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void wick_log_line(const struct wick_log *log, wick_log_level level, const char *format, ...)
{
    if (!log || !log->write || level < log->level) return;
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    log->write(log->user, level, line);
}
