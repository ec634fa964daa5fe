/* exec/instance.c - opening a timeline of a graph, its inputs and outputs, and putting it back to its beginning.
 * The scheduler itself is run.c. */
#include "exec/instance.h"

#include "exec/build.h"
#include "exec/timeline.h"

/* ---- opening ---- */

/* Start address of the memory behind a place; NULL where a run or the caller provides it. */
static void *place_address(const struct wick_instance *it, const struct wick_place *place)
{
    void *data = NULL;
    switch (place->kind) {
    case WICK_PLACE_CONSTANT: memcpy(&data, &place->initial, sizeof data); break; /* read-only: tensor->constant says so */
    case WICK_PLACE_PLANNED: data = it->planned[place->buffer] + place->offset; break;
    case WICK_PLACE_SCRATCH: data = it->scratch + place->offset; break;
    default: break;
    }
    return data;
}

static void restore_tensor(struct wick_instance *it, uint32_t index)
{
    struct wick_tensor *tensor = &it->tensors[index];
    const struct wick_place *place = &it->graph->places[index];
    tensor->data = place_address(it, place);
    tensor->capacity = it->graph->tensors[index].capacity;
    tensor->constant = place->kind == WICK_PLACE_CONSTANT;
}

void wick_timeline_restore_moving(struct wick_instance *it)
{
    const struct wick_exec_graph *graph = it->graph;
    for (uint32_t i = 0; i < graph->moving_count; i++)
        if (!graph->places[graph->moving[i]].input) restore_tensor(it, graph->moving[i]);
}

/* Values, tensors and initial content as the program has them. */
static void set_up(struct wick_instance *it)
{
    const struct wick_exec_graph *graph = it->graph;
    if (graph->tensor_count) memcpy(it->tensors, graph->tensors, graph->tensor_count * sizeof *it->tensors);
    if (graph->value_count) memcpy(it->values, graph->values, graph->value_count * sizeof *it->values);
    for (uint32_t i = 0; i < graph->value_count; i++)
        if (it->values[i].tag == WICK_TAG_TENSOR) it->values[i].as.tensor = &it->tensors[wick_exec_graph_tensor_index(graph, i)];
    for (uint32_t i = 0; i < graph->tensor_count; i++) {
        const struct wick_place *place = &graph->places[i];
        restore_tensor(it, i);
        if (place->kind == WICK_PLACE_PLANNED && place->initial) memcpy(it->tensors[i].data, place->initial, it->tensors[i].capacity);
    }
    for (uint32_t i = 0; i < graph->method->input_count; i++) it->inputs[i].set = false;
    it->missing = graph->method->input_count;
}

static wick_status open_memory(struct wick_instance *it, const struct wick_instance_options *options, wick_error *err)
{
    const struct wick_method *method = it->graph->method;
    it->planned = WICK_NEW_ARRAY(options->load, char *, method->planned_count);
    if (!it->planned) return wick_fail_oom(err, method->planned_count * sizeof *it->planned, "planned buffers");
    for (uint32_t i = 0; i < method->planned_count; i++) {
        uint64_t bytes = method->planned_bytes[i];
        it->planned[i] = bytes <= SIZE_MAX ? wick_arena_alloc(options->planned, (size_t)bytes, WICK_TIMELINE_ALIGNMENT) : NULL;
        if (!it->planned[i])
            return wick_fail(err, WICK_OUT_OF_MEMORY, "planned buffer %u: no memory for %llu bytes", i + 1, (unsigned long long)bytes);
    }
    uint64_t scratch = it->graph->scratch_bytes;
    it->scratch = scratch <= SIZE_MAX ? wick_arena_alloc(options->planned, (size_t)scratch, WICK_TIMELINE_ALIGNMENT) : NULL;
    if (!it->scratch) return wick_fail(err, WICK_OUT_OF_MEMORY, "scratch: no memory for %llu bytes", (unsigned long long)scratch);
    return WICK_OK;
}

