/* tools/cli/bench_worker.c - the process that measures: it opens one model and answers lines on a pipe.
 *
 * Asked "prefill N", "decode D N", "operators D N", "layers D N" or "peak", it answers "ok ..." or "error TEXT"; "quit" ends it. The parent alternates
 * between workers, so that what disturbs the machine disturbs all alike. */
#include "bench.h"

#include "wick/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- in the worker ---- */

struct worker_state {
    wick_session *session;
    wick_session_info info;
    int64_t *ids; /* (context): a fixed walk through the vocabulary */
    FILE *out;
    const char *program;
    struct bench_layers layers; /* of the record, once they were asked for */
};

struct watch {
    struct bench_operators *all;
    const struct bench_layers *layers; /* NULL: by operator */
};

static void answer_error(FILE *out, const wick_error *err) { fprintf(out, "error %s\n", err->message[0] ? err->message : wick_status_text(err->status)); }

static int64_t best_id(const float *logits, int64_t count)
{
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* An empty context, then `depth` tokens of it. */
static wick_status rewind_to(struct worker_state *w, int64_t depth, wick_error *err)
{
    wick_session_reset(w->session);
    return depth ? wick_session_feed(w->session, w->ids, (size_t)depth, err) : WICK_OK;
}

static wick_status time_prefill(struct worker_state *w, int64_t tokens, double *seconds, wick_error *err)
{
    wick_status status = rewind_to(w, 0, err);
    double begin = seconds_now();
    if (status == WICK_OK) status = wick_session_feed(w->session, w->ids, (size_t)tokens, err);
    *seconds = seconds_now() - begin;
    return status;
}

/* Greedy, so that the walk over the logits counts as it does in use. */
static wick_status time_decode(struct worker_state *w, int64_t depth, int64_t tokens, double *seconds, wick_error *err)
{
    wick_status status = rewind_to(w, depth, err);
    int64_t id = w->ids[depth % w->info.context];
    double begin = seconds_now();
    for (int64_t i = 0; status == WICK_OK && i < tokens; i++) {
        status = wick_session_feed(w->session, &id, 1, err);
        if (status == WICK_OK) id = best_id(wick_session_logits(w->session), w->info.vocab_size);
    }
    *seconds = seconds_now() - begin;
    return status;
}

static void add_node(void *user, const wick_node_report *report)
{
    const struct watch *watch = user;
    struct bench_operators *all = watch->all;
    struct bench_operator *entry = NULL;
    const char *name = !watch->layers ? report->name : report->instruction < watch->layers->count ? watch->layers->names[report->instruction] : "-";
    for (size_t i = 0; i < all->count && !entry; i++)
        if (strcmp(all->items[i].name, name) == 0) entry = &all->items[i];
    if (!entry && all->count < BENCH_OPERATORS) {
        entry = &all->items[all->count++];
        *entry = (struct bench_operator){.calls = 0};
        snprintf(entry->name, sizeof entry->name, "%s", name);
    }
    all->nanoseconds += report->nanoseconds;
    all->multiply_adds += report->multiply_adds;
    all->bytes += report->bytes;
    if (!entry) return;
    entry->calls++;
    entry->nanoseconds += report->nanoseconds;
    entry->multiply_adds += report->multiply_adds;
    entry->bytes += report->bytes;
}

static wick_status watch_operators(struct worker_state *w, int64_t depth, int64_t tokens, bool by_layer, struct bench_operators *all, wick_error *err)
{
    struct watch watch = {all, by_layer ? &w->layers : NULL};
    if (by_layer && !w->layers.names && !bench_layers_load(&w->layers, w->program, err)) return err->status;
    *all = (struct bench_operators){.count = 0};
    wick_status status = rewind_to(w, depth, err);
    wick_session_watch(w->session, add_node, &watch);
    if (status == WICK_OK) status = wick_session_feed(w->session, w->ids + depth, (size_t)tokens, err);
    wick_session_watch(w->session, NULL, NULL);
    return status;
}

static void answer_operators(FILE *out, const struct bench_operators *all)
{
    fprintf(out, "ok %zu %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", all->count, all->nanoseconds, all->multiply_adds, all->bytes);
    for (size_t i = 0; i < all->count; i++) {
        const struct bench_operator *o = &all->items[i];
        fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", o->name, o->calls, o->nanoseconds, o->multiply_adds, o->bytes);
    }
}

static void answer(struct worker_state *w, const char *line)
{
    static struct bench_operators operators;
    wick_error err = {0};
    int64_t depth = 0, tokens = 0;
    double seconds = 0;
    struct rusage usage;
    wick_status status = WICK_OK;
    if (sscanf(line, "prefill %" SCNd64, &tokens) == 1) status = time_prefill(w, tokens, &seconds, &err);
    else if (sscanf(line, "decode %" SCNd64 " %" SCNd64, &depth, &tokens) == 2) status = time_decode(w, depth, tokens, &seconds, &err);
    else if (sscanf(line, "operators %" SCNd64 " %" SCNd64, &depth, &tokens) == 2 || sscanf(line, "layers %" SCNd64 " %" SCNd64, &depth, &tokens) == 2) {
        status = watch_operators(w, depth, tokens, *line == 'l', &operators, &err);
        if (status == WICK_OK) answer_operators(w->out, &operators);
    }
    if (status != WICK_OK) answer_error(w->out, &err);
    else if (*line == 'p' && line[1] == 'e' && getrusage(RUSAGE_SELF, &usage) == 0) fprintf(w->out, "ok %ld\n", usage.ru_maxrss);
    else if (*line != 'o' && *line != 'l') fprintf(w->out, "ok %.9f\n", seconds);
    fflush(w->out);
}

static wick_status open_worker(struct worker_state *w, wick_model **model, const char *path, int64_t threads, double *load, wick_error *err)
{
    wick_model_options options;
    double begin = seconds_now();
    wick_model_options_init(&options);
    options.threads = (unsigned)threads;
    options.cpu = getenv("WICK_CPU");
    wick_status status = wick_model_open(path, &options, model, err);
    if (status == WICK_OK) status = wick_session_open(*model, NULL, &w->session, err);
    if (status != WICK_OK) return status;
    *load = seconds_now() - begin;
    wick_session_describe(w->session, &w->info);
    w->ids = calloc((size_t)w->info.context + 1, sizeof *w->ids);
    if (!w->ids) {
        snprintf(err->message, sizeof err->message, "out of memory");
        return err->status = WICK_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i <= w->info.context; i++) w->ids[i] = (i * 7919 + 17) % w->info.vocab_size;
    return WICK_OK;
}

/* Does not return to the caller's work: the process ends here. */
static int serve(const char *path, int64_t threads, FILE *in, FILE *out)
{
    struct worker_state w = {.out = out, .program = path};
    wick_model *model = NULL;
    wick_error err = {0};
    double load = 0;
    char line[128];
    signal(SIGINT, SIG_DFL);
    if (open_worker(&w, &model, path, threads, &load, &err) != WICK_OK) answer_error(out, &err);
    else fprintf(out, "ok %.9f %" PRId64 " %" PRId64 " %s\n", load, w.info.context, w.info.chunk, wick_model_cpu(model));
    fflush(out);
    while (w.ids && fgets(line, sizeof line, in) && *line != 'q') answer(&w, line);
    free(w.ids);
    bench_layers_free(&w.layers);
    wick_session_close(w.session);
    wick_model_unref(model);
    return 0;
}

/* ---- in the parent ---- */

static bool system_error(wick_error *err, const char *what)
{
    err->status = WICK_INTERNAL;
    snprintf(err->message, sizeof err->message, "%s: %s", what, strerror(errno));
    return false;
}

/* Reads "ok ..." into line (without the "ok "). */
static bool read_answer(struct bench_worker *worker, char *line, size_t size, wick_error *err)
{
    err->status = WICK_INTERNAL;
    if (cli_interrupted()) err->status = WICK_CANCELLED;
    if (!fgets(line, (int)size, worker->from)) {
        snprintf(err->message, sizeof err->message, cli_interrupted() ? "interrupted" : "the measuring process ended early");
        return false;
    }
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "ok ", 3) == 0) {
        memmove(line, line + 3, strlen(line + 3) + 1);
        return true;
    }
    snprintf(err->message, sizeof err->message, "%s", strncmp(line, "error ", 6) == 0 ? line + 6 : line);
    return false;
}

