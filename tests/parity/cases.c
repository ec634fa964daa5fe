/* tests/parity/cases.c - cases of an index (golden/programs, golden/ops, golden/models): inputs and outputs of the original's runtime.
 *
 *   parity_cases INDEX.json [FLOW|CASE]
 * A program whose operators or node kinds this build does not have is skipped, and counted. Exit status 77 when the index is missing. */
#include "fixture.h"
#include "wick/runtime.h"

#include <jansson.h>
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

struct place {
    char folder[256]; /* of the index, relative to golden */
    double atol, rtol, worst;
    char why[256];
};

static int type_of(const json_t *entry)
{
    const char *word = json_string_value(json_object_get(entry, "dtype"));
    for (size_t i = 0; word && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].word, word) == 0) return (int)i;
    return -1;
}

static void *read_bytes(const struct place *p, const json_t *entry, size_t *size)
{
    char relative[512];
    snprintf(relative, sizeof relative, "%s/%s", p->folder, json_string_value(json_object_get(entry, "file")));
    const char *path = wick_test_golden(relative);
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *data = malloc(*size + 16);
    if (data && fread(data, 1, *size, file) != *size) *size = 0;
    fclose(file);
    return data;
}

static wick_status set_input(wick_runner *runner, size_t i, const json_t *entry, const struct place *p, void **data, wick_error *err)
{
    int type = type_of(entry);
    const json_t *value = json_object_get(entry, "value");
    if (json_is_boolean(value)) return wick_runner_set_bool(runner, i, json_is_true(value), err);
    if (json_is_integer(value)) return wick_runner_set_int(runner, i, json_integer_value(value), err);
    if (json_is_real(value)) return wick_runner_set_double(runner, i, json_real_value(value), err);
    const char *text = json_string_value(value);
    if (text && strncmp(text, "int:", 4) == 0) return wick_runner_set_int(runner, i, strtoll(text + 4, NULL, 10), err);
    if (text && strncmp(text, "float:", 6) == 0) return wick_runner_set_double(runner, i, strtod(text + 6, NULL), err);
    if (text && strncmp(text, "bool:", 5) == 0) return wick_runner_set_bool(runner, i, text[5] == '1', err);
    if (text) return wick_runner_set_string(runner, i, text, err);
    const json_t *shape = json_object_get(entry, "shape"), *order = json_object_get(entry, "dim_order");
    int32_t sizes[WICK_MAX_RANK] = {0};
    uint8_t dims[WICK_MAX_RANK] = {0};
    size_t bytes = 0;
    for (size_t k = 0; k < json_array_size(shape) && k < WICK_MAX_RANK; k++) sizes[k] = (int32_t)json_integer_value(json_array_get(shape, k));
    for (size_t k = 0; k < json_array_size(order) && k < WICK_MAX_RANK; k++) dims[k] = (uint8_t)json_integer_value(json_array_get(order, k));
    *data = read_bytes(p, entry, &bytes);
    if (type < 0 || !*data) return err->status = WICK_NOT_FOUND;
    return wick_runner_set_tensor(runner, i, types[type].dtype, (int32_t)json_array_size(shape), sizes, order ? dims : NULL, *data, err);
}

static double element(const void *data, int32_t dtype, size_t i)
{
    uint32_t bits;
    float f;
    switch (dtype) {
    case WICK_F32: return ((const float *)data)[i];
    case WICK_F64: return ((const double *)data)[i];
    case WICK_I64: return (double)((const int64_t *)data)[i];
    case WICK_I32: return ((const int32_t *)data)[i];
    case WICK_I16: return ((const int16_t *)data)[i];
    case WICK_I8: return ((const int8_t *)data)[i];
    case WICK_BF16:
        bits = (uint32_t)((const uint16_t *)data)[i] << 16;
        memcpy(&f, &bits, 4);
        return f;
    case WICK_F16: {
        uint16_t h = ((const uint16_t *)data)[i];
        int exponent = h >> 10 & 31;
        double m = exponent == 31 ? (h & 1023 ? NAN : INFINITY) : exponent ? ldexp(1024 + (h & 1023), exponent - 25) : ldexp(h & 1023, -24);
        return h & 0x8000 ? -m : m;
    }
    default: return ((const uint8_t *)data)[i];
    }
}

