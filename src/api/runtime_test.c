/* The public runtime on real programs: models shared by threads, runners with state of their own, options, memory. */
#include "fixture.h"

#include "wick/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Tokens i64 [1, up to n], input_pos i64 [1] > logits f32 [1, 512]; KV cache, XNNPACK payloads. */
#define DECODER "llm/llama32_8da4w_e4_sdpa_xnn/model.pte"

enum { VOCABULARY = 512 };

static wick_error err;

/* ---- a host's memory that counts ---- */

static atomic_int allocations, live;

static void *counting_alloc(void *user, size_t bytes)
{
    (void)user;
    void *memory = NULL;
    atomic_fetch_add(&allocations, 1);
    if (posix_memalign(&memory, 64, bytes) != 0) return NULL;
    atomic_fetch_add(&live, 1);
    return memory;
}

static void counting_free(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    atomic_fetch_sub(&live, 1);
    free(memory);
}

static const wick_memory counting = {counting_alloc, counting_free, NULL};

static wick_model *open_with(const char *path, unsigned threads, bool no_fuse, const wick_memory *memory)
{
    wick_model_options options;
    wick_model *model;
    wick_model_options_init(&options);
    options.threads = threads;
    options.no_fuse = no_fuse;
    options.memory = memory;
    WICK_ASSERT_OK(wick_model_open(path, &options, &model, &err), &err);
    return model;
}

/* Feeds one token at a position; the logits follow. */
static wick_status feed(wick_runner *runner, int64_t token, int64_t position, float *logits, wick_error *error)
{
    static const int32_t token_sizes[2] = {1, 1}, position_sizes[1] = {1};
    wick_item out;
    wick_status status = wick_runner_set_tensor(runner, 0, WICK_I64, 2, token_sizes, NULL, &token, error);
    if (status == WICK_OK) status = wick_runner_set_tensor(runner, 1, WICK_I64, 1, position_sizes, NULL, &position, error);
    if (status == WICK_OK) status = wick_runner_run(runner, error);
    if (status == WICK_OK) status = wick_runner_output(runner, 0, &out, error);
    if (status == WICK_OK) memcpy(logits, out.data, VOCABULARY * sizeof *logits);
    return status;
}

static void feed_some(wick_runner *runner, float *logits)
{
    for (int64_t i = 0; i < 5; i++) WICK_ASSERT_OK(feed(runner, 7 + 13 * i, i, logits, &err), &err);
}

static void a_method_describes_itself(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    WICK_NEED(path);
    wick_model *model = open_with(path, 1, false, NULL);
    wick_item item;
    size_t inputs, outputs;
    int64_t number;
    WICK_ASSERT_OK(wick_model_method_shape(model, "forward", &inputs, &outputs, &err), &err);
    assert_int_equal(inputs, 2);
    assert_int_equal(outputs, 1);
    WICK_ASSERT_OK(wick_model_method_input(model, "forward", 0, &item, &err), &err);
    assert_true(item.kind == WICK_KIND_TENSOR && item.dtype == WICK_I64 && item.rank == 2 && item.dynamic && !item.data);
    WICK_ASSERT_OK(wick_model_method_output(model, "forward", 0, &item, &err), &err);
    assert_true(item.dtype == WICK_F32 && item.sizes[item.rank - 1] == VOCABULARY);
    assert_int_equal(wick_model_method_input(model, "forward", 2, &item, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_model_method_shape(model, "backward", &inputs, &outputs, &err), WICK_INVALID_ARGUMENT);
    WICK_ASSERT_OK(wick_model_constant_int(model, "use_kv_cache", &number, &err), &err);
    assert_int_equal(number, 1);
    WICK_ASSERT_OK(wick_model_constant_int(model, "get_vocab_size", &number, &err), &err);
    assert_int_equal(number, VOCABULARY);
    assert_int_equal(wick_model_constant_int(model, "get_nothing", &number, &err), WICK_NOT_FOUND);
    assert_null(wick_model_method_name(model, wick_model_method_count(model)));
    wick_model_unref(model);
}

static void options_are_judged(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    WICK_NEED(path);
    wick_model_options options;
    wick_model *model;
    wick_model_options_init(&options);
    options.struct_size = 0;
    assert_int_equal(wick_model_open(path, &options, &model, &err), WICK_INVALID_ARGUMENT);
    wick_model_options_init(&options);
    options.cpu = "pentium";
    assert_int_equal(wick_model_open(path, &options, &model, &err), WICK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "ref"));
    assert_null(model);
    options.struct_size = offsetof(wick_model_options, cpu); /* a caller of before that member existed */
    WICK_ASSERT_OK(wick_model_open(path, &options, &model, &err), &err);
    wick_model_unref(model);
    WICK_ASSERT_OK(wick_model_open(path, NULL, &model, NULL), &err);
    wick_model_unref(model);
    wick_model_unref(NULL);
}

