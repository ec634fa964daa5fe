/* Mutated configuration files and overrides: read, resolved, checked and printed, or refused with a message. What was read and printed is a file that
 * means the same. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include "export/config.h"

#include <sys/mman.h>
#include <unistd.h>

static int file;      /* in memory, rewritten for every mutation */
static char path[64]; /* its name */
static unsigned long read_whole;

static const char *const words[] = {"base:\n",  "model: {", "\n  ",      "- ",        ": ",       "*a",       "&a ",       "<<: *a", "[",           "]",       "{",     "}",
                                    "'",        "\"",       "\\\"",      "\\\\",      "|\n",      ">-\n",     "# ",        "null",   "true",        "0x1f",    "1e9",   ".nan",
                                    "${",       "${oc.env:PATH,x}", "${base.params}", "${.x}", "???", "---\n", "!!str ", "defaults: [_self_]\n", "hydra:", "!!int", "\t", "\0",
                                    "base.checkpoint=", "+base.lora_config.lora_rank=", "multimethod.methods=[", "model.local_global_attention=[", "++", "~", "=", ",", ".0.", NULL};

static void add(struct fuzz *fuzz, const char *text)
{
    size_t size = strlen(text);
    uint8_t *data = malloc(size);
    if (data) memcpy(data, text, size);
    fuzz_add(fuzz, data, size);
}

static void add_samples(struct fuzz *fuzz)
{
    fuzz_format(fuzz);
    add(fuzz, "base:\n  metadata: '{\"get_bos_id\":128000, \"get_eos_ids\":[128009, 128001]}'\n  checkpoint: ${oc.env:HOME,here}/x\nmodel:\n  use_kv_cache: True\n"
              "quantization:\n  qmode: 8da4w\n  group_size: 128\n  embedding_quantize: 4,32\nbackend: {xnnpack: {enabled: on, extended_ops: off}}\n");
    add(fuzz, "multimethod:\n  methods:\n  - method_name: f\n    lora_config: &l\n      adapter_checkpoint: \"a b\"\n      target_modules: [q_proj, v_proj]\n  - method_name: g\n"
              "    lora_config:\n      <<: *l\n      lora_rank: 0x10\n  share_mutable_buffers: true\nmodel:\n  local_global_attention: [16, 0]\n");
    add(fuzz, "defaults:\n- llm_config\n- _self_\nhydra: {run: {dir: .}}\nexport:\n  output_name: ${base.model_class}_${export.max_seq_length}\n  max_seq_length: 1_28\n"
              "base:\n  params: |\n    several\n    lines\n  tokenizer_path: >-\n    folded\n    lines\n");
    fuzz_format(fuzz); /* overrides, one a line */
    add(fuzz, "base.metadata=\"{\\\"get_bos_id\\\":1}\"\nmodel.use_kv_cache=True\nquantization.embedding_quantize='4,32'\nexport.max_seq_length=${export.max_context_length}\n");
    add(fuzz, "+base.lora_config.adapter_checkpoint=x\n++base.lora_config.target_modules=[q_proj,'v proj']\nmultimethod.methods=[{method_name:f,lora_config:{lora_rank:1}}]\n"
              "multimethod.methods.0.method_name=g\nbase.checkpoint=a\\,b\\\\c\\ d\n");
}

static wick_status read_lines(struct wick_config *config, const uint8_t *data, size_t size, wick_error *err)
{
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - data) - at : size - at;
        char *line = malloc(n + 1);
        if (!line) abort();
        memcpy(line, data + at, n);
        line[n] = 0;
        wick_status status = wick_config_override(config, line, err);
        free(line);
        if (status != WICK_OK) return status;
        at += n + 1;
    }
    return WICK_OK;
}

/* Printed, read again and printed: the same but for the marks of defaults. */
static void print_twice(struct fuzz *fuzz, const struct wick_config *config)
{
    struct wick_config again;
    wick_error err = {WICK_OK, ""};
    struct wick_buf first = {0};
    wick_config_print(config, &first);
    FUZZ_REQUIRE(fuzz, !first.failed && first.size > 1000);
    if (ftruncate(file, 0) != 0 || pwrite(file, first.data, first.size, 0) != (ssize_t)first.size) abort();
    FUZZ_REQUIRE(fuzz, wick_config_init(&again, &err) == WICK_OK);
    /* A text that holds ${ after it was resolved, or bytes that are no UTF-8, would be read as something else. */
    if (!strstr(first.data, "${") && !strstr(first.data, "???") && !strstr(first.data, "\xef\xbf\xbd") && !strstr(first.data, "nan") && !strstr(first.data, "inf")) {
        wick_status status = wick_config_load(&again, path, &err);
        if (status != WICK_OK) fprintf(stderr, "%s\n%s\n", err.message, first.data);
        FUZZ_REQUIRE(fuzz, status == WICK_OK && wick_config_resolve(&again, &err) == WICK_OK);
        for (int i = 0; i < WICK_KEY_COUNT; i++) {
            const struct wick_config_value *a = &config->values[i], *b = &again.values[i];
            bool same = a->null == b->null && a->b == b->b && a->i == b->i && (a->null || !a->text || strcmp(a->text, b->text) == 0);
            if (!same) fprintf(stderr, "%s: %s, then %s\n", wick_config_key_name((enum wick_key)i), a->text ? a->text : "-", b->text ? b->text : "-");
            FUZZ_REQUIRE(fuzz, same);
        }
    }
    wick_config_release(&again);
    wick_buf_free(&first);
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    struct wick_config config;
    wick_error err = {WICK_OK, ""};
    FUZZ_REQUIRE(fuzz, wick_config_init(&config, &err) == WICK_OK);
    bool overrides = size && memchr(data, '=', size < 40 ? size : 40) != NULL;
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) abort();
    wick_status status = overrides ? read_lines(&config, data, size, &err) : wick_config_load(&config, path, &err);
    if (status == WICK_OK) status = wick_config_resolve(&config, &err);
    if (status == WICK_OK) {
        read_whole++;
        print_twice(fuzz, &config);
        status = wick_config_check(&config, &err);
    }
    FUZZ_REQUIRE(fuzz, status == WICK_OK || (err.status == status && strlen(err.message) > 8));
    wick_config_release(&config);
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {.words = words};
    file = memfd_create("config", 0);
    if (file < 0) return 77;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    add_samples(&fuzz);
    int result = fuzz_main(&fuzz, argc, argv, run);
    printf("%lu configurations read\n", read_whole);
    close(file);
    return result;
}
