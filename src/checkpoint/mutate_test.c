/* Mutated files of every format either open and read to the end, or fail with a message that names the file; and no
 * failure of an allocation leaks or crashes. Run under the sanitizers, this is the folder's guard. */
#include "checkpoint/sample_files_test.h"
#include "checkpoint/table.h"

#include <stdio.h>

enum { MUTATIONS = 3000, READ_MAX = 4096 };

/* Flips, overwrites with telling numbers, cuts, repeats or moves bytes, 1 to 4 times. */
static void mutate(struct wick_buf *b, uint64_t *random)
{
    static const uint64_t telling[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000u, 0xffffffffu, INT64_MAX, UINT64_MAX, 1u << 20};
    for (uint64_t times = 1 + wick_test_random(random) % 4; times > 0; times--) {
        size_t at = wick_test_random(random) % b->size, to = wick_test_random(random) % b->size, run = 1 + wick_test_random(random) % 16;
        run = WICK_MIN(run, b->size - WICK_MAX(at, to));
        switch (wick_test_random(random) % 6) {
        case 0: b->data[at] = (char)(b->data[at] ^ 1 << wick_test_random(random) % 8); break;
        case 1: b->data[at] = (char)wick_test_random(random); break;
        case 2: {
            unsigned width = 1u << wick_test_random(random) % 4;
            if (at + width <= b->size) set_int(b, at, telling[wick_test_random(random) % WICK_ARRAY_SIZE(telling)], width);
            break;
        }
        case 3: b->size = wick_test_random(random) % 4 ? b->size : WICK_MAX(at, (size_t)1); break;
        case 4: memmove(b->data + to, b->data + at, run); break;
        default: memset(b->data + at, (int)(wick_test_random(random) % 3) * 0x7f, run);
        }
    }
}

/* Reads both ends of every tensor. */
static void walk(const struct wick_checkpoint *ckpt)
{
    float out[READ_MAX];
    wick_error err;
    for (size_t i = 0; i < wick_checkpoint_count(ckpt); i++) {
        const struct wick_ckpt_tensor *tensor = wick_checkpoint_tensor(ckpt, i);
        uint64_t count = WICK_MIN(tensor->numel, (uint64_t)READ_MAX);
        WICK_ASSERT_OK(wick_ckpt_read_f32(tensor, 0, count, out, &err), &err);
        WICK_ASSERT_OK(wick_ckpt_read_f32(tensor, tensor->numel - count, count, out, &err), &err);
        if (wick_ckpt_storage_block(tensor->storage) == 1)
            WICK_ASSERT_OK(wick_ckpt_read_raw(tensor, tensor->numel - count / 2, count / 2, out, &err), &err);
        wick_ckpt_tensor_done(ckpt, tensor);
    }
    for (size_t i = 0; i < wick_checkpoint_meta_count(ckpt); i++) {
        struct wick_meta_array array;
        if (wick_checkpoint_meta_array(ckpt, wick_checkpoint_meta(ckpt, i)->key, WICK_META_INTS, &array, &err) != WICK_OK || array.count == 0)
            continue;
        (void)wick_meta_array_int(&array, array.count - 1);
    }
}

static void fuzz(const char *name, void (*put)(struct wick_buf *))
{
    const int mutations = wick_test_mutations(MUTATIONS);
    uint64_t random = 77;
    size_t opened = 0;
    struct wick_buf sample = {0}, b = {0};
    put(&sample);
    for (int i = 0; i < mutations; i++) {
        b.size = 0;
        wick_buf_append(&b, sample.data, sample.size);
        mutate(&b, &random);
        const char *path = wick_test_temp(name);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(b.data, 1, b.size, file), b.size);
        fclose(file);
        struct wick_checkpoint *ckpt;
        wick_error err = {0};
        if (wick_checkpoint_open(&ckpt, path, &err) == WICK_OK) {
            opened++;
            walk(ckpt);
            wick_checkpoint_close(ckpt);
        } else if (!strstr(err.message, name) || strlen(err.message) < strlen(path) + 12 || strchr(err.message, '\n')) {
            fail_msg("mutation %d: message \"%s\"", i, err.message);
        }
    }
    print_message("%s: %d mutations, %zu opened\n", name, mutations, opened);
    assert_in_range(opened, 1, (uint64_t)mutations - 1);
    wick_buf_free(&sample);
    wick_buf_free(&b);
}

