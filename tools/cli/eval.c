/* tools/cli/eval.c - wick eval: perplexity of a program on a text; divergence from another program, or from the checkpoint in float. */
#include "eval.h"
#include "export_flags.h"

#include "wick/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct eval_options {
    const char *text, *token_ids, *tokens_file, *tokenizer, *against, *checkpoint, *numerics;
    int64_t context, stride, most, bos;
    bool no_bos, special;
    struct cli_list data, against_data, overrides;
};

struct eval {
    struct eval_options o;
    const char *program;
    wick_model *model, *against_model;
    wick_session *session, *against;
    wick_tokenizer *tokenizer;
    wick_id_list read;
    struct eval_plan plan;
    struct eval_sums sums;
    size_t text_bytes; /* 0: ids were given */
    double seconds;
    char folder[512]; /* of the float program; "" if there is none */
    wick_export_summary exported;
    wick_error err;
};

static wick_status fail(struct eval *e, wick_status status, const char *message)
{
    snprintf(e->err.message, sizeof e->err.message, "%s", message);
    return e->err.status = status;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- programs ---- */

static wick_status open_program(struct eval *e, const char *path, const struct cli_list *data, wick_model **model, wick_session **session)
{
    wick_model_options options;
    wick_model_options_init(&options);
    options.data_paths = data->items;
    options.data_path_count = data->count;
    options.threads = (unsigned)cli_settings.threads;
    options.cpu = getenv("WICK_CPU");
    options.numerics = e->o.numerics && *e->o.numerics == 'r' ? WICK_NUMERICS_REPRODUCIBLE : WICK_NUMERICS_FAST;
    options.log = cli_log;
    options.log_level = cli_log_level();
    wick_status status = wick_model_open(path, &options, model, &e->err);
    return status == WICK_OK ? wick_session_open(*model, NULL, session, &e->err) : status;
}

/* The checkpoint as a float program in a folder of its own; overrides of the command line come last. */
static wick_status export_float(struct eval *e, const wick_session_info *info)
{
    const char *base = getenv("TMPDIR");
    char texts[2][64], path[600];
    struct cli_list all = {0};
    int64_t chunk = info->context < 256 ? info->context : 256;
    snprintf(e->folder, sizeof e->folder, "%s/wick-eval-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(e->folder)) {
        e->folder[0] = 0;
        return fail(e, WICK_ACCESS_FAILED, "--against-checkpoint: no temporary folder can be made; set TMPDIR");
    }
    cli_scratch(2, e->folder);
    snprintf(path, sizeof path, "%s/float.pte", e->folder);
    snprintf(texts[0], sizeof texts[0], "export.max_context_length=%" PRId64, info->context);
    snprintf(texts[1], sizeof texts[1], "export.max_seq_length=%" PRId64, chunk < 2 ? 2 : chunk);
    char *checkpoint = export_override("base.checkpoint", e->o.checkpoint, true), *output = export_override("export.output_name", path, true);
    cli_list_add(&all, checkpoint ? checkpoint : "");
    cli_list_add(&all, output ? output : "");
    cli_list_add(&all, texts[0]);
    cli_list_add(&all, texts[1]);
    cli_list_add(&all, "model.use_kv_cache=true");
    cli_list_add(&all, "model.use_sdpa_with_kv_cache=true");
    cli_list_add(&all, "debug.generate_full_logits=true");
    for (size_t i = 0; i < e->o.overrides.count; i++) cli_list_add(&all, e->o.overrides.items[i]);
    wick_export_options what = {.struct_size = sizeof what, .overrides = all.items, .override_count = all.count, .threads = (unsigned)cli_settings.threads,
                                .log = cli_log, .log_level = cli_log_level(), .progress = cli_progress};
    wick_status status = wick_export(&what, &e->exported, &e->err);
    cli_progress_end();
    cli_list_free(&all);
    free(checkpoint);
    free(output);
    cli_scratch(0, e->exported.program_path);
    cli_scratch(1, e->exported.tokenizer_path);
    return status;
}

/* Nothing is left of the float program: it is mapped, and needs its name no more once it is open. */
static void remove_float(struct eval *e)
{
    if (!e->folder[0]) return;
    if (e->exported.program_path[0]) unlink(e->exported.program_path);
    if (e->exported.tokenizer_path[0]) unlink(e->exported.tokenizer_path);
    rmdir(e->folder);
    e->folder[0] = 0;
    for (size_t slot = 0; slot < 3; slot++) cli_scratch(slot, NULL);
}

static wick_status open_reference(struct eval *e, const wick_session_info *info)
{
    wick_session_info other;
    if (!e->o.against && !e->o.checkpoint) return WICK_OK;
    wick_status status = e->o.checkpoint ? export_float(e, info) : WICK_OK;
    if (status == WICK_OK) status = open_program(e, e->o.checkpoint ? e->exported.program_path : e->o.against, &e->o.against_data, &e->against_model, &e->against);
    remove_float(e);
    if (status != WICK_OK) return status;
    wick_session_describe(e->against, &other);
    if (other.vocab_size != info->vocab_size) {
        snprintf(e->err.message, sizeof e->err.message, "the programs differ in their vocabularies: %" PRId64 " and %" PRId64 " tokens", info->vocab_size, other.vocab_size);
        return e->err.status = WICK_INVALID_ARGUMENT;
    }
    if ((size_t)other.context < e->plan.context) e->plan.context = (size_t)other.context;
    return WICK_OK;
}

/* ---- tokens ---- */

static wick_status read_text(struct eval *e)
{
    char *text = cli_read_file(e->o.text, &e->text_bytes, &e->err);
    if (!text) return e->err.status;
    wick_status status = e->o.tokenizer ? wick_tokenizer_open(e->o.tokenizer, &e->tokenizer, &e->err) : wick_tokenizer_open_beside(e->program, &e->tokenizer, &e->err);
    if (status == WICK_OK) status = wick_tokenizer_encode(e->tokenizer, text, e->text_bytes, e->o.special, &e->read, &e->err);
    free(text);
    return status;
}

static wick_status read_ids(struct eval *e)
{
    size_t size;
    char *file = e->o.tokens_file ? cli_read_file(e->o.tokens_file, &size, &e->err) : NULL;
    if (e->o.tokens_file && !file) return e->err.status;
    e->read.data = cli_read_ids(file ? file : e->o.token_ids, &e->read.count, &e->err);
    free(file);
    return e->read.data ? WICK_OK : e->err.status;
}

static wick_status read_tokens(struct eval *e, const wick_session_info *info)
{
    wick_status status = e->o.text ? read_text(e) : read_ids(e);
    if (status != WICK_OK) return status;
    if (e->o.most > 0 && e->read.count > (size_t)e->o.most) e->read.count = (size_t)e->o.most;
    for (size_t i = 0; i < e->read.count; i++)
        if (e->read.data[i] < 0 || e->read.data[i] >= info->vocab_size) {
            snprintf(e->err.message, sizeof e->err.message, "token %zu: id %" PRId64 " is outside the vocabulary of %" PRId64, i, e->read.data[i], info->vocab_size);
            return e->err.status = WICK_INVALID_ARGUMENT;
        }
    e->plan.bos = e->o.no_bos ? -1 : e->o.bos >= 0 ? e->o.bos : e->tokenizer ? wick_tokenizer_prescribed_bos(e->tokenizer) : -1;
    if (e->plan.bos >= info->vocab_size) return fail(e, WICK_INVALID_ARGUMENT, "--bos: the id is outside the vocabulary");
    e->plan.ids = e->read.data;
    e->plan.count = e->read.count;
    if (e->plan.bos >= 0) e->plan.context--; /* its place */
    if (e->plan.count + (e->plan.bos >= 0) < 2) return fail(e, WICK_INVALID_ARGUMENT, "nothing to score: two tokens at least are needed");
    return WICK_OK;
}

static wick_status set_up(struct eval *e)
{
    wick_session_info info;
    wick_status status = open_program(e, e->program, &e->o.data, &e->model, &e->session);
    if (status != WICK_OK) return status;
    wick_session_describe(e->session, &info);
    e->plan.context = (size_t)info.context;
    status = open_reference(e, &info);
    if (status != WICK_OK) return status;
    if (e->o.context > 0) {
        if ((size_t)e->o.context > e->plan.context) return fail(e, WICK_INVALID_ARGUMENT, "--context: is more than the program's context");
        e->plan.context = (size_t)e->o.context;
    }
    status = read_tokens(e, &info);
    if (status != WICK_OK) return status;
    if (e->plan.context < 2) return fail(e, WICK_INVALID_ARGUMENT, "--context: leaves no room for two tokens");
    e->plan.stride = e->o.stride > 0 ? (size_t)e->o.stride : e->plan.context;
    return e->plan.stride <= e->plan.context ? WICK_OK : fail(e, WICK_INVALID_ARGUMENT, "--stride: is more than the context, and would leave tokens out");
}

/* ---- results ---- */

static bool on_progress(size_t done, size_t total) { return cli_progress_count("eval", done, total, "tokens"); }

static void cancel(void *user)
{
    struct eval *e = user;
    if (e->session) wick_session_cancel(e->session);
    if (e->against) wick_session_cancel(e->against);
}

static void print_json(const struct eval *e)
{
    const struct eval_sums *s = &e->sums;
    double n = (double)s->scored, nll = s->nll / n;
    printf("{\"program\":");
    cli_print_json_text(e->program);
    printf(",\"tokens\":%zu,\"scored\":%zu,\"windows\":%zu,\"context\":%zu,\"stride\":%zu,\"bos\":", e->plan.count, s->scored, s->windows, e->plan.context, e->plan.stride);
    if (e->plan.bos >= 0) printf("%" PRId64, e->plan.bos);
    else printf("null");
    printf(",\"nll\":%.12g,\"perplexity\":%.12g,\"bits_per_token\":%.12g,\"bits_per_byte\":", nll, exp(nll), nll / log(2));
    if (e->text_bytes && e->o.most <= 0) printf("%.12g", nll / log(2) * (double)e->plan.count / (double)e->text_bytes);
    else printf("null");
    printf(",\"accuracy\":%.12g,\"seconds\":%.3f,\"tokens_per_second\":%.1f", (double)s->hits / n, e->seconds, n / e->seconds);
    if (e->against) {
        printf(",\"against\":{\"program\":");
        cli_print_json_text(e->o.checkpoint ? e->o.checkpoint : e->o.against);
        printf(",\"nll\":%.12g,\"perplexity\":%.12g,\"kl_mean\":%.12g,\"kl_max\":%.12g,\"top1_agreement\":%.12g,\"max_logit_difference\":%.9g,\"rms_logit_difference\":%.9g}",
               s->reference_nll / n, exp(s->reference_nll / n), s->kl / n, s->kl_most, (double)s->agreements / n, s->difference_most, sqrt(s->difference_squares / s->rows_values));
    }
    printf("}\n");
}

static void print_text(const struct eval *e)
{
    const struct eval_sums *s = &e->sums;
    double n = (double)s->scored, nll = s->nll / n;
    printf("perplexity %.4f (%zu tokens in %zu windows of %zu, moved by %zu)\n", exp(nll), s->scored, s->windows, e->plan.context, e->plan.stride);
    printf("nll %.6f, %.4f bits a token", nll, nll / log(2));
    if (e->text_bytes && e->o.most <= 0) printf(", %.4f bits a byte", nll / log(2) * (double)e->plan.count / (double)e->text_bytes);
    printf("\naccuracy %.2f %%\n", 100 * (double)s->hits / n);
    if (e->against) {
        printf("against %s:\n", e->o.checkpoint ? e->o.checkpoint : e->o.against);
        printf("  perplexity %.4f (%+.3f %% here)\n", exp(s->reference_nll / n), 100 * (exp((s->nll - s->reference_nll) / n) - 1));
        printf("  KL divergence mean %.6f, max %.6f\n", s->kl / n, s->kl_most);
        printf("  same best token %.2f %%\n", 100 * (double)s->agreements / n);
        printf("  logits differ by at most %.5g, by %.5g on the whole (root of mean squares)\n", s->difference_most, sqrt(s->difference_squares / s->rows_values));
    }
    if (!cli_settings.quiet) fprintf(stderr, "  %.2f s, %.1f tokens/s\n", e->seconds, n / e->seconds);
}

static int check_usage(const struct eval_options *o, size_t programs)
{
    if (programs != 1) return cli_usage_error("eval: name one program");
    if ((o->text != NULL) + (o->token_ids != NULL) + (o->tokens_file != NULL) != 1) return cli_usage_error("eval: give one of --text, --token-ids and --tokens-file");
    if (o->against && o->checkpoint) return cli_usage_error("eval: give one of --against and --against-checkpoint");
    if (o->overrides.count && !o->checkpoint) return cli_usage_error("--export: goes with --against-checkpoint");
    if (o->against_data.count && !o->against) return cli_usage_error("--against-ptd: goes with --against");
    if (o->context < 0 || o->stride < 0 || o->most < 0) return cli_usage_error("eval: negative lengths or counts");
    if (o->no_bos && o->bos >= 0) return cli_usage_error("eval: give one of --bos and --no-bos");
    if (o->numerics && strcmp(o->numerics, "fast") != 0 && strcmp(o->numerics, "reproducible") != 0)
        return cli_usage_error("--numerics: '%s' is neither fast nor reproducible", o->numerics);
    return -1;
}

static int evaluate(struct eval *e)
{
    cli_catch_interrupt(cancel, e);
    wick_status status = set_up(e);
    double begin = seconds();
    if (status == WICK_OK && cli_interrupted()) status = WICK_CANCELLED, e->err.status = status;
    if (status == WICK_OK) status = eval_run(&e->plan, e->session, e->against, on_progress, &e->sums, &e->err);
    e->seconds = seconds() - begin;
    cli_progress_end();
    cli_catch_interrupt(NULL, NULL);
    remove_float(e);
    if (status != WICK_OK) return cli_fail(&e->err);
    if (cli_settings.json) print_json(e);
    else print_text(e);
    return CLI_DONE;
}

int wick_command_eval(int argc, char **argv)
{
    struct eval e = {.o = {.bos = -1}};
    struct eval_options *o = &e.o;
    struct cli_list rest = {0};
    const struct cli_option options[] = {
        {"--text", 0, CLI_TEXT, &o->text, "FILE", "text to predict (-: standard input)"},
        {"--token-ids", 0, CLI_TEXT, &o->token_ids, "IDS", "token ids instead of a text: no tokenizer is needed"},
        {"--tokens-file", 0, CLI_TEXT, &o->tokens_file, "FILE", "the same from a file"},
        {"--tokenizer", 0, CLI_TEXT, &o->tokenizer, "FILE", "default: the one beside the program"},
        {"--special", 0, CLI_FLAG, &o->special, NULL, "let the text name special tokens"},
        {"--bos", 0, CLI_INT, &o->bos, "ID", "put this id before every window (default: as the tokenizer prescribes)"},
        {"--no-bos", 0, CLI_FLAG, &o->no_bos, NULL, "put nothing before it"},
        {"--context", 0, CLI_INT, &o->context, "N", "tokens of a window (default: the program's context)"},
        {"--stride", 0, CLI_INT, &o->stride, "N", "tokens between the beginnings of windows (default: no overlap)"},
        {"--max-tokens", 0, CLI_INT, &o->most, "N", "only the first N tokens"},
        {"--against", 0, CLI_TEXT, &o->against, "PROGRAM", "compare with the logits of another program"},
        {"--against-checkpoint", 0, CLI_TEXT, &o->checkpoint, "PATH", "compare with a checkpoint in float: it is exported for the time being"},
        {"--export", 0, CLI_LIST, &o->overrides, "KEY=VALUE", "how to export it, as wick export takes it (repeatable)"},
        {"--ptd", 0, CLI_LIST, &o->data, "FILE", "data file with external weights"},
        {"--against-ptd", 0, CLI_LIST, &o->against_data, "FILE", "the same of the other program"},
        {"--numerics", 0, CLI_TEXT, &o->numerics, "MODE", "fast (default) or reproducible"},
    };
    int code = cli_parse(cli_find("eval"), options, sizeof options / sizeof options[0], argc, argv, &rest,
                         "wick eval smollm2-8da4w.pte --text wiki.txt --stride 512 --against-checkpoint SmolLM2-135M");
    if (code < 0) code = check_usage(o, rest.count);
    if (code < 0) {
        e.program = rest.items[0];
        code = evaluate(&e);
    }
    wick_session_close(e.session), wick_session_close(e.against);
    wick_model_unref(e.model), wick_model_unref(e.against_model);
    wick_tokenizer_close(e.tokenizer);
    wick_id_list_free(&e.read);
    cli_list_free(&rest), cli_list_free(&o->data), cli_list_free(&o->against_data), cli_list_free(&o->overrides);
    return code;
}
