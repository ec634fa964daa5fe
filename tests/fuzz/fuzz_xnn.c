/* Mutated XNNPACK payloads: parsed, printed, and written again when accepted. */
#include "fuzz.h"

#include "backends/xnnpack/fmt/payload.h"
#include "pte/golden_test.h"
#include "pte/pte.h"

static unsigned long accepted;

static void add_payloads(const char *path, void *user)
{
    size_t size;
    struct wick_pte_file file;
    struct fuzz *fuzz = user;
    uint8_t *data = golden_load(path, &size);
    if (fuzz->sample_count < 200 && wick_pte_open(&file, data, size, NULL) == WICK_OK) {
        struct flat_vec plans = flat_vector(file.program, PTE_PROGRAM_EXECUTION_PLAN);
        for (uint32_t i = 0; i < plans.count; i++) {
            struct flat_vec delegates = flat_vector(flat_vec_table(plans, i), PTE_PLAN_DELEGATES);
            for (uint32_t k = 0; k < delegates.count; k++) {
                struct wick_pte_blob blob;
                if (wick_pte_payload(&file, flat_vec_table(delegates, k), &blob, NULL) == WICK_OK && blob.size < 8192)
                    fuzz_add(fuzz, golden_copy(blob.data, blob.size), blob.size);
            }
        }
    }
    free(data);
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    struct wick_arena arena;
    struct wick_xnn_graph *graph, *again;
    struct wick_buf out = {0};
    wick_error err = {WICK_OK, ""};
    wick_arena_init(&arena, &wick_allocator_heap);
    wick_status status = wick_xnn_payload_parse(data, size, &arena, &graph, &err);
    FUZZ_REQUIRE(fuzz, status == WICK_OK || strlen(err.message) > 10);
    if (status == WICK_OK) {
        accepted++;
        for (uint32_t i = 0; i < graph->node_count; i++) {
            const struct wick_flat_table *table = wick_xnn_node_table(graph->nodes[i].kind);
            for (uint32_t slot = 0; slot < table->count; slot++) {
                uint32_t id = graph->nodes[i].slots[slot];
                if (wick_xnn_slot_is_id(table, slot)) FUZZ_REQUIRE(fuzz, id < graph->value_count || (id == WICK_XNN_NO_ID && !wick_xnn_slot_is_output(table, slot)));
            }
        }
        FUZZ_REQUIRE(fuzz, wick_xnn_payload_write(graph, &out, &err) == WICK_OK);
        FUZZ_REQUIRE(fuzz, wick_xnn_payload_parse(out.data, out.size, &arena, &again, &err) == WICK_OK);
        FUZZ_REQUIRE(fuzz, again->node_count == graph->node_count);
    }
    out.size = 0;
    err = (wick_error){WICK_OK, ""};
    FUZZ_REQUIRE(fuzz, wick_xnn_payload_print_json(data, size, &out, &err) == WICK_OK || strlen(err.message) > 10);
    wick_buf_free(&out);
    wick_arena_release(&arena);
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {.samples = NULL};
    char folder[4200];
    const char *root = golden_root();
    if (!root) return 77;
    snprintf(folder, sizeof folder, "%s/llm/llama32_8da4w_e4_sdpa_xnn", root);
    golden_walk(folder, ".pte", SIZE_MAX, add_payloads, &fuzz);
    snprintf(folder, sizeof folder, "%s/ops", root);
    golden_walk(folder, ".pte", 16 << 10, add_payloads, &fuzz);
    if (fuzz.sample_count == 0) return 77;
    int result = fuzz_main(&fuzz, argc, argv, run);
    printf("%lu payloads accepted\n", accepted);
    return result;
}
