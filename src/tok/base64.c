/* tok/base64.c - see base64.h. */
#include "tok/base64.h"

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool wick_tok_base64(struct wick_str text, struct wick_buf *out)
{
    out->size = 0;
    if (text.size == 0 || text.size % 4) return false;
    for (size_t i = 0; i < text.size; i += 4) {
        uint32_t bits = 0;
        size_t pad = 0;
        for (size_t k = 0; k < 4; k++) {
            char c = text.data[i + k];
            int digit = base64_digit(c);
            bool padding = c == '=' && i + 4 == text.size && k >= 2;
            if ((digit < 0 && !padding) || (digit >= 0 && pad)) return false;
            pad += padding;
            bits = bits << 6 | (padding ? 0 : (uint32_t)digit);
        }
        char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        wick_buf_append(out, bytes, 3 - pad);
    }
    return true;
}