static void decoding_allocates_nothing(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    float logits[VOCABULARY];
    WICK_NEED(path);
    wick_model *model = open_with(path, 2, false, &counting);
    wick_runner *runner;
    WICK_ASSERT_OK(wick_runner_open(model, "forward", &runner, &err), &err);
    WICK_ASSERT_OK(feed(runner, 1, 0, logits, &err), &err);
    int before = allocations;
    for (int64_t i = 1; i < 20; i++) WICK_ASSERT_OK(feed(runner, i, i, logits, &err), &err);
    assert_int_equal(allocations, before);
    wick_runner_close(runner);
    wick_model_unref(model);
    assert_int_equal(live, 0);
}

static void a_reset_forgets_everything(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    float first[VOCABULARY], again[VOCABULARY];
    WICK_NEED(path);
    wick_model *model = open_with(path, 1, false, NULL);
    wick_runner *runner;
    WICK_ASSERT_OK(wick_runner_open(model, "forward", &runner, &err), &err);
    feed_some(runner, first);
    wick_runner_reset(runner);
    assert_int_equal(wick_runner_run(runner, &err), WICK_INVALID_STATE);
    feed_some(runner, again);
    assert_memory_equal(first, again, sizeof first);
    wick_runner_close(runner);
    wick_model_unref(model);
}

static void fusion_and_threads_change_no_bit_of_integer_linears(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    float expected[VOCABULARY], logits[VOCABULARY];
    WICK_NEED(path);
    for (int variant = 0; variant < 3; variant++) {
        wick_model *model = open_with(path, variant == 2 ? 2 : 1, variant == 1, NULL);
        wick_runner *runner;
        WICK_ASSERT_OK(wick_runner_open(model, "forward", &runner, &err), &err);
        feed_some(runner, variant ? logits : expected);
        if (variant) assert_memory_equal(logits, expected, sizeof logits);
        wick_runner_close(runner);
        wick_model_unref(model);
    }
}

struct worker {
    wick_model *model;
    wick_status status;
    wick_error err;
    float logits[VOCABULARY];
};

static void *work(void *argument)
{
    struct worker *self = argument;
    wick_runner *runner;
    self->status = wick_runner_open(self->model, "forward", &runner, &self->err);
    wick_model_unref(self->model);
    for (int64_t i = 0; i < 5 && self->status == WICK_OK; i++) self->status = feed(runner, 7 + 13 * i, i, self->logits, &self->err);
    wick_runner_close(runner);
    return NULL;
}

/* Threads bind one model at the same time; the last of them closes it. */
static void threads_share_a_model(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    const char *path = wick_test_golden(DECODER);
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    WICK_NEED(path);
    wick_model *model = open_with(path, 1, false, &counting);
    for (int i = 0; i < THREADS; i++) {
        workers[i].model = wick_model_ref(model);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    wick_model_unref(model);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        WICK_ASSERT_OK(workers[i].status, &workers[i].err);
        assert_memory_equal(workers[i].logits, workers[0].logits, sizeof workers[0].logits);
    }
    assert_int_equal(live, 0);
}

static void *cancel(void *runner)
{
    wick_runner_cancel(runner);
    return NULL;
}

