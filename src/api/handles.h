/* api/handles.h - what runners are made of. */
#ifndef WICK_API_HANDLES_H
#define WICK_API_HANDLES_H

#include "exec/model.h"
#include "exec/watch.h"

struct wick_node_report;

struct wick_watcher {
    struct wick_watch watch;
    void (*fn)(void *user, const struct wick_node_report *report); /* NULL: nobody watches */
    void *user;
};

struct wick_runner {
    struct wick_timeline timeline;
    struct wick_watcher watcher;
};

#endif
