/* tools/cli/export.c - wick export. */
#include "cli.h"

#include "wick/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20) printf("\\u%04x", c);
        else putchar(c);
    }
    putchar('"');
}

static void print_summary(const wick_export_summary *s)
{
    if (cli_settings.json) {
        printf("{\"program\":");
        print_json_text(s->program_path);
        printf(",\"tokenizer\":");
        print_json_text(s->tokenizer_path);
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

int wick_command_export(int argc, char **argv)
{
    const char *config = NULL, *dump_after = NULL;
    struct cli_list overrides = {0};
    const struct cli_option options[] = {
        {"--config", 0, CLI_TEXT, &config, "FILE", "YAML with the original's export configuration"},
        {"--dump-after", 0, CLI_TEXT, &dump_after, "STAGE", "print the config or the graph after: config graph quantize partition decompose views"},
    };
    int code = cli_parse(cli_find("export"), options, sizeof options / sizeof options[0], argc, argv, &overrides,
                         "wick export base.checkpoint=SmolLM2.gguf model.use_kv_cache=true model.use_sdpa_with_kv_cache=true \\\n"
                         "    quantization.qmode=8da4w quantization.group_size=32 quantization.embedding_quantize=4,32 \\\n"
                         "    backend.xnnpack.enabled=true export.max_context_length=1024 export.output_name=smollm2.pte");
    if (code >= 0) return code;
    if (!config && overrides.count == 0) return cli_usage_error("nothing to export: name a checkpoint with base.checkpoint=FILE (see --help)");
    cli_catch_interrupt(NULL, NULL);
    wick_export_options what = {.struct_size = sizeof what, .config_path = config, .overrides = overrides.items, .override_count = overrides.count,
                                .threads = (unsigned)cli_settings.threads, .dump_after = dump_after, .dump = dump, .log = cli_log, .log_level = cli_log_level(),
                                .progress = cli_progress};
    wick_export_summary summary;
    wick_error err = {0};
    wick_status status = wick_export(&what, &summary, &err);
    cli_progress_end();
    cli_list_free(&overrides);
    if (status != WICK_OK) return cli_fail(&err);
    print_summary(&summary);
    return CLI_DONE;
}