bool bench_worker_start(struct bench_worker *worker, const char *model, int64_t threads, struct bench_result *result, wick_error *err)
{
    int to[2], from[2];
    char line[512];
    *worker = (struct bench_worker){.process = 0};
    if (pipe(to) != 0) return system_error(err, "pipe");
    if (pipe(from) != 0) {
        close(to[0]), close(to[1]);
        return system_error(err, "pipe");
    }
    fflush(stdout), fflush(stderr);
    worker->process = fork();
    if (worker->process == 0) {
        close(to[1]), close(from[0]);
        FILE *in = fdopen(to[0], "r"), *out = fdopen(from[1], "w");
        _exit(in && out ? serve(model, threads, in, out) : 1);
    }
    close(to[0]), close(from[1]);
    worker->to = fdopen(to[1], "w");
    worker->from = fdopen(from[0], "r");
    if (worker->process < 0 || !worker->to || !worker->from) return system_error(err, "fork");
    if (!read_answer(worker, line, sizeof line, err)) return false;
    result->model = model;
    result->threads = threads;
    sscanf(line, "%lf %" SCNd64 " %" SCNd64 " %31s", &result->load_ms, &result->context, &result->chunk, result->level);
    result->load_ms *= 1e3;
    return true;
}

static bool ask_seconds(struct bench_worker *worker, double *seconds, wick_error *err)
{
    char line[256];
    fflush(worker->to);
    return read_answer(worker, line, sizeof line, err) && sscanf(line, "%lf", seconds) == 1;
}

