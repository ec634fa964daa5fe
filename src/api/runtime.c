/* api/runtime.c - include/wick/runtime.h over exec/model.h: options, names and values in the public form. */
#include "wick/runtime.h"

#include "api/handles.h"
#include "api/tables.h"

#include <stdatomic.h>

/* ---- options and models ---- */

void wick_model_options_init(wick_model_options *options) { *options = (wick_model_options){.struct_size = sizeof *options}; }

/* Options as this version knows them: members behind the caller's struct_size take their defaults. */
static wick_status read_options(const wick_model_options *given, wick_model_options *options, wick_error *error)
{
    wick_model_options_init(options);
    if (!given) return WICK_OK;
    if (given->struct_size < sizeof given->struct_size)
        return wick_fail(error, WICK_INVALID_ARGUMENT, "wick_model_options: struct_size is not set (wick_model_options_init does)");
    memcpy(options, given, WICK_MIN(given->struct_size, sizeof *options));
    if (options->numerics != WICK_NUMERICS_FAST && options->numerics != WICK_NUMERICS_REPRODUCIBLE)
        return wick_fail(error, WICK_INVALID_ARGUMENT, "wick_model_options: numerics is %d", (int)options->numerics);
    return WICK_OK;
}

static wick_status create(const struct wick_model_source *source, const wick_model_options *options, wick_model **model, wick_error *error)
{
    struct wick_allocator allocator = wick_allocator_heap;
    if (options->memory) allocator = (struct wick_allocator){options->memory->alloc, options->memory->free, options->memory->user};
    struct wick_model_config config = {
        .ops = &wick_default_ops,
        .backends = &wick_default_backends,
        .allocator = &allocator,
        .cpu = options->cpu,
        .threads = options->threads,
        .numerics = options->numerics == WICK_NUMERICS_FAST ? WICK_MODE_FAST : WICK_MODE_REPRODUCIBLE,
        .no_fuse = options->no_fuse,
        .log = {options->log, options->log_user, options->log_level},
    };
    return wick_model_create(model, source, &config, error);
}

wick_status wick_model_open(const char *path, const wick_model_options *given, wick_model **model, wick_error *error)
{
    wick_model_options options;
    *model = NULL;
    WICK_TRY(read_options(given, &options, error));
    struct wick_model_source source = {.path = path, .data_paths = options.data_paths, .data_path_count = options.data_path_count};
    return create(&source, &options, model, error);
}

wick_status wick_model_open_memory(wick_span program, const wick_model_options *given, wick_model **model, wick_error *error)
{
    wick_model_options options;
    struct wick_bytes files[16];
    *model = NULL;
    WICK_TRY(read_options(given, &options, error));
    if (options.data_span_count > WICK_ARRAY_SIZE(files))
        return wick_fail(error, WICK_INVALID_ARGUMENT, "%zu data files in memory; the limit is %zu", options.data_span_count, WICK_ARRAY_SIZE(files));
    for (size_t i = 0; i < options.data_span_count; i++) files[i] = (struct wick_bytes){options.data_spans[i].data, options.data_spans[i].size};
    struct wick_model_source source = {.file = {program.data, program.size}, .data_files = files, .data_file_count = options.data_span_count};
    return create(&source, &options, model, error);
}

size_t wick_model_method_count(const wick_model *model) { return wick_program_method_count(wick_model_program(model)); }

const char *wick_model_method_name(const wick_model *model, size_t index)
{
    return index < wick_model_method_count(model) ? wick_program_method_name(wick_model_program(model), (uint32_t)index).data : NULL;
}

wick_status wick_model_bind(wick_model *model, const char *method, wick_error *error)
{
    const struct wick_exec_graph *graph;
    return wick_model_graph(model, wick_str_of(method), &graph, error);
}

/* ---- values ---- */

static void fill_tensor(wick_item *item, const struct wick_tensor *tensor)
{
    item->kind = WICK_KIND_TENSOR;
    item->dtype = tensor->shape.dtype;
    item->rank = tensor->shape.rank;
    for (int i = 0; i < tensor->shape.rank; i++) {
        item->sizes[i] = tensor->shape.sizes[i];
        item->dim_order[i] = tensor->shape.dim_order[i];
    }
    item->data = tensor->data;
    item->bytes = wick_tensor_nbytes(tensor);
    item->dynamic = tensor->dynamism != WICK_STATIC;
}

