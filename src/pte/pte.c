/* pte/pte.c - the layout of a .pte file: header, FlatBuffers part, segments. The meaning of the program is judged in
 * check.c; the runtime and the inspector read the tables afterwards. */
#include "pte/pte.h"

#include "base/checked.h"
#include "pte/layout.h"

#define ULL(x) ((unsigned long long)(x))

/* Extended header at byte 8: "eh00", u32 length from byte 8, u64 program_size, u64 segment_base, and from length 32 on
 * u64 segment_data_size. Without the magic the whole file is the program. */
static wick_status parse_header(struct wick_pte_file *file, wick_error *err)
{
    const uint8_t *header = file->data + WICK_PTE_HEADER_AT;
    file->program_size = file->size;
    if (memcmp(header, "eh00", 4) != 0) return WICK_OK;
    file->has_header = true;
    file->header_length = flat_load_u32(header + 4);
    if (file->header_length < 24)
        return wick_fail(err, WICK_INVALID_PROGRAM, "program: extended header at offset 8 has length %u, at least 24 is needed", file->header_length);
    file->program_size = flat_load_u64(header + 8);
    file->segment_base = flat_load_u64(header + 16);
    bool sized = file->header_length >= 32;
    uint64_t data_size = sized ? flat_load_u64(header + 24) : 0;
    /* A base without data size: files of before that field, whose length cannot be judged beforehand. */
    uint64_t expected = file->program_size;
    if (file->segment_base && wick_add_ovf(file->segment_base, data_size, &expected)) expected = UINT64_MAX;
    if (expected > file->size || file->program_size > file->size) {
        return wick_fail(err, WICK_INVALID_PROGRAM, "program: the header says %llu bytes (program %llu, segments %llu at %llu), the file has %zu: it is cut off",
                         ULL(WICK_MAX(expected, file->program_size)), ULL(file->program_size), ULL(data_size), ULL(file->segment_base), file->size);
    }
    if (file->segment_base && file->segment_base < file->program_size)
        return wick_fail(err, WICK_INVALID_PROGRAM, "program: segments at %llu overlap the program of %llu bytes", ULL(file->segment_base), ULL(file->program_size));
    if (file->segment_base) file->segment_bytes = data_size ? data_size : file->size - file->segment_base;
    return WICK_OK;
}

wick_status wick_pte_open(struct wick_pte_file *file, const void *data, size_t size, wick_error *err)
{
    *file = (struct wick_pte_file){.data = data, .size = size};
    if (size < WICK_PTE_HEAD_BYTES)
        return wick_fail(err, WICK_INVALID_PROGRAM, "program: the file has %zu bytes, at least %d are expected", size, WICK_PTE_HEAD_BYTES);
    if ((uintptr_t)data % 16) return wick_fail(err, WICK_INVALID_ARGUMENT, "program: its bytes in memory must be aligned to 16");
    if (memcmp(file->data + 4, "ET", 2) == 0 && memcmp(file->data + 4, "ET12", 4) != 0) {
        return wick_fail(err, WICK_INVALID_PROGRAM, "program: identifier at offset 4 is ET%c%c, an incompatible version (ET12 is read)",
                         file->data[6] >= 0x20 && file->data[6] < 0x7f ? file->data[6] : '?', file->data[7] >= 0x20 && file->data[7] < 0x7f ? file->data[7] : '?');
    }
    WICK_TRY(parse_header(file, err));
    WICK_TRY(wick_flat_verify(&wick_pte_schema, data, (size_t)file->program_size, &file->program, WICK_INVALID_PROGRAM, err));
    return wick_pte_check(file, err);
}

/* ---- bytes ---- */

uint32_t wick_pte_segment_count(const struct wick_pte_file *file) { return flat_vector(file->program, PTE_PROGRAM_SEGMENTS).count; }

