/* tensor/dtype.c - see dtype.h. */
#include "tensor/dtype.h"

#include <string.h>

static const struct {
    uint8_t size;
    const char *name, *word;
} dtypes[WICK_DTYPE_COUNT] = {
#define WICK_DTYPE_ROW(name, id, bytes, text, word) [id] = {bytes, text, word},
    WICK_DTYPE_LIST(WICK_DTYPE_ROW)
#undef WICK_DTYPE_ROW
};

size_t wick_dtype_size(int dtype) { return dtype >= 0 && dtype < WICK_DTYPE_COUNT ? dtypes[dtype].size : 0; }
const char *wick_dtype_name(int dtype) { return dtype >= 0 && dtype < WICK_DTYPE_COUNT ? dtypes[dtype].name : "?"; }
const char *wick_dtype_word(int dtype) { return dtype >= 0 && dtype < WICK_DTYPE_COUNT ? dtypes[dtype].word : "?"; }

int wick_dtype_by_word(const char *word)
{
    for (int i = 0; i < WICK_DTYPE_COUNT; i++)
        if (strcmp(dtypes[i].word, word) == 0) return i;
    return -1;
}
