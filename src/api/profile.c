/* api/profile.c - implements wick/profile.h over exec/watch.c and devtools/machine.c. */
#include "wick/profile.h"

#include "api/session.h"
#include "base/os.h"
#include "devtools/machine.h"
#include "ukernel/ukernels.h"

static void pass_on(void *user, const struct wick_node_sample *sample)
{
    const struct wick_watcher *watcher = user;
    const wick_node_report report = {.name = wick_node_name(sample->node),
                                     .node = sample->index,
                                     .instruction = sample->node->instruction,
                                     .nanoseconds = sample->nanoseconds,
                                     .multiply_adds = sample->work.multiply_adds,
                                     .bytes = sample->work.bytes};
    watcher->fn(watcher->user, &report);
}

static void set_watcher(struct wick_watcher *watcher, wick_node_fn fn, void *user)
{
    watcher->fn = fn;
    watcher->user = user;
    wick_watch_init(&watcher->watch, pass_on, watcher);
}

void wick_runner_watch(wick_runner *runner, wick_node_fn fn, void *user) { set_watcher(&runner->watcher, fn, user); }

void wick_session_watch(wick_session *session, wick_node_fn fn, void *user)
{
    set_watcher(&session->watcher, fn, user);
    session->llm.tracer = fn ? &session->watcher.watch.tracer : NULL;
}

wick_status wick_machine_measure(unsigned threads, const char *cpu, wick_machine *machine, wick_error *error)
{
    struct wick_ukernels ukernels;
    struct wick_pool *pool = NULL;
    double bytes = 0;
    *machine = (wick_machine){0};
    WICK_TRY(wick_ukernels_init(&ukernels, cpu, error));
    WICK_TRY(wick_pool_create(&pool, threads ? threads : wick_core_count(), error));
    wick_status status = wick_machine_read(pool, &bytes, error);
    if (status == WICK_OK) machine->read_gb_s = bytes * 1e-9;
    if (status == WICK_OK) machine->int8_gmac_s = wick_machine_int8(pool, &ukernels) * 1e-9;
    wick_pool_destroy(pool);
    return status;
}