wick_status wick_pte_segment(const struct wick_pte_file *file, uint32_t index, struct wick_pte_blob *blob, wick_error *err)
{
    struct flat_vec segments = flat_vector(file->program, PTE_PROGRAM_SEGMENTS);
    if (index >= segments.count) return wick_fail(err, WICK_INVALID_PROGRAM, "program: segment %u of %u does not exist", index, segments.count);
    struct flat_table segment = flat_vec_table(segments, index);
    uint64_t offset = flat_u64(segment, PTE_SEGMENT_OFFSET, 0), bytes = flat_u64(segment, PTE_SEGMENT_SIZE, 0);
    if (!wick_range_ok(offset, bytes, file->segment_bytes)) {
        return wick_fail(err, WICK_INVALID_PROGRAM, "program: segments[%u] (offset %llu, size %llu) exceeds the %llu bytes of segment data", index, ULL(offset),
                         ULL(bytes), ULL(file->segment_bytes));
    }
    *blob = (struct wick_pte_blob){file->data + file->segment_base + offset, (size_t)bytes};
    return WICK_OK;
}

/* Entry `index` of a SubsegmentOffsets: nbytes bytes from its offset. */
static wick_status subsegment(const struct wick_pte_file *file, struct flat_table part, const char *name, uint32_t index, uint64_t nbytes,
                              const uint8_t **data, wick_error *err)
{
    struct flat_vec offsets = flat_vector(part, PTE_SUBSEGMENTS_OFFSETS);
    struct wick_pte_blob segment;
    if (index >= offsets.count) return wick_fail(err, WICK_INVALID_ARGUMENT, "program: %s has %u entries, number %u is asked for", name, offsets.count, index);
    WICK_TRY(wick_pte_segment(file, flat_u32(part, PTE_SUBSEGMENTS_SEGMENT_INDEX, 0), &segment, err));
    uint64_t offset = flat_vec_u64(offsets, index);
    if (!wick_range_ok(offset, nbytes, segment.size)) {
        return wick_fail(err, WICK_INVALID_ARGUMENT, "program: %s[%u] (offset %llu, %llu bytes) exceeds its segment of %zu bytes", name, index, ULL(offset),
                         ULL(nbytes), segment.size);
    }
    *data = segment.data + offset;
    return WICK_OK;
}

wick_status wick_pte_constant(const struct wick_pte_file *file, uint32_t index, uint64_t nbytes, const uint8_t **data, wick_error *err)
{
    struct flat_table part = flat_child(file->program, PTE_PROGRAM_CONSTANT_SEGMENT);
    if (flat_vector(part, PTE_SUBSEGMENTS_OFFSETS).count > 0) return subsegment(file, part, "constant_segment", index, nbytes, data, err);
    /* Files of before the constant segment carry constants inline. */
    struct flat_vec buffers = flat_vector(file->program, PTE_PROGRAM_CONSTANT_BUFFER);
    if (index >= buffers.count) return wick_fail(err, WICK_INVALID_ARGUMENT, "program: constant_buffer has %u entries, number %u is asked for", buffers.count, index);
    struct flat_vec storage = flat_vector(flat_vec_table(buffers, index), PTE_BUFFER_STORAGE);
    if (nbytes > storage.count)
        return wick_fail(err, WICK_INVALID_ARGUMENT, "program: constant_buffer[%u] has %u bytes, %llu are needed", index, storage.count, ULL(nbytes));
    *data = storage.at ? storage.at : file->data;
    return WICK_OK;
}

wick_status wick_pte_initial_data(const struct wick_pte_file *file, uint32_t index, uint64_t nbytes, const uint8_t **data, wick_error *err)
{
    struct flat_vec parts = flat_vector(file->program, PTE_PROGRAM_MUTABLE_DATA_SEGMENTS);
    if (parts.count == 0) return wick_fail(err, WICK_NOT_FOUND, "program: there are no mutable_data_segments, entry %u is asked for", index);
    /* Always the first: the original ignores ExtraTensorInfo.mutable_data_segments_idx. */
    return subsegment(file, flat_vec_table(parts, 0), "mutable_data_segments[0]", index, nbytes, data, err);
}

