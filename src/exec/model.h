/* exec/model.h - an open program with its methods bound on demand: what wick_model is, below the public API.
 *
 * Shared and reference counted. Methods are loaded and bound once, under a lock, then never change. */
#ifndef WICK_EXEC_MODEL_H
#define WICK_EXEC_MODEL_H

#include "exec/graph.h"
#include "exec/instance.h"
#include "wick/runtime.h"

struct wick_model_config {
    const struct wick_op_table *ops;
    const struct wick_backend_table *backends;
    const struct wick_allocator *allocator; /* copied */
    const char *cpu;                        /* cap of the instruction level; NULL: none */
    unsigned threads;                       /* 0: one per performance core */
    enum wick_numerics_mode numerics;
    bool no_fuse;
    struct wick_log log;
};

/* Opens from `path` and data files, or, with path NULL, from memory. The caller owns the one reference. */
struct wick_model_source {
    const char *path;
    const char *const *data_paths;
    size_t data_path_count;
    struct wick_bytes file;
    const struct wick_bytes *data_files;
    size_t data_file_count;
};
wick_status wick_model_create(wick_model **model, const struct wick_model_source *source, const struct wick_model_config *config,
                              wick_error *err) WICK_MUST_CHECK;

const struct wick_program *wick_model_program(const wick_model *model);
const struct wick_allocator *wick_model_allocator(const wick_model *model);
const struct wick_log *wick_model_log(const wick_model *model);
unsigned wick_model_threads(const wick_model *model); /* what a timeline's pool should have */

/* The template or the bound graph of a method, made at first use; valid as long as the model. A failed attempt leaves
 * nothing and may be repeated. From any thread. */
wick_status wick_model_method(wick_model *model, struct wick_str name, const struct wick_method **method, wick_error *err) WICK_MUST_CHECK;
wick_status wick_model_graph(wick_model *model, struct wick_str name, const struct wick_exec_graph **graph, wick_error *err) WICK_MUST_CHECK;

/* A timeline with arenas, and a pool, of its own; holds a reference of the model. pool: borrowed, or NULL to make one. */
struct wick_timeline {
    wick_model *model;
    struct wick_instance *instance;
    struct wick_arena load, planned, temp;
    struct wick_pool *own_pool;
};
wick_status wick_timeline_open(struct wick_timeline *timeline, wick_model *model, struct wick_str method, struct wick_pool *pool,
                               wick_error *err) WICK_MUST_CHECK;
void wick_timeline_close(struct wick_timeline *timeline);

#endif
