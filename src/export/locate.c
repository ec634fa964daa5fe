/* export/locate.c - see locate.h. Environment as the original's libraries read it: HF_HOME, HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, XDG_CACHE_HOME, HOME. */
#include "export/locate.h"

#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES = 1024 };

static const struct {
    const char *model_class, *repository;
} repositories[] = {
#define WICK_REPOSITORY(model_class, repository) {model_class, repository},
#include "export/locate.def"
#undef WICK_REPOSITORY
};

/* The value of a variable that is set and not empty, else NULL. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Appends text with its slashes written as `slash`; what does not fit makes the path empty. */
static void append(char path[PATH_BYTES], const char *text, const char *slash)
{
    size_t at = strlen(path);
    for (; *text; text++) {
        const char letter[2] = {*text, 0}, *piece = *text == '/' ? slash : letter;
        size_t size = strlen(piece);
        if (at + size >= PATH_BYTES) {
            path[0] = 0;
            return;
        }
        memcpy(path + at, piece, size + 1);
        at += size;
    }
}

/* <HF_HOME or home>/.cache/meta_checkpoints/<owner_name>.pth: what the original converted. */
static void converted_path(char path[PATH_BYTES], const char *repository)
{
    const char *home = variable("HF_HOME") ? variable("HF_HOME") : variable("HOME");
    path[0] = 0;
    append(path, home ? home : ".", "/");
    append(path, "/.cache/meta_checkpoints/", "/");
    append(path, repository, "_");
    append(path, ".pth", "/");
}

/* The folder of a repository in the download cache. */
static void hub_path(char path[PATH_BYTES], const char *repository)
{
    const char *hub = variable("HF_HUB_CACHE") ? variable("HF_HUB_CACHE") : variable("HUGGINGFACE_HUB_CACHE"), *home = variable("HOME");
    path[0] = 0;
    if (hub) append(path, hub, "/");
    else if (variable("HF_HOME")) append(path, variable("HF_HOME"), "/"), append(path, "/hub", "/");
    else if (variable("XDG_CACHE_HOME")) append(path, variable("XDG_CACHE_HOME"), "/"), append(path, "/huggingface/hub", "/");
    else append(path, home ? home : ".", "/"), append(path, "/.cache/huggingface/hub", "/");
    append(path, "/models--", "/");
    append(path, repository, "--");
}

/* The snapshot that refs/main names; false if there is none. */
static bool snapshot_path(char path[PATH_BYTES], const char *hub)
{
    struct wick_map map;
    char commit[65], reference[PATH_BYTES] = "";
    append(reference, hub, "/");
    append(reference, "/refs/main", "/");
    if (!reference[0] || wick_map_open(&map, reference, NULL) != WICK_OK) return false;
    size_t size = 0;
    while (map.data && size < map.size && size < sizeof commit - 1 && memchr("0123456789abcdef", map.data[size], 16)) commit[size] = (char)map.data[size], size++;
    commit[size] = 0;
    wick_map_close(&map);
    path[0] = 0;
    append(path, hub, "/");
    append(path, "/snapshots/", "/");
    append(path, commit, "/");
    return size > 0 && path[0] && wick_path_is_folder(path);
}

static wick_status use(struct wick_config *config, const char *path, const char *repository, const struct wick_log *log, wick_error *err)
{
    struct wick_config_value *value = &config->values[WICK_KEY_BASE_CHECKPOINT];
    *value = (struct wick_config_value){.text = wick_arena_copy(&config->arena, path, strlen(path))};
    if (!value->text) return wick_fail_oom(err, strlen(path), "base.checkpoint");
    wick_log_line(log, WICK_LOG_INFO, "base.checkpoint is not given: %s of %s is used", path, repository);
    return WICK_OK;
}

wick_status wick_locate_checkpoint(struct wick_config *config, const struct wick_log *log, wick_error *err)
{
    char converted[PATH_BYTES], hub[PATH_BYTES], snapshot[PATH_BYTES];
    const char *model_class = wick_config_text(config, WICK_KEY_BASE_MODEL_CLASS), *path = wick_config_text(config, WICK_KEY_BASE_CHECKPOINT);
    if (path && *path) return WICK_OK;
    for (size_t i = 0; i < WICK_ARRAY_SIZE(repositories); i++) {
        const char *repository = repositories[i].repository;
        if (!wick_config_is(config, WICK_KEY_BASE_MODEL_CLASS, repositories[i].model_class)) continue;
        converted_path(converted, repository);
        hub_path(hub, repository);
        if (converted[0] && wick_path_exists(converted)) return use(config, converted, repository, log, err);
        if (hub[0] && snapshot_path(snapshot, hub)) return use(config, snapshot, repository, log, err);
        return wick_fail(err, WICK_INVALID_CONFIG, "base.checkpoint: missing, and nothing is fetched here: download %s and name its folder (looked for %.100s and %.100s)", repository,
                         converted, hub);
    }
    return wick_fail(err, WICK_INVALID_CONFIG, "base.checkpoint: missing: name a .pth, .safetensors or .gguf file, or a folder with one (no weights are made up for base.model_class=%s)",
                     model_class);
}
