/* What is described and rendered reads back equal: every golden program, and small ones made here for what those lack. Descriptions
 * that the reader must refuse are made the same way. */
#include "pte/golden_test.h"

#include "flat/print.h"
#include "pte/write.h"

/* ---- a whole file in memory ---- */

struct file {
    uint8_t *data;
    size_t size;
};

/* Renders the tables and puts `count` segments' bytes behind them. */
static struct file assemble(const struct wick_pte_program *program, const struct wick_pte_blob *segments, uint32_t alignment)
{
    struct file file = {NULL, 0};
    uint8_t *head;
    size_t head_size, end;
    wick_error err;
    WICK_ASSERT_OK(wick_pte_render(program, alignment, &head, &head_size, &err), &err);
    size_t base = (size_t)wick_pte_segment_base(head_size, alignment);
    file.size = head_size;
    for (uint32_t i = 0; i < program->segment_count; i++) {
        end = base + (size_t)(program->segments[i].offset + program->segments[i].size);
        if (program->segments[i].size) file.size = WICK_MAX(file.size, end);
    }
    if (posix_memalign((void **)&file.data, 64, file.size) != 0) abort();
    memset(file.data, 0, file.size);
    memcpy(file.data, head, head_size);
    for (uint32_t i = 0; i < program->segment_count; i++)
        if (program->segments[i].size) memcpy(file.data + base + program->segments[i].offset, segments[i].data, segments[i].size);
    wick_pte_render_free(head);
    return file;
}

/* ---- golden programs ---- */

static void round_trip(const char *path, void *user)
{
    struct wick_pte_file first, second;
    struct wick_pte_program program;
    struct wick_arena arena;
    struct wick_buf a = {0}, b = {0};
    wick_error err;
    struct file original, copy;
    original.data = golden_load(path, &original.size);
    WICK_ASSERT_OK(wick_pte_open(&first, original.data, original.size, &err), &err);
    wick_arena_init(&arena, &wick_allocator_heap);
    WICK_ASSERT_OK(wick_pte_describe(&first, &arena, &program, &err), &err);
    struct wick_pte_blob *segments = WICK_NEW_ARRAY(&arena, struct wick_pte_blob, program.segment_count);
    for (uint32_t i = 0; i < program.segment_count; i++) WICK_ASSERT_OK(wick_pte_segment(&first, i, &segments[i], &err), &err);
    copy = assemble(&program, segments, WICK_PTE_SEGMENT_ALIGNMENT);
    wick_status status = wick_pte_open(&second, copy.data, copy.size, &err);
    if (status != WICK_OK) fail_msg("%s rewritten: %s", path, err.message);
    wick_flat_print_json(&wick_pte_schema, PTE_TABLE_PROGRAM, first.program, 0, 0, &a);
    wick_flat_print_json(&wick_pte_schema, PTE_TABLE_PROGRAM, second.program, 0, 0, &b);
    if (a.size != b.size || memcmp(a.data, b.data, a.size) != 0) fail_msg("%s differs after rewriting", path);
    for (uint32_t i = 0; i < program.segment_count; i++) {
        struct wick_pte_blob blob;
        WICK_ASSERT_OK(wick_pte_segment(&second, i, &blob, &err), &err);
        assert_int_equal(blob.size, segments[i].size);
        assert_memory_equal(blob.data, segments[i].data, blob.size);
    }
    assert_int_equal(first.has_header, second.has_header);
    wick_buf_free(&a);
    wick_buf_free(&b);
    wick_arena_release(&arena);
    free(original.data);
    free(copy.data);
    *(int *)user += 1;
}

static void golden_round_trip(void **state)
{
    (void)state;
    int count = 0;
    WICK_NEED(golden_root());
    golden_walk(golden_root(), ".pte", 8 << 20, round_trip, &count);
    assert_true(count >= 20);
    print_message("%d programs rewritten\n", count);
}

/* ---- layout ---- */

