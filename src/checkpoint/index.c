/* checkpoint/index.c - owns the index of a sharded checkpoint: JSON whose weight_map says which file beside it holds a
 * tensor. Each shard is opened once by its own format; the whole must hold what the map promises. */
#include "checkpoint/format.h"
#include "checkpoint/limits.h"

#include "base/json.h"

/* A shard lies beside its index: nothing that could lead elsewhere is followed. */
static bool plain_name(const char *name)
{
    return wick_ckpt_name_ok(name, strlen(name)) && !strchr(name, '/') && !strchr(name, '\\') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Opens the shard `name` beside the index and notes in `shards` which file it became. */
static wick_status open_shard(struct wick_checkpoint *ckpt, const char *index_path, const char *name, json_t *shards, wick_error *err)
{
    if (!plain_name(name)) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: weight_map: '%.100s' is no plain file name", index_path, name);
    if (json_object_size(shards) >= WICK_CKPT_SHARDS_MAX)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.300s: weight_map: more than %u files", index_path, WICK_CKPT_SHARDS_MAX);
    const char *slash = strrchr(index_path, '/');
    size_t folder = slash ? (size_t)(slash - index_path) + 1 : 0, size = strlen(name);
    char *path = wick_arena_alloc(&ckpt->arena, folder + size + 1, 1);
    if (!path || json_object_set_new(shards, name, json_integer((json_int_t)ckpt->file_count)) != 0)
        return wick_fail_oom(err, folder + size, "path of a shard");
    memcpy(path, index_path, folder);
    memcpy(path + folder, name, size + 1);
    return wick_ckpt_open_shard(ckpt, path, err);
}

static wick_status open_shards(struct wick_checkpoint *ckpt, const char *path, json_t *map, json_t *shards, wick_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(map, name, value) {
        const char *file = json_string_value(value);
        if (!file) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: weight_map: '%.200s' names no file", path, name);
        if (!json_object_get(shards, file)) WICK_TRY(open_shard(ckpt, path, file, shards, err));
    }
    wick_status status = wick_ckpt_table_seal(ckpt, err);
    if (status != WICK_OK) return wick_fail_in(err, status, "%.200s", path);
    json_object_foreach(map, name, value) {
        const struct wick_ckpt_tensor *tensor = wick_checkpoint_find(ckpt, name);
        if (!tensor || tensor->file != (uint32_t)json_integer_value(json_object_get(shards, json_string_value(value))))
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: weight_map: tensor '%.100s' is not in %.100s", path, name,
                             json_string_value(value));
    }
    return WICK_OK;
}

bool wick_ckpt_index_probe(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t')) at++;
    return at < size && data[at] == '{';
}

/* Errors carry their path already: they may come from a shard. */
wick_status wick_ckpt_index_open(struct wick_checkpoint *ckpt, uint32_t file, wick_error *err)
{
    const char *path = ckpt->files[file].path;
    const struct wick_map bytes = ckpt->files[file].map;
    json_t *index, *shards = NULL;
    if (bytes.size > WICK_CKPT_INDEX_BYTES_MAX)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.300s: an index of %zu bytes is larger than %u", path, bytes.size,
                         WICK_CKPT_INDEX_BYTES_MAX);
    wick_status status = wick_json_parse(&index, (const char *)bytes.data, bytes.size, "index of shards", WICK_INVALID_CHECKPOINT, err);
    if (status != WICK_OK) return wick_fail_in(err, status, "%.300s", path);
    json_t *map = json_object_get(index, "weight_map");
    if (json_object_size(map) == 0)
        status = wick_fail(err, WICK_INVALID_CHECKPOINT, "%.300s: JSON without a 'weight_map' of tensor names to files: no checkpoint", path);
    else if (!(shards = json_object())) status = wick_fail_oom(err, sizeof(void *), "index of shards");
    else status = open_shards(ckpt, path, map, shards, err);
    json_decref(shards);
    json_decref(index);
    return status;
}
