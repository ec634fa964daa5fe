/* checkpoint/parts.c - owns checkpoints of several files without an index: a split GGUF (NAME-00001-of-0000N.gguf), whose parts hold
 * whole tensors, and Meta's shards (consolidated.NN.pth), made for model parallelism: each holds a piece of every matrix. Pieces are
 * joined in the table; read.c walks them. */
#include "checkpoint/parts.h"

#include "checkpoint/format.h"
#include "checkpoint/limits.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- GGUF ---- */

enum { TAIL = sizeof "-00001-of-00001.gguf" - 1, DIGITS = 5 };

static bool number_at(const char *text, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *out = *out * 10 + (unsigned)(text[i] - '0');
    }
    return true;
}

/* "...-00002-of-00003.gguf": 2 of 3. */
static bool split_name(struct wick_str name, unsigned *part, unsigned *count)
{
    if (name.size < TAIL) return false;
    const char *tail = name.data + name.size - TAIL;
    return tail[0] == '-' && number_at(tail + 1, part) && memcmp(tail + 6, "-of-", 4) == 0 && number_at(tail + 10, count) && memcmp(tail + 15, ".gguf", 5) == 0;
}

bool wick_ckpt_is_later_part(struct wick_str name)
{
    unsigned part, count;
    return split_name(name, &part, &count) && part > 1;
}

/* The integer of a key, before the table is sealed; 0 if there is none. */
static uint64_t meta_number(const struct wick_checkpoint *ckpt, const char *key)
{
    for (size_t i = 0; i < ckpt->meta_count; i++) {
        const struct wick_meta *meta = &ckpt->metas[i];
        if (strcmp(meta->key, key) == 0 && meta->type != WICK_META_STR && meta->type != WICK_META_ARRAY && meta->type != WICK_META_F32 && meta->type != WICK_META_F64)
            return meta->value.bits;
    }
    return 0;
}

static wick_status open_split(struct wick_checkpoint *ckpt, const char *path, wick_error *err)
{
    const uint64_t count = meta_number(ckpt, "split.count"), tensors = meta_number(ckpt, "split.tensors.count");
    unsigned part, named;
    if (count <= 1) return WICK_OK;
    if (!split_name(wick_str_of(path), &part, &named) || named != count)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: one of %llu parts of a split model, but not named -00001-of-%05llu.gguf: the others are not found", path,
                         (unsigned long long)count, (unsigned long long)count);
    if (part != 1 || meta_number(ckpt, "split.no") != 0)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: part %u of a split model: name the first one, -00001-of-%05u.gguf", path, part, named);
    if (count > WICK_CKPT_SHARDS_MAX) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: more than %u parts", path, WICK_CKPT_SHARDS_MAX);
    for (unsigned i = 2; i <= named; i++) {
        size_t size = strlen(path);
        char *other = wick_arena_copy(&ckpt->arena, path, size), digits[DIGITS + 8];
        if (!other) return wick_fail_oom(err, size, "path of a part");
        snprintf(digits, sizeof digits, "%05u", i);
        memcpy(other + size - TAIL + 1, digits, DIGITS);
        WICK_TRY(wick_ckpt_open_shard(ckpt, other, err));
    }
    if (tensors && tensors != ckpt->tensor_count)
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: its parts hold %zu tensors, split.tensors.count says %llu", path, ckpt->tensor_count, (unsigned long long)tensors);
    return WICK_OK;
}

/* ---- Meta's shards ---- */

/* How model parallelism cuts a weight. */
enum cut { WHOLE, ROWS, COLUMNS, EMBEDDING, UNKNOWN };

static enum cut cut_of(const struct wick_ckpt_tensor *tensor)
{
    static const struct {
        const char *tail;
        enum cut cut;
    } cuts[] = {
        {"tok_embeddings.weight", EMBEDDING}, {"output.weight", ROWS}, {".wq.weight", ROWS}, {".wk.weight", ROWS}, {".wv.weight", ROWS},
        {".w1.weight", ROWS}, {".w3.weight", ROWS}, {".wo.weight", COLUMNS}, {".w2.weight", COLUMNS},
        {".wq.bias", ROWS}, {".wk.bias", ROWS}, {".wv.bias", ROWS},
    };
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cuts); i++)
        if (wick_str_ends(wick_str_of(tensor->name), wick_str_of(cuts[i].tail))) return cuts[i].cut;
    return tensor->rank == 1 ? WHOLE : UNKNOWN;
}

/* "dim" of the params.json in the shards' folder; 0 if it does not say. */
static int64_t width_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char params[1024];
    json_t *root;
    int size = snprintf(params, sizeof params, "%.*sparams.json", slash ? (int)(slash - path) + 1 : 0, path);
    if (size < 0 || (size_t)size >= sizeof params || wick_json_load(&root, params, WICK_INVALID_CONFIG, NULL) != WICK_OK) return 0;
    const json_t *dim = json_object_get(root, "dim");
    int64_t width = json_is_integer(dim) ? json_integer_value(dim) : 0;
    json_decref(root);
    return width;
}

/* Llama 1 and 2 cut the columns of the embedding, Llama 3 its rows; a row is as long as the model is wide. */
static wick_status embedding_cut(const struct wick_ckpt_tensor *tensor, uint32_t count, const char *path, enum cut *cut, wick_error *err)
{
    const int64_t width = width_of(path), held = tensor->rank == 2 ? tensor->sizes[1] : 0;
    if (held > 0 && held == width) *cut = ROWS;
    else if (held > 0 && held * count == width) *cut = COLUMNS;
    else
        return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: tensor '%.100s': shards are joined by 'dim' of the params.json beside them, which is missing or fits no %u shards",
                         path, tensor->name, count);
    return WICK_OK;
}