static void layout(void **state)
{
    (void)state;
    struct wick_pte_segment segments[] = {{9, 5}, {9, 0}, {9, 200}, {9, 1}};
    const uint32_t alignments[] = {0, 16, 96, 1};
    uint64_t bytes;
    wick_error err;
    WICK_ASSERT_OK(wick_pte_layout(segments, alignments, 4, 128, &bytes, &err), &err);
    assert_int_equal(segments[0].offset, 0);
    assert_int_equal(segments[1].offset, 128);
    assert_int_equal(segments[2].offset, 384); /* lcm(128, 96) */
    assert_int_equal(segments[3].offset, 640);
    assert_int_equal(bytes, 641);
    assert_int_equal(wick_pte_segment_base(1, 128), 128);
    assert_int_equal(wick_pte_segment_base(128, 128), 128);
    assert_int_equal(wick_pte_layout(segments, NULL, 4, 0, &bytes, &err), WICK_INVALID_ARGUMENT);
    assert_int_equal(wick_pte_layout(segments, NULL, 4, UINT32_MAX, &bytes, &err), WICK_INVALID_ARGUMENT);
    segments[1].size = UINT64_MAX - 3;
    assert_int_equal(wick_pte_layout(segments, NULL, 4, 128, &bytes, &err), WICK_INVALID_ARGUMENT);
}

/* ---- small programs ---- */

static const int32_t two[] = {1, 2};
static const int64_t int_items[] = {3, 3};
static const double double_items[] = {0.5, 1e300};
static const uint8_t bool_items[] = {1, 0, 1};
static const int32_t tensor_items[] = {0, 1}, optional_items[] = {0, -1, 4};

/* One method with every kind of value; tests change a field and look what the reader says. */
struct sample {
    struct wick_pte_tensor_value tensors[3];
    struct wick_pte_value values[12];
    struct wick_pte_instruction instructions[5];
    struct wick_pte_chain chain;
    struct wick_pte_operator op;
    struct wick_pte_compile_spec spec;
    struct wick_pte_delegate delegates[2];
    int64_t buffers[2];
    uint64_t constants[2], initial[2];
    struct wick_pte_subsegments mutables;
    struct wick_pte_segment segments[4];
    struct wick_pte_named named;
    struct wick_pte_blob inline_payload;
    struct wick_pte_buffer_device device;
    struct wick_pte_frame frame;
    struct wick_pte_frame_list trace[5];
    struct wick_pte_plan plan;
    struct wick_pte_program program;
};

static const uint8_t bytes_at[4][32] = {"constant bytes 0123456789", "initial bytes", "payload", "named"};

static void sample_values(struct sample *s)
{
    int32_t sizes[] = {2, 3};
    struct wick_shape shape = wick_shape_make(WICK_DTYPE_F32, 2, sizes);
    s->tensors[0] = (struct wick_pte_tensor_value){.shape = shape, .data_index = 1};
    s->tensors[1] = (struct wick_pte_tensor_value){.shape = shape, .dynamism = WICK_DYNAMIC_BOUND, .planned = true, .memory_id = 1, .memory_offset = 16, .requires_grad = true};
    sizes[1] = 1;
    s->tensors[2] = (struct wick_pte_tensor_value){.shape = wick_shape_make(WICK_DTYPE_F32, 2, sizes), .data_index = 1, .planned = true, .memory_id = 1,
                                                   .extra = true, .name = WICK_STR("cache.k")};
    s->values[0] = (struct wick_pte_value){PTE_KIND_TENSOR, {.tensor = &s->tensors[0]}};
    s->values[1] = (struct wick_pte_value){PTE_KIND_TENSOR, {.tensor = &s->tensors[1]}};
    s->values[2] = (struct wick_pte_value){PTE_KIND_TENSOR, {.tensor = &s->tensors[2]}};
    s->values[3] = (struct wick_pte_value){PTE_KIND_INT, {.i = INT64_MIN}};
    s->values[4] = (struct wick_pte_value){PTE_KIND_NIL, {.i = 0}};
    s->values[5] = (struct wick_pte_value){PTE_KIND_BOOLEAN, {.b = true}};
    s->values[6] = (struct wick_pte_value){PTE_KIND_DOUBLE, {.d = -0.0}};
    s->values[7] = (struct wick_pte_value){PTE_KIND_STRING, {.string = WICK_STR("text")}};
    s->values[8] = (struct wick_pte_value){.kind = PTE_KIND_INT_LIST, .as.list = {.ints = int_items, .count = 2}};
    s->values[9] = (struct wick_pte_value){.kind = PTE_KIND_DOUBLE_LIST, .as.list = {.doubles = double_items, .count = 2}};
    s->values[10] = (struct wick_pte_value){.kind = PTE_KIND_OPTIONAL_TENSOR_LIST, .as.list = {.indices = optional_items, .count = 3}};
    s->values[11] = (struct wick_pte_value){.kind = PTE_KIND_BOOL_LIST, .as.list = {.bools = bool_items, .count = 3}};
}

