/* export/record.c - the record of an export: which layer each instruction came from; see inform.h. Written beside the program. */
#include "export/inform.h"

#include "base/os.h"

#include <stdio.h>

static void put_string(struct wick_buf *out, const char *key, const char *text)
{
    wick_buf_printf(out, "\"%s\": ", key);
    wick_buf_json_string(out, text ? text : "", text ? strlen(text) : 0);
}

/* {"operator": ..., "layer": ...}, for a delegate call with what it was made of. */
static void put_instruction(struct wick_buf *out, const struct wick_graph *g, const struct wick_graph_node *node)
{
    const struct wick_delegate *delegate = node->op ? NULL : &g->delegates[node->delegate];
    wick_buf_text(out, "{");
    put_string(out, delegate ? "delegate" : "operator", delegate ? delegate->backend : node->op->name);
    wick_buf_text(out, ", ");
    put_string(out, "layer", node->scope);
    if (delegate) wick_buf_text(out, ", \"calls\": [");
    for (uint32_t i = 0; delegate && i < delegate->call_count; i++) {
        wick_buf_text(out, i ? ", {" : "{");
        put_string(out, "operator", delegate->calls[i].op);
        wick_buf_text(out, ", ");
        put_string(out, "layer", delegate->calls[i].scope);
        wick_buf_text(out, "}");
    }
    wick_buf_text(out, delegate ? "]}" : "}");
}

static void put_method(struct wick_buf *out, const struct wick_method *method)
{
    bool first = true;
    wick_buf_text(out, "{");
    put_string(out, "name", method->name);
    wick_buf_text(out, ", \"instructions\": [");
    for (uint32_t n = 0; n < method->graph.node_count; n++) {
        if (method->graph.nodes[n].dead) continue;
        wick_buf_text(out, first ? "\n" : ",\n");
        put_instruction(out, &method->graph, &method->graph.nodes[n]);
        first = false;
    }
    wick_buf_text(out, "\n]}");
}

wick_status wick_record_write(const struct wick_methods *methods, const char *program_path, wick_error *err)
{
    struct wick_writer *writer;
    struct wick_buf text = {0};
    char path[1100];
    size_t size = strlen(program_path);
    if (wick_str_ends(wick_str_of(program_path), WICK_STR(".pte"))) size -= 4;
    snprintf(path, sizeof path, "%.*s.etrecord.json", (int)size, program_path);
    wick_buf_text(&text, "{\"version\": 1, \"methods\": [");
    for (uint32_t i = 0; i < methods->count; i++) {
        if (i) wick_buf_text(&text, ", ");
        put_method(&text, &methods->list[i]);
    }
    wick_buf_text(&text, "]}\n");
    wick_status status = text.failed ? wick_fail_oom(err, text.size, "record of the export") : wick_writer_open(&writer, path, err);
    if (status == WICK_OK) {
        status = wick_writer_write(writer, text.data, text.size, err);
        if (status == WICK_OK) status = wick_writer_commit(writer, err);
        else wick_writer_discard(writer);
    }
    wick_buf_free(&text);
    return status;
}
