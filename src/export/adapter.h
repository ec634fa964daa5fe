/* export/adapter.h - a low-rank adapter (LoRA) over a model: y = W x + (alpha / r) B (A x) (Hu et al., 2021). */
#ifndef WICK_EXPORT_ADAPTER_H
#define WICK_EXPORT_ADAPTER_H

#include "export/config.h"
#include "export/weights.h"

struct wick_adapter {
    struct wick_checkpoint *checkpoint; /* NULL: there is no adapter */
    struct wick_weights weights;        /* of the adapter's file */
    const struct wick_weights *base;
    int64_t rank;
    float scale;
    bool merge; /* into the weights, instead of beside them */
    bool *used; /* one a tensor of the file */
};

/* Opens what the value of a key such as base.lora_config names (JSON; NULL: no adapter): a file of PEFT's, torchtune's or Meta's names, and its
 * configuration. NOT_SUPPORTED for kinds of adapters that are more than the sum above (DoRA, ranks by pattern, saved modules). base: opened weights of
 * the model. Memory lives in the arena. */
wick_status wick_adapter_open(struct wick_adapter *a, const char *text, const char *key, const struct wick_weights *base, struct wick_arena *arena,
                              wick_error *err);
void wick_adapter_release(struct wick_adapter *a);

/* A (rank, columns) and B (rows, rank) of the linear "layers.N.<name>", name "attention.wq"; both NULL if it has none. */
wick_status wick_adapter_find(struct wick_adapter *a, int layer, const char *name, int64_t rows, int64_t columns, struct wick_source **low,
                              struct wick_source **high, wick_error *err);
/* INVALID_CHECKPOINT naming a tensor that no linear asked for. */
wick_status wick_adapter_check_used(const struct wick_adapter *a, wick_error *err);

#endif
