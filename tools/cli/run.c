/* tools/cli/run.c - wick run: generate text, or ids, from a prompt. */
#include "sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct run_options {
    const char *prompt, *prompt_file, *chat, *system, *tokens, *tokenizer, *stats, *logits, *forced, *numerics, *method;
    int64_t bos, max_new, seq_len;
    struct cli_sampling sampling;
    bool no_special, ignore_eos, echo, no_echo, warmup, no_fuse;
    struct cli_list stops, data;
};

struct run {
    struct run_options o;
    wick_model *model;
    wick_tokenizer *tokenizer;
    wick_session *session;
    wick_sampling sampling;
    wick_id_list prompt;
    int64_t *forced;
    size_t forced_count;
    struct cli_output logits;
    const char *unwritten; /* what a callback could not write, and why: it stopped the generation */
    int unwritten_errno;
    bool ids_only, first;
    double load_seconds;
    uint64_t load_start_ms, load_end_ms;
    wick_error err;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

/* ---- callbacks ---- */

static bool written(struct run *r, bool done, const char *where)
{
    if (done) return true;
    r->unwritten = where;
    r->unwritten_errno = errno;
    return false;
}

static bool on_logits(void *user, const float *logits, size_t count)
{
    struct run *r = user;
    return written(r, fwrite(logits, sizeof *logits, count, r->logits.file) == count, r->o.logits);
}

static bool on_token(void *user, int64_t id)
{
    struct run *r = user;
    bool done = printf(r->first ? "%" PRId64 : " %" PRId64, id) > 0 && fflush(stdout) == 0;
    r->first = false;
    return written(r, done, "standard output");
}

static bool on_text(void *user, const char *text, size_t size)
{
    return written(user, fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0, "standard output");
}

static void cancel(void *user) { wick_session_cancel(user); }

/* ---- set-up ---- */

static int check_usage(const struct run_options *o, size_t programs)
{
    int inputs = (o->prompt != NULL) + (o->prompt_file != NULL) + (o->chat != NULL) + (o->tokens != NULL);
    if (programs != 1) return cli_usage_error("run: name one program");
    if (inputs != 1) return cli_usage_error("run: give one of --prompt, --prompt-file, --chat and --tokens");
    if (o->system && !o->chat) return cli_usage_error("--system: goes with --chat");
    if (o->stats && strcmp(o->stats, "text") != 0 && strcmp(o->stats, "none") != 0 && strcmp(o->stats, "json") != 0)
        return cli_usage_error("--stats: '%s' is none of text, none, json", o->stats);
    if (o->numerics && strcmp(o->numerics, "fast") != 0 && strcmp(o->numerics, "reproducible") != 0)
        return cli_usage_error("--numerics: '%s' is neither fast nor reproducible", o->numerics);
    if (o->max_new < -1 || o->seq_len < -1) return cli_usage_error("run: negative lengths");
    return -1;
}

static wick_status open_model(struct run *r, const char *path)
{
    wick_model_options options;
    double begin = seconds();
    r->load_start_ms = wall_ms();
    wick_model_options_init(&options);
    options.data_paths = r->o.data.items;
    options.data_path_count = r->o.data.count;
    options.threads = (unsigned)cli_settings.threads;
    options.cpu = getenv("WICK_CPU");
    options.no_fuse = r->o.no_fuse;
    options.numerics = r->o.numerics && *r->o.numerics == 'r' ? WICK_NUMERICS_REPRODUCIBLE : WICK_NUMERICS_FAST;
    options.log = cli_log;
    options.log_level = cli_log_level();
    wick_status status = wick_model_open(path, &options, &r->model, &r->err);
    if (status == WICK_OK) status = wick_session_open(r->model, r->o.method, &r->session, &r->err);
    r->load_seconds = seconds() - begin;
    r->load_end_ms = wall_ms();
    return status;
}

static wick_status prepend_bos(struct run *r)
{
    int64_t bos = r->o.bos >= 0 ? r->o.bos : wick_tokenizer_prescribed_bos(r->tokenizer) >= 0 ? 1 : 0;
    int64_t id = wick_tokenizer_prescribed_bos(r->tokenizer);
    wick_session_info info;
    wick_session_describe(r->session, &info);
    if (id < 0) id = info.bos;
    if (bos == 0 || id < 0) return WICK_OK;
    int64_t *data = realloc(r->prompt.data, (r->prompt.count + (size_t)bos) * sizeof *data);
    if (!data) return r->err.status = WICK_OUT_OF_MEMORY;
    memmove(data + bos, data, r->prompt.count * sizeof *data);
    for (int64_t i = 0; i < bos; i++) data[i] = id;
    r->prompt.data = data;
    r->prompt.count += (size_t)bos;
    return WICK_OK;
}

static wick_status read_prompt(struct run *r)
{
    if (r->o.tokens) {
        r->prompt.data = cli_read_ids(r->o.tokens, &r->prompt.count, &r->err);
        return r->prompt.data ? WICK_OK : r->err.status;
    }
    if (r->o.chat) return wick_tokenizer_chat(r->tokenizer, r->o.system, r->o.chat, &r->prompt, &r->err);
    size_t size = r->o.prompt ? strlen(r->o.prompt) : 0;
    char *file = r->o.prompt_file ? cli_read_file(r->o.prompt_file, &size, &r->err) : NULL;
    if (r->o.prompt_file && !file) return r->err.status;
    wick_status status = wick_tokenizer_encode(r->tokenizer, file ? file : r->o.prompt, size, !r->o.no_special, &r->prompt, &r->err);
    free(file);
    return status == WICK_OK ? prepend_bos(r) : status;
}

static wick_status set_up(struct run *r, const char *path)
{
    wick_status status = open_model(r, path); /* first: a damaged program is said before a missing tokenizer */
    if (status == WICK_OK && r->o.tokenizer) status = wick_tokenizer_open(r->o.tokenizer, &r->tokenizer, &r->err);
    else if (status == WICK_OK && !r->ids_only) status = wick_tokenizer_open_beside(path, &r->tokenizer, &r->err);
    if (status == WICK_OK) status = read_prompt(r);
    if (status == WICK_OK && r->o.forced) {
        r->forced = cli_read_ids(r->o.forced, &r->forced_count, &r->err);
        if (!r->forced) status = r->err.status;
    }
    if (status == WICK_OK && r->o.logits && !cli_output_open(&r->logits, r->o.logits, &r->err)) status = r->err.status;
    return status;
}

/* ---- the end ---- */

static void print_stats(const struct run *r, const wick_generate_stats *s, const char *form)
{
    static const char *const finishes[] = {"length", "eos", "stop"};
    double prefill = s->prefill_seconds > 0 ? (double)s->prompt_tokens / s->prefill_seconds : 0;
    double decode = s->decode_seconds > 0 && s->generated_tokens > 1 ? (double)(s->generated_tokens - 1) / s->decode_seconds : 0;
    if (strcmp(form, "none") == 0) return;
    if (strcmp(form, "json") == 0) {
        fprintf(stderr,
                "{\"prefill_token_per_sec\":%g,\"decode_token_per_sec\":%g,\"prompt_tokens\":%" PRId64 ",\"generated_tokens\":%" PRId64 ",\"model_load_start_ms\":%" PRIu64
                ",\"model_load_end_ms\":%" PRIu64 ",\"inference_start_ms\":%" PRIu64 ",\"inference_end_ms\":%" PRIu64 ",\"prompt_eval_end_ms\":%" PRIu64
                ",\"first_token_ms\":%" PRIu64 ",\"aggregate_sampling_time_ms\":%" PRIu64 ",\"aggregate_model_execution_time_ms\":%" PRIu64
                ",\"SCALING_FACTOR_UNITS_PER_SECOND\":1000,\"finish_reason\":\"%s\"}\n",
                prefill, decode, s->prompt_tokens, s->generated_tokens, r->load_start_ms, r->load_end_ms, s->inference_start_ms, s->inference_end_ms, s->prompt_eval_end_ms,
                s->first_token_ms, s->aggregate_sampling_time_ms, s->aggregate_model_execution_time_ms, finishes[s->finish]);
        return;
    }
    fprintf(stderr, "[load %.2f s | prompt %" PRId64 " tokens, %.1f tok/s | answer %" PRId64 " tokens, %.1f tok/s | %s]\n", r->load_seconds, s->prompt_tokens, prefill,
            s->generated_tokens, decode, finishes[s->finish]);
}

static void echo_prompt(struct run *r)
{
    char *text;
    size_t size;
    if (!r->o.echo || !r->tokenizer) return;
    if (wick_tokenizer_decode(r->tokenizer, r->prompt.data, r->prompt.count, false, &text, &size, NULL) != WICK_OK) return;
    fwrite(text, 1, size, stdout);
    fflush(stdout);
    wick_text_free(text);
}

static wick_status warm_up(struct run *r)
{
    wick_status status = wick_session_feed(r->session, r->prompt.data, r->prompt.count, &r->err);
    wick_session_reset(r->session);
    return status;
}

static int generate(struct run *r)
{
    wick_generate_options options;
    wick_generate_stats stats = {0};
    const struct run_options *o = &r->o;
    wick_generate_options_init(&options);
    options.max_new_tokens = o->max_new;
    options.seq_len = o->seq_len;
    options.sampling = r->sampling;
    options.ignore_eos = o->ignore_eos;
    options.stops = o->stops.items;
    options.stop_count = o->stops.count;
    options.forced = r->forced;
    options.forced_count = r->forced_count;
    options.on_logits = r->logits.file ? on_logits : NULL;
    options.on_token = r->ids_only ? on_token : NULL;
    options.on_text = r->ids_only ? NULL : on_text;
    options.user = r;
    r->first = true;
    wick_status status = o->warmup ? warm_up(r) : WICK_OK;
    if (status == WICK_OK) {
        echo_prompt(r);
        status = wick_generate(r->session, r->tokenizer, r->prompt.data, r->prompt.count, &options, &stats, &r->err);
        if (stats.generated_tokens > 0) printf("\n");
    }
    if (r->unwritten) {
        status = r->err.status = WICK_ACCESS_FAILED;
        snprintf(r->err.message, sizeof r->err.message, "%s: cannot write: %s", r->unwritten, strerror(r->unwritten_errno));
    }
    wick_error closing = {0};
    if (!cli_output_close(&r->logits, status == WICK_OK, &closing) && status == WICK_OK) status = (r->err = closing).status;
    if (stats.generated_tokens > 0 && !cli_settings.quiet) print_stats(r, &stats, o->stats ? o->stats : r->ids_only ? "none" : "text");
    return status == WICK_OK ? CLI_DONE : cli_fail(&r->err);
}

int wick_command_run(int argc, char **argv)
{
    struct run r = {.o = {.bos = -1, .max_new = -1, .seq_len = -1}};
    struct run_options *o = &r.o;
    struct cli_list rest = {0};
    cli_sampling_init(&o->sampling);
    const struct cli_option options[] = {
        {"--prompt", 'p', CLI_TEXT, &o->prompt, "TEXT", "text to go on from"},
        {"--prompt-file", 0, CLI_TEXT, &o->prompt_file, "FILE", "the same from a file (-: standard input)"},
        {"--chat", 0, CLI_TEXT, &o->chat, "TEXT", "one user turn in the model's chat format"},
        {"--system", 0, CLI_TEXT, &o->system, "TEXT", "system message of --chat"},
        {"--tokens", 0, CLI_TEXT, &o->tokens, "IDS", "a prompt of token ids; prints ids"},
        {"--tokenizer", 0, CLI_TEXT, &o->tokenizer, "FILE", "default: the one beside the program"},
        {"--bos", 0, CLI_INT, &o->bos, "N", "begin-of-sequence tokens to put first (default: as the tokenizer prescribes)"},
        {"--no-special", 0, CLI_FLAG, &o->no_special, NULL, "special tokens in the prompt are plain text"},
        {"--max-new-tokens", 'n', CLI_INT, &o->max_new, "N", "default: to the end of the context"},
        {"--seq-len", 0, CLI_INT, &o->seq_len, "N", "most tokens, prompt included"},
        CLI_SAMPLING_OPTIONS(&o->sampling),
        {"--stop", 0, CLI_LIST, &o->stops, "STR", "text that ends the answer (repeatable)"},
        {"--ignore-eos", 0, CLI_FLAG, &o->ignore_eos, NULL, "go on past the end of the answer"},
        {"--method", 0, CLI_TEXT, &o->method, "NAME", "method of the program that generates (default: forward)"},
        {"--ptd", 0, CLI_LIST, &o->data, "FILE", "data file with external weights"},
        {"--warmup", 0, CLI_FLAG, &o->warmup, NULL, "run the prompt once before it counts"},
        {"--echo", 0, CLI_FLAG, &o->echo, NULL, "print the prompt first"},
        {"--no-echo", 0, CLI_FLAG, &o->no_echo, NULL, "the default"},
        {"--stats", 0, CLI_TEXT, &o->stats, "FORM", "text, json or none, on standard error"},
        {"--logits", 0, CLI_TEXT, &o->logits, "FILE", "write a row of float32 logits a step"},
        {"--force-tokens", 0, CLI_TEXT, &o->forced, "IDS", "feed these instead of the chosen ids"},
        {"--no-fuse", 0, CLI_FLAG, &o->no_fuse, NULL, "run the program's calls as they are"},
        {"--numerics", 0, CLI_TEXT, &o->numerics, "MODE", "fast (default) or reproducible"},
    };
    int code = cli_parse(cli_find("run"), options, sizeof options / sizeof options[0], argc, argv, &rest,
                         "wick run smollm2.pte --chat 'What is the capital of France?' --temperature 0");
    if (code < 0) code = check_usage(o, rest.count);
    if (code < 0) code = cli_sampling_apply(&o->sampling, &r.sampling);
    if (code >= 0) return code;
    r.ids_only = o->tokens != NULL;
    if (set_up(&r, rest.items[0]) != WICK_OK) code = cli_fail(&r.err);
    else {
        cli_catch_interrupt(cancel, r.session);
        code = generate(&r);
        cli_catch_interrupt(NULL, NULL);
    }
    (void)cli_output_close(&r.logits, false, &r.err);
    wick_id_list_free(&r.prompt);
    free(r.forced);
    wick_session_close(r.session);
    wick_model_unref(r.model);
    wick_tokenizer_close(r.tokenizer);
    cli_list_free(&rest), cli_list_free(&o->stops), cli_list_free(&o->data);
    cli_sampling_free(&o->sampling);
    return code;
}
