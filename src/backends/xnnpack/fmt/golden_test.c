/* Every XNNPACK payload of the original's programs is parsed, and what is written of it parses to the same. */
#include "backends/xnnpack/fmt/payload.h"
#include "flat/flatc_test.h"
#include "pte/golden_test.h"
#include "pte/pte.h"

struct census {
    int programs, payloads, nodes, flatc_left;
};

static void check_payload(struct wick_pte_blob blob, const char *path, struct census *census)
{
    struct wick_arena arena;
    struct wick_xnn_graph *graph, *again;
    struct wick_buf out = {0}, second = {0};
    wick_error err;
    wick_arena_init(&arena, &wick_allocator_heap);
    wick_status status = wick_xnn_payload_parse(blob.data, blob.size, &arena, &graph, &err);
    if (status != WICK_OK) fail_msg("%s: %s", path, err.message);
    WICK_ASSERT_OK(wick_xnn_payload_write(graph, &out, &err), &err);
    WICK_ASSERT_OK(wick_xnn_payload_parse(out.data, out.size, &arena, &again, &err), &err);
    assert_true(graph->value_count == again->value_count && graph->node_count == again->node_count && graph->constant_count == again->constant_count);
    assert_memory_equal(graph->nodes, again->nodes, graph->node_count * sizeof *graph->nodes);
    WICK_ASSERT_OK(wick_xnn_payload_write(again, &second, &err), &err);
    assert_int_equal(out.size, second.size);
    assert_memory_equal(out.data, second.data, out.size);
    if (census->flatc_left > 0 && !flatc_missing()) {
        struct flat_table root;
        census->flatc_left--;
        uint32_t offset = flat_load_u32(blob.data + 10), size = flat_load_u32(blob.data + 14);
        WICK_ASSERT_OK(wick_flat_verify(&wick_xnn_schema, blob.data + offset, size, &root, WICK_INVALID_PROGRAM, &err), &err);
        flatc_check(&wick_xnn_schema, root, blob.data + offset, size, path);
    }
    census->payloads++;
    census->nodes += (int)graph->node_count;
    wick_buf_free(&out);
    wick_buf_free(&second);
    wick_arena_release(&arena);
}

static void check_program(const char *path, void *user)
{
    size_t size;
    struct wick_pte_file file;
    struct census *census = user;
    wick_error err;
    uint8_t *data = golden_load(path, &size);
    WICK_ASSERT_OK(wick_pte_open(&file, data, size, &err), &err);
    struct flat_vec plans = flat_vector(file.program, PTE_PROGRAM_EXECUTION_PLAN);
    for (uint32_t i = 0; i < plans.count; i++) {
        struct flat_vec delegates = flat_vector(flat_vec_table(plans, i), PTE_PLAN_DELEGATES);
        for (uint32_t k = 0; k < delegates.count; k++) {
            struct wick_pte_blob blob;
            struct flat_table delegate = flat_vec_table(delegates, k);
            if (!wick_str_is(flat_string(delegate, PTE_DELEGATE_ID), "XnnpackBackend")) continue;
            WICK_ASSERT_OK(wick_pte_payload(&file, delegate, &blob, &err), &err);
            check_payload(blob, path, census);
        }
    }
    free(data);
    census->programs++;
}

static void payloads(void **state)
{
    (void)state;
    struct census census = {.flatc_left = 12};
    WICK_NEED(golden_root());
    golden_walk(golden_root(), ".pte", SIZE_MAX, check_program, &census);
    print_message("%d programs, %d payloads, %d nodes\n", census.programs, census.payloads, census.nodes);
    assert_true(census.payloads > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(payloads)};
    return WICK_TEST_MAIN(tests);
}
