/* export/pipeline.c - config -> checkpoint -> graph -> quantize -> partition -> decompose -> views -> schedule -> plan -> describe -> emit.
 * Each arrow is one call below; `--dump-after` prints what passed it. */
#include "export/pipeline.h"

#include "base/os.h"
#include "export/decoder.h"
#include "export/emit.h"
#include "export/ids.h"
#include "export/inform.h"
#include "export/locate.h"
#include "export/methods.h"
#include "export/recognize.h"
#include "export/rotations.h"
#include "export/sidecar.h"
#include "ukernel/ukernels.h"

#include <stdio.h>

struct job {
    const wick_export_options *options;
    const struct wick_export_tables *tables;
    struct wick_log log;
    struct wick_config config;
    struct wick_recognized model; /* checkpoint, family, hyper-parameters */
    struct wick_arena arena;      /* sources and descriptions */
    struct wick_weights weights;
    struct wick_rotations rotations;
    struct wick_methods methods;
    struct wick_delegation delegation;
    struct wick_pool *pool;
    struct wick_ukernels ukernels;
    char path[1024];
};

static bool wants(const struct job *job, const char *stage)
{
    return job->options->dump && job->options->dump_after && strcmp(job->options->dump_after, stage) == 0;
}

static void say_lines(wick_log_fn say, void *user, const struct wick_buf *text)
{
    for (const char *line = text->data, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end) break;
        *(char *)(uintptr_t)end = 0;
        say(user, WICK_LOG_INFO, line);
    }
}

static void dump_lines(const struct job *job, const struct wick_buf *text) { say_lines(job->options->dump, job->options->dump_user, text); }

static uint32_t count_delegates(const struct job *job)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->methods.count; i++) count += job->methods.list[i].graph.delegate_count;
    return count;
}

static void report_delegation(const struct job *job)
{
    struct wick_buf text = {0};
    if (!job->options->inform || job->delegation.failed || !wick_config_bool(&job->config, WICK_KEY_DEBUG_VERBOSE)) return;
    wick_delegation_print(&job->delegation, count_delegates(job), &text);
    say_lines(job->options->inform, job->options->inform_user, &text);
    wick_buf_free(&text);
}

static void dump_graph(const struct job *job, const struct wick_method *method, const char *stage)
{
    struct wick_buf text = {0};
    if (!wants(job, stage)) return;
    if (job->methods.count > 1) wick_buf_printf(&text, "method %s\n", method->name);
    wick_graph_print(&method->graph, &text);
    dump_lines(job, &text);
    wick_buf_free(&text);
}

static wick_status report(const struct job *job, const char *stage, uint64_t done, uint64_t total, wick_error *err)
{
    if (!job->options->progress || job->options->progress(job->options->progress_user, stage, done, total)) return WICK_OK;
    return wick_fail(err, WICK_CANCELLED, "export cancelled");
}

static wick_status configure(struct job *job, wick_error *err)
{
    WICK_TRY(wick_config_init(&job->config, err));
    if (job->options->config_path) WICK_TRY(wick_config_load(&job->config, job->options->config_path, err));
    for (size_t i = 0; i < job->options->override_count; i++) WICK_TRY(wick_config_override(&job->config, job->options->overrides[i], err));
    WICK_TRY(wick_config_resolve(&job->config, err));
    struct wick_buf text = {0};
    if (wants(job, "config")) {
        wick_config_print(&job->config, &text);
        dump_lines(job, &text);
        wick_buf_free(&text);
    }
    return wick_config_check(&job->config, err);
}

/* Tokens in a call: with a cache and dynamic shapes one less than max_seq_length, as the original's bound is. */
static int bound_tokens(const struct wick_config *config)
{
    int most = (int)wick_config_int(config, WICK_KEY_EXPORT_MAX_SEQ_LENGTH);
    if (wick_config_bool(config, WICK_KEY_MODEL_ENABLE_DYNAMIC_SHAPE)) return most - 1;
    return wick_config_bool(config, WICK_KEY_MODEL_USE_KV_CACHE) ? 1 : most;
}