/* Place in memory of element i of the row-major order. */
static size_t at_of(const wick_item *item, size_t i)
{
    size_t strides[WICK_MAX_RANK], step = 1, at = 0;
    for (int k = item->rank - 1; k >= 0; k--) {
        strides[item->dim_order[k]] = step;
        step *= item->sizes[item->dim_order[k]] ? (size_t)item->sizes[item->dim_order[k]] : 1;
    }
    for (int d = item->rank - 1; d >= 0; d--) {
        at += i % (size_t)item->sizes[d] * strides[d];
        i /= (size_t)item->sizes[d];
    }
    return at;
}

static bool compare_tensor(struct place *p, const json_t *entry, const wick_item *item, size_t k)
{
    int type = type_of(entry);
    const json_t *shape = json_object_get(entry, "shape");
    size_t bytes = 0, numel = 1;
    if (type < 0 || item->kind != WICK_KIND_TENSOR || item->dtype != types[type].dtype || (size_t)item->rank != json_array_size(shape)) return snprintf(p->why, sizeof p->why, "output %zu: another type or rank", k), false;
    for (int d = 0; d < item->rank; d++) {
        numel *= (size_t)item->sizes[d];
        if (item->sizes[d] != json_integer_value(json_array_get(shape, (size_t)d))) return snprintf(p->why, sizeof p->why, "output %zu: size %d of dim %d", k, (int)item->sizes[d], d), false;
    }
    void *want = read_bytes(p, entry, &bytes);
    bool exact = item->dtype != WICK_F32 && item->dtype != WICK_F64 && item->dtype != WICK_F16 && item->dtype != WICK_BF16, good = want && bytes == numel * types[type].size;
    for (size_t i = 0; good && i < numel; i++) {
        double a = element(want, item->dtype, i), b = element(item->data, item->dtype, at_of(item, i)), difference = fabs(a - b);
        if (a == b || (isnan(a) && isnan(b))) continue;
        /* Bytes that were quantized on the way may differ by one step where the index allows for it. */
        double allowed = exact ? (p->atol >= 1 ? p->atol : 0) : p->atol + p->rtol * fabs(a);
        if (difference > p->worst) p->worst = difference;
        if (!(difference <= allowed)) good = false, snprintf(p->why, sizeof p->why, "output %zu, element %zu: %g, not %g", k, i, b, a);
    }
    free(want);
    return good;
}

static bool compare_value(struct place *p, const json_t *want, const wick_item *item, size_t k)
{
    bool good = json_is_boolean(want)   ? item->kind == WICK_KIND_BOOL && item->i == json_is_true(want)
                : json_is_integer(want) ? item->kind == WICK_KIND_INT && item->i == json_integer_value(want)
                : json_is_real(want)    ? item->kind == WICK_KIND_DOUBLE && item->d == json_real_value(want)
                                        : item->kind == WICK_KIND_STRING && strcmp(item->text, json_string_value(want)) == 0;
    if (!good) snprintf(p->why, sizeof p->why, "output %zu: another value", k);
    return good;
}

static wick_status run_call(wick_runner *runner, const json_t *call, struct place *p, bool *good, wick_error *err)
{
    const json_t *inputs = json_object_get(call, "inputs"), *outputs = json_object_get(call, "outputs");
    void *data[32] = {NULL};
    wick_status status = WICK_OK;
    size_t count = json_array_size(inputs);
    for (size_t i = 0; i < count && i < 32 && status == WICK_OK; i++) status = set_input(runner, i, json_array_get(inputs, i), p, &data[i], err);
    if (status == WICK_OK) status = wick_runner_run(runner, err);
    for (size_t k = 0; status == WICK_OK && k < json_array_size(outputs) && *good; k++) {
        const json_t *want = json_array_get(outputs, k), *value = json_object_get(want, "value");
        wick_item item;
        status = wick_runner_output(runner, k, &item, err);
        if (status == WICK_OK) *good = value ? compare_value(p, value, &item, k) : compare_tensor(p, want, &item, k);
    }
    for (size_t i = 0; i < 32; i++) free(data[i]);
    return status;
}

