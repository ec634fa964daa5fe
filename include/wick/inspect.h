/* wick/inspect.h - what is in a .pte program, a .ptd data file or a .bpte bundle, for people and for scripts. */
#ifndef WICK_INSPECT_H
#define WICK_INSPECT_H

#include "wick/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wick_inspect_form {
    WICK_INSPECT_TEXT, /* a summary: header, methods, inputs, outputs, metadata, operators with counts, delegates, memory, segments */
    WICK_INSPECT_JSON  /* one document with every field of the format, payloads of known backends decoded */
} wick_inspect_form;

/* Opens and verifies the file and describes it. *text is NUL-terminated, for wick_inspect_free; NULL on failure. Errors name the file and place. */
WICK_API wick_status wick_inspect(const char *path, wick_inspect_form form, char **text, wick_error *error);
/* The calls of a method once bound for this processor, payloads opened and, unless the model was opened with no_fuse, optimised: a line each, with
 * its place, the instruction it comes from, operator, arguments and results; %n is a value, =%n a constant. method NULL: "forward". Binds the
 * method if nobody has; from any thread. */
WICK_API wick_status wick_inspect_nodes(wick_model *model, const char *method, char **text, wick_error *error);
WICK_API void wick_inspect_free(char *text); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
