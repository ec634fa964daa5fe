/* export/family.h - the contract of a model family (src/models/<f>): which names and checkpoints it answers to, its default hyper-parameters. */
#ifndef WICK_EXPORT_FAMILY_H
#define WICK_EXPORT_FAMILY_H

#include "export/hparams.h"
#include "graph/graph.h"

struct wick_model_build;

struct wick_family {
    const char *name;
    /* Values of base.model_class, and of Hugging Face's config.json "model_type" and GGUF's "general.architecture"; NULL-terminated. */
    const char *const *model_classes, *const *hf_types, *const *gguf_types;
    /* Hyper-parameters that a class implies before any file is read, and rules that depend on the class after. */
    void (*defaults)(const char *model_class, struct wick_hparams *h);
    void (*adjust)(const char *model_class, struct wick_hparams *h);
    /* Builds the graph of one method for `tokens` tokens a call (the bound). */
    wick_status (*build)(struct wick_graph *g, const struct wick_model_build *build);
};

struct wick_family_table {
    const struct wick_family *const *families;
    size_t count;
};

#endif