/* A head of its own beside a flag that says it is the embedding: the file is believed, and the reader told, unless both are the same. */
static void compare_head(struct job *job)
{
    enum { ROWS = 4 };
    const struct wick_hparams *h = &job->model.hparams;
    struct wick_source *head, *table;
    wick_error ignored;
    if (!h->tied_embeddings || !wick_weights_has(&job->weights, -1, "output.weight")) return;
    if (wick_weights_find(&job->weights, -1, "output.weight", h->vocab_size, h->dim, &head, &ignored) != WICK_OK) return;
    if (wick_weights_find(&job->weights, -1, "tok_embeddings.weight", h->vocab_size, h->dim, &table, &ignored) != WICK_OK || h->vocab_size < ROWS)
        return;
    float *rows = wick_arena_array(&job->arena, 2 * ROWS * (size_t)h->dim, sizeof(float), 64);
    bool same = rows && head->rows && table->rows;
    for (size_t at = 0; same && at < 2; at++) {
        size_t first = at ? (size_t)h->vocab_size - ROWS : 0, bytes = ROWS * (size_t)h->dim * sizeof(float);
        if (head->rows(head, first, ROWS, rows, &ignored) != WICK_OK || table->rows(table, first, ROWS, rows + ROWS * h->dim, &ignored) != WICK_OK)
            return;
        same = memcmp(rows, rows + ROWS * h->dim, bytes) == 0;
    }
    if (!same)
        wick_log_line(&job->log, WICK_LOG_WARN,
                      "the model's description says that the head is the embedding (tie_word_embeddings), but the checkpoint has a head of its own, "
                      "which is used");
}

static wick_status build_graph(struct job *job, struct wick_method *method, wick_error *err)
{
    const struct wick_config *c = &job->config;
    const struct wick_family *family = job->model.family;
    bool cache = wick_config_bool(c, WICK_KEY_MODEL_USE_KV_CACHE);
    struct wick_model_build build = {.hparams = &job->model.hparams,
                                     .weights = &job->weights,
                                     .tokens = bound_tokens(c),
                                     .context = (int)wick_config_int(c, WICK_KEY_EXPORT_MAX_CONTEXT_LENGTH),
                                     .kv_cache = cache,
                                     .custom_sdpa = cache && wick_config_bool(c, WICK_KEY_MODEL_USE_SDPA_WITH_KV_CACHE),
                                     .full_logits = wick_config_bool(c, WICK_KEY_DEBUG_GENERATE_FULL_LOGITS),
                                     .moe_quantized = wick_config_bool(c, WICK_KEY_MODEL_USE_MOE_QUANTIZED_OP),
                                     .moe_group = (int)wick_config_int(c, WICK_KEY_QUANTIZATION_GROUP_SIZE),
                                     .err = err};
    wick_model_build_numbers(&build, c);
    WICK_TRY(wick_model_build_options(&build, c, &job->arena, err));
    build.rotations = &job->rotations;
    build.adapter = method->adapter.checkpoint ? &method->adapter : NULL;
    WICK_TRY(family->build(&method->graph, &build));
    if (!wick_config_bool(c, WICK_KEY_MODEL_ENABLE_DYNAMIC_SHAPE) || build.tokens < 2) return WICK_OK;
    /* Built again for fewer tokens: what differs is dynamic. */
    struct wick_graph small;
    wick_graph_init(&small, job->tables->ops);
    build.tokens--;
    wick_status status = family->build(&small, &build);
    if (status == WICK_OK) status = wick_graph_mark_dynamic(&method->graph, &small, err);
    wick_graph_release(&small);
    return status;
}

/* By its own section, or because the quantizer is one of its own: "<section>_...". */
static bool is_enabled(const struct wick_config *config, const char *section)
{
    const char *pt2e = wick_config_text(config, WICK_KEY_QUANTIZATION_PT2E_QUANTIZE);
    size_t size = strlen(section);
    return wick_config_backend(config, section, "enabled") || (pt2e && strncmp(pt2e, section, size) == 0 && pt2e[size] == '_');
}

