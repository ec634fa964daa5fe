/* api/inspect.c - implements wick/inspect.h with the payload printers of this build's backends. */
#include "wick/inspect.h"

#include "base/os.h"
#include "devtools/inspect.h"
#include "devtools/nodes.h"
#include "exec/model.h"

#include <stdlib.h>

#define WICK_BACKEND(id, name) extern const struct wick_payload_printer wick_payload_printer_##id;
#include "backends/backends.def"
#undef WICK_BACKEND

wick_status wick_inspect(const char *path, wick_inspect_form form, char **text, wick_error *error)
{
    const struct wick_payload_printer all[] = {
#define WICK_BACKEND(id, name) wick_payload_printer_##id,
#include "backends/backends.def"
#undef WICK_BACKEND
    };
    const struct wick_payload_printers printers = {all, WICK_ARRAY_SIZE(all)};
    struct wick_map map;
    struct wick_buf out = {0};
    *text = NULL;
    WICK_TRY(wick_map_open(&map, path, error));
    wick_status status = form == WICK_INSPECT_JSON ? wick_inspect_json(map.data, map.size, &printers, &out, error) : wick_inspect_text(map.data, map.size, &printers, &out, error);
    wick_map_close(&map);
    if (status == WICK_OK) *text = out.data;
    else {
        wick_fail_in(error, status, "%s", path);
        wick_buf_free(&out);
    }
    return status;
}

wick_status wick_inspect_nodes(wick_model *model, const char *method, char **text, wick_error *error)
{
    const struct wick_exec_graph *graph;
    struct wick_buf out = {0};
    *text = NULL;
    WICK_TRY(wick_model_graph(model, wick_str_of(method ? method : "forward"), &graph, error));
    wick_nodes_text(graph, &out);
    if (out.failed) {
        wick_buf_free(&out);
        return wick_fail(error, WICK_OUT_OF_MEMORY, "out of memory for a list of %u nodes", graph->node_count);
    }
    *text = out.data;
    return WICK_OK;
}

void wick_inspect_free(char *text) { free(text); }
