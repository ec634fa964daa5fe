/* Mutated .pth, .safetensors and .gguf files: opened and read at both ends of every tensor, or refused with a message that names the
 * file. The file lives in memory. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include "checkpoint/sample_files_test.h"

#include <sys/mman.h>
#include <unistd.h>

enum { READ_MAX = 4096 };

static unsigned long opened;
static int file;      /* in memory, rewritten for every mutation */
static char path[64]; /* its name */

static void add(struct fuzz *fuzz, struct wick_buf *b)
{
    if (b->failed) abort();
    uint8_t *data = malloc(b->size);
    if (data) memcpy(data, b->data, b->size);
    fuzz_add(fuzz, data, b->size);
    wick_buf_free(b);
}

/* The smallest file of each format, what torch itself wrote, and a safetensors header with everything in it. */
static void add_samples(struct fuzz *fuzz)
{
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                                 "\"s\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[24,26]},"
                                 "\"z\":{\"dtype\":\"BOOL\",\"shape\":[6],\"data_offsets\":[26,32]}}  ";
    struct wick_buf b = {0};
    struct wick_map map;
    for (int zip64 = 0; zip64 < 2; zip64++) {
        put_sample_pth(&b, zip64);
        add(fuzz, &b);
    }
    static const char *const files[] = {"tests/data/torch_protocol4.pt", "tests/data/torch_legacy_views.pt", "tests/data/torchao.pt"};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(files); i++) {
        if (wick_map_open(&map, wick_test_repo(files[i]), NULL) != WICK_OK) continue;
        wick_buf_append(&b, map.data, map.size);
        wick_map_close(&map);
        add(fuzz, &b);
    }
    fuzz_format(fuzz);
    put_safetensors(&b, header, sizeof header - 1, 32);
    add(fuzz, &b);
    fuzz_format(fuzz);
    put_sample_gguf(&b);
    add(fuzz, &b);
}

/* What opened is readable to its last element, and its metadata to their last item. */
static void walk(struct fuzz *fuzz, const struct wick_checkpoint *ckpt)
{
    float out[READ_MAX];
    wick_error err;
    for (size_t i = 0; i < wick_checkpoint_count(ckpt); i++) {
        const struct wick_ckpt_tensor *tensor = wick_checkpoint_tensor(ckpt, i);
        uint64_t count = WICK_MIN(tensor->numel, (uint64_t)READ_MAX);
        FUZZ_REQUIRE(fuzz, wick_ckpt_read_f32(tensor, 0, count, out, &err) == WICK_OK);
        FUZZ_REQUIRE(fuzz, wick_ckpt_read_f32(tensor, tensor->numel - count, count, out, &err) == WICK_OK);
        FUZZ_REQUIRE(fuzz, wick_ckpt_read_f32(tensor, tensor->numel, 1, out, &err) == WICK_INVALID_ARGUMENT);
        FUZZ_REQUIRE(fuzz, wick_checkpoint_find(ckpt, tensor->name));
    }
    for (size_t i = 0; i < wick_checkpoint_meta_count(ckpt); i++) {
        const struct wick_meta *meta = wick_checkpoint_meta(ckpt, i);
        struct wick_meta_array array;
        if (wick_checkpoint_meta_array(ckpt, meta->key, WICK_META_INTS, &array, &err) == WICK_OK && array.count)
            (void)wick_meta_array_int(&array, array.count - 1);
        if (wick_checkpoint_meta_array(ckpt, meta->key, WICK_META_STRS, &array, &err) == WICK_OK && array.count)
            FUZZ_REQUIRE(fuzz, array.strings[array.count - 1].data || !array.strings[array.count - 1].size);
    }
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    struct wick_checkpoint *ckpt;
    wick_error err = {WICK_OK, ""};
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) abort();
    if (wick_checkpoint_open(&ckpt, path, &err) != WICK_OK) {
        FUZZ_REQUIRE(fuzz, !ckpt && strstr(err.message, path) && strlen(err.message) > strlen(path) + 10 && !strchr(err.message, '\n'));
        return;
    }
    opened++;
    walk(fuzz, ckpt);
    wick_checkpoint_close(ckpt);
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {.samples = NULL};
    file = memfd_create("checkpoint", 0);
    if (file < 0) return 77;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    add_samples(&fuzz);
    int result = fuzz_main(&fuzz, argc, argv, run);
    printf("%lu checkpoints opened\n", opened);
    close(file);
    return result;
}