bool bench_worker_prefill(struct bench_worker *worker, int64_t tokens, double *seconds, wick_error *err)
{
    fprintf(worker->to, "prefill %" PRId64 "\n", tokens);
    return ask_seconds(worker, seconds, err);
}

bool bench_worker_decode(struct bench_worker *worker, int64_t depth, int64_t tokens, double *seconds, wick_error *err)
{
    fprintf(worker->to, "decode %" PRId64 " %" PRId64 "\n", depth, tokens);
    return ask_seconds(worker, seconds, err);
}

bool bench_worker_operators(struct bench_worker *worker, int64_t depth, int64_t prompt, bool by_layer, struct bench_operators *all, wick_error *err)
{
    char line[512];
    size_t count = 0;
    *all = (struct bench_operators){.count = 0};
    fprintf(worker->to, "%s %" PRId64 " %" PRId64 "\n", by_layer ? "layers" : "operators", depth, prompt);
    fflush(worker->to);
    if (!read_answer(worker, line, sizeof line, err)) return false;
    sscanf(line, "%zu %" SCNu64 " %" SCNu64 " %" SCNu64, &count, &all->nanoseconds, &all->multiply_adds, &all->bytes);
    for (size_t i = 0; i < count && i < BENCH_OPERATORS && fgets(line, sizeof line, worker->from); i++) {
        struct bench_operator *o = &all->items[all->count++];
        sscanf(line, "%63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, o->name, &o->calls, &o->nanoseconds, &o->multiply_adds, &o->bytes);
    }
    return true;
}

bool bench_worker_peak(struct bench_worker *worker, int64_t *bytes, wick_error *err)
{
    char line[256];
    fprintf(worker->to, "peak\n");
    fflush(worker->to);
    if (!read_answer(worker, line, sizeof line, err)) return false;
#if defined(__APPLE__)
    *bytes = strtoll(line, NULL, 10);
#else
    *bytes = strtoll(line, NULL, 10) * 1024; /* Linux counts in KiB */
#endif
    return true;
}

void bench_worker_stop(struct bench_worker *worker)
{
    if (worker->to) {
        fputs("quit\n", worker->to);
        fclose(worker->to);
    }
    if (worker->from) fclose(worker->from);
    if (worker->process > 0) {
        if (cli_interrupted()) kill(worker->process, SIGTERM);
        waitpid(worker->process, NULL, 0);
    }
    *worker = (struct bench_worker){.process = 0};
}

bool bench_first_token(const char *model, int64_t threads, double *seconds, wick_error *err)
{
    int from[2];
    char count[32], byte;
    snprintf(count, sizeof count, "%" PRId64, threads);
    if (pipe(from) != 0) return system_error(err, "pipe");
    double begin = seconds_now();
    pid_t process = fork();
    if (process == 0) {
        dup2(from[1], STDOUT_FILENO);
        close(from[0]), close(from[1]);
        const char *const argv[] = {"wick", "run", model, "--tokens", "1", "--max-new-tokens", "1", "--temperature", "0", "--threads", count, "--quiet", NULL};
        execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
        execvp(cli_program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(from[1]);
    bool got = process > 0 && read(from[0], &byte, 1) == 1;
    *seconds = seconds_now() - begin;
    while (got && read(from[0], &byte, 1) == 1) continue; /* the rest of the line: a closed pipe would be an error there */
    close(from[0]);
    if (process > 0) waitpid(process, NULL, 0);
    if (got) return true;
    err->status = WICK_INTERNAL;
    snprintf(err->message, sizeof err->message, "%s: a run of one token failed", model);
    return false;
}