static void put_pth32(struct wick_buf *b) { put_sample_pth(b, false); }
static void put_pth64(struct wick_buf *b) { put_sample_pth(b, true); }

static void put_safe(struct wick_buf *b)
{
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                                 "\"s\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[24,26]},"
                                 "\"z\":{\"dtype\":\"BOOL\",\"shape\":[6],\"data_offsets\":[26,32]}}  ";
    put_safetensors(b, header, sizeof header - 1, 32);
}

static void put_file(struct wick_buf *b, const char *path)
{
    struct wick_map map;
    wick_error err;
    WICK_ASSERT_OK(wick_map_open(&map, wick_test_repo(path), &err), &err);
    wick_buf_append(b, map.data, map.size);
    wick_map_close(&map);
}

/* What torch itself wrote: every storage and view. */
static void put_torch(struct wick_buf *b) { put_file(b, "tests/data/torch_protocol4.pt"); }
static void put_torchao(struct wick_buf *b) { put_file(b, "tests/data/torchao.pt"); }
static void put_legacy(struct wick_buf *b) { put_file(b, "tests/data/torch_legacy_views.pt"); }

static void fuzz_pth(void **state)
{
    (void)state;
    fuzz("32.pth", put_pth32);
    fuzz("64.pth", put_pth64);
    fuzz("torch.pth", put_torch);
    fuzz("legacy.pth", put_legacy);
    fuzz("torchao.pth", put_torchao);
}

static void fuzz_safetensors(void **state)
{
    (void)state;
    fuzz("f.safetensors", put_safe);
}

static void fuzz_gguf(void **state)
{
    (void)state;
    fuzz("f.gguf", put_sample_gguf);
}

/* ---- allocation failures ---- */

struct budget {
    size_t left, live;
};

static void *budget_alloc(void *user, size_t bytes)
{
    struct budget *budget = user;
    if (budget->left == 0) return NULL;
    budget->left--;
    budget->live++;
    return wick_allocator_heap.alloc(NULL, bytes);
}

static void budget_free(void *user, void *memory, size_t bytes)
{
    ((struct budget *)user)->live--;
    wick_allocator_heap.free(NULL, memory, bytes);
}

static void out_of_memory(void **state)
{
    (void)state;
    void (*const puts_[])(struct wick_buf *) = {put_torch, put_legacy, put_torchao, put_safe, put_sample_gguf};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(puts_); i++) {
        struct wick_buf b = {0};
        puts_[i](&b);
        const char *path = save("oom.file", &b);
        wick_status status = WICK_OUT_OF_MEMORY;
        for (size_t allowed = 0; status != WICK_OK; allowed++) {
            assert_in_range(allowed, 0, 1000);
            struct budget budget = {.left = allowed};
            const struct wick_allocator source = {budget_alloc, budget_free, &budget};
            struct wick_checkpoint *ckpt;
            wick_error err = {0};
            status = wick_ckpt_open_in(&ckpt, path, &source, &err);
            if (status == WICK_OK) {
                walk(ckpt);
                wick_checkpoint_close(ckpt);
            } else {
                assert_int_equal(status, WICK_OUT_OF_MEMORY);
                assert_null(ckpt);
                assert_true(strlen(err.message) > 0);
            }
            assert_int_equal(budget.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fuzz_pth), cmocka_unit_test(fuzz_safetensors), cmocka_unit_test(fuzz_gguf),
                                       cmocka_unit_test(out_of_memory)};
    return WICK_TEST_MAIN(tests);
}
