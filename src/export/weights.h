/* export/weights.h - finding a model's weights in a checkpoint, whatever names it uses, as sources in Meta's layout. */
#ifndef WICK_EXPORT_WEIGHTS_H
#define WICK_EXPORT_WEIGHTS_H

#include "checkpoint/checkpoint.h"
#include "export/hparams.h"
#include "graph/source.h"

/* What a checkpoint calls the weights. */
enum wick_naming { WICK_NAMING_META, WICK_NAMING_HF, WICK_NAMING_GGUF, WICK_NAMING_TUNE };

struct wick_weights {
    struct wick_arena *arena;
    struct wick_checkpoint *checkpoint;
    const struct wick_hparams *hparams;
    enum wick_naming naming;
    const char *inner_prefix; /* Hugging Face: before the names when it is not "model." */
    int rounding; /* dtype that weights are rounded to when read (wick.checkpoint_dtype), or -1 */
};

/* Recognises the naming from the tensors present; INVALID_CHECKPOINT names what it looked for. */
wick_status wick_weights_init(struct wick_weights *w, struct wick_arena *arena, struct wick_checkpoint *checkpoint, const struct wick_hparams *h, wick_error *err);

/* The source of a weight by Meta's name with `layer` in it ("attention.wq.weight"; layer -1: top-level names "tok_embeddings.weight", "norm.weight",
 * "output.weight"), of exactly rows x columns (columns 0: a vector; all axes of
 * a tensor but the last are its rows). q and k rows come out in interleaved order, Meta's, as the rope of the
 * graph wants. "output.weight" falls back to the embedding (tied). NOT_FOUND names the tensor in the checkpoint's own naming. */
wick_status wick_weights_find(struct wick_weights *w, int layer, const char *name, int64_t rows, int64_t columns, struct wick_source **source, wick_error *err);
/* The same of a tensor by its name in the checkpoint. */
wick_status wick_weights_named(struct wick_weights *w, const char *tensor_name, int64_t rows, int64_t columns, struct wick_source **source, wick_error *err);
/* The same, its rows put into the order that wick_weights_find gives the weight `like` of such a checkpoint ("attention.wq"). */
wick_status wick_weights_named_rows(struct wick_weights *w, const char *tensor_name, const char *like, int64_t rows, int64_t columns, struct wick_source **source,
                                    wick_error *err);
/* One of w1, w2 and w3 of all experts of a layer. w1 and w3: (experts * hidden, dim). w2 as the checkpoint has it: (experts * dim, hidden), or, *by_hidden,
 * (experts * hidden, dim). */
wick_status wick_weights_experts(struct wick_weights *w, int layer, int which, int64_t experts, int64_t hidden, int64_t dim, struct wick_source **source, bool *by_hidden,
                                 wick_error *err);
/* Whether the checkpoint holds it. */
bool wick_weights_has(const struct wick_weights *w, int layer, const char *name);

#endif
