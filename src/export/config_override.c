/* export/config_override.c - `section.key=value` as the original's command line reads it: quoted texts, lists, mappings, null, escapes. Where a key takes
 * text, what that grammar has no reading for ("4,32", JSON without quotes) is taken as it stands. */
#include "export/config_set.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct reader {
    const char *at;
    const char *name;
    wick_error *err;
};

static json_t *read_element(struct reader *r, int depth);

static json_t *wrong(struct reader *r, const char *why)
{
    wick_fail(r->err, WICK_INVALID_CONFIG, "%s: %s at '%.40s'; quote texts that hold more than letters, digits and -_./: (%s='\"...\"')", r->name, why, r->at, r->name);
    return NULL;
}

static void skip_blanks(struct reader *r) { r->at += strspn(r->at, " \t"); }

/* A quoted text: of n backslashes before the quote, n/2 stay, and an odd one makes the quote part of the text; other backslashes are what they are. */
static json_t *read_quoted(struct reader *r)
{
    const char quote = *r->at, *begin = r->at;
    struct wick_buf out = {0};
    wick_buf_reserve(&out, 1);
    for (r->at++; *r->at && *r->at != quote;) {
        size_t slashes = strspn(r->at, "\\");
        bool before_quote = r->at[slashes] == quote;
        if (slashes == 0) wick_buf_append(&out, r->at++, 1);
        else {
            wick_buf_append(&out, r->at, before_quote ? slashes / 2 : slashes);
            r->at += slashes;
            if (before_quote && slashes % 2) wick_buf_append(&out, r->at++, 1);
        }
    }
    if (*r->at != quote) {
        wick_buf_free(&out);
        r->at = begin;
        return wrong(r, "a quote that does not end");
    }
    r->at++;
    json_t *value = out.failed ? NULL : json_stringn_nocheck(out.size ? out.data : "", out.size);
    wick_buf_free(&out);
    return value ? value : wrong(r, "no memory");
}

/* JSON of an unquoted text by its look. */
static json_t *typed(const char *text)
{
    char digits[64], *end;
    size_t n = 0;
    if (strcasecmp(text, "null") == 0) return json_null();
    if (strcasecmp(text, "true") == 0) return json_true();
    if (strcasecmp(text, "false") == 0) return json_false();
    const char *sign = text + (*text == '-' || *text == '+');
    if (isdigit((unsigned char)*sign) || *sign == '.') {
        bool octal = sign[0] == '0' && isdigit((unsigned char)sign[1]), whole = true;
        const char *at = text;
        for (; *at && n < sizeof digits - 1 && strchr("0123456789_.eE+-", *at); at++) {
            if (*at == '_' && at > text && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)at[1])) continue;
            whole = whole && !strchr(".eE", *at);
            digits[n++] = *at;
        }
        digits[n] = 0;
        if (!*at && !octal && whole) {
            errno = 0;
            json_int_t i = strtoll(digits, &end, 10);
            if (!*end && end != digits && !errno) return json_integer(i);
        } else if (!*at && !octal) {
            double d = strtod(digits, &end);
            json_t *real = !*end && end != digits ? json_real(d) : NULL;
            if (real) return real;
        }
    }
    return json_stringn_nocheck(text, strlen(text));
}

/* Up to a delimiter of the grammar; `\` before one of \()[]{}:=, or a blank takes it as a letter. Interpolations are taken whole. */
static json_t *read_plain(struct reader *r, bool top)
{
    struct wick_buf out = {0};
    int inside = 0;
    while (*r->at) {
        if (strncmp(r->at, "${", 2) == 0) inside++;
        if (!inside && !top && strchr(",[]{}", *r->at)) break;
        if (*r->at == '}' && inside) inside--;
        if (*r->at == '\\' && r->at[1] && strchr("\\()[]{}:=, \t", r->at[1])) r->at++;
        wick_buf_append(&out, r->at++, 1);
    }
    while (out.size && (out.data[out.size - 1] == ' ' || out.data[out.size - 1] == '\t')) out.data[--out.size] = 0;
    json_t *value = out.failed ? wrong(r, "no memory") : out.size ? typed(out.data) : top ? json_string("") : wrong(r, "a value is missing");
    wick_buf_free(&out);
    return value;
}

