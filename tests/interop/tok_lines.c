/* Ids and decoded texts of many texts, for tok_compare.py: wick_tok_lines TOKENIZER TEXTS OUT. TEXTS holds per text a little-endian uint32 size
 * and the bytes; OUT per text: uint32 count and the ids (UINT32_MAX: refused), uint32 size and the decoded text. Says the times on standard output.
 */
#include "base/os.h"
#include "tok/tok.h"

#include <stdio.h>
#include <stdlib.h>

static void put_number(struct wick_buf *out, size_t value)
{
    uint32_t number = (uint32_t)value;
    wick_buf_append(out, &number, sizeof number);
}

static int run(const struct wick_tok *tok, struct wick_str data, bool special, struct wick_buf *out)
{
    uint64_t began = wick_now_ns(), spent = 0;
    struct wick_ids ids = {0};
    struct wick_buf text = {0};
    size_t bytes = 0, tokens = 0;
    for (size_t at = 0; at + 4 <= data.size;) {
        uint32_t size;
        wick_error err;
        memcpy(&size, data.data + at, 4);
        if (size > data.size - at - 4) return 1;
        ids.count = text.size = 0;
        uint64_t from = wick_now_ns();
        wick_status status = wick_tok_encode(tok, data.data + at + 4, size, special ? WICK_TOK_SPECIAL : 0, &ids, &err);
        spent += wick_now_ns() - from;
        at += 4 + size;
        bytes += size;
        tokens += ids.count;
        put_number(out, status == WICK_OK ? ids.count : UINT32_MAX);
        for (size_t i = 0; status == WICK_OK && i < ids.count; i++) put_number(out, (size_t)ids.data[i]);
        if (wick_tok_decode(tok, ids.data, ids.count, 0, &text, &err) != WICK_OK) return 1;
        put_number(out, text.size);
        wick_buf_append(out, text.data, text.size);
    }
    printf("\"bytes\": %zu, \"tokens\": %zu, \"encode_ms\": %.2f, \"all_ms\": %.2f}\n", bytes, tokens, (double)spent / 1e6,
           (double)(wick_now_ns() - began) / 1e6);
    wick_ids_free(&ids);
    wick_buf_free(&text);
    return out->failed;
}

int main(int argc, char **argv)
{
    struct wick_tok *tok = NULL;
    struct wick_map map;
    struct wick_buf out = {0};
    wick_error err = {0};
    if (argc < 4) return fprintf(stderr, "usage: wick_tok_lines TOKENIZER TEXTS OUT [special]\n"), 2;
    uint64_t began = wick_now_ns();
    if (wick_tok_load(&tok, argv[1], &err) != WICK_OK || wick_map_open(&map, argv[2], &err) != WICK_OK) {
        fprintf(stderr, "%s\n", err.message);
        wick_tok_free(tok);
        return 1;
    }
    printf("{\"format\": \"%s\", \"load_ms\": %.2f, ", wick_tok_format(tok), (double)(wick_now_ns() - began) / 1e6);
    int result = run(tok, (struct wick_str){(const char *)map.data, map.size}, argc > 4, &out);
    FILE *file = fopen(argv[3], "wb");
    if (!file || fwrite(out.data ? out.data : "", 1, out.size, file) != out.size) result = 1;
    if (file && fclose(file) != 0) result = 1;
    wick_map_close(&map);
    wick_buf_free(&out);
    wick_tok_free(tok);
    return result;
}
