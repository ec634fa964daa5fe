/* tools/cli/bench.h - wick bench: a plan, processes that measure, and what comes out. */
#ifndef WICK_CLI_BENCH_H
#define WICK_CLI_BENCH_H

#include "cli.h"

#include <sys/types.h>

enum { BENCH_LENGTHS = 16, BENCH_THREADS = 8, BENCH_REPS = 64, BENCH_OPERATORS = 512, BENCH_NAME = 64 };

struct bench_list {
    int64_t items[BENCH_LENGTHS];
    size_t count;
};

/* Tokens a second over the repetitions. */
struct bench_rate {
    int64_t tokens; /* of the prompt, or in the context */
    double median, least, most;
    double samples[BENCH_REPS];
};

/* Time of one operator, or layer of the model, in one call of the program. */
struct bench_operator {
    char name[BENCH_NAME];
    uint64_t calls, nanoseconds, multiply_adds, bytes;
};

struct bench_operators {
    struct bench_operator items[BENCH_OPERATORS];
    size_t count;
    uint64_t nanoseconds, multiply_adds, bytes; /* of all */
};

struct bench_result {
    const char *model;
    int64_t threads;
    char level[32];
    int64_t context, chunk;
    double load_ms, first_token_ms;
    struct bench_rate prefill[BENCH_LENGTHS], decode[BENCH_LENGTHS];
    size_t prefill_count, decode_count;
    struct bench_operators prefill_operators, decode_operators; /* at the longest prompt, and at the first depth */
    struct bench_operators prefill_layers, decode_layers; /* the same by layers, if asked for */
    double read_gb_s, int8_gmac_s, share_decode, share_prefill;
    int64_t peak_rss_bytes;
};

/* ---- bench_worker.c: one process a model and thread count, so that memory and threads of one are not those of another ---- */

struct bench_worker {
    pid_t process;
    FILE *to, *from;
};

/* Starts a process that opens the model; result gets level, context, chunk and load_ms. */
bool bench_worker_start(struct bench_worker *worker, const char *model, int64_t threads, struct bench_result *result, wick_error *err);
/* Seconds of a prompt of `tokens` from an empty context, or of `tokens` decoded at `depth`. */
bool bench_worker_prefill(struct bench_worker *worker, int64_t tokens, double *seconds, wick_error *err);
bool bench_worker_decode(struct bench_worker *worker, int64_t depth, int64_t tokens, double *seconds, wick_error *err);
/* The last call of a prompt of `prompt` tokens at `depth`, operator by operator, or layer by layer. */
bool bench_worker_operators(struct bench_worker *worker, int64_t depth, int64_t prompt, bool by_layer, struct bench_operators *operators, wick_error *err);
bool bench_worker_peak(struct bench_worker *worker, int64_t *bytes, wick_error *err);
void bench_worker_stop(struct bench_worker *worker);
/* From the start of a process of its own to the first byte it prints: a prompt of one token. */
bool bench_first_token(const char *model, int64_t threads, double *seconds, wick_error *err);

/* ---- bench_layers.c ---- */

struct bench_layers {
    char (*names)[BENCH_NAME]; /* by instruction of the method */
    size_t count;
};

/* From the record beside the program. */
bool bench_layers_load(struct bench_layers *layers, const char *program, wick_error *err);
void bench_layers_free(struct bench_layers *layers);

/* ---- bench_report.c ---- */

void bench_print_json(const struct bench_result *results, size_t count);
void bench_print_table(const struct bench_result *result, bool operators);
void bench_print_ratio(const struct bench_result *first, const struct bench_result *second);
bool bench_write_svg(const char *path, const struct bench_result *results, size_t count, wick_error *err);

#endif
