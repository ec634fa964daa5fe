/* exec/watch.h - a tracer that times nodes and counts their work. */
#ifndef WICK_EXEC_WATCH_H
#define WICK_EXEC_WATCH_H

#include "exec/instance.h"

struct wick_node_sample {
    const struct wick_node *node;
    uint32_t index;
    uint64_t nanoseconds;
    struct wick_work work;
};

struct wick_watch {
    struct wick_tracer tracer;
    void (*report)(void *user, const struct wick_node_sample *sample);
    void *user;
    uint64_t begin_ns;
};

/* watch stays where it is as long as its tracer is used. */
void wick_watch_init(struct wick_watch *watch, void (*report)(void *user, const struct wick_node_sample *sample), void *user);

#endif
