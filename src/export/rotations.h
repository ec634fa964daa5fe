/* export/rotations.h - rotations of a model that leave what it computes as it is, and weights and activations easier to quantize (SpinQuant's names):
 * R1 turns the stream between the blocks, R2 the values of each head, R3 queries and keys after rope (as the program runs), R4 what w2 takes (likewise). */
#ifndef WICK_EXPORT_ROTATIONS_H
#define WICK_EXPORT_ROTATIONS_H

#include "export/config.h"
#include "export/weights.h"
#include "graph/rotated.h"

struct wick_rotations {
    bool on, r3;
    const struct wick_rotator *r1, *r2[WICK_LAYERS_MAX], *r4; /* NULL: not turned */
    int r4_block;                      /* elements of the transform before w2, over which R4 repeats; 0: none */
    struct wick_rotated_cache cache;
};

/* Reads wick.quantization.rotations and wick.quantization.rotation_file. Everything lives in the arena but the cache. */
wick_status wick_rotations_init(struct wick_rotations *r, const struct wick_config *config, const struct wick_hparams *h, struct wick_arena *arena, wick_error *err);
void wick_rotations_release(struct wick_rotations *r);
/* The weight `name` of `layer` (Meta's names) turned; *source as it is if nothing turns it. NOT_SUPPORTED for weights that rotations are not known for. */
wick_status wick_rotations_apply(struct wick_rotations *r, struct wick_weights *w, int layer, const char *name, struct wick_source **source, wick_error *err);

#endif
