/* tools/cli/export.c - wick export. */
#include "export_flags.h"

#include "wick/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_summary(const wick_export_summary *s)
{
    if (cli_settings.json) {
        printf("{\"program\":");
        cli_print_json_text(s->program_path);
        printf(",\"tokenizer\":");
        cli_print_json_text(s->tokenizer_path);
        printf(",\"family\":\"%s\",\"parameters\":%" PRIu64 ",\"program_bytes\":%" PRIu64 ",\"planned_bytes\":%" PRIu64 ",\"state_bytes\":%" PRIu64
               ",\"predicted_peak_bytes\":%" PRIu64 ",\"linears\":%u,\"quantized_linears\":%u,\"quantized_embeddings\":%u,\"delegates\":%u,\"calls\":%u"
               ",\"seconds\":%.3f,\"peak_rss_bytes\":%" PRIu64 "}\n",
               s->family, s->parameters, s->program_bytes, s->planned_bytes, s->state_bytes, s->predicted_peak_bytes, s->linears, s->quantized_linears,
               s->quantized_embeddings, s->delegates, s->calls, s->seconds, s->peak_rss_bytes);
        return;
    }
    printf("%s\n", s->program_path);
    if (cli_settings.quiet) return;
    fprintf(stderr, "  %s, %.1f M parameters; %u of %u linears quantized%s\n", s->family, (double)s->parameters * 1e-6, s->quantized_linears, s->linears,
            s->quantized_embeddings ? ", embedding too" : "");
    fprintf(stderr, "  file %.1f MB; %u calls, %u of them delegates\n", (double)s->program_bytes * 1e-6, s->calls, s->delegates);
    fprintf(stderr, "  planned memory %.1f MB (%.1f MB KV cache); predicted peak of a run %.1f MB\n", (double)s->planned_bytes * 1e-6, (double)s->state_bytes * 1e-6,
            (double)s->predicted_peak_bytes * 1e-6);
    if (s->tokenizer_path[0]) fprintf(stderr, "  tokenizer %s\n", s->tokenizer_path);
    fprintf(stderr, "  %.2f s, peak RSS %.0f MB\n", s->seconds, (double)s->peak_rss_bytes * 1e-6);
}

static void dump(void *user, wick_log_level level, const char *line)
{
    (void)user;
    (void)level;
    puts(line);
}

/* Tables are for a person: they do not mix with results. */
static void inform(void *user, wick_log_level level, const char *line)
{
    (void)user;
    (void)level;
    if (!cli_settings.quiet) fprintf(stderr, "%s\n", line);
}

/* Every key: name, type, default, choices, what it is about. */
static int print_keys(void)
{
    wick_export_key key;
    if (cli_settings.json) putchar('[');
    for (size_t i = 0; wick_export_key_at(i, &key); i++) {
        if (cli_settings.json) {
            printf("%s{\"name\":\"%s\",\"type\":\"%s\",\"default\":", i ? "," : "", key.name, key.type);
            if (key.value) cli_print_json_text(key.value);
            else printf("null");
            printf(",\"choices\":");
            if (key.choices) cli_print_json_text(key.choices);
            else printf("null");
            printf(",\"meaning\":");
            cli_print_json_text(key.meaning);
            putchar('}');
            continue;
        }
        printf("%s=%s (%s)\n", key.name, key.value ? key.value : "null", key.type);
        if (*key.meaning) printf("    %s\n", key.meaning);
        if (key.choices) printf("    one of %s\n", key.choices);
    }
    if (cli_settings.json) puts("]");
    return CLI_DONE;
}

struct export_options {
    const char *config, *dump_after, *cfg, *config_path, *config_name;
    bool keys;
    char joined[1024]; /* config_path/config_name.yaml */
    struct cli_list overrides;
};

