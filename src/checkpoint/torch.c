/* checkpoint/torch.c - owns the .pth format: a pickle (pickle.c) that describes tensors as views of storages. Since PyTorch 1.6
 * the pickle and the storages are entries of a zip archive (zip.c), before it they follow each other in the file (torch_legacy.c).
 * Views are verified here and go into the table (table.c). */
#include "checkpoint/format.h"
#include "checkpoint/limits.h"
#include "checkpoint/torch.h"

#include "base/checked.h"

#include <stdio.h>

/* ---- the allow-list of globals ---- */

enum { UNTYPED = -1 };
enum role {
    ROLE_DICT = WICK_PICKLE_NEW_DICT, ROLE_TENSOR, ROLE_TENSOR_TYPED, ROLE_PARAMETER, ROLE_SIZE, ROLE_STORAGE, ROLE_DTYPE,
    ROLE_SUBCLASS, ROLE_SUBCLASS_TYPE, ROLE_NOTE,
};

static const struct wick_pickle_global globals[] = {
    {"collections", "OrderedDict", ROLE_DICT, 0},
    {"torch._utils", "_rebuild_tensor", ROLE_TENSOR, 0},
    {"torch._utils", "_rebuild_tensor_v2", ROLE_TENSOR, 0},
    {"torch._utils", "_rebuild_tensor_v3", ROLE_TENSOR_TYPED, 0},
    {"torch._utils", "_rebuild_parameter", ROLE_PARAMETER, 0},
    {"torch._utils", "_rebuild_parameter_with_state", ROLE_PARAMETER, 0},
    {"torch", "Size", ROLE_SIZE, 0},
    {"torch", "FloatStorage", ROLE_STORAGE, WICK_CKPT_F32},
    {"torch", "HalfStorage", ROLE_STORAGE, WICK_CKPT_F16},
    {"torch", "BFloat16Storage", ROLE_STORAGE, WICK_CKPT_BF16},
    {"torch", "DoubleStorage", ROLE_STORAGE, WICK_CKPT_F64},
    {"torch", "LongStorage", ROLE_STORAGE, WICK_CKPT_I64},
    {"torch", "IntStorage", ROLE_STORAGE, WICK_CKPT_I32},
    {"torch", "ShortStorage", ROLE_STORAGE, WICK_CKPT_I16},
    {"torch", "CharStorage", ROLE_STORAGE, WICK_CKPT_I8},
    {"torch", "ByteStorage", ROLE_STORAGE, WICK_CKPT_U8},
    {"torch", "BoolStorage", ROLE_STORAGE, WICK_CKPT_BOOL},
    {"torch.storage", "UntypedStorage", ROLE_STORAGE, UNTYPED},
    {"torch", "float32", ROLE_DTYPE, WICK_CKPT_F32},
    {"torch", "float16", ROLE_DTYPE, WICK_CKPT_F16},
    {"torch", "bfloat16", ROLE_DTYPE, WICK_CKPT_BF16},
    {"torch", "float64", ROLE_DTYPE, WICK_CKPT_F64},
    {"torch", "int64", ROLE_DTYPE, WICK_CKPT_I64},
    {"torch", "int32", ROLE_DTYPE, WICK_CKPT_I32},
    {"torch", "int16", ROLE_DTYPE, WICK_CKPT_I16},
    {"torch", "int8", ROLE_DTYPE, WICK_CKPT_I8},
    {"torch", "uint64", ROLE_DTYPE, WICK_CKPT_U64},
    {"torch", "uint32", ROLE_DTYPE, WICK_CKPT_U32},
    {"torch", "uint16", ROLE_DTYPE, WICK_CKPT_U16},
    {"torch", "uint8", ROLE_DTYPE, WICK_CKPT_U8},
    {"torch", "bool", ROLE_DTYPE, WICK_CKPT_BOOL},
    {"torch", "float8_e4m3fn", ROLE_DTYPE, WICK_CKPT_F8_E4M3},
    {"torch", "float8_e5m2", ROLE_DTYPE, WICK_CKPT_F8_E5M2},
    /* Tensors of torchao are several tensors and notes about them; the notes are dropped. */
    {"torch._tensor", "_rebuild_from_type_v2", ROLE_SUBCLASS, 0},
    {"torch._utils", "_rebuild_wrapper_subclass", ROLE_NOTE, 0},
    {"torchao.quantization", "IntxUnpackedToInt8Tensor", ROLE_SUBCLASS_TYPE, 0},
    {"torchao.quantization", "Int8Tensor", ROLE_SUBCLASS_TYPE, 0},
    {"torchao.quantization", "Int4Tensor", ROLE_SUBCLASS_TYPE, 0},
    {"torchao.quantization.quantize_.workflows.int8.int8_tensor", "QuantizeTensorToInt8Kwargs", ROLE_NOTE, 0},
    {"torchao.quantization.quant_primitives", "MappingType", ROLE_NOTE, 0},
    {"torchao.quantization.granularity", "PerRow", ROLE_NOTE, 0},
    {"torchao.quantization.granularity", "PerTensor", ROLE_NOTE, 0},
    {"torch.serialization", "_get_layout", ROLE_NOTE, 0},
    {"torch", "device", ROLE_NOTE, 0},
    {"torch", "int2", ROLE_NOTE, 0},
    {"torch", "int3", ROLE_NOTE, 0},
    {"torch", "int4", ROLE_NOTE, 0},
    {"torch", "int5", ROLE_NOTE, 0},
    {"torch", "int6", ROLE_NOTE, 0},
    {"torch", "int7", ROLE_NOTE, 0},
};

