/* base/str.c - byte buffers, UTF-8 stepping, nearest names; see str.h. */
#include "base/str.h"

#include "base/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool wick_buf_reserve(struct wick_buf *buf, size_t more)
{
    size_t want;
    if (buf->failed) return false;
    if (wick_add_size(buf->size, more, &want) || wick_add_size(want, 1, &want)) return !(buf->failed = true);
    if (want <= buf->capacity) return true;
    size_t capacity = buf->capacity < SIZE_MAX / 2 ? WICK_MAX(want, buf->capacity * 2) : want;
    char *data = realloc(buf->data, capacity);
    if (!data) return !(buf->failed = true);
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void wick_buf_append(struct wick_buf *buf, const void *data, size_t size)
{
    if (!wick_buf_reserve(buf, size)) return;
    if (size) memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = 0;
}

void wick_buf_text(struct wick_buf *buf, const char *text) { wick_buf_append(buf, text, strlen(text)); }

void wick_buf_printf(struct wick_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0) buf->failed = true;
    if (size >= 0 && wick_buf_reserve(buf, (size_t)size)) {
        vsnprintf(buf->data + buf->size, (size_t)size + 1, format, again);
        buf->size += (size_t)size;
    }
    va_end(again);
}

void wick_buf_json_string(struct wick_buf *buf, const char *data, size_t size)
{
    wick_buf_append(buf, "\"", 1);
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)data[i];
        size_t n = wick_utf8_next(data + i, size - i, NULL);
        if (n == 0) {
            wick_buf_append(buf, "\xef\xbf\xbd", 3);
            i++;
            continue;
        }
        if (c == '"' || c == '\\') wick_buf_printf(buf, "\\%c", c);
        else if (c == '\n') wick_buf_text(buf, "\\n");
        else if (c == '\r') wick_buf_text(buf, "\\r");
        else if (c == '\t') wick_buf_text(buf, "\\t");
        else if (c < 0x20 || c == 0x7f) wick_buf_printf(buf, "\\u%04x", c);
        else wick_buf_append(buf, data + i, n);
        i += n;
    }
    wick_buf_append(buf, "\"", 1);
}

void wick_buf_free(struct wick_buf *buf)
{
    free(buf->data);
    *buf = (struct wick_buf){0};
}

static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    enum { NAME_MAX_LENGTH = 95 };
    unsigned char row[NAME_MAX_LENGTH + 1];
    if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) row[j] = (unsigned char)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned char diagonal = row[0];
        row[0] = (unsigned char)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned char above = row[j];
            unsigned char change = (unsigned char)(diagonal + (a[i - 1] != b[j - 1]));
            row[j] = (unsigned char)WICK_MIN(change, WICK_MIN(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[m];
}

const char *wick_nearest_name(const char *name, const char *const *names)
{
    const char *best = NULL;
    size_t size = strlen(name), best_distance = size / 3 + 1;
    for (; *names; names++) {
        size_t distance = edit_distance(name, size, *names, strlen(*names));
        if (distance < best_distance) {
            best_distance = distance;
            best = *names;
        }
    }
    return best;
}

size_t wick_utf8_next(const char *data, size_t size, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)data;
    uint32_t c = p[0];
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n == 0 || n > size) return 0;
    if (n > 1) c &= 0x7fu >> n;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) || (n == 4 && (c < 0x10000 || c > 0x10ffff))) return 0;
    if (code) *code = c;
    return n;
}

size_t wick_utf8_put(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}
