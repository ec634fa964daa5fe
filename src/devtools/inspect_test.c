/* Files of the original are described completely; hostile ones neither flood the output nor reach the terminal raw. */
#include "base/json.h"
#include "devtools/inspect.h"
#include "pte/golden_test.h"
#include "pte/write.h"

/* A backend whose payload is shown as its size. */
static wick_status show_json(const void *data, size_t size, struct wick_buf *out, wick_error *err)
{
    if (size && *(const char *)data == '!') return wick_fail(err, WICK_DELEGATE_INCOMPATIBLE, "no payload of ours");
    wick_buf_printf(out, "{\"shown\": %zu}", size);
    return WICK_OK;
}

static wick_status show_line(const void *data, size_t size, struct wick_buf *out, wick_error *err)
{
    if (size && *(const char *)data == '!') return wick_fail(err, WICK_DELEGATE_INCOMPATIBLE, "no payload of ours");
    wick_buf_printf(out, "shown %zu", size);
    return WICK_OK;
}

static const struct wick_payload_printer printer = {"Demo", show_json, show_line};
static const struct wick_payload_printers one_printer = {&printer, 1}, no_printers = {NULL, 0};

static void describe(const char *path, void *user)
{
    size_t size;
    struct wick_buf text = {0}, json = {0};
    json_t *document;
    wick_error err;
    uint8_t *data = golden_load(path, &size);
    WICK_ASSERT_OK(wick_inspect_text(data, size, &one_printer, &text, &err), &err);
    WICK_ASSERT_OK(wick_inspect_json(data, size, &one_printer, &json, &err), &err);
    WICK_ASSERT_OK(wick_json_parse(&document, json.data, json.size, path, WICK_INVALID_PROGRAM, &err), &err);
    assert_int_equal(json_integer_value(json_object_get(document, "file_bytes")), size);
    assert_true(text.size > 20);
    json_decref(document);
    wick_buf_free(&text);
    wick_buf_free(&json);
    free(data);
    *(int *)user += 1;
}

static void golden_files(void **state)
{
    (void)state;
    int count = 0;
    WICK_NEED(golden_root());
    golden_walk(golden_root(), ".pte", 1 << 20, describe, &count);
    golden_walk(golden_root(), ".ptd", 1 << 20, describe, &count);
    golden_walk(golden_root(), ".bpte", 1 << 20, describe, &count);
    assert_true(count > 20);
    print_message("%d files described\n", count);
}

static void summary(void **state)
{
    (void)state;
    static const char *const lines[] = {"method forward: 4 values\n", "input 0: f32 [3], planned\n", "output 0: f32 [3], planned\n", "planned buffer 1: 32 bytes\n",
                                        "1 instructions: 1 operator calls", "1  aten::add.out\n"};
    size_t size;
    struct wick_buf text = {0};
    wick_error err;
    uint8_t *data = golden_minimal(&size);
    WICK_ASSERT_OK(wick_inspect_text(data, size, &no_printers, &text, &err), &err);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(lines); i++)
        if (!strstr(text.data, lines[i])) fail_msg("no \"%s\" in:\n%s", lines[i], text.data);
    wick_buf_free(&text);
    assert_int_equal(wick_inspect_text("????????", 8, &no_printers, &text, &err), WICK_NOT_SUPPORTED);
    assert_int_equal(wick_inspect_json("", 0, &no_printers, &text, &err), WICK_NOT_SUPPORTED);
    free(data);
}

/* A program with `count` delegates that share one inline payload, and a name that plays tricks on terminals. */
static uint8_t *many_delegates(uint32_t count, const char *payload, uint32_t payload_size, size_t *size)
{
    static const int32_t none[1];
    static const int64_t buffers[1];
    static const struct wick_pte_value values[1] = {{.kind = PTE_KIND_NIL}};
    static const struct wick_pte_instruction instructions[1] = {{.type = PTE_INSTR_MOVE_CALL}}; /* without one it would be a constant method */
    struct wick_pte_blob blob = {(const uint8_t *)payload, payload_size};
    struct wick_pte_delegate *delegates = calloc(count, sizeof *delegates);
    assert_non_null(delegates);
    for (uint32_t i = 0; i < count; i++) delegates[i] = (struct wick_pte_delegate){WICK_STR("Demo"), PTE_DATA_LOCATION_INLINE, 0, NULL, 0};
    struct wick_pte_chain chain = {.instructions = instructions, .instruction_count = 1};
    struct wick_pte_plan plan = {.name = WICK_STR("evil\x1b[2J\xff\xc2\x9b"), .values = values, .value_count = 1, .inputs = {none, 0}, .outputs = {none, 0}, .chains = &chain, .chain_count = 1,
                                 .delegates = delegates, .delegate_count = count, .buffer_sizes = buffers, .buffer_count = 1};
    struct wick_pte_program program = {.plans = &plan, .plan_count = 1, .inline_payloads = &blob, .inline_payload_count = 1};
    uint8_t *bytes;
    wick_error err;
    WICK_ASSERT_OK(wick_pte_render(&program, 16, &bytes, size, &err), &err);
    uint8_t *data = golden_copy(bytes, *size);
    wick_pte_render_free(bytes);
    free(delegates);
    return data;
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text++) count++;
    return count;
}

static void shared_payload(void **state)
{
    (void)state;
    enum { DELEGATES = 2000, BYTES = 500000 };
    size_t size;
    struct wick_buf out = {0};
    wick_error err;
    char *payload = calloc(1, BYTES);
    assert_non_null(payload);
    uint8_t *data = many_delegates(DELEGATES, payload, BYTES, &size);
    WICK_ASSERT_OK(wick_inspect_text(data, size, &one_printer, &out, &err), &err);
    size_t shown = count_of(out.data, "shown 500000");
    assert_true(shown >= 64 && shown < 200);
    assert_int_equal(count_of(out.data, "not decoded"), DELEGATES - shown);
    assert_null(memchr(out.data, 0x1b, out.size));
    assert_non_null(strstr(out.data, "method evil?[2J??"));
    out.size = 0;
    WICK_ASSERT_OK(wick_inspect_json(data, size, &one_printer, &out, &err), &err);
    assert_int_equal(count_of(out.data, "{\"shown\": 500000}"), shown);
    assert_null(memchr(out.data, 0x1b, out.size));
    wick_buf_free(&out);
    free(data);
    free(payload);
}

/* A payload that its backend cannot read does not hide the rest of the file. */
static void unreadable_payload(void **state)
{
    (void)state;
    size_t size;
    struct wick_buf out = {0};
    json_t *document;
    wick_error err;
    uint8_t *data = many_delegates(1, "!!!!", 4, &size);
    WICK_ASSERT_OK(wick_inspect_text(data, size, &one_printer, &out, &err), &err);
    assert_non_null(strstr(out.data, "not readable (no payload of ours)"));
    out.size = 0;
    WICK_ASSERT_OK(wick_inspect_json(data, size, &one_printer, &out, &err), &err);
    WICK_ASSERT_OK(wick_json_parse(&document, out.data, out.size, "description", WICK_INVALID_PROGRAM, &err), &err);
    json_t *payload = json_array_get(json_object_get(document, "payloads"), 0);
    assert_string_equal(json_string_value(json_object_get(payload, "error")), "no payload of ours");
    json_decref(document);
    wick_buf_free(&out);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(summary), cmocka_unit_test(shared_payload), cmocka_unit_test(unreadable_payload), cmocka_unit_test(golden_files)};
    return WICK_TEST_MAIN(tests);
}
