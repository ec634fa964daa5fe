/* tools/cli/bench.c - wick bench: speed of a language-model program, and how far that is from what the machine can do. */
#include "bench.h"

#include "wick/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 2 };

struct bench_options {
    const char *prompts, *depths, *threads, *compare, *svg;
    int64_t tokens, reps, warmup;
    bool operators, layers, no_limits;
};

struct bench {
    struct bench_options o;
    const char *models[MODELS];
    size_t model_count;
    struct bench_list prompts, depths, threads;
    struct bench_result *results; /* thread count by thread count, the models of one side by side */
    size_t result_count;
    wick_error err;
};

/* "64,512": whole numbers from `least` up. */
static int read_list(struct bench_list *list, const char *option, const char *text, int64_t least, size_t most)
{
    char *end = (char *)(uintptr_t)text;
    for (list->count = 0; list->count < most; text = end + 1) {
        errno = 0;
        int64_t value = strtoll(text, &end, 10);
        if (end == text || errno || value < least || value > 1 << 30 || (*end && *end != ',')) break;
        list->items[list->count++] = value;
        if (!*end) return -1;
    }
    return cli_usage_error("%s: '%s' is not a list of up to %zu numbers from %" PRId64 " up, as in 64,512", option, text, most, least);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(struct bench_rate *rate, size_t count)
{
    qsort(rate->samples, count, sizeof *rate->samples, compare_doubles);
    rate->least = rate->samples[0];
    rate->most = rate->samples[count - 1];
    rate->median = count % 2 ? rate->samples[count / 2] : (rate->samples[count / 2 - 1] + rate->samples[count / 2]) / 2;
}

/* One repetition of one length on every worker in turn. depth -1: a prompt of `tokens`. */
static bool measure_once(struct bench *b, struct bench_worker *workers, int64_t depth, int64_t tokens, double rates[MODELS])
{
    for (size_t m = 0; m < b->model_count; m++) {
        double seconds = 0;
        bool good = depth < 0 ? bench_worker_prefill(&workers[m], tokens, &seconds, &b->err) : bench_worker_decode(&workers[m], depth, tokens, &seconds, &b->err);
        if (!good) return false;
        rates[m] = seconds > 0 ? (double)tokens / seconds : 0;
    }
    return true;
}

/* slot(result): the rate to fill, of each model alike. */
static bool measure(struct bench *b, struct bench_worker *workers, struct bench_rate *slots[MODELS], int64_t depth, int64_t tokens)
{
    double rates[MODELS];
    for (int64_t i = 0; i < b->o.warmup; i++)
        if (!measure_once(b, workers, depth, tokens, rates)) return false;
    for (int64_t i = 0; i < b->o.reps; i++) {
        if (!cli_progress(NULL, depth < 0 ? "prefill" : "decode", (uint64_t)i, (uint64_t)b->o.reps) || !measure_once(b, workers, depth, tokens, rates)) return false;
        for (size_t m = 0; m < b->model_count; m++) slots[m]->samples[i] = rates[m];
    }
    for (size_t m = 0; m < b->model_count; m++) {
        slots[m]->tokens = depth < 0 ? tokens : depth;
        summarize(slots[m], (size_t)b->o.reps);
    }
    return true;
}

static int64_t smallest_context(const struct bench *b, const struct bench_result *results)
{
    int64_t least = results[0].context;
    for (size_t m = 1; m < b->model_count; m++)
        if (results[m].context < least) least = results[m].context;
    return least;
}

static bool measure_lengths(struct bench *b, struct bench_worker *workers, struct bench_result *results)
{
    int64_t context = smallest_context(b, results);
    struct bench_rate *slots[MODELS];
    for (size_t i = 0; i < b->prompts.count; i++) {
        int64_t tokens = b->prompts.items[i];
        if (tokens > context) {
            if (!cli_settings.quiet) fprintf(stderr, "wick: prompt of %" PRId64 " tokens left out: the context holds %" PRId64 "\n", tokens, context);
            continue;
        }
        for (size_t m = 0; m < b->model_count; m++) slots[m] = &results[m].prefill[results[m].prefill_count++];
        if (!measure(b, workers, slots, -1, tokens)) return false;
    }
    for (size_t i = 0; i < b->depths.count; i++) {
        int64_t depth = b->depths.items[i];
        if (depth + b->o.tokens > context) {
            if (!cli_settings.quiet)
                fprintf(stderr, "wick: decoding at %" PRId64 " left out: %" PRId64 " more tokens do not fit the context of %" PRId64 "\n", depth, b->o.tokens, context);
            continue;
        }
        for (size_t m = 0; m < b->model_count; m++) slots[m] = &results[m].decode[results[m].decode_count++];
        if (!measure(b, workers, slots, depth, b->o.tokens)) return false;
    }
    return true;
}

/* Operators of the last call of the longest prompt and of one decoded token; memory. */
static bool look_inside(struct bench *b, struct bench_worker *worker, struct bench_result *r)
{
    int64_t prompt = r->prefill_count ? r->prefill[r->prefill_count - 1].tokens : 0;
    if (prompt && !bench_worker_operators(worker, 0, prompt, false, &r->prefill_operators, &b->err)) return false;
    if (r->decode_count && !bench_worker_operators(worker, r->decode[0].tokens, 1, false, &r->decode_operators, &b->err)) return false;
    if (b->o.layers && prompt && !bench_worker_operators(worker, 0, prompt, true, &r->prefill_layers, &b->err)) return false;
    if (b->o.layers && r->decode_count && !bench_worker_operators(worker, r->decode[0].tokens, 1, true, &r->decode_layers, &b->err)) return false;
    return bench_worker_peak(worker, &r->peak_rss_bytes, &b->err);
}

static bool set_limits(struct bench *b, struct bench_result *results, int64_t threads)
{
    wick_machine machine;
    if (b->o.no_limits) return true;
    if (wick_machine_measure((unsigned)threads, getenv("WICK_CPU"), &machine, &b->err) != WICK_OK) return false;
    for (size_t m = 0; m < b->model_count; m++) {
        struct bench_result *r = &results[m];
        const struct bench_rate *prefill = r->prefill_count ? &r->prefill[r->prefill_count - 1] : NULL;
        r->read_gb_s = machine.read_gb_s;
        r->int8_gmac_s = machine.int8_gmac_s;
        if (r->decode_count) r->share_decode = (double)r->decode_operators.bytes * r->decode[0].median / (machine.read_gb_s * 1e9);
        if (prefill) r->share_prefill = (double)r->prefill_operators.multiply_adds / (double)prefill->tokens * prefill->median / (machine.int8_gmac_s * 1e9);
    }
    return true;
}

static bool measure_threads(struct bench *b, int64_t threads)
{
    struct bench_worker workers[MODELS] = {{.process = 0}};
    struct bench_result *results = &b->results[b->result_count];
    bool good = true;
    for (size_t m = 0; good && m < b->model_count; m++) {
        double first = 0;
        good = bench_worker_start(&workers[m], b->models[m], threads, &results[m], &b->err) && bench_first_token(b->models[m], threads, &first, &b->err);
        results[m].first_token_ms = first * 1e3;
    }
    good = good && measure_lengths(b, workers, results);
    for (size_t m = 0; good && m < b->model_count; m++) good = look_inside(b, &workers[m], &results[m]);
    for (size_t m = 0; m < b->model_count; m++) bench_worker_stop(&workers[m]);
    good = good && set_limits(b, results, threads);
    cli_progress_end();
    if (good) b->result_count += b->model_count;
    return good;
}

static void print_results(const struct bench *b)
{
    if (cli_settings.json) {
        bench_print_json(b->results, b->result_count);
        return;
    }
    for (size_t i = 0; i < b->result_count; i += b->model_count) {
        for (size_t m = 0; m < b->model_count; m++) bench_print_table(&b->results[i + m], b->o.operators);
        if (b->model_count == MODELS) bench_print_ratio(&b->results[i], &b->results[i + 1]);
    }
}

static int check_options(struct bench *b, const struct cli_list *rest)
{
    const struct bench_options *o = &b->o;
    if (rest->count != 1) return cli_usage_error("bench: name one program");
    if (o->reps < 1 || o->reps > BENCH_REPS) return cli_usage_error("--reps: %" PRId64 " is not in 1..%d", o->reps, BENCH_REPS);
    if (o->warmup < 0 || o->tokens < 1) return cli_usage_error("bench: -n must be at least 1, --warmup at least 0");
    int code = read_list(&b->prompts, "-p", o->prompts, 1, BENCH_LENGTHS);
    if (code < 0) code = read_list(&b->depths, "-d", o->depths, 0, BENCH_LENGTHS);
    b->threads.count = 1; /* 0: one per performance core */
    if (code < 0 && o->threads) code = read_list(&b->threads, "--threads", o->threads, 1, BENCH_THREADS);
    b->models[0] = rest->items[0];
    b->models[1] = o->compare;
    b->model_count = o->compare ? MODELS : 1;
    return code;
}

int wick_command_bench(int argc, char **argv)
{
    static struct bench b = {.o = {.prompts = "1,16,64,128,512,2048", .depths = "64,512", .tokens = 64, .reps = 5, .warmup = 1}};
    struct bench_options *o = &b.o;
    struct cli_list rest = {0};
    const struct cli_option options[] = {
        {"--prompts", 'p', CLI_TEXT, &o->prompts, "LIST", "prompt lengths (default 1,16,64,128,512,2048)"},
        {"--depths", 'd', CLI_TEXT, &o->depths, "LIST", "tokens in the context when decoding is timed (default 64,512)"},
        {"--tokens", 'n', CLI_INT, &o->tokens, "N", "tokens decoded each time (default 64)"},
        {"--reps", 'r', CLI_INT, &o->reps, "N", "repetitions (default 5); medians are reported"},
        {"--warmup", 0, CLI_INT, &o->warmup, "N", "repetitions before that, not counted (default 1)"},
        {"--threads", 0, CLI_TEXT, &o->threads, "LIST", "thread counts, as in 1,2 (default: one per performance core)"},
        {"--compare", 0, CLI_TEXT, &o->compare, "FILE", "another program, measured in turn with the first; prints ratios"},
        {"--operators", 0, CLI_FLAG, &o->operators, NULL, "time by operator, for the longest prompt and for one token"},
        {"--layers", 0, CLI_FLAG, &o->layers, NULL, "time by layer of the model, by the record that the export wrote (debug.generate_etrecord)"},
        {"--no-limits", 0, CLI_FLAG, &o->no_limits, NULL, "do not measure what the machine can do at most"},
        {"--svg", 0, CLI_TEXT, &o->svg, "FILE", "write a chart"},
    };
    int code = cli_parse(cli_find("bench"), options, sizeof options / sizeof options[0], argc, argv, &rest, "wick bench smollm2.pte -p 64,512 -d 64 --threads 1,2");
    if (code < 0) code = check_options(&b, &rest);
    if (code < 0) {
        b.results = calloc(b.threads.count * b.model_count, sizeof *b.results);
        signal(SIGPIPE, SIG_IGN); /* a worker that died is an error that can be said */
        cli_catch_interrupt(NULL, NULL);
        bool good = b.results != NULL;
        for (size_t t = 0; good && t < b.threads.count; t++) good = measure_threads(&b, b.threads.items[t]);
        if (good) print_results(&b);
        if (good && o->svg) good = bench_write_svg(o->svg, b.results, b.result_count, &b.err);
        code = good ? CLI_DONE : cli_interrupted() ? CLI_INTERRUPTED : cli_fail(&b.err);
    }
    free(b.results);
    cli_list_free(&rest);
    return code;
}
