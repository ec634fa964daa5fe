/* tests/fuzz/fuzz_run.c - mutated programs through the whole runtime: opened, bound, given inputs and run, or refused with a message. */
#include "fuzz.h"
#include "pte/golden_test.h"

#include "wick/runtime.h"

static unsigned long opened, ran;

static void add_file(const char *path, void *user)
{
    size_t size;
    uint8_t *data = golden_load(path, &size);
    fuzz_add(user, data, size);
}

/* Input i of what the program says it takes: zeros, or its own number. */
static wick_status set_input(wick_runner *runner, size_t i, const wick_item *item, void *zeros, wick_error *err)
{
    switch (item->kind) {
    case WICK_KIND_TENSOR: return wick_runner_set_tensor(runner, i, item->dtype, item->rank, item->sizes, NULL, zeros, err);
    case WICK_KIND_INT: return wick_runner_set_int(runner, i, item->i, err);
    case WICK_KIND_DOUBLE: return wick_runner_set_double(runner, i, item->d, err);
    case WICK_KIND_BOOL: return wick_runner_set_bool(runner, i, item->i != 0, err);
    default: return wick_runner_set_string(runner, i, "", err);
    }
}

enum { INPUT_MAX = 1 << 22 };

/* A mutated size may ask for more memory than a test should take: such an input ends the round. */
static bool run_method(struct fuzz *fuzz, wick_model *model, const char *method, void *zeros)
{
    wick_error err = {WICK_OK, ""};
    wick_runner *runner;
    size_t inputs, outputs;
    if (wick_model_method_shape(model, method, &inputs, &outputs, &err) != WICK_OK || wick_runner_open(model, method, &runner, &err) != WICK_OK) {
        FUZZ_REQUIRE(fuzz, strlen(err.message) > 10);
        return false;
    }
    wick_status status = WICK_OK;
    for (size_t i = 0; i < inputs && status == WICK_OK; i++) {
        wick_item item;
        status = wick_model_method_input(model, method, i, &item, &err);
        if (status == WICK_OK && item.bytes > INPUT_MAX) status = WICK_NOT_SUPPORTED;
        else if (status == WICK_OK) status = set_input(runner, i, &item, zeros, &err);
    }
    if (status == WICK_OK) status = wick_runner_run(runner, &err);
    FUZZ_REQUIRE(fuzz, status == WICK_OK || status == WICK_NOT_SUPPORTED || strlen(err.message) > 10);
    wick_runner_close(runner);
    return status == WICK_OK;
}

static void *limited_alloc(void *user, size_t bytes)
{
    (void)user;
    return bytes > 64u << 20 ? NULL : aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

static void limited_free(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    static const wick_memory memory = {limited_alloc, limited_free, NULL};
    wick_model_options options;
    wick_model *model;
    wick_error err = {WICK_OK, ""};
    wick_model_options_init(&options);
    options.threads = 1;
    options.memory = &memory;
    if (wick_model_open_memory((wick_span){data, size}, &options, &model, &err) != WICK_OK) {
        FUZZ_REQUIRE(fuzz, strlen(err.message) > 10);
        return;
    }
    opened++;
    void *zeros = calloc(1, INPUT_MAX);
    if (!zeros) abort();
    for (size_t i = 0; i < wick_model_method_count(model) && i < 4; i++) ran += run_method(fuzz, model, wick_model_method_name(model, i), zeros);
    free(zeros);
    wick_model_unref(model);
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {.samples = NULL};
    const char *root = golden_root();
    size_t size;
    uint8_t *minimal = golden_minimal(&size);
    fuzz_add(&fuzz, minimal, size);
    if (root) {
        char folder[4200];
        snprintf(folder, sizeof folder, "%s/programs", root);
        golden_walk(folder, ".pte", 64 << 10, add_file, &fuzz);
        snprintf(folder, sizeof folder, "%s/ops/portable", root);
        golden_walk(folder, ".pte", 6 << 10, add_file, &fuzz);
    }
    int result = fuzz_main(&fuzz, argc, argv, run);
    printf("%lu programs opened, %lu methods run\n", opened, ran);
    return result;
}