/* ---- one file ---- */

static wick_status bad(const struct wick_torch_file *t, const char *why) { return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "%s: %s", t->what, why); }

static bool is_call(const struct wick_pickle_value *value, int role)
{
    return value->kind == WICK_PICKLE_CALL && value->as.call.global->role == role;
}

/* The entry "<folder><name>"; NULL data if there is none. */
static wick_status find_entry(struct wick_torch_file *t, const char *name, size_t size, const struct wick_zip_entry **entry)
{
    char *path = wick_arena_alloc(&t->scratch, t->folder.size + size, 1);
    if (!path) return wick_fail_oom(t->err, t->folder.size + size, "zip entry");
    memcpy(path, t->folder.data, t->folder.size);
    memcpy(path + t->folder.size, name, size);
    *entry = wick_zip_find(&t->zip, (struct wick_str){path, t->folder.size + size});
    return WICK_OK;
}

struct storage {
    int type; /* enum wick_ckpt_storage, or UNTYPED */
    const uint8_t *data;
    uint64_t bytes;
};

wick_status wick_torch_storage_id(struct wick_torch_file *t, const struct wick_pickle_value *value, struct wick_torch_storage_id *out)
{
    const size_t parts = t->records ? 6 : 5; /* a legacy one ends with the view of another storage that it is, or None */
    const struct wick_pickle_value *id = value->kind == WICK_PICKLE_PERSISTENT ? value->as.call.args : NULL;
    if (!id || id->kind != WICK_PICKLE_TUPLE || id->as.list.count != parts)
        return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "%s: its storage is no reference of %zu parts", t->what, parts);
    struct wick_pickle_value **part = id->as.list.items;
    if (part[0]->kind != WICK_PICKLE_STR || !wick_str_is(part[0]->as.str, "storage") || part[1]->kind != WICK_PICKLE_GLOBAL ||
        part[1]->as.call.global->role != ROLE_STORAGE || part[2]->kind != WICK_PICKLE_STR || part[4]->kind != WICK_PICKLE_INT)
        return bad(t, "its storage reference is malformed");
    if (parts == 6 && part[5]->kind != WICK_PICKLE_NONE)
        return wick_fail(t->err, WICK_NOT_SUPPORTED, "%s: a storage that is a view of another one is not read", t->what);
    out->key = part[2]->as.str;
    if (out->key.size > WICK_TORCH_KEY_MAX || !wick_ckpt_name_ok(out->key.data, out->key.size)) return bad(t, "its storage key is malformed");
    const int type = part[1]->as.call.global->detail;
    out->type = type;
    out->elements = part[4]->as.integer;
    const uint64_t size = type == UNTYPED ? 1 : wick_ckpt_storage_bytes((enum wick_ckpt_storage)type);
    if (out->elements < 0 || wick_mul_ovf((uint64_t)out->elements, size, &out->bytes))
        return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "%s: storage of %lld elements is impossible", t->what, (long long)out->elements);
    return WICK_OK;
}

