/* ops/conv/window.h - sliding windows: the geometry of convolutions and pools. */
#ifndef WICK_OPS_CONV_WINDOW_H
#define WICK_OPS_CONV_WINDOW_H

#include "tensor/value.h"

/* Along one spatial dim. */
struct wick_window {
    int64_t in, out, kernel, stride, pad, dilation;
};

/* ceil_mode: the last window may begin inside the padding's reach, but within input and left padding. INVALID_ARGUMENT
 * when a number is out of range or nothing comes out; axis is for the message. */
wick_status wick_window_pool(struct wick_window *w, int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation, bool ceil_mode,
                             int axis, wick_error *err);

/* Item `dim` of a list argument that has one entry for all dims or one a dim; absent when the list is empty. */
int64_t wick_window_item(const struct wick_args *args, uint32_t k, int dim, int64_t absent);
/* INVALID_ARGUMENT unless the list has 1 or `dims` entries (or none, if that is allowed). */
wick_status wick_window_list(const struct wick_args *args, uint32_t k, int dims, bool may_be_empty, const char *name, wick_error *err);

#endif