static void fill_item(wick_item *item, const struct wick_value *value)
{
    *item = (wick_item){.kind = WICK_KIND_NONE};
    switch (value->tag) {
    case WICK_TAG_NONE: break;
    case WICK_TAG_TENSOR: fill_tensor(item, value->as.tensor); break;
    case WICK_TAG_INT: item->kind = WICK_KIND_INT, item->i = value->as.i; break;
    case WICK_TAG_BOOL: item->kind = WICK_KIND_BOOL, item->i = value->as.b; break;
    case WICK_TAG_DOUBLE: item->kind = WICK_KIND_DOUBLE, item->d = value->as.d; break;
    case WICK_TAG_STRING: item->kind = WICK_KIND_STRING, item->text = value->as.string.data, item->text_size = value->as.string.size; break;
    default: item->kind = WICK_KIND_LIST; break;
    }
}

size_t wick_model_constant_count(const wick_model *model, const char *method)
{
    return wick_program_constant_count(wick_model_program(model), wick_str_of(method));
}

wick_status wick_model_constant(const wick_model *model, const char *method, size_t i, wick_item *item, wick_error *error)
{
    struct wick_value value;
    *item = (wick_item){.kind = WICK_KIND_NONE};
    if (i > UINT32_MAX) return wick_fail(error, WICK_NOT_FOUND, "constant method %s has no value %zu", method, i);
    WICK_TRY(wick_program_constant(wick_model_program(model), wick_str_of(method), (uint32_t)i, &value, error));
    fill_item(item, &value);
    return WICK_OK;
}

wick_status wick_model_constant_int(const wick_model *model, const char *method, int64_t *value, wick_error *error)
{
    wick_item item;
    WICK_TRY(wick_model_constant(model, method, 0, &item, error));
    if (item.kind != WICK_KIND_INT && item.kind != WICK_KIND_BOOL)
        return wick_fail(error, WICK_INVALID_TYPE, "constant method %s is no whole number", method);
    *value = item.i;
    return WICK_OK;
}

/* ---- descriptions ---- */

wick_status wick_model_method_shape(wick_model *model, const char *method, size_t *inputs, size_t *outputs, wick_error *error)
{
    const struct wick_method *template = NULL;
    WICK_TRY(wick_model_method(model, wick_str_of(method), &template, error));
    *inputs = template->input_count;
    *outputs = template->output_count;
    return WICK_OK;
}

static wick_status describe(wick_model *model, const char *method, bool input, size_t i, wick_item *item, wick_error *error)
{
    const struct wick_method *template = NULL;
    *item = (wick_item){.kind = WICK_KIND_NONE};
    WICK_TRY(wick_model_method(model, wick_str_of(method), &template, error));
    uint32_t count = input ? template->input_count : template->output_count;
    if (i >= count) return wick_fail(error, WICK_INVALID_ARGUMENT, "%s %zu: method %s has %u", input ? "input" : "output", i, method, count);
    fill_item(item, &template->values[(input ? template->inputs : template->outputs)[i]]);
    item->data = NULL;
    return WICK_OK;
}

wick_status wick_model_method_input(wick_model *model, const char *method, size_t i, wick_item *item, wick_error *error)
{
    return describe(model, method, true, i, item, error);
}

wick_status wick_model_method_output(wick_model *model, const char *method, size_t i, wick_item *item, wick_error *error)
{
    return describe(model, method, false, i, item, error);
}

/* ---- runners ---- */

static const struct wick_method *method_of(const wick_runner *runner) { return wick_instance_graph(runner->timeline.instance)->method; }

wick_status wick_runner_open(wick_model *model, const char *method, wick_runner **out, wick_error *error)
{
    *out = NULL;
    const struct wick_allocator *allocator = wick_model_allocator(model);
    wick_runner *runner = allocator->alloc(allocator->user, sizeof *runner);
    if (!runner) return wick_fail_oom(error, sizeof *runner, "runner");
    runner->watcher = (struct wick_watcher){0};
    wick_status status = wick_timeline_open(&runner->timeline, model, wick_str_of(method), NULL, error);
    if (status == WICK_OK) *out = runner;
    else allocator->free(allocator->user, runner, sizeof *runner);
    return status;
}

