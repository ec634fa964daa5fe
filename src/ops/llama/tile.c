/* ops/llama/tile.c - llama::fallback (a plain copy) and preprocess::tile_crop (a picture cut in square tiles). */
#include "ops/copy/strided.h"
#include "ops/ops.h"

static wick_status run_llama_fallback_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    struct wick_view view;
    WICK_TRY(wick_view_identity(args, &view, run->err));
    return wick_view_copy(wick_arg_tensor(args, 1), &view, wick_arg_tensor(args, 0), false, run->err);
}

/* [C, H, W] seen as [H / t, W / t, C, t, t]: in that order the elements of out [tiles, C, t, t]. */
static wick_status run_preprocess_tile_crop_out(const struct wick_args *args, const void *state, struct wick_run *run)
{
    (void)state;
    const struct wick_tensor *self = wick_arg_tensor(args, 0);
    struct wick_view view = {.rank = 5};
    int32_t tile = (int32_t)wick_arg_int(args, 1);
    int64_t plane = self->strides[0], row = self->strides[1], column = self->strides[2];
    const int32_t sizes[5] = {self->shape.sizes[1] / tile, self->shape.sizes[2] / tile, self->shape.sizes[0], tile, tile};
    const int64_t strides[5] = {row * tile, column * tile, plane, row, column};
    memcpy(view.sizes, sizes, sizeof sizes);
    memcpy(view.strides, strides, sizeof strides);
    return wick_view_copy(wick_arg_tensor(args, 2), &view, self, true, run->err);
}

#define OP(id) const struct wick_op wick_op_##id = {.meta = &wick_opmeta_##id, .run = run_##id}
OP(llama_fallback_out);
OP(preprocess_tile_crop_out);
