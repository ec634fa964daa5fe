/* tools/cli/exec.c - wick exec: any method of any program, once or repeatedly. */
#include "cli.h"

#include "wick/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    int32_t dtype;
    size_t size;
} types[] = {{"f32", WICK_F32, 4}, {"f16", WICK_F16, 2}, {"bf16", WICK_BF16, 2}, {"f64", WICK_F64, 8}, {"i64", WICK_I64, 8},
             {"i32", WICK_I32, 4}, {"i16", WICK_I16, 2}, {"i8", WICK_I8, 1},     {"u8", WICK_U8, 1},   {"bool", WICK_BOOL, 1}};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* One --input, parsed. */
struct input {
    char kind; /* t tensor, i int, f float, b bool, s string */
    int type;
    int32_t rank, sizes[WICK_MAX_RANK];
    uint8_t order[WICK_MAX_RANK];
    bool has_order;
    void *data;
    int64_t i;
    double d;
    const char *text;
};

static uint16_t half_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
    if (rest >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
    if (rest < 0x38800000u) {
        float magnitude;
        memcpy(&magnitude, &rest, 4);
        return (uint16_t)(sign | (uint32_t)lrintf(magnitude * 0x1p24f));
    }
    rest += 0xfffu + (rest >> 13 & 1u);
    return (uint16_t)(sign | (rest - (112u << 23)) >> 13);
}

static void store(void *at, int type, size_t i, const char *text)
{
    double d = strtod(text, NULL);
    long long n = strtoll(text, NULL, 10);
    float f = (float)d;
    uint32_t bits;
    switch (types[type].dtype) {
    case WICK_F32: ((float *)at)[i] = f; break;
    case WICK_F64: ((double *)at)[i] = d; break;
    case WICK_F16: ((uint16_t *)at)[i] = half_bits(f); break;
    case WICK_BF16:
        memcpy(&bits, &f, 4);
        ((uint16_t *)at)[i] = (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
        break;
    case WICK_I64: ((int64_t *)at)[i] = n; break;
    case WICK_I32: ((int32_t *)at)[i] = (int32_t)n; break;
    case WICK_I16: ((int16_t *)at)[i] = (int16_t)n; break;
    default: ((uint8_t *)at)[i] = (uint8_t)n; break;
    }
}

static int parse_shape(const char *text, size_t size, struct input *in, size_t *count)
{
    *count = 1;
    for (const char *at = text; at < text + size;) {
        char *end;
        long n = strtol(at, &end, 10);
        if (end == at || n < 0 || n > INT32_MAX || in->rank == WICK_MAX_RANK || (n && *count > SIZE_MAX / 16 / (size_t)n)) return cli_usage_error("--input: '%.*s' is no shape", (int)size, text);
        in->sizes[in->rank++] = (int32_t)n;
        *count *= (size_t)n;
        at = end + (*end == 'x');
        if (end < text + size && *end != 'x') return cli_usage_error("--input: '%.*s' is no shape", (int)size, text);
    }
    return -1;
}

static int parse_values(char *list, struct input *in, size_t count)
{
    size_t i = 0;
    for (char *at = strtok(list, ","); at; at = strtok(NULL, ",")) {
        if (i == count) return cli_usage_error("--input: more values than the shape's %zu", count);
        store(in->data, in->type, i++, at);
    }
    return i == count ? -1 : cli_usage_error("--input: %zu values for a shape of %zu", i, count);
}

static int parse_order(char *text, struct input *in)
{
    int n = 0;
    for (char *at = strtok(text, ","); at; at = strtok(NULL, ",")) {
        if (n == in->rank) return cli_usage_error("--input: the dim order has more entries than the shape");
        in->order[n++] = (uint8_t)strtoul(at, NULL, 10);
    }
    in->has_order = true;
    return n == in->rank ? -1 : cli_usage_error("--input: the dim order has %d entries for %d dims", n, (int)in->rank);
}

/* DTYPE:SHAPE:SRC[@ORDER] */
static int parse_tensor(char *text, const char *rest, struct input *in)
{
    const char *colon = strchr(rest, ':');
    size_t count;
    if (!colon) return cli_usage_error("--input %s: write DTYPE:SHAPE:FILE or DTYPE:SHAPE:=v,v,v", text);
    int code = parse_shape(rest, (size_t)(colon - rest), in, &count);
    if (code >= 0) return code;
    char *source = text + (colon - text) + 1, *at = strrchr(source, '@');
    if (at && !strchr(at, '/') && isdigit((unsigned char)at[1])) {
        *at = 0;
        if ((code = parse_order(at + 1, in)) >= 0) return code;
    }
    size_t bytes = count * types[in->type].size;
    in->data = calloc(1, bytes + 1);
    if (!in->data) return cli_usage_error("--input: no memory for %zu bytes", bytes);
    if (*source == '=') return parse_values(source + 1, in, count);
    FILE *file = fopen(source, "rb");
    size_t got = file ? fread(in->data, 1, bytes, file) : 0;
    bool whole = file && got == bytes && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!file) return cli_usage_error("--input: %s: cannot open: %s", source, strerror(errno));
    return whole ? -1 : cli_usage_error("--input: %s: not exactly %zu bytes", source, bytes);
}