void wick_runner_close(wick_runner *runner)
{
    if (!runner) return;
    /* The last reference of the model may be ours. */
    struct wick_allocator allocator = *wick_model_allocator(runner->timeline.model);
    wick_timeline_close(&runner->timeline);
    allocator.free(allocator.user, runner, sizeof *runner);
}

size_t wick_runner_input_count(const wick_runner *runner) { return method_of(runner)->input_count; }
size_t wick_runner_output_count(const wick_runner *runner) { return method_of(runner)->output_count; }

static wick_status check_index(const wick_runner *runner, size_t i, wick_error *error)
{
    uint32_t count = method_of(runner)->input_count;
    return i < count ? WICK_OK : wick_fail(error, WICK_INVALID_ARGUMENT, "input %zu: the method has %u", i, count);
}

wick_status wick_runner_set_tensor(wick_runner *runner, size_t i, int32_t dtype, int32_t rank, const int32_t *sizes, const uint8_t *dim_order,
                                   void *data, wick_error *error)
{
    WICK_TRY(check_index(runner, i, error));
    if (rank < 0 || rank > WICK_RANK_MAX)
        return wick_fail(error, WICK_INVALID_ARGUMENT, "input %zu: rank %d is not in 0..%d", i, rank, WICK_RANK_MAX);
    if (dtype < 0 || wick_dtype_size(dtype) == 0) return wick_fail(error, WICK_INVALID_ARGUMENT, "input %zu: %d is no element type", i, dtype);
    struct wick_shape shape = wick_shape_make(dtype, rank, sizes);
    if (dim_order && rank) memcpy(shape.dim_order, dim_order, (size_t)rank);
    return wick_instance_set_tensor(runner->timeline.instance, (uint32_t)i, &shape, data, error);
}

static wick_status set_scalar(wick_runner *runner, size_t i, struct wick_value value, wick_error *error)
{
    WICK_TRY(check_index(runner, i, error));
    return wick_instance_set_scalar(runner->timeline.instance, (uint32_t)i, &value, error);
}

wick_status wick_runner_set_int(wick_runner *runner, size_t i, int64_t value, wick_error *error)
{
    return set_scalar(runner, i, (struct wick_value){.tag = WICK_TAG_INT, .as.i = value}, error);
}

wick_status wick_runner_set_double(wick_runner *runner, size_t i, double value, wick_error *error)
{
    return set_scalar(runner, i, (struct wick_value){.tag = WICK_TAG_DOUBLE, .as.d = value}, error);
}

wick_status wick_runner_set_bool(wick_runner *runner, size_t i, bool value, wick_error *error)
{
    return set_scalar(runner, i, (struct wick_value){.tag = WICK_TAG_BOOL, .as.b = value}, error);
}

wick_status wick_runner_set_string(wick_runner *runner, size_t i, const char *text, wick_error *error)
{
    return set_scalar(runner, i, (struct wick_value){.tag = WICK_TAG_STRING, .as.string = wick_str_of(text)}, error);
}

wick_status wick_runner_run(wick_runner *runner, wick_error *error)
{
    return wick_instance_run(runner->timeline.instance, runner->watcher.fn ? &runner->watcher.watch.tracer : NULL, error);
}

wick_status wick_runner_output(const wick_runner *runner, size_t i, wick_item *item, wick_error *error)
{
    uint32_t count = method_of(runner)->output_count;
    *item = (wick_item){.kind = WICK_KIND_NONE};
    if (i >= count) return wick_fail(error, WICK_INVALID_ARGUMENT, "output %zu: the method has %u", i, count);
    fill_item(item, wick_instance_output(runner->timeline.instance, (uint32_t)i));
    return WICK_OK;
}

void wick_runner_reset(wick_runner *runner) { wick_instance_reset_state(runner->timeline.instance); }
void wick_runner_cancel(wick_runner *runner) { wick_instance_cancel(runner->timeline.instance); }
