/* flat/flatc_test.h - for tests: what `flatc` makes of a file with the schema text we print, compared with our own JSON. */
#ifndef WICK_FLAT_FLATC_H
#define WICK_FLAT_FLATC_H

#include "fixture.h"

#include "base/json.h"
#include "base/os.h"
#include "flat/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool flatc_missing(void) { return system("command -v flatc >/dev/null 2>&1") != 0; }

static inline void flatc_store(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* flatc writes what JSON has no words for bare: inf, nan, and numbers above INT64_MAX, which the JSON library refuses. Both texts
 * get them as strings. */
static inline void flatc_quote(const char *in, size_t size, struct wick_buf *out)
{
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        size_t word = 0;
        if (in[i] == '"' && (i == 0 || in[i - 1] != '\\')) quoted = !quoted;
        if (!quoted && in[i] != '"') {
            while (i + word < size && !strchr(",]}: \n\"", in[i + word])) word++;
        }
        bool odd = word && (memchr(in + i, 'n', word) || memchr(in + i, 'N', word)) && strncmp(in + i, "null", 4) != 0;
        if (word >= 19 && strspn(in + i, "0123456789") == word) odd = true;
        if (odd) wick_buf_printf(out, "\"%.*s\"", (int)word, in + i);
        else if (word) wick_buf_append(out, in + i, word);
        else wick_buf_append(out, in + i, 1);
        if (word) i += word - 1;
    }
}

/* Equal but for the digits of real numbers, of which flatc prints few. */
static inline bool flatc_same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);
        if (json_is_integer(a) && json_is_integer(b)) return json_integer_value(a) == json_integer_value(b);
        return fabs(x - y) <= 1e-5 * fmax(fabs(x), fabs(y)) + 1e-6;
    }
    if (json_typeof(a) != json_typeof(b)) return false;
    if (json_is_array(a)) {
        if (json_array_size(a) != json_array_size(b)) return false;
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!flatc_same(json_array_get(a, i), json_array_get(b, i))) return false;
        return true;
    }
    if (json_is_object(a)) {
        if (json_object_size(a) != json_object_size(b)) return false;
        for (void *at = json_object_iter((json_t *)(uintptr_t)a); at; at = json_object_iter_next((json_t *)(uintptr_t)a, at)) {
            const json_t *other = json_object_get(b, json_object_iter_key(at));
            if (!other || !flatc_same(json_object_iter_value(at), other)) return false;
        }
        return true;
    }
    return json_equal(a, b);
}

static inline json_t *flatc_parse(const char *text, size_t size, const char *what)
{
    struct wick_buf quoted = {0};
    wick_error err;
    json_t *json;
    flatc_quote(text, size, &quoted);
    WICK_ASSERT_OK(wick_json_parse(&json, quoted.data, quoted.size, what, WICK_INVALID_PROGRAM, &err), &err);
    wick_buf_free(&quoted);
    return json;
}

/* Asserts that flatc prints `data` (a verified buffer whose root is `root`) as wick_flat_print_json does. */
static inline void flatc_check(const struct wick_flat_schema *schema, struct flat_table root, const void *data, size_t size, const char *what)
{
    char schema_path[256], binary_path[256], json_path[256], folder[256], command[1100];
    struct wick_buf text = {0}, ours = {0};
    struct wick_map theirs;
    wick_error err;
    snprintf(schema_path, sizeof schema_path, "%s", wick_test_temp("schema.fbs"));
    snprintf(binary_path, sizeof binary_path, "%s", wick_test_temp("file.bin"));
    snprintf(json_path, sizeof json_path, "%s", wick_test_temp("file.json"));
    snprintf(folder, sizeof folder, "%s", schema_path);
    *strrchr(folder, '/') = 0;
    wick_flat_print_schema(schema, &text);
    flatc_store(schema_path, text.data, text.size);
    flatc_store(binary_path, data, size);
    snprintf(command, sizeof command, "flatc --json --strict-json --raw-binary -o '%s' '%s' -- '%s' 2>&1", folder, schema_path, binary_path);
    if (system(command) != 0) fail_msg("flatc refuses %s", what);
    WICK_ASSERT_OK(wick_map_open(&theirs, json_path, &err), &err);
    wick_flat_print_json(schema, schema->root, root, 0, 0, &ours);
    json_t *a = flatc_parse((const char *)theirs.data, theirs.size, "flatc"), *b = flatc_parse(ours.data, ours.size, "ours");
    if (!flatc_same(a, b)) fail_msg("flatc reads %s otherwise than we do", what);
    json_decref(a);
    json_decref(b);
    wick_map_close(&theirs);
    wick_buf_free(&text);
    wick_buf_free(&ours);
}

#endif