/* In an archive the bytes are the entry data/<key>, in a legacy file a record behind the pickles. */
static wick_status read_storage(struct wick_torch_file *t, const struct wick_pickle_value *value, struct storage *out)
{
    struct wick_torch_storage_id id = {0};
    WICK_TRY(wick_torch_storage_id(t, value, &id));
    const int shown = (int)id.key.size;
    *out = (struct storage){.type = id.type, .bytes = id.bytes};
    if (t->records) {
        out->data = wick_torch_record(t, id.key, id.bytes);
        return out->data || id.bytes == 0 ? WICK_OK : wick_fail(t->err, WICK_INVALID_CHECKPOINT, "%s: no storage of key %.*s and %llu bytes follows the pickles", t->what, shown,
                                                                id.key.data, (unsigned long long)id.bytes);
    }
    char name[WICK_TORCH_KEY_MAX + 8] = "data/";
    const size_t prefix = sizeof "data/" - 1;
    memcpy(name + prefix, id.key.data, id.key.size);
    const struct wick_zip_entry *entry = NULL;
    WICK_TRY(find_entry(t, name, prefix + id.key.size, &entry));
    if (!entry) return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "%s: the archive has no entry data/%.*s", t->what, shown, id.key.data);
    WICK_TRY(wick_zip_data(&t->zip, entry, &out->data, t->err));
    if (id.bytes != entry->size)
        return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "%s: storage of %lld elements (%llu bytes each) in data/%.*s of %llu bytes", t->what,
                         (long long)id.elements, (unsigned long long)(id.elements ? id.bytes / (uint64_t)id.elements : 0), shown, id.key.data, (unsigned long long)entry->size);
    return WICK_OK;
}

/* A tuple (or torch.Size of one) of integers. */
static wick_status read_dims(const struct wick_torch_file *t, const struct wick_pickle_value *value, int64_t *out, size_t *count)
{
    if (is_call(value, ROLE_SIZE) && value->as.call.args->as.list.count == 1) value = value->as.call.args->as.list.items[0];
    if (value->kind != WICK_PICKLE_TUPLE || value->as.list.count > WICK_RANK_MAX)
        return bad(t, "its sizes or strides are no tuple of at most 16 integers");
    *count = value->as.list.count;
    for (size_t i = 0; i < *count; i++) {
        if (value->as.list.items[i]->kind != WICK_PICKLE_INT) return bad(t, "its sizes or strides are no integers");
        out[i] = value->as.list.items[i]->as.integer;
    }
    return WICK_OK;
}

/* Sets strides, contiguity, data and nbytes of a view that begins `offset` elements into the storage. */
static wick_status place_view(const struct wick_torch_file *t, struct wick_ckpt_tensor *tensor, const struct storage *storage, int64_t offset,
                              const int64_t *strides)
{
    const uint64_t size = wick_ckpt_storage_bytes(tensor->storage), held = storage->bytes / size;
    uint64_t last = 0; /* offset of the furthest element from the first */
    bool fits = offset >= 0 && (uint64_t)offset <= held;
    for (int i = 0; i < tensor->rank; i++) {
        uint64_t reach;
        if (strides[i] < 0) return bad(t, "a stride is negative");
        if (tensor->numel > 0 && tensor->sizes[i] > 1) {
            fits = fits && !wick_mul_ovf((uint64_t)tensor->sizes[i] - 1, (uint64_t)strides[i], &reach) && !wick_add_ovf(last, reach, &last);
            if (strides[i] != tensor->strides[i]) tensor->contiguous = false;
        }
    }
    if (tensor->numel == 0) {
        tensor->contiguous = true; /* nothing to reach: the row-major strides stand */
        return fits ? WICK_OK : bad(t, "its offset is outside the storage");
    }
    if (!fits || last >= held - (uint64_t)offset)
        return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "%s: its sizes and strides leave the storage of %llu elements", t->what,
                         (unsigned long long)held);
    if (!tensor->contiguous) memcpy(tensor->strides, strides, tensor->rank * sizeof *strides);
    tensor->data = storage->data + (uint64_t)offset * size;
    tensor->nbytes = (size_t)((last + 1) * size);
    return WICK_OK;
}

