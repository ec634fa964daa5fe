/* pte/bundled.c - the .bpte container: a program with test cases; see bundled.h. The verifying tool runs the cases. */
#include "pte/bundled.h"

#include "pte/layout.h"

static struct flat_table test_case(const struct wick_bundled_file *file, uint32_t suite, uint32_t test)
{
    struct flat_table methods = flat_vec_table(flat_vector(file->root, BPTE_ROOT_SUITES), suite);
    return flat_vec_table(flat_vector(methods, BPTE_SUITE_CASES), test);
}

static wick_status read_value(struct flat_table entry, struct wick_bundled_value *value, wick_error *err)
{
    struct flat_table at = flat_child(entry, BPTE_VALUE_VAL);
    uint64_t nbytes;
    *value = (struct wick_bundled_value){.kind = flat_union_type(entry, BPTE_VALUE_VAL)};
    switch (value->kind) {
    case BPTE_KIND_INT: value->i = flat_i64(at, BPTE_INT_VAL, 0); return WICK_OK;
    case BPTE_KIND_BOOLEAN: value->b = flat_bool(at, BPTE_BOOLEAN_VAL, false); return WICK_OK;
    case BPTE_KIND_DOUBLE: value->d = flat_f64(at, BPTE_DOUBLE_VAL, 0); return WICK_OK;
    case BPTE_KIND_TENSOR: break;
    default: return wick_fail(err, WICK_INVALID_PROGRAM, "unknown kind %u or no content", value->kind);
    }
    WICK_TRY(wick_pte_shape(flat_i8(at, BPTE_TENSOR_SCALAR_TYPE, 0), flat_vector(at, BPTE_TENSOR_SIZES), flat_vector(at, BPTE_TENSOR_DIM_ORDER), &value->shape,
                            &nbytes, "tensor", WICK_INVALID_PROGRAM, WICK_INVALID_PROGRAM, err));
    struct flat_vec data = flat_vector(at, BPTE_TENSOR_DATA);
    if (data.count != nbytes) return wick_fail(err, WICK_INVALID_PROGRAM, "tensor has %u bytes of data, its sizes need %llu", data.count, (unsigned long long)nbytes);
    value->data = (struct wick_pte_blob){data.at ? data.at : at.at, data.count};
    return WICK_OK;
}

static wick_status check_case(const struct wick_bundled_file *file, uint32_t suite, uint32_t test, wick_error *err)
{
    struct wick_bundled_value value;
    for (int outputs = 0; outputs < 2; outputs++) {
        uint32_t count = wick_bundled_value_count(file, suite, test, outputs);
        for (uint32_t i = 0; i < count; i++) {
            wick_status status = wick_bundled_value_at(file, suite, test, outputs, i, &value, err);
            if (status != WICK_OK)
                return wick_fail_in(err, status, "bundled program: method_test_suites[%u].test_cases[%u].%s[%u]", suite, test,
                                    outputs ? "expected_outputs" : "inputs", i);
        }
    }
    return WICK_OK;
}

bool wick_bundled_is(const void *data, size_t size) { return size >= 8 && memcmp((const char *)data + 4, wick_bundled_schema.idents[0], 4) == 0; }

wick_status wick_bundled_open(struct wick_bundled_file *file, const void *data, size_t size, wick_error *err)
{
    wick_error own;
    if (!err) err = &own;
    *file = (struct wick_bundled_file){.root = {NULL}};
    if ((uintptr_t)data % 16) return wick_fail(err, WICK_INVALID_ARGUMENT, "bundled program: its bytes in memory must be aligned to 16");
    WICK_TRY(wick_flat_verify(&wick_bundled_schema, data, size, &file->root, WICK_INVALID_PROGRAM, err));
    struct flat_vec program = flat_vector(file->root, BPTE_ROOT_PROGRAM);
    if (!program.at) return wick_fail(err, WICK_INVALID_PROGRAM, "bundled program: no program");
    if ((uintptr_t)program.at % 16) {
        return wick_fail(err, WICK_INVALID_PROGRAM, "bundled program: its program at offset 0x%llx is misaligned",
                         (unsigned long long)(program.at - (const uint8_t *)data));
    }
    file->program = (struct wick_pte_blob){program.at, program.count};
    for (uint32_t i = 0; i < wick_bundled_suite_count(file); i++) {
        uint32_t cases;
        if (!wick_bundled_suite_name(file, i, &cases).data) return wick_fail(err, WICK_INVALID_PROGRAM, "bundled program: method_test_suites[%u] has no method_name", i);
        for (uint32_t k = 0; k < cases; k++) WICK_TRY(check_case(file, i, k, err));
    }
    return WICK_OK;
}

uint32_t wick_bundled_suite_count(const struct wick_bundled_file *file) { return flat_vector(file->root, BPTE_ROOT_SUITES).count; }

struct wick_str wick_bundled_suite_name(const struct wick_bundled_file *file, uint32_t suite, uint32_t *cases)
{
    struct flat_table table = flat_vec_table(flat_vector(file->root, BPTE_ROOT_SUITES), suite);
    *cases = flat_vector(table, BPTE_SUITE_CASES).count;
    return flat_string(table, BPTE_SUITE_METHOD_NAME);
}

wick_status wick_bundled_suite_find(const struct wick_bundled_file *file, struct wick_str method, uint32_t *suite, wick_error *err)
{
    uint32_t cases;
    for (*suite = 0; *suite < wick_bundled_suite_count(file); ++*suite)
        if (wick_str_equal(wick_bundled_suite_name(file, *suite, &cases), method)) return WICK_OK;
    return wick_fail(err, WICK_INVALID_ARGUMENT, "bundled program: no test cases of method \"%.*s\"", (int)WICK_MIN(method.size, 100), method.data);
}

uint32_t wick_bundled_value_count(const struct wick_bundled_file *file, uint32_t suite, uint32_t test, bool outputs)
{
    return flat_vector(test_case(file, suite, test), outputs ? BPTE_CASE_EXPECTED_OUTPUTS : BPTE_CASE_INPUTS).count;
}

wick_status wick_bundled_value_at(const struct wick_bundled_file *file, uint32_t suite, uint32_t test, bool outputs, uint32_t index,
                                  struct wick_bundled_value *value, wick_error *err)
{
    struct flat_vec values = flat_vector(test_case(file, suite, test), outputs ? BPTE_CASE_EXPECTED_OUTPUTS : BPTE_CASE_INPUTS);
    return read_value(flat_vec_table(values, index), value, err);
}
