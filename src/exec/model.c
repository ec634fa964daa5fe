/* exec/model.c - a program, its methods bound once for everyone, and timelines with memory of their own.
 *
 * src/api wraps it for hosts, src/llm builds sessions on it. Arenas: one for the program, one a bound method (weights
 * packed for this processor), three a timeline (load, planned, temp). */
#include "exec/model.h"

#include "base/os.h"
#include "ukernel/ukernels.h"

#include <stdatomic.h>

struct bound {
    struct wick_arena load, packed; /* of the template; of the graph */
    struct wick_method *method;
    struct wick_exec_graph *graph;
};

struct wick_model {
    atomic_uint references;
    struct wick_allocator allocator;
    struct wick_arena arena;
    struct wick_program *program;
    struct wick_ukernels ukernels;
    struct wick_op_table ops;
    struct wick_backend_table backends;
    unsigned threads;
    enum wick_numerics_mode numerics;
    bool no_fuse;
    struct wick_log log;
    struct wick_mutex *lock; /* of bound[] */
    struct bound *bound;     /* one a method */
};

/* ---- opening and closing ---- */

static wick_status open_model(wick_model *model, const struct wick_model_source *source, const struct wick_model_config *config, wick_error *err)
{
    WICK_TRY(wick_ukernels_init(&model->ukernels, config->cpu, err));
    WICK_TRY(wick_mutex_create(&model->lock, err));
    if (source->path) WICK_TRY(wick_program_open(&model->program, source->path, source->data_paths, source->data_path_count, &model->arena, err));
    else WICK_TRY(wick_program_open_memory(&model->program, source->file, source->data_files, source->data_file_count, &model->arena, err));
    uint32_t methods = wick_program_method_count(model->program);
    model->bound = WICK_NEW_ARRAY(&model->arena, struct bound, methods);
    if (!model->bound) return wick_fail_oom(err, methods * sizeof *model->bound, "model");
    for (uint32_t i = 0; i < methods; i++) {
        wick_arena_init(&model->bound[i].load, &model->allocator);
        wick_arena_init(&model->bound[i].packed, &model->allocator);
    }
    return WICK_OK;
}

static void close_model(wick_model *model)
{
    struct wick_allocator allocator = model->allocator;
    for (uint32_t i = 0; model->bound && i < wick_program_method_count(model->program); i++) {
        wick_exec_graph_close(model->bound[i].graph);
        wick_arena_release(&model->bound[i].packed);
        wick_arena_release(&model->bound[i].load);
    }
    wick_program_close(model->program);
    wick_arena_release(&model->arena);
    wick_mutex_destroy(model->lock);
    allocator.free(allocator.user, model, sizeof *model);
}

wick_status wick_model_create(wick_model **out, const struct wick_model_source *source, const struct wick_model_config *config, wick_error *err)
{
    *out = NULL;
    wick_model *model = config->allocator->alloc(config->allocator->user, sizeof *model);
    if (!model) return wick_fail_oom(err, sizeof *model, "model");
    *model = (wick_model){
        .allocator = *config->allocator,
        .ops = *config->ops,
        .threads = config->threads ? config->threads : wick_core_count(),
        .numerics = config->numerics,
        .no_fuse = config->no_fuse,
        .log = config->log,
    };
    if (config->backends) model->backends = *config->backends;
    atomic_init(&model->references, 1);
    wick_arena_init(&model->arena, &model->allocator);
    wick_status status = open_model(model, source, config, err);
    if (status != WICK_OK) {
        close_model(model);
        return status;
    }
    *out = model;
    return WICK_OK;
}

wick_model *wick_model_ref(wick_model *model)
{
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
    return model;
}

void wick_model_unref(wick_model *model)
{
    if (model && atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) == 1) close_model(model);
}

const struct wick_program *wick_model_program(const wick_model *model) { return model->program; }
const struct wick_allocator *wick_model_allocator(const wick_model *model) { return &model->allocator; }
const struct wick_log *wick_model_log(const wick_model *model) { return &model->log; }
unsigned wick_model_threads(const wick_model *model) { return model->threads; }
const char *wick_model_cpu(const wick_model *model) { return model->ukernels.level; }

/* ---- methods; the lock is held ---- */

static wick_status load_locked(wick_model *model, uint32_t index, wick_error *err)
{
    struct bound *bound = &model->bound[index];
    if (bound->method) return WICK_OK;
    wick_status status = wick_method_load(&bound->method, model->program, index, &model->ops, &bound->load, err);
    if (status != WICK_OK) wick_arena_release(&bound->load);
    return status;
}

static wick_status bind_locked(wick_model *model, uint32_t index, wick_error *err)
{
    struct bound *bound = &model->bound[index];
    if (bound->graph) return WICK_OK;
    WICK_TRY(load_locked(model, index, err));
    struct wick_arena temp;
    struct wick_pool *pool = NULL;
    if (model->threads > 1) WICK_TRY(wick_pool_create(&pool, model->threads, err));
    wick_arena_init(&temp, &model->allocator);
    struct wick_exec_graph_options options = {&model->backends, &model->ukernels, pool, model->numerics, model->no_fuse, &model->log};
    wick_status status = wick_exec_graph_bind(&bound->graph, bound->method, &options, &bound->packed, &temp, err);
    if (status != WICK_OK) wick_arena_release(&bound->packed);
    wick_arena_release(&temp);
    wick_pool_destroy(pool);
    return status;
}

wick_status wick_model_method(wick_model *model, struct wick_str name, const struct wick_method **method, wick_error *err)
{
    uint32_t index = 0;
    WICK_TRY(wick_program_method_find(model->program, name, &index, err));
    wick_mutex_lock(model->lock);
    wick_status status = load_locked(model, index, err);
    *method = model->bound[index].method;
    wick_mutex_unlock(model->lock);
    return status;
}

wick_status wick_model_graph(wick_model *model, struct wick_str name, const struct wick_exec_graph **graph, wick_error *err)
{
    uint32_t index = 0;
    WICK_TRY(wick_program_method_find(model->program, name, &index, err));
    wick_mutex_lock(model->lock);
    wick_status status = bind_locked(model, index, err);
    *graph = model->bound[index].graph;
    wick_mutex_unlock(model->lock);
    return status;
}

/* ---- timelines ---- */

wick_status wick_timeline_open(struct wick_timeline *timeline, wick_model *model, struct wick_str method, struct wick_pool *pool, wick_error *err)
{
    *timeline = (struct wick_timeline){.model = wick_model_ref(model)};
    wick_arena_init(&timeline->load, &model->allocator);
    wick_arena_init(&timeline->planned, &model->allocator);
    wick_arena_init(&timeline->temp, &model->allocator);
    const struct wick_exec_graph *graph = NULL;
    wick_status status = wick_model_graph(model, method, &graph, err);
    if (status == WICK_OK && !pool && model->threads > 1) status = wick_pool_create(&timeline->own_pool, model->threads, err);
    struct wick_instance_options options = {&timeline->load, &timeline->planned, &timeline->temp, pool ? pool : timeline->own_pool};
    if (status == WICK_OK) status = wick_instance_open(&timeline->instance, graph, &options, err);
    if (status != WICK_OK) wick_timeline_close(timeline);
    return status;
}

void wick_timeline_close(struct wick_timeline *timeline)
{
    if (!timeline->model) return;
    wick_pool_destroy(timeline->own_pool);
    wick_arena_release(&timeline->load);
    wick_arena_release(&timeline->planned);
    wick_arena_release(&timeline->temp);
    wick_model_unref(timeline->model);
    *timeline = (struct wick_timeline){0};
}