static int parse_input(char *text, struct input *in)
{
    char *colon = strchr(text, ':');
    if (!colon) return cli_usage_error("--input %s: write DTYPE:SHAPE:SRC, int:5, float:0.5, bool:1 or str:text", text);
    size_t size = (size_t)(colon - text);
    const char *rest = colon + 1;
    if (size == 3 && strncmp(text, "int", 3) == 0) return in->kind = 'i', in->i = strtoll(rest, NULL, 10), -1;
    if (size == 5 && strncmp(text, "float", 5) == 0) return in->kind = 'f', in->d = strtod(rest, NULL), -1;
    if (size == 3 && strncmp(text, "str", 3) == 0) return in->kind = 's', in->text = rest, -1;
    if (size == 4 && strncmp(text, "bool", 4) == 0 && !strchr(rest, ':')) return in->kind = 'b', in->i = strtoll(rest, NULL, 10) != 0, -1;
    for (in->type = 0; in->type < TYPE_COUNT; in->type++)
        if (strlen(types[in->type].word) == size && strncmp(types[in->type].word, text, size) == 0) return in->kind = 't', parse_tensor(text, rest, in);
    return cli_usage_error("--input: '%.*s' is no type (f32 f16 bf16 f64 i64 i32 i16 i8 u8 bool int float str)", (int)size, text);
}

static wick_status set_input(wick_runner *runner, size_t i, const struct input *in, wick_error *err)
{
    switch (in->kind) {
    case 'i': return wick_runner_set_int(runner, i, in->i, err);
    case 'f': return wick_runner_set_double(runner, i, in->d, err);
    case 'b': return wick_runner_set_bool(runner, i, in->i != 0, err);
    case 's': return wick_runner_set_string(runner, i, in->text, err);
    default: return wick_runner_set_tensor(runner, i, types[in->type].dtype, in->rank, in->sizes, in->has_order ? in->order : NULL, in->data, err);
    }
}

/* Row-major bytes of a tensor in any dim order. */
static bool write_logical(const char *path, const wick_item *item)
{
    size_t numel = 1, strides[WICK_MAX_RANK], step = 1;
    for (int k = item->rank - 1; k >= 0; k--) {
        int dim = item->dim_order[k];
        strides[dim] = step;
        step *= item->sizes[dim] ? (size_t)item->sizes[dim] : 1;
    }
    for (int d = 0; d < item->rank; d++) numel *= (size_t)item->sizes[d];
    size_t element = numel ? item->bytes / numel : 0;
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool good = true;
    for (size_t i = 0; i < numel && good; i++) {
        size_t rest = i, at = 0;
        for (int d = item->rank - 1; d >= 0; d--) {
            at += rest % (size_t)item->sizes[d] * strides[d];
            rest /= (size_t)item->sizes[d];
        }
        good = fwrite((const char *)item->data + at * element, element, 1, file) == 1;
    }
    return fclose(file) == 0 && good;
}

static int show_output(size_t k, const wick_item *item, const char *prefix)
{
    if (item->kind == WICK_KIND_TENSOR) {
        printf("output %zu dtype %d shape", k, (int)item->dtype);
        for (int d = 0; d < item->rank; d++) printf(" %d", (int)item->sizes[d]);
        printf("\n");
        char path[1024];
        if (!prefix) return CLI_DONE;
        snprintf(path, sizeof path, "%s%zu.bin", prefix, k);
        if (write_logical(path, item)) return CLI_DONE;
        fprintf(stderr, "wick: error: %s: cannot write: %s\n", path, strerror(errno));
        return CLI_FAILED;
    }
    if (item->kind == WICK_KIND_INT) printf("output %zu int %" PRId64 "\n", k, item->i);
    else if (item->kind == WICK_KIND_DOUBLE) printf("output %zu double %.17g\n", k, item->d);
    else if (item->kind == WICK_KIND_BOOL) printf("output %zu bool %d\n", k, (int)item->i);
    else if (item->kind == WICK_KIND_STRING) printf("output %zu string %.*s\n", k, (int)item->text_size, item->text);
    else printf("output %zu other\n", k);
    return CLI_DONE;
}