/* _rebuild_tensor(storage, offset, sizes, strides[, requires_grad, hooks[, metadata]]); v3 has the dtype before the metadata. */
static wick_status read_tensor(struct wick_torch_file *t, const struct wick_pickle_value *call, struct wick_ckpt_tensor *tensor)
{
    const bool typed = is_call(call, ROLE_TENSOR_TYPED);
    const size_t count = call->as.call.args->as.list.count, metadata = typed ? 7 : 6;
    struct wick_pickle_value **arg = call->as.call.args->as.list.items;
    if (count < (typed ? 7u : 4u) || arg[1]->kind != WICK_PICKLE_INT) return bad(t, "its description is malformed");
    if (count > metadata &&
        !(arg[metadata]->kind == WICK_PICKLE_NONE || (arg[metadata]->kind == WICK_PICKLE_DICT && arg[metadata]->as.list.count == 0)))
        return wick_fail(t->err, WICK_NOT_SUPPORTED, "%s: tensors with metadata (a conjugate or negative view) are not read", t->what);
    struct storage storage;
    WICK_TRY(read_storage(t, arg[0], &storage));
    int type = storage.type;
    if (typed) {
        if (arg[6]->kind != WICK_PICKLE_GLOBAL || arg[6]->as.call.global->role != ROLE_DTYPE) return bad(t, "its dtype is malformed");
        type = arg[6]->as.call.global->detail;
    }
    if (type == UNTYPED) return bad(t, "its storage has no element type");
    int64_t sizes[WICK_RANK_MAX], strides[WICK_RANK_MAX];
    size_t rank, stride_count;
    WICK_TRY(read_dims(t, arg[2], sizes, &rank));
    WICK_TRY(read_dims(t, arg[3], strides, &stride_count));
    if (rank != stride_count) return bad(t, "it has more sizes than strides, or fewer");
    *tensor = (struct wick_ckpt_tensor){.file = t->file};
    WICK_TRY(wick_ckpt_shape_set(tensor, (enum wick_ckpt_storage)type, rank, sizes, t->what, t->err));
    return place_view(t, tensor, &storage, arg[1]->as.integer, strides);
}

static void name_in_errors(struct wick_torch_file *t, struct wick_str name)
{
    bool printable = wick_ckpt_name_ok(name.data, name.size);
    snprintf(t->what, sizeof t->what, "tensor '%.*s'", printable ? (int)WICK_MIN(name.size, (size_t)200) : 1, printable ? name.data : "?");
}

static bool is_tensor(const struct wick_pickle_value *value) { return is_call(value, ROLE_TENSOR) || is_call(value, ROLE_TENSOR_TYPED); }

/* _rebuild_from_type_v2(function, class, arguments, state): each tensor of the state dict becomes one of the table, named as torchao names it in
 * safetensors: "qdata" of "a.weight" is "a._weight_qdata". */
static wick_status read_subclass(struct wick_torch_file *t, struct wick_str name, const struct wick_pickle_value *call)
{
    const struct wick_pickle_value *args = call->as.call.args;
    if (args->as.list.count != 4 || args->as.list.items[3]->kind != WICK_PICKLE_DICT) return bad(t, "its description is malformed");
    const struct wick_pickle_value *type = args->as.list.items[1], *state = args->as.list.items[3];
    if (type->kind != WICK_PICKLE_GLOBAL || type->as.call.global->role != ROLE_SUBCLASS_TYPE)
        return wick_fail(t->err, WICK_NOT_SUPPORTED, "%s: this kind of tensor is not read", t->what);
    size_t stem = name.size;
    while (stem > 0 && name.data[stem - 1] != '.') stem--;
    for (size_t i = 0; i + 1 < state->as.list.count; i += 2) {
        const struct wick_pickle_value *key = state->as.list.items[i], *value = state->as.list.items[i + 1];
        struct wick_ckpt_tensor tensor;
        struct wick_buf part = {0};
        if (!is_tensor(value) || key->kind != WICK_PICKLE_STR) continue;
        WICK_TRY(read_tensor(t, value, &tensor));
        wick_buf_printf(&part, "%.*s_%.*s_%.*s", (int)stem, name.data, (int)(name.size - stem), name.data + stem, (int)WICK_MIN(key->as.str.size, (size_t)100), key->as.str.data);
        wick_status status = part.failed ? wick_fail_oom(t->err, name.size, "name of a tensor")
                                         : wick_ckpt_add_tensor(t->ckpt, (struct wick_str){part.data, part.size}, &tensor, t->err);
        wick_buf_free(&part);
        WICK_TRY(status);
    }
    return WICK_OK;
}

/* Adds the dict entry if it is a tensor; other values (epochs, names, nested dicts) are not weights. */
static wick_status read_item(struct wick_torch_file *t, const struct wick_pickle_value *key, const struct wick_pickle_value *value)
{
    if (is_call(value, ROLE_PARAMETER) && value->as.call.args->as.list.count > 0) value = value->as.call.args->as.list.items[0];
    if ((!is_tensor(value) && !is_call(value, ROLE_SUBCLASS)) || key->kind != WICK_PICKLE_STR) return WICK_OK;
    struct wick_str name = key->as.str;
    struct wick_ckpt_tensor tensor;
    name_in_errors(t, name);
    if (is_call(value, ROLE_SUBCLASS)) {
        if (!wick_ckpt_name_ok(name.data, name.size)) return bad(t, "its name is no printable text");
        return read_subclass(t, name, value);
    }
    WICK_TRY(read_tensor(t, value, &tensor));
    return wick_ckpt_add_tensor(t->ckpt, name, &tensor, t->err);
}