/* Every back-end that the configuration enables takes its calls out of what those before it left. */
static wick_status lower(const struct job *job, struct wick_graph *g, wick_error *err)
{
    for (size_t i = 0; i < job->tables->lowerings->count; i++) {
        const struct wick_lowering *lowering = job->tables->lowerings->lowerings[i];
        struct wick_lowering_options options = {.extended = wick_config_backend(&job->config, lowering->section, "extended_ops"),
                                                .bf16 = wick_config_backend(&job->config, lowering->section, "enable_bf16")};
        if (!is_enabled(&job->config, lowering->section)) continue;
        for (options.pass = 0; options.pass < lowering->passes; options.pass++) WICK_TRY(wick_stage_partition(g, lowering, &options, err));
    }
    return WICK_OK;
}

static wick_status output_path(struct job *job, wick_error *err)
{
    const char *folder = wick_config_text(&job->config, WICK_KEY_EXPORT_OUTPUT_DIR),
               *name = wick_config_text(&job->config, WICK_KEY_EXPORT_OUTPUT_NAME);
    if (!name) name = wick_config_text(&job->config, WICK_KEY_BASE_MODEL_CLASS);
    struct wick_str text = wick_str_of(name);
    bool verbatim = wick_str_ends(text, WICK_STR(".pte"));
    /* The original marks half-precision programs that nobody named. */
    const char *mark =
        !wick_config_text(&job->config, WICK_KEY_EXPORT_OUTPUT_NAME) && wick_config_is(&job->config, WICK_KEY_MODEL_DTYPE_OVERRIDE, "fp16") ? "_h"
                                                                                                                                            : "";
    int size =
        verbatim ? snprintf(job->path, sizeof job->path, "%s", name) : snprintf(job->path, sizeof job->path, "%s/%s%s.pte", folder, name, mark);
    if (size < 0 || (size_t)size >= sizeof job->path) return wick_fail(err, WICK_INVALID_CONFIG, "export.output_name: path too long");
    return verbatim || strcmp(folder, ".") == 0 ? WICK_OK : wick_make_folder(folder, err);
}

/* Bytes of the tables of embeddings less the rows that the tokens of a call touch, a page each: what a run never reads of a program. */
static uint64_t unread_bytes(const struct wick_graph *g, uint64_t tokens)
{
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct wick_graph_node *node = &g->nodes[n];
        if (node->dead || !node->op || !strstr(node->op->name, "::embedding")) continue;
        for (uint32_t k = 0; k < 2; k++) { /* values, and the scales of quantized ones */
            if (g->values[node->ids[k]].tag != WICK_TAG_TENSOR || g->info[node->ids[k]].origin != WICK_ORIGIN_CONSTANT) continue;
            uint64_t all = wick_shape_nbytes(wick_graph_shape(g, node->ids[k])), touched = tokens * 4096;
            bytes += all > touched ? all - touched : 0;
        }
    }
    return bytes;
}

/* Of a run whose prompt is as long as a call takes: weights are packed piece by piece and their pages given back, so that one copy is there; rows of
 * payloads and of quantized linears take about as much again as the activations that the file plans; the rest is the library's own. docs/export.md.
 */
static uint64_t predicted_peak(const struct job *job, const struct wick_description *d, const wick_export_summary *s)
{
    enum { LIBRARY = 4800000 };
    bool rows = count_delegates(job) || s->quantized_linears;
    uint64_t weights = d->segment_bytes, unread = unread_bytes(&job->methods.list[0].graph, (uint64_t)bound_tokens(&job->config));
    for (int i = 0; i < WICK_EXTERNAL_FILES; i++) weights += d->external->files[i].bytes;
    return (weights > unread ? weights - unread : 0) + s->planned_bytes + (rows ? s->planned_bytes - s->state_bytes : 0) + LIBRARY;
}