static void sample_init(struct sample *s)
{
    *s = (struct sample){.op = {WICK_STR("aten::add"), WICK_STR("out")}, .spec = {WICK_STR("key"), {(const uint8_t *)"v", 1}}, .buffers = {0, 64}};
    sample_values(s);
    s->instructions[0] = (struct wick_pte_instruction){PTE_INSTR_KERNEL_CALL, 0, 0, {two, 2}};
    s->instructions[1] = (struct wick_pte_instruction){PTE_INSTR_DELEGATE_CALL, 1, 0, {two, 2}};
    s->instructions[2] = (struct wick_pte_instruction){.type = PTE_INSTR_MOVE_CALL, .index = 1, .target = 2};
    s->instructions[3] = (struct wick_pte_instruction){.type = PTE_INSTR_JUMP_FALSE, .index = 5, .target = 5};
    s->instructions[4] = (struct wick_pte_instruction){.type = PTE_INSTR_FREE_CALL, .index = 1};
    s->frame = (struct wick_pte_frame){WICK_STR("model.py"), WICK_STR("forward"), WICK_STR("x + 1"), 12};
    for (int i = 0; i < 5; i++) s->trace[i] = (struct wick_pte_frame_list){&s->frame, 1};
    s->chain = (struct wick_pte_chain){.instructions = s->instructions, .instruction_count = 5, .stacktrace = s->trace, .stacktrace_count = 5};
    s->delegates[0] = (struct wick_pte_delegate){WICK_STR("Inline"), PTE_DATA_LOCATION_INLINE, 0, &s->spec, 1};
    s->delegates[1] = (struct wick_pte_delegate){WICK_STR("Segment"), PTE_DATA_LOCATION_SEGMENT, 2, &s->spec, 0};
    s->mutables = (struct wick_pte_subsegments){1, s->initial, 2};
    s->segments[0].size = 24;
    s->segments[1].size = 8;
    s->segments[2].size = 7;
    s->segments[3].size = 5;
    s->named = (struct wick_pte_named){WICK_STR("blob"), 3};
    s->inline_payload = (struct wick_pte_blob){bytes_at[2], 7};
    s->device = (struct wick_pte_buffer_device){1, PTE_DEVICE_CPU, 3};
    s->plan = (struct wick_pte_plan){.name = WICK_STR("forward"), .container = true, .encoded_inputs = WICK_STR("T1#1($)"), .encoded_outputs = WICK_STR(""),
                                     .values = s->values, .value_count = 12, .inputs = {two, 1}, .outputs = {two, 2}, .chains = &s->chain, .chain_count = 1,
                                     .operators = &s->op, .operator_count = 1, .delegates = s->delegates, .delegate_count = 2, .buffer_sizes = s->buffers,
                                     .buffer_count = 2, .devices = &s->device, .device_count = 1};
    s->program = (struct wick_pte_program){.plans = &s->plan, .plan_count = 1, .inline_payloads = &s->inline_payload, .inline_payload_count = 1,
                                           .segments = s->segments, .segment_count = 4, .has_constant_segment = true, .constant_segment = {0, s->constants, 2},
                                           .mutable_segments = &s->mutables, .mutable_segment_count = 1, .named = &s->named, .named_count = 1};
    uint64_t bytes;
    wick_error err;
    WICK_ASSERT_OK(wick_pte_layout(s->segments, NULL, 4, 16, &bytes, &err), &err);
}

static wick_status sample_open(const struct sample *s, wick_error *err)
{
    struct wick_pte_blob segments[4];
    struct wick_pte_file file;
    for (int i = 0; i < 4; i++) segments[i] = (struct wick_pte_blob){bytes_at[i], (size_t)s->segments[i].size};
    struct file built = assemble(&s->program, segments, 16);
    *err = (wick_error){WICK_OK, ""};
    wick_status status = wick_pte_open(&file, built.data, built.size, err);
    if (status != WICK_OK) assert_true(strlen(err->message) > 10);
    free(built.data);
    return status;
}