wick_status wick_instance_open(struct wick_instance **out, const struct wick_exec_graph *graph, const struct wick_instance_options *options,
                               wick_error *err)
{
    *out = NULL;
    const struct wick_method *method = graph->method;
    struct wick_instance *it = WICK_NEW(options->load, struct wick_instance);
    if (!it) return wick_fail_oom(err, sizeof *it, "instance");
    it->graph = graph;
    it->staging = options->planned;
    it->run = (struct wick_run){.ukernels = graph->ukernels, .temp = options->temp, .pool = options->pool, .numerics = graph->numerics};
    atomic_init(&it->cancelled, false);
    it->values = WICK_NEW_ARRAY(options->load, struct wick_value, graph->value_count);
    it->tensors = WICK_NEW_ARRAY(options->load, struct wick_tensor, graph->tensor_count);
    it->shapes = WICK_NEW_ARRAY(options->load, struct wick_shape, graph->out_max);
    it->inputs = WICK_NEW_ARRAY(options->load, struct wick_timeline_input, method->input_count);
    if (!it->values || !it->tensors || !it->shapes || !it->inputs) return wick_fail_oom(err, graph->tensor_count * sizeof *it->tensors, "instance");
    WICK_TRY(open_memory(it, options, err));
    set_up(it);
    *out = it;
    return WICK_OK;
}

void wick_instance_reset_state(struct wick_instance *it)
{
    const struct wick_method *method = it->graph->method;
    for (uint32_t i = 0; i < method->planned_count; i++) memset(it->planned[i], 0, (size_t)method->planned_bytes[i]);
    memset(it->scratch, 0, (size_t)it->graph->scratch_bytes);
    set_up(it);
}

/* ---- inputs and outputs ---- */

static void mark_set(struct wick_instance *it, uint32_t input)
{
    if (!it->inputs[input].set) it->missing--;
    it->inputs[input].set = true;
}

static void mark_missing(struct wick_instance *it, uint32_t input)
{
    if (it->inputs[input].set) it->missing++;
    it->inputs[input].set = false;
}

static wick_status find_input(const struct wick_instance *it, uint32_t input, const struct wick_value **value, wick_error *err)
{
    const struct wick_method *method = it->graph->method;
    if (input >= method->input_count)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: method %.*s has %u inputs", input, (int)method->name.size, method->name.data,
                         method->input_count);
    *value = &it->graph->values[method->inputs[input]];
    return WICK_OK;
}

/* True if both list elements in one order: dims of size 1 do not matter. */
static bool same_order(const struct wick_shape *a, const struct wick_shape *b)
{
    int ia = 0, ib = 0;
    for (;;) {
        while (ia < a->rank && a->sizes[a->dim_order[ia]] == 1) ia++;
        while (ib < b->rank && b->sizes[b->dim_order[ib]] == 1) ib++;
        if (ia == a->rank || ib == b->rank) return ia == a->rank && ib == b->rank;
        if (a->dim_order[ia++] != b->dim_order[ib++]) return false;
    }
}

/* Copies elements from one dim order to another; shapes have equal sizes and element type. */
static void reorder(void *to, const struct wick_shape *to_shape, const void *from, const struct wick_shape *from_shape)
{
    size_t element = wick_dtype_size(to_shape->dtype), numel = wick_shape_numel(to_shape);
    int32_t strides[WICK_RANK_MAX], index[WICK_RANK_MAX] = {0};
    wick_shape_strides(from_shape, strides);
    size_t source = 0;
    for (size_t i = 0; i < numel; i++) {
        memcpy((char *)to + i * element, (const char *)from + source * element, element);
        for (int d = to_shape->rank - 1; d >= 0; d--) { /* the next element of `to`, innermost dim first */
            int dim = to_shape->dim_order[d];
            source += (size_t)strides[dim];
            if (++index[dim] < to_shape->sizes[dim]) break;
            source -= (size_t)strides[dim] * (size_t)index[dim];
            index[dim] = 0;
        }
    }
}

/* Memory of the instance for an input that has none in the program but comes in another layout; kept for later calls. */
static wick_status stage_input(struct wick_instance *it, uint32_t input, size_t bytes, wick_error *err)
{
    if (it->inputs[input].staged) return WICK_OK;
    it->inputs[input].staged = wick_arena_alloc(it->staging, bytes, WICK_TIMELINE_ALIGNMENT);
    return it->inputs[input].staged ? WICK_OK : wick_fail_oom(err, bytes, "input");
}

