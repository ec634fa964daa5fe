/* checkpoint/torch_legacy.c - owns what torch.save wrote before PyTorch 1.6 (and writes without its zip serialization): pickles of
 * a magic number, a version, the writer's system, the weights and the keys of storages, then each storage as a count of elements
 * and its bytes. What the weights' pickle means is torch.c's. */
#include "checkpoint/format.h"
#include "checkpoint/limits.h"
#include "checkpoint/torch.h"

#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAR_MAGIC_AT = 257, COUNT_BYTES = 8, VERSION = 1001 };

/* LONG1 of 0x1950a86a20f9469cfc6c, then STOP. */
static const uint8_t magic[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};

struct cursor {
    struct wick_torch_file *t;
    const uint8_t *data;
    size_t size, at;
};

/* One more pickle. */
static wick_status next(struct cursor *c, const char *what, struct wick_pickle *out)
{
    const size_t begin = c->at, size = WICK_MIN(c->size - begin, (size_t)WICK_CKPT_PICKLE_MAX);
    wick_status status = wick_torch_parse(c->t, c->data + begin, size, out);
    if (status != WICK_OK) return wick_fail_in(c->t->err, status, "legacy torch format: offset %zu: %s", begin, what);
    c->at += out->used;
    return WICK_OK;
}

static wick_status bad(const struct cursor *c, const char *why)
{
    return wick_fail(c->t->err, WICK_INVALID_CHECKPOINT, "legacy torch format: offset %zu: %s", c->at, why);
}

/* Header, optional frame (protocol 4), the magic number. */
static wick_status read_magic(struct cursor *c)
{
    c->at = 2;
    if (c->size > 2 + 9 && c->data[2] == 0x95) c->at += 9;
    if (c->size - c->at < sizeof magic || memcmp(c->data + c->at, magic, sizeof magic) != 0)
        return bad(c, "the magic number of torch.save is missing; a pickle of another program is no checkpoint");
    c->at += sizeof magic;
    return WICK_OK;
}

static wick_status read_system(struct cursor *c)
{
    struct wick_pickle version, system;
    WICK_TRY(next(c, "version", &version));
    if (version.top->kind != WICK_PICKLE_INT || version.top->as.integer != VERSION) return bad(c, "its version is not 1001");
    WICK_TRY(next(c, "system", &system));
    if (system.top->kind != WICK_PICKLE_DICT) return bad(c, "the description of the writer's system is no dict");
    for (size_t i = 0; i + 1 < system.top->as.list.count; i += 2) {
        const struct wick_pickle_value *key = system.top->as.list.items[i], *value = system.top->as.list.items[i + 1];
        if (key->kind == WICK_PICKLE_STR && wick_str_is(key->as.str, "little_endian") && !(value->kind == WICK_PICKLE_BOOL && value->as.integer))
            return wick_fail(c->t->err, WICK_NOT_SUPPORTED, "legacy torch format: only little-endian checkpoints are read");
    }
    return WICK_OK;
}

static int by_key(const void *a, const void *b)
{
    const struct wick_str x = ((const struct wick_torch_record *)a)->key, y = ((const struct wick_torch_record *)b)->key;
    const int order = memcmp(x.data, y.data, WICK_MIN(x.size, y.size));
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

static struct wick_torch_record *find(const struct wick_torch_file *t, struct wick_str key)
{
    const struct wick_torch_record wanted = {.key = key};
    return t->record_count ? bsearch(&wanted, t->records, t->record_count, sizeof wanted, by_key) : NULL;
}

const uint8_t *wick_torch_record(const struct wick_torch_file *t, struct wick_str key, uint64_t bytes)
{
    const struct wick_torch_record *record = find(t, key);
    return record && record->bytes == bytes ? record->data : NULL;
}

/* The storages that the weights refer to, without data yet. */
static wick_status list_records(struct cursor *c, const struct wick_pickle *weights)
{
    struct wick_torch_file *t = c->t;
    struct wick_torch_storage_id id;
    t->records = WICK_NEW_ARRAY(&t->scratch, struct wick_torch_record, weights->persistent_count + 1);
    if (!t->records) return wick_fail_oom(t->err, weights->persistent_count * sizeof *t->records, "legacy torch format");
    snprintf(t->what, sizeof t->what, "legacy torch format");
    for (size_t i = 0; i < weights->persistent_count; i++) {
        WICK_TRY(wick_torch_storage_id(t, weights->persistents[i], &id));
        t->records[i] = (struct wick_torch_record){.key = id.key, .reference = weights->persistents[i], .bytes = id.bytes};
    }
    qsort(t->records, weights->persistent_count, sizeof *t->records, by_key);
    for (size_t i = 0; i < weights->persistent_count; i++)
        if (t->record_count == 0 || by_key(&t->records[t->record_count - 1], &t->records[i]) != 0) t->records[t->record_count++] = t->records[i];
    return WICK_OK;
}

static wick_status read_record(struct cursor *c, const struct wick_pickle_value *key)
{
    struct wick_torch_storage_id id;
    struct wick_torch_record *record = key->kind == WICK_PICKLE_STR ? find(c->t, key->as.str) : NULL;
    if (!record || record->data) return bad(c, "a storage that the weights do not name, or twice");
    WICK_TRY(wick_torch_storage_id(c->t, record->reference, &id));
    if (c->size - c->at < COUNT_BYTES || wick_ckpt_u64(c->data + c->at) != (uint64_t)id.elements) return bad(c, "a storage is not as long as the weights say");
    c->at += COUNT_BYTES;
    if (id.bytes > c->size - c->at) return bad(c, "a storage is cut off by the end: the file is truncated");
    record->data = c->data + c->at;
    c->at += (size_t)id.bytes;
    return WICK_OK;
}

static wick_status read_stream(struct wick_torch_file *t)
{
    const struct wick_map map = t->ckpt->files[t->file].map;
    struct cursor c = {.t = t, .data = map.data, .size = map.size};
    struct wick_pickle weights, keys;
    WICK_TRY(read_magic(&c));
    WICK_TRY(read_system(&c));
    WICK_TRY(next(&c, "weights", &weights));
    WICK_TRY(list_records(&c, &weights));
    WICK_TRY(next(&c, "keys of storages", &keys));
    if (keys.top->kind != WICK_PICKLE_LIST) return bad(&c, "the keys of storages are no list");
    for (size_t i = 0; i < keys.top->as.list.count; i++) WICK_TRY(read_record(&c, keys.top->as.list.items[i]));
    return wick_torch_add(t, weights.top);
}

bool wick_ckpt_torch_legacy_probe(const uint8_t *data, size_t size)
{
    bool pickle = size >= 2 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5;
    return pickle || (size >= TAR_MAGIC_AT + 5 && memcmp(data + TAR_MAGIC_AT, "ustar", 5) == 0);
}

wick_status wick_ckpt_torch_legacy_open(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err)
{
    if (ckpt->files[file].map.data[0] != 0x80)
        return wick_fail(err, WICK_NOT_SUPPORTED, "legacy torch format (a tar archive, from before PyTorch 0.2) is not read; save it again with torch.save of PyTorch 1.6 or newer");
    struct wick_torch_file t = {.ckpt = ckpt, .file = file, .err = err};
    wick_arena_init(&t.scratch, ckpt->arena.source);
    wick_status status = read_stream(&t);
    wick_arena_release(&t.scratch);
    return status;
}