static void every_kind(void **state)
{
    (void)state;
    struct sample s;
    struct wick_pte_blob segments[4], blob;
    struct wick_pte_file file, again;
    struct wick_pte_program program;
    struct wick_pte_tensor t;
    struct wick_arena arena;
    wick_error err;
    uint8_t kind;
    sample_init(&s);
    for (int i = 0; i < 4; i++) segments[i] = (struct wick_pte_blob){bytes_at[i], (size_t)s.segments[i].size};
    struct file built = assemble(&s.program, segments, 16);
    WICK_ASSERT_OK(wick_pte_open(&file, built.data, built.size, &err), &err);
    struct flat_table plan = wick_pte_plan(&file, WICK_STR("forward"));
    WICK_ASSERT_OK(wick_pte_tensor_read(&file, plan, wick_pte_value(plan, 0, &kind), &t, &err), &err);
    assert_int_equal(t.storage, WICK_PTE_CONSTANT);
    assert_memory_equal(t.data, bytes_at[0], 24);
    WICK_ASSERT_OK(wick_pte_tensor_read(&file, plan, wick_pte_value(plan, 2, &kind), &t, &err), &err);
    assert_true(t.storage == WICK_PTE_PLANNED_INITIAL && wick_str_is(t.name, "cache.k"));
    assert_memory_equal(t.data, bytes_at[1], 8);
    for (int i = 0; i < 2; i++) {
        WICK_ASSERT_OK(wick_pte_payload(&file, flat_vec_table(flat_vector(plan, PTE_PLAN_DELEGATES), (uint32_t)i), &blob, &err), &err);
        assert_int_equal(blob.size, 7);
        assert_memory_equal(blob.data, "payload", 7);
    }
    WICK_ASSERT_OK(wick_pte_named_data(&file, WICK_STR("blob"), &blob, &err), &err);
    assert_memory_equal(blob.data, "named", 5);

    wick_arena_init(&arena, &wick_allocator_heap);
    WICK_ASSERT_OK(wick_pte_describe(&file, &arena, &program, &err), &err);
    struct file copy = assemble(&program, segments, 16);
    assert_int_equal(copy.size, built.size);
    assert_memory_equal(copy.data, built.data, copy.size);
    WICK_ASSERT_OK(wick_pte_open(&again, copy.data, copy.size, &err), &err);
    assert_true(program.plans[0].values[6].as.d == 0 && 1 / program.plans[0].values[6].as.d < 0);
    assert_true(program.plans[0].values[3].as.i == INT64_MIN);
    wick_arena_release(&arena);
    free(copy.data);
    free(built.data);
}

/* The two passes of a streamed file: the size does not depend on what keys say. */
static void two_passes(void **state)
{
    (void)state;
    struct sample s;
    uint8_t *first, *second;
    size_t a, b;
    wick_error err;
    sample_init(&s);
    s.named.key = WICK_STR("0000000000000000000000000000000000000000000000000000000000000000");
    WICK_ASSERT_OK(wick_pte_render(&s.program, 128, &first, &a, &err), &err);
    s.named.key = WICK_STR("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
    WICK_ASSERT_OK(wick_pte_render(&s.program, 128, &second, &b, &err), &err);
    assert_int_equal(a, b);
    wick_pte_render_free(first);
    wick_pte_render_free(second);
}

/* A description that cannot be written is refused, not followed. */
static void incomplete(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct sample s;
        uint8_t *bytes;
        size_t size;
        wick_error err = {WICK_OK, ""};
        sample_init(&s);
        if (i == 0) s.values[0].as.tensor = NULL;
        if (i == 1) s.tensors[0].shape.rank = WICK_RANK_MAX + 1;
        if (i == 2) s.values[4].kind = 0;
        if (i == 3) s.values[4].kind = PTE_KIND_COUNT;
        if (i == 4) s.instructions[0].type = PTE_INSTR_COUNT;
        assert_int_equal(wick_pte_render(&s.program, 16, &bytes, &size, &err), WICK_INVALID_ARGUMENT);
        assert_null(bytes);
        assert_true(strlen(err.message) > 10);
    }
}