static void cancel_comes_from_any_thread(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    float logits[VOCABULARY];
    pthread_t thread;
    WICK_NEED(path);
    wick_model *model = open_with(path, 1, false, NULL);
    wick_runner *runner;
    WICK_ASSERT_OK(wick_runner_open(model, "forward", &runner, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, cancel, runner), 0);
    wick_status status = WICK_OK;
    for (int64_t i = 0; i < 100 && status == WICK_OK; i++) status = feed(runner, 1, i % 16, logits, &err); /* within the context */
    pthread_join(thread, NULL);
    if (status == WICK_OK) status = feed(runner, 1, 0, logits, &err);
    assert_int_equal(status, WICK_CANCELLED);
    WICK_ASSERT_OK(feed(runner, 1, 0, logits, &err), &err);
    wick_runner_close(runner);
    wick_model_unref(model);
}

/* Every input that cannot be is refused, and the runner goes on afterwards. */
static void bad_calls_are_survived(void **state)
{
    (void)state;
    const char *path = wick_test_golden(DECODER);
    float logits[VOCABULARY];
    int64_t tokens[4] = {1, 2, 3, 4}, far = 1 << 20;
    const int32_t one[1] = {1}, row[2] = {1, 1}, huge[2] = {1, 1 << 30}, column[2] = {4, 1};
    const uint8_t twice[2] = {0, 0};
    WICK_NEED(path);
    wick_model *model = open_with(path, 1, false, NULL);
    wick_runner *runner;
    WICK_ASSERT_OK(wick_runner_open(model, "forward", &runner, &err), &err);
    assert_int_equal(wick_runner_set_tensor(runner, 2, WICK_I64, 1, one, NULL, tokens, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_runner_set_tensor(runner, 0, WICK_F32, 2, row, NULL, tokens, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_runner_set_tensor(runner, 0, 99, 2, row, NULL, tokens, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_runner_set_tensor(runner, 0, WICK_I64, 17, row, NULL, tokens, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_runner_set_tensor(runner, 0, WICK_I64, 2, row, twice, tokens, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_runner_set_tensor(runner, 0, WICK_I64, 2, huge, NULL, tokens, &err), WICK_NOT_SUPPORTED);
    assert_int_equal(wick_runner_set_int(runner, 0, 1, &err), WICK_INVALID_ARGUMENT);
    /* Four rows of one token: their bytes fit, the program's own sizes do not. */
    WICK_ASSERT_OK(wick_runner_set_tensor(runner, 1, WICK_I64, 1, one, NULL, tokens, &err), &err);
    if (wick_runner_set_tensor(runner, 0, WICK_I64, 2, column, NULL, tokens, &err) == WICK_OK)
        assert_int_not_equal(wick_runner_run(runner, &err), WICK_OK);
    WICK_ASSERT_OK(wick_runner_set_tensor(runner, 0, WICK_I64, 2, row, NULL, tokens, &err), &err);
    WICK_ASSERT_OK(wick_runner_set_tensor(runner, 1, WICK_I64, 1, one, NULL, &far, &err), &err);
    assert_int_not_equal(wick_runner_run(runner, &err), WICK_OK); /* a position past the cache */
    assert_non_null(strstr(err.message, "node "));
    tokens[0] = -5;
    assert_int_not_equal(feed(runner, tokens[0], 0, logits, &err), WICK_OK); /* a token outside the vocabulary */
    WICK_ASSERT_OK(feed(runner, 1, 0, logits, &err), &err);
    wick_runner_close(runner);
    wick_model_unref(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method_describes_itself),
        cmocka_unit_test(options_are_judged),
        cmocka_unit_test(decoding_allocates_nothing),
        cmocka_unit_test(a_reset_forgets_everything),
        cmocka_unit_test(fusion_and_threads_change_no_bit_of_integer_linears),
        cmocka_unit_test(threads_share_a_model),
        cmocka_unit_test(cancel_comes_from_any_thread),
        cmocka_unit_test(bad_calls_are_survived),
    };
    return WICK_TEST_MAIN(tests);
}