static json_t *read_list(struct reader *r, int depth)
{
    json_t *list = json_array();
    r->at++;
    skip_blanks(r);
    while (list && *r->at != ']') {
        json_t *item = read_element(r, depth + 1);
        if (!item || json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
        if (*r->at == ',') r->at++;
        else if (*r->at != ']') {
            json_decref(list);
            return wrong(r, "a list goes on with , or ]");
        }
        skip_blanks(r);
    }
    r->at++;
    return list;
}

/* One "name: value"; false with the error set. */
static bool read_pair(struct reader *r, json_t *map, int depth)
{
    json_t *key;
    if (*r->at == '"' || *r->at == '\'') key = read_quoted(r);
    else {
        size_t size = strcspn(r->at, ":,{}[]");
        key = json_stringn_nocheck(r->at, size);
        r->at += size;
    }
    skip_blanks(r);
    bool good = key && *r->at == ':';
    if (!good) wrong(r, "a mapping is {name: value}");
    else {
        r->at++;
        json_t *value = read_element(r, depth + 1);
        good = value && json_object_setn_new_nocheck(map, json_string_value(key), json_string_length(key), value) == 0;
    }
    json_decref(key);
    return good;
}

static json_t *read_map(struct reader *r, int depth)
{
    json_t *map = json_object();
    r->at++;
    skip_blanks(r);
    while (map && *r->at != '}') {
        if (!read_pair(r, map, depth)) {
            json_decref(map);
            return NULL;
        }
        if (*r->at == ',') r->at++;
        else if (*r->at != '}') {
            json_decref(map);
            return wrong(r, "a mapping goes on with , or }");
        }
        skip_blanks(r);
    }
    r->at++;
    return map;
}

static json_t *read_element(struct reader *r, int depth)
{
    skip_blanks(r);
    if (depth > WICK_CONFIG_DEPTH_MAX) return wrong(r, "nested too deep");
    json_t *value = *r->at == '[' ? read_list(r, depth) : *r->at == '{' ? read_map(r, depth) : *r->at == '"' || *r->at == '\'' ? read_quoted(r) : read_plain(r, false);
    skip_blanks(r);
    return value;
}

/* The whole value of a key that takes one scalar. */
static json_t *read_scalar(struct reader *r, bool text)
{
    const char *begin = r->at;
    if (*r->at == '"' || *r->at == '\'') {
        json_t *value = read_quoted(r);
        skip_blanks(r);
        if (!value || !*r->at) return value;
        json_decref(value);
        if (!text) return wrong(r, "more after a quoted text");
    } else if (!text || !strchr("[{", *begin) || !*begin) return read_plain(r, true);
    return json_stringn_nocheck(begin, strlen(begin));
}

/* Does the name lead to a key that takes text? Then what the grammar cannot read stands as it is. */
static bool takes_text(const char *name)
{
    enum wick_key key;
    return wick_config_find(name, &key) && (wick_config_info(key)->type == WICK_TYPE_STRING || wick_config_info(key)->type == WICK_TYPE_OPTIONAL);
}

static bool takes_scalar(const char *name)
{
    enum wick_key key;
    return wick_config_find(name, &key) && !wick_config_is_structured(key);
}

static wick_status set(struct wick_config *config, const char *name, const char *raw, wick_error *err)
{
    wick_error here = {WICK_INVALID_CONFIG, ""};
    struct reader r = {raw, name, &here};
    skip_blanks(&r);
    raw = r.at;
    json_t *value = takes_scalar(name) ? read_scalar(&r, takes_text(name)) : read_element(&r, 0);
    if (value && *r.at && !takes_scalar(name)) {
        json_decref(value);
        value = wrong(&r, *r.at == ',' ? "several values are a sweep, which is not supported: write a list as [a,b], a text in quotes;" : "more after the value");
    }
    if (!value) return wick_fail(err, WICK_INVALID_CONFIG, "%s", here.message[0] ? here.message : "no memory");
    wick_status status = wick_config_set(config, name, value, raw, err);
    json_decref(value);
    return status;
}

wick_status wick_config_override(struct wick_config *config, const char *text, wick_error *err)
{
    char name[WICK_CONFIG_NAME_BYTES];
    const char *start = text;
    if (*start == '~') return wick_fail(err, WICK_NOT_SUPPORTED, "'%.80s': taking a key away is not supported; give its default", text);
    for (int i = 0; *start == '+' && i < 2; i++) start++;
    size_t size = strcspn(start, "=");
    if (!start[size] || size == 0 || size >= sizeof name || memchr(start, ' ', size))
        return wick_fail(err, WICK_INVALID_CONFIG, "'%.80s': write overrides as section.key=value", text);
    memcpy(name, start, size);
    name[size] = 0;
    /* Settings of the original's command-line framework (where it logs to): there is nothing here that they change. */
    if (strncmp(name, "hydra.", 6) == 0 || strncmp(name, "hydra/", 6) == 0) return WICK_OK;
    if (wick_config_is_section(name)) return wick_fail(err, WICK_INVALID_CONFIG, "%s: is a section: write its keys one by one, %s.key=value", name, name);
    return set(config, name, start + size + 1, err);
}