/* Files of before the extended header: constants and payloads inline, nothing behind the tables. */
static void inline_only(void **state)
{
    (void)state;
    struct sample s;
    struct wick_pte_blob buffers[2] = {{(const uint8_t *)"", 0}, {bytes_at[0], 24}};
    wick_error err;
    sample_init(&s);
    s.tensors[2].data_index = 0;
    s.delegates[1].location = PTE_DATA_LOCATION_INLINE;
    s.delegates[1].index = 0;
    s.program.segments = NULL;
    s.program.segment_count = 0;
    s.program.has_constant_segment = false;
    s.program.mutable_segments = NULL;
    s.program.named = NULL;
    s.program.constant_buffers = buffers;
    s.program.constant_buffer_count = 2;
    WICK_ASSERT_OK(sample_open(&s, &err), &err);
    buffers[1].size = 23;
    assert_int_equal(sample_open(&s, &err), WICK_INVALID_ARGUMENT);
    buffers[1].size = 24;
    s.program.has_constant_segment = true; /* both kinds of constants at once */
    assert_int_equal(sample_open(&s, &err), WICK_INVALID_PROGRAM);
}

/* A constant method: values and outputs, one chain without instructions. */
static void getter(void **state)
{
    (void)state;
    struct sample s;
    wick_error err;
    static const struct wick_pte_instruction none[1];
    static const int32_t output[] = {3};
    sample_init(&s);
    s.plan.inputs = (struct wick_pte_ints){output, 0};
    s.plan.outputs = (struct wick_pte_ints){output, 1};
    s.chain = (struct wick_pte_chain){.instructions = none, .instruction_count = 0};
    WICK_ASSERT_OK(sample_open(&s, &err), &err);
    s.plan.chain_count = 0;
    assert_int_equal(sample_open(&s, &err), WICK_INVALID_PROGRAM);
}

#define REFUSED(code, change)                                                                      \
    do {                                                                                           \
        sample_init(&s);                                                                           \
        change;                                                                                    \
        wick_status refused_ = sample_open(&s, &err);                                              \
        if (refused_ != (code)) fail_msg("%s: 0x%x, expected 0x%x (%s)", #change, (unsigned)refused_, (unsigned)(code), err.message); \
    } while (0)

static void refused_values(void **state)
{
    (void)state;
    struct sample s;
    wick_error err;
    static const int64_t past[] = {3, 12}, not_int[] = {3, 5}, negative[] = {-1, 3};
    REFUSED(WICK_OK, (void)0);
    REFUSED(WICK_INVALID_PROGRAM, s.values[8].as.list.ints = past);
    REFUSED(WICK_INVALID_PROGRAM, s.values[8].as.list.ints = not_int);
    REFUSED(WICK_INVALID_PROGRAM, s.values[8].as.list.ints = negative);
    REFUSED(WICK_OK, (s.values[8].kind = PTE_KIND_TENSOR_LIST, s.values[8].as.list.indices = tensor_items));
    REFUSED(WICK_INVALID_PROGRAM, (s.values[8].kind = PTE_KIND_TENSOR_LIST, s.values[8].as.list.indices = optional_items, s.values[8].as.list.count = 3));
    REFUSED(WICK_OK, s.tensors[1].planned = false); /* the caller binds it */
    REFUSED(WICK_INVALID_PROGRAM, s.tensors[1].memory_id = 0);
    REFUSED(WICK_INVALID_PROGRAM, s.tensors[1].memory_id = 2);
    REFUSED(WICK_OUT_OF_MEMORY, s.tensors[1].memory_offset = 41);
    REFUSED(WICK_OUT_OF_MEMORY, s.tensors[1].memory_offset = UINT64_MAX - 7);
    REFUSED(WICK_INVALID_PROGRAM, s.tensors[1].dynamism = 3);
    REFUSED(WICK_OK, s.tensors[1].dynamism = WICK_DYNAMIC_UNBOUND); /* left to the runtime */
    REFUSED(WICK_INVALID_PROGRAM, (s.tensors[1].shape.sizes[0] = INT32_MAX, s.tensors[1].shape.sizes[1] = INT32_MAX, s.tensors[1].shape.rank = 3,
                                   s.tensors[1].shape.sizes[2] = 4, s.tensors[1].shape.dim_order[2] = 2, s.tensors[1].planned = false));
    REFUSED(WICK_INTERNAL, s.tensors[1].shape.dim_order[0] = 1);
    REFUSED(WICK_OK, (s.tensors[2].location = PTE_TENSOR_LOCATION_EXTERNAL, s.tensors[2].planned = false));
    REFUSED(WICK_INVALID_PROGRAM, (s.tensors[2].location = PTE_TENSOR_LOCATION_EXTERNAL, s.tensors[2].name.data = NULL));
    REFUSED(WICK_INVALID_PROGRAM, s.tensors[2].location = 2);
    REFUSED(WICK_INVALID_ARGUMENT, s.tensors[2].data_index = 2);
    REFUSED(WICK_INVALID_ARGUMENT, s.initial[1] = 1);
    REFUSED(WICK_NOT_FOUND, s.program.mutable_segments = NULL);
    REFUSED(WICK_INVALID_ARGUMENT, s.constants[1] = 1);
    REFUSED(WICK_INVALID_ARGUMENT, s.constants[1] = UINT64_MAX - 7);
    REFUSED(WICK_INVALID_PROGRAM, s.buffers[1] = -1);
    REFUSED(WICK_INVALID_PROGRAM, s.buffers[0] = INT64_MAX);
}

static void refused_structure(void **state)
{
    (void)state;
    struct sample s;
    wick_error err;
    static const int32_t past[] = {12}, negative[] = {-1};
    REFUSED(WICK_INVALID_PROGRAM, s.plan.name.data = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.plan.inputs.items = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.plan.outputs.items = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.plan.inputs.items = past);
    REFUSED(WICK_INVALID_PROGRAM, s.plan.outputs.items = negative; s.plan.outputs.count = 1);
    REFUSED(WICK_INVALID_PROGRAM, s.plan.buffer_sizes = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[0].args.items = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[0].index = 1);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[0].index = -1);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[1].index = 2);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[2].target = 3);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[2].index = 12);
    REFUSED(WICK_OK, s.instructions[3].target = 0);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[3].target = 6);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[3].target = -1);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[3].index = 3);
    REFUSED(WICK_INVALID_PROGRAM, s.instructions[4].index = -2);
    REFUSED(WICK_INVALID_TYPE, s.instructions[4].index = 3);
    REFUSED(WICK_INVALID_PROGRAM, s.op.name.data = NULL);
    REFUSED(WICK_OK, s.op.overload.data = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.delegates[0].id.data = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.delegates[0].index = 1);
    REFUSED(WICK_INVALID_PROGRAM, s.delegates[1].index = 4);
    REFUSED(WICK_INVALID_PROGRAM, s.delegates[1].location = 2);
    REFUSED(WICK_INVALID_PROGRAM, s.spec.key.data = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.spec.value.data = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.named.segment = 4);
    REFUSED(WICK_INVALID_PROGRAM, s.named.key.data = NULL);
    REFUSED(WICK_INVALID_PROGRAM, s.program.constant_segment.segment = 9);
    REFUSED(WICK_INVALID_PROGRAM, s.program.version = 1);
}

