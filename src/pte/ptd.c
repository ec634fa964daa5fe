/* pte/ptd.c - the layout of a .ptd file and its entries; see ptd.h. The runtime merges entries into its key space. */
#include "pte/ptd.h"

#include "base/checked.h"
#include "pte/layout.h"

#define ULL(x) ((unsigned long long)(x))

/* Header at byte 8: "FH01", u32 length, u64 flatbuffer_offset (bytes of the inserted block), flatbuffer_size, segment_base,
 * segment_data_size. The FlatBuffers part, block included, is [0, flatbuffer_offset + flatbuffer_size). */
static wick_status parse_header(struct wick_ptd_file *file, uint64_t *flat_bytes, wick_error *err)
{
    const uint8_t *header = file->data + 8;
    if (memcmp(header, "FH01", 4) != 0) return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor data file: no header FH01 at offset 8");
    uint32_t length = flat_load_u32(header + 4);
    if (length < WICK_PTD_HEADER_BYTES) return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor data file: header length is %u, at least 40 is needed", length);
    file->flatbuffer_offset = flat_load_u64(header + 8);
    file->flatbuffer_size = flat_load_u64(header + 16);
    file->segment_base = flat_load_u64(header + 24);
    file->segment_bytes = flat_load_u64(header + 32);
    if (wick_add_ovf(file->flatbuffer_offset, file->flatbuffer_size, flat_bytes) || *flat_bytes > file->size ||
        !wick_range_ok(file->segment_base, file->segment_bytes, file->size)) {
        return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor data file: the header says tables to %llu + %llu and %llu bytes of segments at %llu, the file has %zu: it is cut off",
                         ULL(file->flatbuffer_offset), ULL(file->flatbuffer_size), ULL(file->segment_bytes), ULL(file->segment_base), file->size);
    }
    return WICK_OK;
}

wick_status wick_ptd_open(struct wick_ptd_file *file, const void *data, size_t size, wick_error *err)
{
    wick_error own;
    if (!err) err = &own;
    uint64_t flat_bytes = 0;
    *file = (struct wick_ptd_file){.data = data, .size = size};
    if (size < 8 + WICK_PTD_HEADER_BYTES)
        return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor data file: it has %zu bytes, at least %d are expected", size, 8 + WICK_PTD_HEADER_BYTES);
    if ((uintptr_t)data % 16) return wick_fail(err, WICK_INVALID_ARGUMENT, "tensor data file: its bytes in memory must be aligned to 16");
    if (memcmp(file->data + 4, "FT01", 4) != 0) return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor data file: no identifier FT01 at offset 4");
    WICK_TRY(parse_header(file, &flat_bytes, err));
    WICK_TRY(wick_flat_verify(&wick_ptd_schema, data, (size_t)flat_bytes, &file->root, WICK_INVALID_EXTERNAL_DATA, err));
    uint32_t version = flat_u32(file->root, PTD_ROOT_VERSION, 0);
    if (version > 0) return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor data file: schema version %u is newer than 0", version);
    if (!flat_has(file->root, PTD_ROOT_SEGMENTS) || !flat_has(file->root, PTD_ROOT_NAMED_DATA))
        return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor data file: no segments or no named_data");
    for (uint32_t i = 0; i < wick_ptd_count(file); i++) {
        struct wick_ptd_entry entry;
        wick_status status = wick_ptd_entry_at(file, i, &entry, err);
        if (status != WICK_OK) return wick_fail_in(err, status, "tensor data file: named_data[%u]", i);
    }
    return WICK_OK;
}

uint32_t wick_ptd_count(const struct wick_ptd_file *file) { return flat_vector(file->root, PTD_ROOT_NAMED_DATA).count; }

wick_status wick_ptd_entry_at(const struct wick_ptd_file *file, uint32_t index, struct wick_ptd_entry *entry, wick_error *err)
{
    struct flat_table named = flat_vec_table(flat_vector(file->root, PTD_ROOT_NAMED_DATA), index);
    struct flat_vec segments = flat_vector(file->root, PTD_ROOT_SEGMENTS);
    uint32_t number = flat_u32(named, PTD_NAMED_DATA_SEGMENT_INDEX, 0);
    *entry = (struct wick_ptd_entry){.key = flat_string(named, PTD_NAMED_DATA_KEY)};
    if (!entry->key.data) return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "no key");
    if (number >= segments.count) return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "segment %u of %u does not exist", number, segments.count);
    struct flat_table segment = flat_vec_table(segments, number);
    uint64_t offset = flat_u64(segment, PTD_SEGMENT_OFFSET, 0), bytes = flat_u64(segment, PTD_SEGMENT_SIZE, 0);
    if (!wick_range_ok(offset, bytes, file->segment_bytes))
        return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "segments[%u] (offset %llu, size %llu) exceeds the %llu bytes of segment data", number, ULL(offset), ULL(bytes),
                         ULL(file->segment_bytes));
    entry->blob = (struct wick_pte_blob){file->data + file->segment_base + offset, (size_t)bytes};
    struct flat_table layout = flat_child(named, PTD_NAMED_DATA_TENSOR_LAYOUT);
    entry->has_layout = layout.at != NULL;
    if (!entry->has_layout) return WICK_OK;
    WICK_TRY(wick_pte_shape(flat_i8(layout, PTD_LAYOUT_SCALAR_TYPE, 0), flat_vector(layout, PTD_LAYOUT_SIZES), flat_vector(layout, PTD_LAYOUT_DIM_ORDER),
                            &entry->shape, &entry->nbytes, "tensor_layout", WICK_INVALID_EXTERNAL_DATA, WICK_INVALID_EXTERNAL_DATA, err));
    if (entry->nbytes > bytes)
        return wick_fail(err, WICK_INVALID_EXTERNAL_DATA, "tensor_layout needs %llu bytes, its segment has %llu", ULL(entry->nbytes), ULL(bytes));
    return WICK_OK;
}

wick_status wick_ptd_find(const struct wick_ptd_file *file, struct wick_str key, struct wick_ptd_entry *entry, wick_error *err)
{
    struct flat_vec named = flat_vector(file->root, PTD_ROOT_NAMED_DATA);
    for (uint32_t i = 0; i < named.count; i++)
        if (wick_str_equal(flat_string(flat_vec_table(named, i), PTD_NAMED_DATA_KEY), key)) return wick_ptd_entry_at(file, i, entry, err);
    return wick_fail(err, WICK_NOT_FOUND, "tensor data file: no entry with key \"%.*s\"", (int)WICK_MIN(key.size, 100), key.data);
}
