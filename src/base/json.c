/* base/json.c - see json.h. */
#include "base/json.h"

#include "base/os.h"

wick_status wick_json_parse(json_t **out, const char *data, size_t size, const char *what, wick_status code, wick_error *err)
{
    json_error_t at;
    *out = json_loadb(data ? data : "", size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &at);
    if (*out) return WICK_OK;
    return wick_fail(err, code, "%s: JSON, line %d, offset %d: %s", what, at.line, at.position, at.text);
}

wick_status wick_json_load(json_t **out, const char *path, wick_status code, wick_error *err)
{
    struct wick_map map;
    *out = NULL;
    WICK_TRY(wick_map_open(&map, path, err));
    wick_status status = wick_json_parse(out, (const char *)map.data, map.size, path, code, err);
    wick_map_close(&map);
    return status;
}