static void summarize(const struct job *job, const struct wick_description *d, const struct wick_quantize_report *quantized, uint64_t file_bytes,
                      wick_export_summary *s)
{
    snprintf(s->program_path, sizeof s->program_path, "%s", job->path);
    snprintf(s->family, sizeof s->family, "%s", job->model.family->name);
    s->parameters = wick_hparams_parameters(&job->model.hparams, wick_weights_has(&job->weights, -1, "output.weight"));
    s->program_bytes = file_bytes;
    for (uint32_t i = 0; i < job->methods.count; i++) { /* a session has one method */
        const struct wick_memory_plan *plan = &job->methods.list[i].plan;
        s->planned_bytes = WICK_MAX(s->planned_bytes, plan->bytes + plan->apart_bytes);
        s->state_bytes = WICK_MAX(s->state_bytes, plan->state_bytes);
    }
    s->linears = quantized->linears;
    s->quantized_linears = quantized->quantized;
    s->quantized_embeddings = quantized->embeddings;
    s->predicted_peak_bytes = predicted_peak(job, d, s);
    s->delegates = count_delegates(job);
    s->calls = d->call_count;
}

static wick_status write_program(struct job *job, const struct wick_quantize_report *quantized, wick_export_summary *summary, wick_error *err)
{
    struct wick_metadata metadata;
    struct wick_description description;
    const struct wick_emission how = {job->pool, &job->ukernels, job->options->progress, job->options->progress_user};
    uint64_t file_bytes = 0;
    WICK_TRY(wick_metadata_make(&metadata, &job->config, &job->model.hparams, job->model.checkpoint, &job->arena, err));
    struct wick_external external;
    WICK_TRY(output_path(job, err));
    WICK_TRY(wick_external_init(&external, &job->config, job->path, err));
    WICK_TRY(wick_describe(&description, &job->methods, &metadata, &external, &job->arena, err));
    WICK_TRY(wick_emit(&description, job->path, &how, &file_bytes, err));
    summarize(job, &description, quantized, file_bytes, summary);
    for (int i = 0; i < WICK_EXTERNAL_FILES; i++)
        if (external.files[i].count)
            wick_log_line(&job->log, WICK_LOG_INFO, "data file %s: %u weights, %llu bytes", external.files[i].path, external.files[i].count,
                          (unsigned long long)external.files[i].bytes);
    if (wick_config_bool(&job->config, WICK_KEY_DEBUG_GENERATE_ETRECORD)) WICK_TRY(wick_record_write(&job->methods, job->path, err));
    WICK_TRY(
        wick_sidecar_write(&job->config, job->model.checkpoint, job->path, summary->tokenizer_path, sizeof summary->tokenizer_path, &job->log, err));
    wick_ids_compare(&job->config, summary->tokenizer_path, job->model.hparams.vocab_size, &job->log);
    return WICK_OK;
}

/* A method from its build to its memory plan. */
static wick_status make_method(struct job *job, struct wick_method *method, struct wick_quantize_report *quantized, wick_error *err)
{
    struct wick_graph *g = &method->graph;
    WICK_TRY(wick_adapter_open(&method->adapter, method->adapter_text, method->adapter_key, &job->weights, &job->arena, err));
    if (method->adapter_text && wick_config_text(&job->config, WICK_KEY_WICK_QUANTIZATION_ROTATIONS))
        return wick_fail(err, WICK_NOT_SUPPORTED, "wick.quantization.rotations: with %s: not supported", method->adapter_key);
    method->adapter.merge = wick_config_bool(&job->config, WICK_KEY_WICK_LORA_MERGE);
    WICK_TRY(report(job, "build", 0, 0, err));
    WICK_TRY(build_graph(job, method, err));
    WICK_TRY(wick_adapter_check_used(&method->adapter, err));
    dump_graph(job, method, "graph");
    WICK_TRY(wick_stage_quantize(g, &job->config, quantized, err));
    if (quantized->left_name)
        wick_log_line(&job->log, WICK_LOG_WARN, "%s stays float: its columns do not divide into groups (%u of %u linears quantized)",
                      quantized->left_name, quantized->quantized, quantized->linears);
    dump_graph(job, method, "quantize");
    wick_delegation_before(&job->delegation, g);
    WICK_TRY(lower(job, g, err));
    wick_delegation_after(&job->delegation, g);
    dump_graph(job, method, "partition");
    WICK_TRY(wick_stage_decompose(g, err));
    dump_graph(job, method, "decompose");
    WICK_TRY(wick_stage_views(g, err));
    dump_graph(job, method, "views");
    wick_delegation_final(&job->delegation, g);
    WICK_TRY(wick_stage_schedule(g, err));
    dump_graph(job, method, "schedule");
    bool apart = wick_config_bool(&job->config, WICK_KEY_MULTIMETHOD_SHARE_MUTABLE_BUFFERS) && job->methods.several;
    return wick_stage_plan(g, apart, &method->plan, err);
}