static int run_method(wick_model *model, const char *method, const struct input *inputs, size_t count, int64_t repeat, const char *prefix, wick_error *err)
{
    wick_runner *runner;
    if (wick_runner_open(model, method, &runner, err) != WICK_OK) return cli_fail(err);
    int code = CLI_DONE;
    wick_status status = WICK_OK;
    for (size_t i = 0; i < count && status == WICK_OK; i++) status = set_input(runner, i, &inputs[i], err);
    for (int64_t i = 0; i < repeat && status == WICK_OK; i++) status = wick_runner_run(runner, err);
    for (size_t k = 0; status == WICK_OK && code == CLI_DONE && k < wick_runner_output_count(runner); k++) {
        wick_item item;
        status = wick_runner_output(runner, k, &item, err);
        if (status == WICK_OK) code = show_output(k, &item, prefix);
    }
    if (status != WICK_OK) code = cli_fail(err);
    wick_runner_close(runner);
    return code;
}

int wick_command_exec(int argc, char **argv)
{
    const char *method = "forward", *prefix = NULL, *numerics = NULL;
    int64_t repeat = 1;
    bool no_fuse = false;
    struct cli_list rest = {0}, texts = {0}, data = {0};
    const struct cli_option options[] = {
        {"--method", 0, CLI_TEXT, &method, "NAME", "method to run (default: forward)"},
        {"--input", 0, CLI_LIST, &texts, "IN", "DTYPE:SHAPE:FILE, DTYPE:SHAPE:=v,v (an ending @0,2,3,1 is a dim order), int:5, float:0.5, bool:1, str:text"},
        {"--ptd", 0, CLI_LIST, &data, "FILE", "data file with external weights"},
        {"--output", 0, CLI_TEXT, &prefix, "PREFIX", "write tensor K as PREFIXK.bin, row-major"},
        {"--repeat", 0, CLI_INT, &repeat, "N", "run N times on the same state"},
        {"--no-fuse", 0, CLI_FLAG, &no_fuse, NULL, "run the program's calls as they are"},
        {"--numerics", 0, CLI_TEXT, &numerics, "MODE", "fast (default) or reproducible"},
    };
    int code = cli_parse(cli_find("exec"), options, sizeof options / sizeof options[0], argc, argv, &rest, "wick exec model.pte --input f32:2x3:=1,2,3,4,5,6");
    if (code >= 0) return code;
    if (rest.count != 1) return cli_usage_error("exec: name one program");
    if (numerics && strcmp(numerics, "fast") != 0 && strcmp(numerics, "reproducible") != 0) return cli_usage_error("--numerics: '%s' is neither fast nor reproducible", numerics);
    struct input *inputs = calloc(texts.count + 1, sizeof *inputs);
    code = inputs ? -1 : CLI_FAILED;
    for (size_t i = 0; i < texts.count && code < 0; i++) code = parse_input((char *)(uintptr_t)texts.items[i], &inputs[i]);
    if (code < 0) {
        wick_model_options model_options;
        wick_model *model;
        wick_error err = {0};
        wick_model_options_init(&model_options);
        model_options.data_paths = data.items;
        model_options.data_path_count = data.count;
        model_options.threads = (unsigned)cli_settings.threads;
        model_options.cpu = getenv("WICK_CPU");
        model_options.no_fuse = no_fuse;
        model_options.numerics = numerics && *numerics == 'r' ? WICK_NUMERICS_REPRODUCIBLE : WICK_NUMERICS_FAST;
        model_options.log = cli_log;
        model_options.log_level = cli_log_level();
        if (wick_model_open(rest.items[0], &model_options, &model, &err) != WICK_OK) code = cli_fail(&err);
        else {
            code = run_method(model, method, inputs, texts.count, repeat, prefix, &err);
            wick_model_unref(model);
        }
    }
    for (size_t i = 0; inputs && i < texts.count; i++) free(inputs[i].data);
    free(inputs);
    cli_list_free(&rest), cli_list_free(&texts), cli_list_free(&data);
    return code;
}
