/* export/memory_trace.c - a Chrome trace of the memory plan; see inform.h. The fields are the original's. */
#include "export/inform.h"

#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>

enum { FLUSH_BYTES = 1 << 20 };

/* The node that makes a value first; NULL: a state, or an input. */
static const struct wick_graph_node *maker(const struct wick_graph *g, const struct wick_plan_life *life)
{
    return g->info[life->id].origin == WICK_ORIGIN_COMPUTED && life->first < g->node_count ? &g->nodes[life->first] : NULL;
}

static void put_event(const struct wick_graph *g, const struct wick_plan_life *life, uint64_t at, uint32_t row, bool first, struct wick_buf *out)
{
    const struct wick_graph_node *node = maker(g, life);
    const char *name = g->info[life->id].name, *op = !node ? "state" : node->op ? node->op->name : g->delegates[node->delegate].backend;
    char number[24];
    snprintf(number, sizeof number, "%%%u", life->id);
    wick_buf_text(out, first ? "\n{\"name\": " : ",\n{\"name\": ");
    wick_buf_json_string(out, name ? name : number, strlen(name ? name : number));
    wick_buf_printf(out, ", \"cat\": \"memory_allocation\", \"ph\": \"X\", \"ts\": %llu, \"dur\": %llu, \"pid\": 1, \"tid\": %u, \"args\": {\"op_name\": ", (unsigned long long)at,
                    (unsigned long long)life->bytes, row);
    wick_buf_json_string(out, op, strlen(op));
    wick_buf_printf(out, ", \"Memory ID\": 1, \"offset\": %llu, \"fqn\": ", (unsigned long long)life->offset);
    wick_buf_json_string(out, node && node->scope ? node->scope : "", node && node->scope ? strlen(node->scope) : 0);
    wick_buf_printf(out, ", \"source\": \"\", \"bytes\": %llu}}", (unsigned long long)life->bytes);
}

static int by_offset(const void *a, const void *b)
{
    const struct wick_plan_life *x = a, *y = b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static wick_status flush(struct wick_writer *writer, struct wick_buf *text, wick_error *err)
{
    wick_status status = text->failed ? wick_fail_oom(err, text->size, "memory trace") : text->size ? wick_writer_write(writer, text->data, text->size, err) : WICK_OK;
    text->size = 0;
    return status;
}

static wick_status write_events(const struct wick_graph *g, const struct wick_plan_life *lives, uint32_t count, struct wick_writer *writer, struct wick_buf *text, wick_error *err)
{
    uint32_t row = 0;
    bool first = true;
    wick_buf_text(text, "{\"traceEvents\": [");
    for (uint32_t n = 0; n < g->node_count; n++) {
        uint64_t at = 0;
        if (g->nodes[n].dead) continue;
        for (uint32_t i = 0; i < count; i++) {
            if (lives[i].first > n || lives[i].last < n) continue;
            put_event(g, &lives[i], at, row, first, text);
            at += lives[i].bytes;
            first = false;
        }
        row++;
        if (text->size > FLUSH_BYTES) WICK_TRY(flush(writer, text, err));
    }
    wick_buf_text(text, "\n]}\n");
    return flush(writer, text, err);
}

wick_status wick_memory_trace_write(const struct wick_graph *g, const struct wick_memory_plan *plan, const char *path, wick_error *err)
{
    struct wick_writer *writer;
    struct wick_buf text = {0};
    struct wick_plan_life *lives = malloc(plan->life_count * sizeof *lives + 1);
    if (!lives) return wick_fail_oom(err, plan->life_count * sizeof *lives, "memory trace");
    if (plan->life_count) memcpy(lives, plan->lives, plan->life_count * sizeof *lives);
    qsort(lives, plan->life_count, sizeof *lives, by_offset);
    wick_status status = wick_writer_open(&writer, path, err);
    if (status == WICK_OK) {
        status = write_events(g, lives, plan->life_count, writer, &text, err);
        if (status == WICK_OK) status = wick_writer_commit(writer, err);
        else wick_writer_discard(writer);
    }
    wick_buf_free(&text);
    free(lives);
    return status;
}