wick_status wick_instance_set_tensor(struct wick_instance *it, uint32_t input, const struct wick_shape *shape, void *data, wick_error *err)
{
    const struct wick_value *value = NULL;
    char is[128], wants[128];
    uint64_t nbytes = 0;
    WICK_TRY(find_input(it, input, &value, err));
    if (value->tag != WICK_TAG_TENSOR) return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: the program takes no tensor here", input);
    uint32_t index = wick_exec_graph_tensor_index(it->graph, it->graph->method->inputs[input]);
    const struct wick_place *place = &it->graph->places[index];
    struct wick_tensor *tensor = &it->tensors[index];
    if (!wick_shape_valid(shape, &nbytes)) return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: no valid shape", input);
    wick_shape_text(shape, is);
    wick_shape_text(&it->graph->tensors[index].shape, wants);
    if (shape->dtype != tensor->shape.dtype) return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: is %s, the program takes %s", input, is, wants);
    if (nbytes && !data) return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: no data", input);
    if (place->kind == WICK_PLACE_CONSTANT) return wick_fail(err, WICK_INVALID_PROGRAM, "input %u: is a constant of the program", input);
    size_t bound = it->graph->tensors[index].capacity;
    mark_missing(it, input);
    tensor->data = NULL;
    tensor->capacity = bound; /* an alias has only as much as its current sizes, which must not limit the new ones */
    wick_status status = wick_tensor_resize(tensor, shape->sizes, shape->rank, err);
    if (status != WICK_OK)
        return wick_fail_in(err, status, "input %u: is %s, the program takes %s %s", input, is,
                            tensor->dynamism == WICK_STATIC ? "exactly" : "at most", wants);
    bool ordered = same_order(shape, &tensor->shape), aligned = (uintptr_t)data % WICK_MIN(wick_dtype_size(shape->dtype), sizeof(double)) == 0;
    if (place->kind == WICK_PLACE_NONE && ordered && aligned) {
        tensor->data = data;
        tensor->capacity = (size_t)nbytes;
    } else {
        if (place->kind == WICK_PLACE_NONE) WICK_TRY(stage_input(it, input, bound, err));
        tensor->data = place->kind == WICK_PLACE_NONE ? it->inputs[input].staged : place_address(it, place);
        if (!ordered) reorder(tensor->data, &tensor->shape, data, shape);
        else if (nbytes) memmove(tensor->data, data, (size_t)nbytes);
    }
    mark_set(it, input);
    return WICK_OK;
}

static bool same_double(double given, double traced)
{
    if (given == traced || (given != given && traced != traced)) return true;
    double difference = given > traced ? given - traced : traced - given, magnitude = traced < 0 ? -traced : traced;
    return difference <= 1e-4 + 1e-5 * magnitude && magnitude <= 1.7976931348623157e308;
}

wick_status wick_instance_set_scalar(struct wick_instance *it, uint32_t input, const struct wick_value *given, wick_error *err)
{
    const struct wick_value *traced = NULL;
    WICK_TRY(find_input(it, input, &traced, err));
    if (traced->tag != given->tag) return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: another kind of value than the program takes", input);
    switch (given->tag) {
    case WICK_TAG_INT:
        if (given->as.i != traced->as.i)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: is %lld, the program was exported for %lld", input, (long long)given->as.i,
                             (long long)traced->as.i);
        break;
    case WICK_TAG_BOOL:
        if (given->as.b != traced->as.b)
            return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: is %d, the program was exported for %d", input, given->as.b, traced->as.b);
        break;
    case WICK_TAG_DOUBLE:
        if (!same_double(given->as.d, traced->as.d))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: is %g, the program was exported for %g", input, given->as.d, traced->as.d);
        break;
    case WICK_TAG_STRING:
        if (!wick_str_equal(given->as.string, traced->as.string))
            return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: is \"%.*s\", the program was exported for \"%.*s\"", input,
                             (int)WICK_MIN(given->as.string.size, 64), given->as.string.data, (int)WICK_MIN(traced->as.string.size, 64),
                             traced->as.string.data);
        break;
    case WICK_TAG_NONE: break;
    default: return wick_fail(err, WICK_INVALID_ARGUMENT, "input %u: lists cannot be set", input);
    }
    mark_set(it, input);
    return WICK_OK;
}

const struct wick_exec_graph *wick_instance_graph(const struct wick_instance *it) { return it->graph; }

const struct wick_value *wick_instance_value(const struct wick_instance *it, uint32_t id) { return &it->values[id]; }

const struct wick_value *wick_instance_output(const struct wick_instance *it, uint32_t output)
{
    static const struct wick_value none = {.tag = WICK_TAG_NONE};
    const struct wick_method *method = it->graph->method;
    return output < method->output_count ? &it->values[method->outputs[output]] : &none;
}

void wick_instance_cancel(struct wick_instance *it) { atomic_store(&it->cancelled, true); }
