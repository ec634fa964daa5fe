/* tests/fuzz/fuzz.h - a deterministic mutation driver. A fuzz_<format>.c gives samples and one function that must survive anything.
 *
 *     wick_fuzz_<name> N [seed]
 *
 * runs N mutations of every format that it knows. A crash, a sanitizer report, or a failed FUZZ_REQUIRE ends it; the seed and number
 * printed then repeat it. */
#ifndef WICK_TESTS_FUZZ_H
#define WICK_TESTS_FUZZ_H

#include "fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fuzz_sample {
    uint8_t *data; /* malloc'ed */
    size_t size;
};

enum { FUZZ_FORMATS_MAX = 8 };

struct fuzz {
    struct fuzz_sample *samples;
    size_t sample_count;
    size_t first[FUZZ_FORMATS_MAX + 1]; /* sample of a format; [format_count] is sample_count */
    size_t format_count;
    const char *const *words; /* of a text format, up to NULL: written over what is there; or NULL */
    uint64_t rng, seed;
    unsigned long number; /* of the mutation being run */
};

#define FUZZ_REQUIRE(fuzz, condition)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (seed %llu, mutation %lu)\n", __FILE__, __LINE__, #condition,                     \
                    (unsigned long long)(fuzz)->seed, (fuzz)->number);                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline size_t fuzz_below(struct fuzz *fuzz, size_t limit) { return limit ? (size_t)(wick_test_random(&fuzz->rng) % limit) : 0; }

/* The samples added from here on are of another format, and get N mutations of their own. One that gets no samples does not count. */
static inline void fuzz_format(struct fuzz *fuzz)
{
    if (fuzz->format_count && fuzz->first[fuzz->format_count - 1] == fuzz->sample_count) return;
    if (fuzz->format_count == FUZZ_FORMATS_MAX) abort();
    fuzz->first[fuzz->format_count++] = fuzz->sample_count;
}

/* Takes ownership of malloc'ed data. */
static inline void fuzz_add(struct fuzz *fuzz, uint8_t *data, size_t size)
{
    if (fuzz->format_count == 0) fuzz_format(fuzz);
    fuzz->samples = realloc(fuzz->samples, (fuzz->sample_count + 1) * sizeof *fuzz->samples);
    if (!fuzz->samples || !data) abort();
    fuzz->samples[fuzz->sample_count++] = (struct fuzz_sample){data, size};
    fuzz->first[fuzz->format_count] = fuzz->sample_count;
}

/* Writes an extreme or near-by integer over 1, 2, 4 or 8 bytes. */
static inline void fuzz_integer(struct fuzz *fuzz, uint8_t *data, size_t size)
{
    static const uint64_t extremes[] = {0, 1, 2, 4, 7, 8, 16, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000,
                                        0xfffffffc, 0xffffffff, 1ull << 32, 1ull << 62, INT64_MAX, 1ull << 63, UINT64_MAX - 7, UINT64_MAX};
    size_t width = (size_t)1 << fuzz_below(fuzz, 4);
    if (size < width) return;
    size_t at = fuzz_below(fuzz, size - width + 1);
    if (fuzz_below(fuzz, 4)) at -= at % width; /* formats align their numbers */
    uint64_t value = 0;
    memcpy(&value, data + at, width);
    if (fuzz_below(fuzz, 2)) value += fuzz_below(fuzz, 65) - 32;
    else value = extremes[fuzz_below(fuzz, sizeof extremes / sizeof extremes[0])];
    memcpy(data + at, &value, width);
}

/* Writes a word of the format over the bytes at `at`, which go on to `end`. */
static inline void fuzz_word(struct fuzz *fuzz, uint8_t *at, const uint8_t *end)
{
    size_t count = 0, n, left = (size_t)(end - at);
    while (fuzz->words[count]) count++;
    const char *word = fuzz->words[fuzz_below(fuzz, count)];
    n = strlen(word);
    memcpy(at, word, n < left ? n : left);
}

/* Changes data in place 1 to 8 times: bits, bytes, integers or words, moved and zeroed ranges, pieces of another sample, a shorter end.
 * Returns the new size. Early bytes, where formats keep their headers, are hit more often than their share. */