static wick_status run_stages(struct job *job, wick_export_summary *summary, wick_error *err)
{
    struct wick_quantize_report quantized = {0};
    WICK_TRY(configure(job, err));
    if (job->options->config_only) return WICK_OK;
    WICK_TRY(wick_locate_checkpoint(&job->config, &job->log, err));
    WICK_TRY(wick_recognize(&job->model, &job->config, job->tables->families, err));
    WICK_TRY(wick_weights_init(&job->weights, &job->arena, job->model.checkpoint, &job->model.hparams, err));
    if (wick_config_text(&job->config, WICK_KEY_WICK_CHECKPOINT_DTYPE))
        job->weights.rounding = wick_config_is(&job->config, WICK_KEY_WICK_CHECKPOINT_DTYPE, "bf16")   ? WICK_DTYPE_BF16
                                : wick_config_is(&job->config, WICK_KEY_WICK_CHECKPOINT_DTYPE, "fp16") ? WICK_DTYPE_F16
                                                                                                       : -1;
    WICK_TRY(wick_rotations_init(&job->rotations, &job->config, &job->model.hparams, &job->arena, err));
    compare_head(job);
    WICK_TRY(wick_methods_init(&job->methods, &job->config, job->tables->ops, &job->arena, err));
    for (uint32_t i = 0; i < job->methods.count; i++) WICK_TRY(make_method(job, &job->methods.list[i], &quantized, err));
    report_delegation(job);
    const struct wick_method *first = &job->methods.list[0];
    if (wick_config_bool(&job->config, WICK_KEY_DEBUG_PROFILE_MEMORY))
        WICK_TRY(wick_memory_trace_write(&first->graph, &first->plan, "memory_profile.json", err));
    return write_program(job, &quantized, summary, err);
}

wick_status wick_pipeline_run(const wick_export_options *options, const struct wick_export_tables *tables, wick_export_summary *summary,
                              wick_error *err)
{
    uint64_t begin = wick_now_ns();
    struct job job = {.options = options, .tables = tables, .log = {options->log, options->log_user, options->log_level}};
    wick_export_summary unused;
    if (!summary) summary = &unused;
    *summary = (wick_export_summary){0};
    wick_arena_init(&job.arena, &wick_allocator_heap);
    wick_status status = wick_ukernels_init(&job.ukernels, NULL, err);
    if (status == WICK_OK) status = wick_pool_create(&job.pool, options->threads ? options->threads : wick_core_count(), err);
    if (status == WICK_OK) status = run_stages(&job, summary, err);
    wick_pool_destroy(job.pool);
    wick_delegation_free(&job.delegation);
    wick_rotations_release(&job.rotations);
    wick_methods_release(&job.methods);
    wick_recognized_release(&job.model);
    wick_config_release(&job.config);
    wick_arena_release(&job.arena);
    summary->seconds = (double)(wick_now_ns() - begin) * 1e-9;
    summary->peak_rss_bytes = wick_peak_rss_bytes();
    return status;
}
