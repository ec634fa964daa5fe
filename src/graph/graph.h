/* graph/graph.h - the exporter's graph: values, operator calls in execution order, constants by source.
 *
 * A graph is built at concrete upper-bound sizes with the very operator rules the runtime uses (wick_opmeta.infer), so
 * planner and kernels cannot disagree. Which sizes are dynamic is found by building once more with fewer tokens and
 * comparing (wick_graph_mark_dynamic).
 *
 * Building never needs a check per call: the first failure sticks in the graph, later calls return WICK_NO_VALUE,
 * and wick_graph_status tells. All memory lives in the graph's arena. One thread. */
#ifndef WICK_GRAPH_GRAPH_H
#define WICK_GRAPH_GRAPH_H

#include "base/arena.h"
#include "graph/source.h"
#include "tensor/value.h"

struct wick_quantized;

#define WICK_NO_VALUE UINT32_MAX

enum wick_origin {
    WICK_ORIGIN_SCALAR,   /* numbers, strings, none, lists */
    WICK_ORIGIN_INPUT,    /* a user input of the method */
    WICK_ORIGIN_CONSTANT, /* bytes come from a source */
    WICK_ORIGIN_STATE,    /* a mutable buffer, zero at first, kept between calls */
    WICK_ORIGIN_COMPUTED,
};

struct wick_graph_value {
    struct wick_value value; /* tensors: wick_tensor with the bound shape; numbers: their value at the bound */
    uint8_t origin;
    bool is_output;
    const char *name;           /* fully qualified name of a constant or state ("layers.0.attention.wq.weight"), else NULL */
    struct wick_source *source; /* constants only */
    struct wick_quantized *quantized; /* the weight of a quantized operator (graph/irops.h), else NULL */
};

struct wick_graph_node {
    const struct wick_opmeta *op; /* NULL: a call of delegates[delegate] */
    uint32_t delegate;
    uint32_t count;      /* op: inputs then outs, as the signature says; delegate: inputs then outputs */
    uint32_t n_inputs;
    uint32_t *ids;
    const char *scope;   /* where in the model ("layers.0.attention"): tables and debug handles */
    bool dead;           /* removed by a stage; not emitted */
};

/* A lowered part: what a backend made of some nodes. render is called when the content keys of all its constants are
 * known and writes the payload; its size must not depend on the keys. */
struct wick_delegate {
    const char *backend; /* "XnnpackBackend" */
    struct wick_delegate_data *data;
    wick_status (*render)(const struct wick_delegate_data *data, struct wick_buf *payload, wick_error *err);
    /* Constants that go into the program's named data; key (65 bytes, NUL-terminated) is filled in before render. */
    struct wick_named_constant {
        struct wick_source *source;
        const char *name;   /* of the weight it belongs to; NULL: none */
        const char *prefix; /* before the hash: "" or "scale_" */
        char key[96];
        const struct wick_named_constant *same; /* of another method, whose bytes and key it has; NULL: it has its own */
    } *constants;
    uint32_t constant_count;
    struct wick_delegate_call {
        const char *op, *scope;
    } *calls; /* what it was made of, in order */
    uint32_t call_count;
};

struct wick_opmeta_table {
    const struct wick_opmeta *const *metas;
    size_t count;
};

struct wick_graph {
    struct wick_arena arena;
    const struct wick_opmeta_table *ops;
    struct wick_value *values; /* parallel to info: the argument space of wick_args */
    struct wick_graph_value *info;
    uint32_t value_count, value_capacity;
    struct wick_graph_node *nodes;
    uint32_t node_count, node_capacity;
    struct wick_delegate *delegates;
    uint32_t delegate_count, delegate_capacity;
    uint32_t inputs[8], input_count, outputs[8], output_count;
    const char *scope;
    wick_status status;
    wick_error error;
};

void wick_graph_init(struct wick_graph *g, const struct wick_opmeta_table *ops);
void wick_graph_release(struct wick_graph *g);
/* The first failure of building, with its text. */
wick_status wick_graph_status(const struct wick_graph *g, wick_error *err);
wick_status wick_graph_fail(struct wick_graph *g, wick_status status, const char *format, ...) WICK_PRINTF(3, 4);

/* Names what is built next ("layers.%d.attention"). */
void wick_graph_scope(struct wick_graph *g, const char *format, ...) WICK_PRINTF(2, 3);
const char *wick_graph_name(struct wick_graph *g, const char *format, ...) WICK_PRINTF(2, 3);

/* Scalars are shared: the same number twice is one value. */
uint32_t wick_graph_none(struct wick_graph *g);
uint32_t wick_graph_int(struct wick_graph *g, int64_t v);
uint32_t wick_graph_bool(struct wick_graph *g, bool v);
uint32_t wick_graph_double(struct wick_graph *g, double v);
uint32_t wick_graph_string(struct wick_graph *g, const char *v);
/* A list of int values (ids), or of the constants themselves. */
uint32_t wick_graph_int_list(struct wick_graph *g, const uint32_t *ids, uint32_t count);
uint32_t wick_graph_ints(struct wick_graph *g, uint32_t count, ...); /* int64_t each */
uint32_t wick_graph_tensors(struct wick_graph *g, const uint32_t *ids, uint32_t count);
/* WICK_NO_VALUE entries are absent elements. */
uint32_t wick_graph_optional_tensors(struct wick_graph *g, const uint32_t *ids, uint32_t count);

uint32_t wick_graph_input(struct wick_graph *g, const char *name, const struct wick_shape *shape);
uint32_t wick_graph_constant(struct wick_graph *g, const char *name, struct wick_source *source);
uint32_t wick_graph_state(struct wick_graph *g, const char *name, const struct wick_shape *shape);
void wick_graph_output(struct wick_graph *g, uint32_t id);

/* Appends a call; op by its name in the file. The single tensor out is made by the rule and returned.
 * Variadic arguments: `count` value ids. */
uint32_t wick_graph_call(struct wick_graph *g, const char *op, uint32_t count, ...);
/* The same with a call that writes a number: `at_bound` is its value (tag INT, DOUBLE or BOOL) at the bound sizes. */
uint32_t wick_graph_number(struct wick_graph *g, const char *op, struct wick_value at_bound, uint32_t count, ...);
/* A call without outs of its own (in-place operators) or with outs given by the caller at the end of ids. */
void wick_graph_effect(struct wick_graph *g, const char *op, uint32_t count, ...);
/* A call of a meta that need not be in the table (stages' own intermediate operators). */
uint32_t wick_graph_call_meta(struct wick_graph *g, const struct wick_opmeta *meta, const uint32_t *ids, uint32_t count);
/* Copies a node to the end of the list (stages that rebuild it). */
void wick_graph_append(struct wick_graph *g, const struct wick_graph_node *node);
/* A fresh computed tensor of a shape; for stages that wire nodes themselves. */
uint32_t wick_graph_tensor(struct wick_graph *g, const struct wick_shape *shape);
const struct wick_opmeta *wick_graph_find_op(struct wick_graph *g, const char *op);

static inline const struct wick_shape *wick_graph_shape(const struct wick_graph *g, uint32_t id) { return &g->values[id].as.tensor->shape; }

/* small: the same model built with fewer tokens. Tensors whose sizes differ become DYNAMIC_BOUND. */
wick_status wick_graph_mark_dynamic(struct wick_graph *g, const struct wick_graph *small, wick_error *err);

/* One line a node; for --dump-after. */
void wick_graph_print(const struct wick_graph *g, struct wick_buf *out);

#endif
