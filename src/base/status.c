/* base/status.c - texts of statuses and the filling of wick_error. Where: everywhere. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *wick_status_text(wick_status status)
{
    switch (status) {
#define WICK_STATUS_CASE(name, value, text)                                                        \
    case WICK_##name: return text;
        WICK_STATUS_LIST(WICK_STATUS_CASE)
#undef WICK_STATUS_CASE
    }
    return "unknown status";
}

const char *wick_version(void) { return "0.1.0"; }

/* A message is one line whatever names from outside went into it. */
static void flatten(char *message)
{
    for (; *message; message++)
        if ((unsigned char)*message < 0x20 || *message == 0x7f) *message = '?';
}

wick_status wick_fail(wick_error *err, wick_status status, const char *format, ...)
{
    if (!err) return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    flatten(err->message);
    return status;
}

wick_status wick_fail_in(wick_error *err, wick_status status, const char *format, ...)
{
    if (!err) return status;
    char inner[sizeof err->message];
    memcpy(inner, err->message, sizeof inner);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof err->message - 3) {
        size_t room = sizeof err->message - (size_t)used;
        snprintf(err->message + used, room, ": %.*s", (int)room - 3, inner);
    }
    flatten(err->message);
    err->status = status;
    return status;
}

wick_status wick_fail_oom(wick_error *err, size_t bytes, const char *what)
{
    return wick_fail(err, WICK_OUT_OF_MEMORY, "%s: no memory for %zu bytes", what, bytes);
}