/* Runners stay open between the calls of a case: state is kept, one method each. */
struct opened {
    const char *method;
    wick_runner *runner;
};

static wick_status run_calls(wick_model *model, const json_t *entry, struct place *p, bool *good, wick_error *err)
{
    const json_t *calls = json_object_get(entry, "calls");
    struct opened open[16] = {{NULL, NULL}};
    size_t open_count = 0, count = calls ? json_array_size(calls) : 1;
    wick_status status = WICK_OK;
    for (size_t i = 0; i < count && status == WICK_OK && *good; i++) {
        const json_t *call = calls ? json_array_get(calls, i) : entry;
        const char *method = json_string_value(json_object_get(call, "method"));
        size_t k = 0;
        if (!method) method = "forward";
        while (k < open_count && strcmp(open[k].method, method) != 0) k++;
        if (k == open_count && k < 16) {
            open[k].method = method;
            status = wick_runner_open(model, method, &open[k].runner, err);
            open_count += status == WICK_OK;
        }
        if (status == WICK_OK) status = run_call(open[k].runner, call, p, good, err);
    }
    for (size_t k = 0; k < open_count; k++) wick_runner_close(open[k].runner);
    return status;
}

static int run_case(const char *folder, const json_t *entry)
{
    char relative[512], ptd_relative[512];
    const char *name = json_string_value(json_object_get(entry, "case")), *pte = json_string_value(json_object_get(entry, "pte")), *ptd = json_string_value(json_object_get(entry, "ptd"));
    struct place p = {.atol = json_number_value(json_object_get(entry, "atol")), .rtol = json_number_value(json_object_get(entry, "rtol"))};
    snprintf(p.folder, sizeof p.folder, "%s", folder);
    snprintf(relative, sizeof relative, "%s/%s", folder, pte);
    const char *path = wick_test_golden(relative), *data = NULL;
    if (ptd) {
        snprintf(ptd_relative, sizeof ptd_relative, "%s/%s", folder, ptd);
        data = wick_test_golden(ptd_relative);
    }
    wick_model_options options;
    wick_error err = {0};
    wick_model *model = NULL;
    bool good = true;
    wick_model_options_init(&options);
    options.cpu = getenv("WICK_CPU");
    options.data_paths = &data;
    options.data_path_count = data != NULL;
    wick_status status = path ? wick_model_open(path, &options, &model, &err) : WICK_NOT_FOUND;
    if (status == WICK_OK) status = run_calls(model, entry, &p, &good, &err);
    wick_model_unref(model);
    if (status == WICK_OPERATOR_MISSING || status == WICK_NOT_SUPPORTED || status == WICK_NOT_IMPLEMENTED) {
        printf("skip %s: %s\n", name, err.message);
        return 77;
    }
    if (status != WICK_OK || !good) printf("FAIL %s: %s\n", name, status != WICK_OK ? err.message : p.why);
    return status != WICK_OK || !good;
}

int main(int argc, char **argv)
{
    const char *index = argc > 1 ? argv[1] : "programs/index.json", *only = argc > 2 ? argv[2] : NULL, *path = wick_test_golden(index), *slash = strrchr(index, '/');
    json_t *entries = path ? json_load_file(path, 0, NULL) : NULL;
    char folder[256];
    unsigned passed = 0, failed = 0, skipped = 0;
    if (!entries) {
        printf("SKIP: %s is missing\n", index);
        return 77;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - index) : 1, slash ? index : ".");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        const char *name = json_string_value(json_object_get(entry, "case")), *flow = json_string_value(json_object_get(entry, "flow"));
        if (!json_object_get(entry, "pte") || (only && strcmp(only, name) != 0 && (!flow || strcmp(only, flow) != 0))) continue;
        int code = run_case(folder, entry);
        passed += code == 0;
        failed += code == 1;
        skipped += code == 77;
    }
    json_decref(entries);
    printf("%u cases passed, %u failed, %u skipped for want of an operator\n", passed, failed, skipped);
    return failed ? 1 : passed ? 0 : 77;
}