wick_status wick_pte_payload(const struct wick_pte_file *file, struct flat_table delegate, struct wick_pte_blob *blob, wick_error *err)
{
    struct flat_table where = flat_child(delegate, PTE_DELEGATE_PROCESSED);
    uint32_t index = flat_u32(where, PTE_DATA_REFERENCE_INDEX, 0);
    int location = flat_i8(where, PTE_DATA_REFERENCE_LOCATION, 0);
    if (location == PTE_DATA_LOCATION_SEGMENT) return wick_pte_segment(file, index, blob, err);
    if (location != PTE_DATA_LOCATION_INLINE) return wick_fail(err, WICK_INVALID_PROGRAM, "program: delegate payload has the unknown location %d", location);
    struct flat_vec all = flat_vector(file->program, PTE_PROGRAM_BACKEND_DELEGATE_DATA);
    if (index >= all.count) return wick_fail(err, WICK_INVALID_PROGRAM, "program: backend_delegate_data[%u] of %u does not exist", index, all.count);
    struct flat_vec bytes = flat_vector(flat_vec_table(all, index), PTE_INLINE_DATA_DATA);
    *blob = (struct wick_pte_blob){bytes.at ? bytes.at : file->data, bytes.count};
    return WICK_OK;
}

wick_status wick_pte_named_data(const struct wick_pte_file *file, struct wick_str key, struct wick_pte_blob *blob, wick_error *err)
{
    struct flat_vec named = flat_vector(file->program, PTE_PROGRAM_NAMED_DATA);
    for (uint32_t i = 0; i < named.count; i++) {
        struct flat_table entry = flat_vec_table(named, i);
        if (wick_str_equal(flat_string(entry, PTE_NAMED_DATA_KEY), key))
            return wick_pte_segment(file, flat_u32(entry, PTE_NAMED_DATA_SEGMENT_INDEX, 0), blob, err);
    }
    return wick_fail(err, WICK_NOT_FOUND, "program: no named data with key \"%.*s\"", (int)WICK_MIN(key.size, 100), key.data);
}

/* ---- plans and tensors ---- */

struct flat_table wick_pte_plan(const struct wick_pte_file *file, struct wick_str name)
{
    struct flat_vec plans = flat_vector(file->program, PTE_PROGRAM_EXECUTION_PLAN);
    for (uint32_t i = 0; i < plans.count; i++) {
        struct flat_table plan = flat_vec_table(plans, i);
        if (wick_str_equal(flat_string(plan, PTE_PLAN_NAME), name)) return plan;
    }
    return (struct flat_table){NULL};
}

struct flat_table wick_pte_value(struct flat_table plan, uint32_t index, uint8_t *kind)
{
    struct flat_table value = flat_vec_table(flat_vector(plan, PTE_PLAN_VALUES), index);
    *kind = flat_u8(value, PTE_VALUE_VAL_TYPE, 0);
    return flat_child(value, PTE_VALUE_VAL);
}

wick_status wick_pte_shape(int scalar_type, struct flat_vec sizes, struct flat_vec dim_order, struct wick_shape *shape, uint64_t *nbytes,
                           const char *what, wick_status status, wick_status status_order, wick_error *err)
{
    if (!sizes.at || !dim_order.at) return wick_fail(err, status, "%s has no %s", what, sizes.at ? "dim_order" : "sizes");
    if (sizes.count > WICK_RANK_MAX || dim_order.count != sizes.count)
        return wick_fail(err, status, "%s has %u sizes and a dim_order of %u; the limit is %d", what, sizes.count, dim_order.count, WICK_RANK_MAX);
    if (scalar_type < 0 || wick_dtype_size(scalar_type) == 0) return wick_fail(err, status, "%s has the unknown scalar_type %d", what, scalar_type);
    *shape = (struct wick_shape){.dtype = (uint8_t)scalar_type, .rank = (uint8_t)sizes.count};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < sizes.count; i++) {
        shape->sizes[i] = flat_vec_i32(sizes, i);
        if (shape->sizes[i] < 0) return wick_fail(err, status, "%s: sizes[%u] is %d", what, i, shape->sizes[i]);
        shape->dim_order[i] = flat_vec_u8(dim_order, i);
        if (shape->dim_order[i] < sizes.count) seen |= 1u << shape->dim_order[i];
    }
    if (seen != (1u << sizes.count) - 1) return wick_fail(err, status_order, "%s: its dim_order is no permutation", what);
    if (!wick_shape_valid(shape, nbytes)) return wick_fail(err, status, "%s: its sizes overflow", what);
    return WICK_OK;
}