/* The value of a key that holds a dict; NULL if there is none. Two of them are an error. */
static wick_status find_dict(const struct wick_torch_file *t, const struct wick_pickle_value *dict, const char *key, const struct wick_pickle_value **out)
{
    *out = NULL;
    for (size_t i = 0; i + 1 < dict->as.list.count; i += 2) {
        const struct wick_pickle_value *name = dict->as.list.items[i], *value = dict->as.list.items[i + 1];
        if (name->kind != WICK_PICKLE_STR || !wick_str_is(name->as.str, key) || value->kind != WICK_PICKLE_DICT) continue;
        if (*out) return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "pickle: duplicate key '%s'", key);
        *out = value;
    }
    return WICK_OK;
}

wick_status wick_torch_add(struct wick_torch_file *t, const struct wick_pickle_value *top)
{
    if (top->kind != WICK_PICKLE_DICT)
        return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "pickle: a dict of tensors is wanted on top, not: %s", wick_pickle_kind_name(top->kind));
    /* Training scripts wrap the weights once. */
    static const char *const wraps[] = {"model", "state_dict"};
    const struct wick_pickle_value *inner = NULL;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wraps) && !inner; i++) WICK_TRY(find_dict(t, top, wraps[i], &inner));
    const struct wick_pickle_value *dict = inner ? inner : top;
    for (size_t i = 0; i + 1 < dict->as.list.count; i += 2) WICK_TRY(read_item(t, dict->as.list.items[i], dict->as.list.items[i + 1]));
    return WICK_OK;
}

wick_status wick_torch_parse(struct wick_torch_file *t, const uint8_t *data, size_t size, struct wick_pickle *out)
{
    return wick_pickle_parse(out, data, size, globals, WICK_ARRAY_SIZE(globals), &t->scratch, t->err);
}

/* The folder of the archive is what stands before its one data.pkl. */
static wick_status find_root(struct wick_torch_file *t, const struct wick_zip_entry **pickle)
{
    const struct wick_str tail = WICK_STR("/data.pkl");
    *pickle = NULL;
    for (size_t i = 0; i < t->zip.count; i++) {
        struct wick_str name = t->zip.entries[i].name;
        if (!wick_str_ends(name, tail) || memchr(name.data, '/', name.size) != name.data + name.size - tail.size) continue;
        if (*pickle) return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "zip: two entries */data.pkl");
        *pickle = &t->zip.entries[i];
        t->folder = (struct wick_str){name.data, name.size - tail.size + 1};
    }
    return *pickle ? WICK_OK : wick_fail(t->err, WICK_INVALID_CHECKPOINT, "zip: no entry */data.pkl: the archive is no file of torch.save");
}

static wick_status read_archive(struct wick_torch_file *t)
{
    const struct wick_map map = t->ckpt->files[t->file].map;
    const struct wick_zip_entry *pickle = NULL, *order = NULL;
    const uint8_t *bytes = NULL;
    WICK_TRY(wick_zip_open(&t->zip, map.data, map.size, &t->scratch, t->err));
    WICK_TRY(find_root(t, &pickle));
    WICK_TRY(find_entry(t, "byteorder", sizeof "byteorder" - 1, &order));
    if (order) {
        WICK_TRY(wick_zip_data(&t->zip, order, &bytes, t->err));
        if (!wick_str_is((struct wick_str){(const char *)bytes, (size_t)order->size}, "little"))
            return wick_fail(t->err, WICK_NOT_SUPPORTED, "byteorder: only little-endian checkpoints are read");
    }
    WICK_TRY(wick_zip_data(&t->zip, pickle, &bytes, t->err));
    if (pickle->size > WICK_CKPT_PICKLE_MAX)
        return wick_fail(t->err, WICK_INVALID_CHECKPOINT, "data.pkl: %llu bytes are more than %u", (unsigned long long)pickle->size,
                         WICK_CKPT_PICKLE_MAX);
    struct wick_pickle parsed;
    WICK_TRY(wick_torch_parse(t, bytes, (size_t)pickle->size, &parsed));
    return wick_torch_add(t, parsed.top);
}

bool wick_ckpt_torch_probe(const uint8_t *data, size_t size) { return size >= 4 && memcmp(data, "PK\3\4", 4) == 0; }

wick_status wick_ckpt_torch_open(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err)
{
    struct wick_torch_file t = {.ckpt = ckpt, .file = file, .err = err};
    wick_arena_init(&t.scratch, ckpt->arena.source);
    wick_status status = read_archive(&t);
    wick_arena_release(&t.scratch);
    return status;
}
