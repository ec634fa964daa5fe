/* Mutated .pte, .ptd and .bpte files, payloads of XNNPACK included: opened, described for people and machines, and rewritten. Nothing
 * crashes, and every refusal says why. */
#include "fuzz.h"

#include "devtools/inspect.h"
#include "pte/bundled.h"
#include "pte/golden_test.h"
#include "pte/ptd.h"
#include "pte/write.h"

extern const struct wick_payload_printer wick_payload_printer_xnnpack;

static unsigned long accepted;

static void add_file(const char *path, void *user)
{
    size_t size;
    uint8_t *data = golden_load(path, &size);
    struct fuzz *fuzz = user;
    if (fuzz->sample_count < fuzz->first[fuzz->format_count - 1] + 160) fuzz_add(fuzz, data, size);
    else free(data);
}

static void add_golden(struct fuzz *fuzz)
{
    static const char *const folders[] = {"programs", "ops/xnnpack_dynamic_int8_per_channel", "ops/xnnpack", "ops/portable"};
    static const char *const endings[] = {".pte", ".ptd", ".bpte"};
    const char *root = golden_root();
    if (!root) return;
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        if (k) fuzz_format(fuzz);
        for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
            char folder[4200];
            snprintf(folder, sizeof folder, "%s/%s", root, folders[i]);
            golden_walk(folder, endings[k], i ? 6 << 10 : 64 << 10, add_file, fuzz);
        }
    }
}

/* An accepted program can be described and rendered, and what comes out is accepted as far as its tables go. */
static void rewrite(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    struct wick_pte_file file;
    struct wick_pte_program program;
    struct wick_arena arena;
    struct flat_table root;
    wick_error err = {WICK_OK, ""};
    uint8_t *bytes;
    size_t bytes_size;
    if (wick_pte_open(&file, data, size, &err) != WICK_OK) {
        FUZZ_REQUIRE(fuzz, strlen(err.message) > 10);
        return;
    }
    accepted++;
    wick_arena_init(&arena, &wick_allocator_heap);
    FUZZ_REQUIRE(fuzz, wick_pte_describe(&file, &arena, &program, &err) == WICK_OK);
    FUZZ_REQUIRE(fuzz, wick_pte_render(&program, 16, &bytes, &bytes_size, &err) == WICK_OK);
    FUZZ_REQUIRE(fuzz, wick_flat_verify(&wick_pte_schema, bytes, bytes_size, &root, WICK_INVALID_PROGRAM, &err) == WICK_OK);
    wick_pte_render_free(bytes);
    wick_arena_release(&arena);
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    const struct wick_payload_printers printers = {&wick_payload_printer_xnnpack, 1};
    struct wick_buf out = {0};
    wick_error err = {WICK_OK, ""};
    wick_status status = wick_inspect_json(data, size, &printers, &out, &err);
    FUZZ_REQUIRE(fuzz, status == WICK_OK || strlen(err.message) > 10);
    out.size = 0;
    err = (wick_error){WICK_OK, ""};
    FUZZ_REQUIRE(fuzz, wick_inspect_text(data, size, &printers, &out, &err) == status);
    wick_buf_free(&out);
    if (size >= 8 && memcmp(data + 4, "ET", 2) == 0) rewrite(fuzz, data, size);
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {.samples = NULL};
    size_t size;
    uint8_t *minimal = golden_minimal(&size);
    fuzz_add(&fuzz, minimal, size);
    add_golden(&fuzz);
    int result = fuzz_main(&fuzz, argc, argv, run);
    printf("%lu programs accepted\n", accepted);
    return result;
}