/* Where the bytes are: ExtraTensorInfo.location first, then data_buffer_idx and allocation_info. */
static wick_status tensor_storage(const struct wick_pte_file *file, struct flat_table plan, struct flat_table tensor, struct wick_pte_tensor *out,
                                  wick_error *err)
{
    struct flat_table allocation = flat_child(tensor, PTE_TENSOR_ALLOCATION_INFO), extra = flat_child(tensor, PTE_TENSOR_EXTRA_TENSOR_INFO);
    uint32_t index = flat_u32(tensor, PTE_TENSOR_DATA_BUFFER_IDX, 0);
    int location = flat_i8(extra, PTE_EXTRA_LOCATION, 0);
    bool planned = allocation.at != NULL, external = location == PTE_TENSOR_LOCATION_EXTERNAL;
    out->name = flat_string(extra, PTE_EXTRA_NAME);
    if (location != PTE_TENSOR_LOCATION_SEGMENT && !external) return wick_fail(err, WICK_INVALID_PROGRAM, "tensor has the unknown location %d", location);
    if (external && !out->name.data) return wick_fail(err, WICK_INVALID_PROGRAM, "external tensor has no name");
    if (planned) {
        struct flat_vec buffers = flat_vector(plan, PTE_PLAN_BUFFER_SIZES);
        out->memory_id = flat_u32(allocation, PTE_ALLOCATION_MEMORY_ID, 0);
        out->memory_offset = flat_u32(allocation, PTE_ALLOCATION_OFFSET_LOW, 0) | (uint64_t)flat_u32(allocation, PTE_ALLOCATION_OFFSET_HIGH, 0) << 32;
        if (out->memory_id == 0 || out->memory_id >= buffers.count)
            return wick_fail(err, WICK_INVALID_PROGRAM, "tensor is planned in memory %u of %u", out->memory_id, buffers.count);
        int64_t limit = flat_vec_i64(buffers, out->memory_id);
        if (!wick_range_ok(out->memory_offset, out->nbytes, limit < 0 ? 0 : (uint64_t)limit)) {
            return wick_fail(err, WICK_OUT_OF_MEMORY, "tensor (%llu bytes at %llu) exceeds planned buffer %u of %lld bytes", ULL(out->nbytes),
                             ULL(out->memory_offset), out->memory_id, (long long)limit);
        }
    }
    if (external) out->storage = planned ? WICK_PTE_EXTERNAL_INITIAL : WICK_PTE_EXTERNAL;
    else if (index == 0) out->storage = planned ? WICK_PTE_PLANNED : WICK_PTE_CALLER;
    else out->storage = planned ? WICK_PTE_PLANNED_INITIAL : WICK_PTE_CONSTANT;
    if (out->storage == WICK_PTE_CONSTANT) return wick_pte_constant(file, index, out->nbytes, &out->data, err);
    if (out->storage == WICK_PTE_PLANNED_INITIAL) return wick_pte_initial_data(file, index, out->nbytes, &out->data, err);
    return WICK_OK;
}

wick_status wick_pte_tensor_read(const struct wick_pte_file *file, struct flat_table plan, struct flat_table tensor, struct wick_pte_tensor *out,
                                 wick_error *err)
{
    *out = (struct wick_pte_tensor){.nbytes = 0};
    WICK_TRY(wick_pte_shape(flat_i8(tensor, PTE_TENSOR_SCALAR_TYPE, 0), flat_vector(tensor, PTE_TENSOR_SIZES), flat_vector(tensor, PTE_TENSOR_DIM_ORDER),
                            &out->shape, &out->nbytes, "tensor", WICK_INVALID_PROGRAM, WICK_INTERNAL, err));
    int32_t storage_offset = flat_i32(tensor, PTE_TENSOR_STORAGE_OFFSET, 0);
    if (storage_offset != 0) return wick_fail(err, WICK_NOT_SUPPORTED, "tensor has storage_offset %d, only 0 is supported", storage_offset);
    int dynamism = flat_i8(tensor, PTE_TENSOR_SHAPE_DYNAMISM, 0);
    if (dynamism < PTE_DYNAMISM_STATIC || dynamism > PTE_DYNAMISM_UNBOUND)
        return wick_fail(err, WICK_INVALID_PROGRAM, "tensor has the unknown shape_dynamism %d", dynamism);
    out->dynamism = (uint8_t)dynamism;
    return tensor_storage(file, plan, tensor, out, err);
}
