/* export/methods.h - the methods of a program: "forward", or those of multimethod.methods, each with its adapter, graph and memory plan. */
#ifndef WICK_EXPORT_METHODS_H
#define WICK_EXPORT_METHODS_H

#include "export/adapter.h"
#include "export/stages.h"

struct wick_method {
    const char *name;
    const char *adapter_text; /* its adapter as JSON; NULL: none */
    const char *adapter_key;  /* the key that holds it, for messages */
    struct wick_adapter adapter;
    struct wick_graph graph;
    struct wick_memory_plan plan;
};

struct wick_methods {
    struct wick_method *list; /* by name, as the original writes them */
    uint32_t count;
    bool several; /* they are multimethod.methods: there may be but one */
};

/* Names and adapters; graphs are initialised, empty. INVALID_CONFIG: two methods of one name, or a name that a file cannot hold. */
wick_status wick_methods_init(struct wick_methods *m, const struct wick_config *config, const struct wick_opmeta_table *ops, struct wick_arena *arena,
                              wick_error *err);
void wick_methods_release(struct wick_methods *m);

#endif