static inline size_t fuzz_mutate(struct fuzz *fuzz, uint8_t *data, size_t size)
{
    size_t changes = 1 + fuzz_below(fuzz, 1 + fuzz_below(fuzz, 8)); /* few more often than many */
    for (size_t i = 0; i < changes && size > 0; i++) {
        size_t span = fuzz_below(fuzz, 3) == 0 && size > 256 ? 256 : size, at = fuzz_below(fuzz, span), n;
        const struct fuzz_sample *other = &fuzz->samples[fuzz_below(fuzz, fuzz->sample_count)];
        switch (fuzz_below(fuzz, 13)) {
        case 0:
        case 1: data[at] ^= (uint8_t)(1u << fuzz_below(fuzz, 8)); break;
        case 2: data[at] = (uint8_t)wick_test_random(&fuzz->rng); break;
        case 3: /* a range moves to another place */
            n = 1 + fuzz_below(fuzz, size < 64 ? size : 64);
            memmove(data + fuzz_below(fuzz, size - n + 1), data + fuzz_below(fuzz, size - n + 1), n);
            break;
        case 4:
            n = fuzz_below(fuzz, size - at < 32 ? size - at : 32);
            memset(data + at, fuzz_below(fuzz, 2) ? 0 : 0xff, n);
            break;
        case 5:
            if (fuzz_below(fuzz, 4) == 0) size = fuzz_below(fuzz, size + 1);
            break;
        case 6: /* from the same place of another sample, or from anywhere in it */
            n = 1 + fuzz_below(fuzz, size - at < 256 ? size - at : 256);
            if (n > other->size) break;
            memcpy(data + at, other->data + (at + n <= other->size && fuzz_below(fuzz, 2) ? at : fuzz_below(fuzz, other->size - n + 1)), n);
            break;
        default:
            if (fuzz->words && fuzz_below(fuzz, 2)) fuzz_word(fuzz, data + at, data + size);
            else fuzz_integer(fuzz, data, span);
            break;
        }
    }
    return size;
}

/* Runs one mutated input; data is aligned to 64 and ends where it ends. */
typedef void (*fuzz_run_fn)(struct fuzz *fuzz, const uint8_t *data, size_t size);

/* One mutation of a sample, in memory of exactly its size. */
static inline void fuzz_one(struct fuzz *fuzz, const struct fuzz_sample *sample, bool mutated, fuzz_run_fn run)
{
    uint8_t *work = malloc(sample->size ? sample->size : 1);
    void *exact = NULL;
    if (!work) abort();
    memcpy(work, sample->data, sample->size);
    size_t size = mutated ? fuzz_mutate(fuzz, work, sample->size) : sample->size;
    if (posix_memalign(&exact, 64, size ? size : 1) != 0) abort();
    memcpy(exact, work, size);
    free(work);
    run(fuzz, exact, size);
    free(exact);
}

/* The body of main: `wick_fuzz_x N [seed]`. Samples are added before; they are run unchanged first. Formats take turns. */
static inline int fuzz_main(struct fuzz *fuzz, int argc, char **argv, fuzz_run_fn run)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    fuzz->seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    fuzz->rng = fuzz->seed * 0x9e3779b97f4a7c15ull | 1;
    if (fuzz->format_count && fuzz->first[fuzz->format_count - 1] == fuzz->sample_count) fuzz->format_count--;
    count *= fuzz->format_count;
    for (size_t i = 0; i < fuzz->sample_count; i++) fuzz_one(fuzz, &fuzz->samples[i], false, run);
    for (fuzz->number = 0; fuzz->number < count; fuzz->number++) {
        size_t format = fuzz->number % fuzz->format_count, first = fuzz->first[format];
        fuzz_one(fuzz, &fuzz->samples[first + fuzz_below(fuzz, fuzz->first[format + 1] - first)], true, run);
    }
    printf("samples: %zu, formats: %zu, mutations: %lu\n", fuzz->sample_count, fuzz->format_count, fuzz->number);
    for (size_t i = 0; i < fuzz->sample_count; i++) free(fuzz->samples[i].data);
    free(fuzz->samples);
    return 0;
}

#endif