/* A segment whose offset and size wrap around is refused, not followed. */
static void segments_wrap(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {UINT64_MAX - 7, UINT64_MAX, 1ull << 63, 4096};
    for (size_t i = 0; i < WICK_ARRAY_SIZE(offsets); i++) {
        struct sample s;
        struct wick_pte_blob segments[4];
        struct wick_pte_file file;
        wick_error err = {WICK_OK, ""};
        sample_init(&s);
        for (int k = 0; k < 4; k++) segments[k] = (struct wick_pte_blob){bytes_at[k], (size_t)s.segments[k].size};
        struct file built = assemble(&s.program, segments, 16);
        bool patched = false;
        for (size_t at = 0; at + 8 <= built.size && !patched; at += 8) {
            uint64_t number; /* the offset of the last segment is the only such number in the tables */
            memcpy(&number, built.data + at, 8);
            patched = number == s.segments[3].offset && at > 40;
            if (patched) memcpy(built.data + at, &offsets[i], 8);
        }
        assert_true(patched);
        assert_int_equal(wick_pte_open(&file, built.data, built.size, &err), WICK_INVALID_PROGRAM);
        assert_non_null(strstr(err.message, "segments[3]"));
        free(built.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),         cmocka_unit_test(every_kind),        cmocka_unit_test(two_passes),    cmocka_unit_test(inline_only),       cmocka_unit_test(getter),
        cmocka_unit_test(incomplete),
        cmocka_unit_test(refused_values), cmocka_unit_test(refused_structure), cmocka_unit_test(segments_wrap), cmocka_unit_test(golden_round_trip),
    };
    return WICK_TEST_MAIN(tests);
}
