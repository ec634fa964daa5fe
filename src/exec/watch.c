/* exec/watch.c - two readings of the clock a node, and what its operator says it did. */
#include "exec/watch.h"

#include "base/os.h"
#include "exec/timeline.h"

static void begin(void *user, const struct wick_instance *instance, uint32_t node)
{
    struct wick_watch *watch = user;
    (void)instance, (void)node;
    watch->begin_ns = wick_now_ns();
}

static void end(void *user, const struct wick_instance *instance, uint32_t index, wick_status status)
{
    struct wick_watch *watch = user;
    const struct wick_node *node = &instance->graph->nodes[index];
    struct wick_node_sample sample = {.node = node, .index = index, .nanoseconds = wick_now_ns() - watch->begin_ns};
    if (status != WICK_OK) return;
    if (node->kind == WICK_NODE_CALL && node->op->work) {
        struct wick_args args = {instance->values, node->ids, node->count};
        node->op->work(&args, node->state, &sample.work);
    }
    watch->report(watch->user, &sample);
}

void wick_watch_init(struct wick_watch *watch, void (*report)(void *user, const struct wick_node_sample *sample), void *user)
{
    *watch = (struct wick_watch){.tracer = {begin, end, watch}, .report = report, .user = user};
}
