/* tools/cli/bench_layers.c - which layer of the model an instruction came from, as the record of the export says (NAME.etrecord.json). */
#include "bench.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static bool fail(wick_error *err, const char *path, const char *what)
{
    err->status = WICK_INVALID_ARGUMENT;
    snprintf(err->message, sizeof err->message, "%.300s: %.100s", path, what);
    return false;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && *text ? text : "-";
}

/* A call of a delegate that was made of several layers has the first and the last. No blanks: a line of numbers follows. */
static void name_layer(const json_t *instruction, char name[BENCH_NAME])
{
    const json_t *calls = json_object_get(instruction, "calls");
    const char *first = text_of(instruction, "layer"), *last = json_array_size(calls) ? text_of(json_array_get(calls, json_array_size(calls) - 1), "layer") : first;
    if (strcmp(first, last) == 0) snprintf(name, BENCH_NAME, "%s", first);
    else snprintf(name, BENCH_NAME, "%.30s..%.30s", first, last);
    for (char *c = name; *c; c++)
        if (*c == ' ' || *c == '\n') *c = '_';
}

static const json_t *find_method(const json_t *root, const char *name)
{
    const json_t *methods = json_object_get(root, "methods");
    for (size_t i = 0; i < json_array_size(methods); i++)
        if (strcmp(text_of(json_array_get(methods, i), "name"), name) == 0) return json_object_get(json_array_get(methods, i), "instructions");
    return NULL;
}

bool bench_layers_load(struct bench_layers *layers, const char *program, wick_error *err)
{
    char path[1100];
    json_error_t where;
    size_t size = strlen(program);
    *layers = (struct bench_layers){.count = 0};
    if (size > 4 && strcmp(program + size - 4, ".pte") == 0) size -= 4;
    if (snprintf(path, sizeof path, "%.*s.etrecord.json", (int)size, program) >= (int)sizeof path) return fail(err, program, "path too long");
    json_t *root = json_load_file(path, 0, &where);
    if (!root) {
        fail(err, path, where.text);
        snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message), "; --layers needs the record of wick export debug.generate_etrecord=true");
        return false;
    }
    const json_t *instructions = find_method(root, "forward");
    layers->count = json_array_size(instructions);
    layers->names = calloc(layers->count + 1, sizeof *layers->names);
    for (size_t i = 0; layers->names && i < layers->count; i++) name_layer(json_array_get(instructions, i), layers->names[i]);
    json_decref(root);
    if (!layers->names) return fail(err, path, "out of memory");
    return layers->count ? true : fail(err, path, "has no instructions of the method forward");
}

void bench_layers_free(struct bench_layers *layers)
{
    free(layers->names);
    *layers = (struct bench_layers){.count = 0};
}