/* The spellings of the original's framework: a folder and a name, `--cfg job`. */
static int settle(struct export_options *o)
{
    if (o->config_name) {
        const char *end = strrchr(o->config_name, '.');
        int size = snprintf(o->joined, sizeof o->joined, "%s%s%s%s", o->config_path ? o->config_path : "", o->config_path ? "/" : "", o->config_name,
                            end && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0) ? "" : ".yaml");
        if (size < 0 || (size_t)size >= sizeof o->joined) return cli_usage_error("--config-name: path too long");
        if (o->config) return cli_usage_error("--config and --config-name name two files");
        if (strcmp(o->config_name, "llm_config") != 0) o->config = o->joined; /* that one is built in */
    } else if (o->config_path) return cli_usage_error("--config-path goes with --config-name");
    if (o->cfg && strcmp(o->cfg, "job") != 0) return cli_usage_error("--cfg: only job is known");
    if (o->cfg) o->dump_after = "config";
    if (!o->config && !o->cfg && !o->dump_after && o->overrides.count == 0) return cli_usage_error("nothing to export: name a checkpoint with base.checkpoint=FILE (see --help)");
    return -1;
}

static int parse(struct export_options *o, const struct export_arguments *arguments)
{
    enum { OPTIONS_MAX = 128 };
    struct cli_option options[OPTIONS_MAX] = {
        {"--config", 0, CLI_TEXT, &o->config, "FILE", "YAML with the original's export configuration"},
        {"--keys", 0, CLI_FLAG, &o->keys, NULL, "print every key with its type, default and choices"},
        {"--cfg", 0, CLI_TEXT, &o->cfg, "job", "print the configuration that comes of it and end"},
        {"--config-path", 0, CLI_TEXT, &o->config_path, "FOLDER", "with --config-name: where the YAML is"},
        {"--config-name", 0, CLI_TEXT, &o->config_name, "NAME", "the YAML's name without .yaml"},
        {"-cp", 0, CLI_TEXT, &o->config_path, "FOLDER", "the same as --config-path"},
        {"-cn", 0, CLI_TEXT, &o->config_name, "NAME", "the same as --config-name"},
        {"--dump-after", 0, CLI_TEXT, &o->dump_after, "STAGE", "print the config or the graph after: config graph quantize partition decompose views schedule"},
    };
    size_t count = 0;
    while (options[count].name) count++;
    count += export_flags_names(options + count, OPTIONS_MAX - count);
    int code = cli_parse(cli_find("export"), options, count, (int)arguments->args.count, (char **)(uintptr_t)arguments->args.items, &o->overrides,
                         "wick export base.checkpoint=SmolLM2.gguf model.use_kv_cache=true model.use_sdpa_with_kv_cache=true \\\n"
                         "    quantization.qmode=8da4w quantization.group_size=32 quantization.embedding_quantize=4,32 \\\n"
                         "    backend.xnnpack.enabled=true export.max_context_length=1024 export.output_name=smollm2.pte");
    if (cli_settings.help) export_flags_print();
    if (code < 0 && o->keys) code = print_keys();
    return code >= 0 ? code : settle(o);
}

static int run(const struct export_options *o)
{
    cli_catch_interrupt(NULL, NULL);
    wick_export_options what = {.struct_size = sizeof what, .config_path = o->config, .overrides = o->overrides.items, .override_count = o->overrides.count,
                                .threads = (unsigned)cli_settings.threads, .config_only = o->cfg != NULL, .dump_after = o->dump_after, .dump = dump, .inform = inform, .log = cli_log,
                                .log_level = cli_log_level(), .progress = cli_progress};
    wick_export_summary summary;
    wick_error err = {0};
    wick_status status = wick_export(&what, &summary, &err);
    cli_progress_end();
    if (status != WICK_OK) return cli_fail(&err);
    if (!o->cfg) print_summary(&summary);
    return CLI_DONE;
}

int wick_command_export(int argc, char **argv)
{
    struct export_arguments arguments = {0};
    struct export_options o = {0};
    int code = export_flags_translate(argc, argv, &arguments);
    if (code < 0) code = parse(&o, &arguments);
    if (code < 0) code = run(&o);
    cli_list_free(&o.overrides);
    export_arguments_free(&arguments);
    return code;
}