/* Makes tensor, which is the piece of the first shard, the whole. pieces: of every shard. */
static wick_status join(struct wick_ckpt_tensor *tensor, const struct wick_ckpt_tensor *pieces, uint32_t count, const char *path, wick_error *err)
{
    enum cut cut = cut_of(tensor);
    for (uint32_t i = 0; i < count; i++)
        if (!pieces[i].name || pieces[i].storage != tensor->storage || pieces[i].rank != tensor->rank ||
            memcmp(pieces[i].sizes, tensor->sizes, tensor->rank * sizeof *tensor->sizes) != 0)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: tensor '%.100s': shard %u has it not, or with another type or shape", path, tensor->name, i);
    if (cut == WHOLE) return WICK_OK;
    if (cut == EMBEDDING) WICK_TRY(embedding_cut(tensor, count, path, &cut, err));
    if (cut == UNKNOWN || (cut == COLUMNS && tensor->rank != 2) || tensor->rank == 0)
        return wick_fail(err, WICK_NOT_SUPPORTED, "%.200s: tensor '%.100s': how shards cut it is not known", path, tensor->name);
    int64_t sizes[WICK_RANK_MAX];
    for (int i = 0; i < tensor->rank; i++) sizes[i] = tensor->sizes[i];
    sizes[cut == COLUMNS ? 1 : 0] *= count;
    char what[1100];
    snprintf(what, sizeof what, "%.200s: tensor '%.200s'", path, tensor->name);
    WICK_TRY(wick_ckpt_shape_set(tensor, tensor->storage, tensor->rank, sizes, what, err));
    tensor->pieces = pieces;
    tensor->piece_count = count;
    tensor->piece_run = cut == COLUMNS ? (uint64_t)pieces[0].sizes[1] : pieces[0].numel;
    tensor->contiguous = false;
    tensor->data = NULL;
    return WICK_OK;
}

static int by_name(const void *a, const void *b) { return strcmp(((const struct wick_ckpt_name *)a)->name, ((const struct wick_ckpt_name *)b)->name); }

/* The tensors of file 0 become the wholes; those of the others, which follow them in the table, their pieces. */
static wick_status join_all(struct wick_checkpoint *ckpt, const char *path, wick_error *err)
{
    const size_t shards = ckpt->file_count;
    size_t whole = 0;
    while (whole < ckpt->tensor_count && ckpt->tensors[whole].file == 0) whole++;
    struct wick_ckpt_name *names = WICK_NEW_ARRAY(&ckpt->arena, struct wick_ckpt_name, whole + 1);
    struct wick_ckpt_tensor *pieces = WICK_NEW_ARRAY(&ckpt->arena, struct wick_ckpt_tensor, whole * shards + 1);
    if (!names || !pieces) return wick_fail_oom(err, whole * shards * sizeof *pieces, "joined shards");
    memset(pieces, 0, (whole * shards + 1) * sizeof *pieces);
    for (size_t i = 0; i < whole; i++) names[i] = (struct wick_ckpt_name){ckpt->tensors[i].name, i};
    qsort(names, whole, sizeof *names, by_name);
    for (size_t i = 0; i < ckpt->tensor_count; i++) {
        const struct wick_ckpt_name key = {ckpt->tensors[i].name, 0}, *found = whole ? bsearch(&key, names, whole, sizeof key, by_name) : NULL;
        if (!found)
            return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: tensor '%.100s' is in shard %u only", path, key.name, ckpt->tensors[i].file);
        struct wick_ckpt_tensor *piece = &pieces[found->index * shards + ckpt->tensors[i].file];
        if (piece->name) return wick_fail(err, WICK_INVALID_CHECKPOINT, "%.200s: duplicate tensor '%.100s'", path, key.name);
        *piece = ckpt->tensors[i];
    }
    ckpt->tensor_count = whole;
    for (size_t i = 0; i < whole; i++) WICK_TRY(join(&ckpt->tensors[i], pieces + i * shards, (uint32_t)shards, path, err));
    return WICK_OK;
}

static wick_status open_consolidated(struct wick_checkpoint *ckpt, const char *path, wick_error *err)
{
    const struct wick_str tail = WICK_STR("consolidated.00.pth");
    const size_t size = strlen(path);
    if (!wick_str_ends(wick_str_of(path), tail)) return WICK_OK;
    for (unsigned i = 1; i < 100; i++) {
        char *other = wick_arena_copy(&ckpt->arena, path, size);
        if (!other) return wick_fail_oom(err, size, "path of a shard");
        other[size - 6] = (char)('0' + i / 10);
        other[size - 5] = (char)('0' + i % 10);
        if (!wick_path_exists(other)) break;
        WICK_TRY(wick_ckpt_open_shard(ckpt, other, err));
    }
    return ckpt->file_count > 1 ? join_all(ckpt, path, err) : WICK_OK;
}

wick_status wick_ckpt_open_parts(struct wick_checkpoint *ckpt, const char *path, wick_error *err)
{
    if (ckpt->file_count != 1) return WICK_OK;
    return strcmp(ckpt->format, "gguf") == 0 ? open_split(ckpt, path, err) : open_consolidated(ckpt, path, err);
}
