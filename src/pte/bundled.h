/* pte/bundled.h - opening a .bpte file: a whole program and the test cases of its methods. */
#ifndef WICK_PTE_BUNDLED_H
#define WICK_PTE_BUNDLED_H

#include "pte/bundled_schema.h"
#include "pte/pte.h"

/* An open bundle. Borrows the caller's bytes. Immutable; may be shared by threads. */
struct wick_bundled_file {
    struct flat_table root;       /* BPTE_TABLE_ROOT */
    struct wick_pte_blob program; /* a complete .pte in place, aligned to 16: for wick_pte_open */
};

/* One input or expected output. kind is BPTE_KIND_*. */
struct wick_bundled_value {
    uint8_t kind;
    struct wick_shape shape; /* TENSOR; data holds exactly its nbytes */
    struct wick_pte_blob data;
    int64_t i;
    double d;
    bool b;
};

/* True if the bytes carry the identifier of a bundle (a tool may take anything else for a bare program). */
bool wick_bundled_is(const void *data, size_t size);

/* Opens and judges a file of `size` bytes at `data`, which is aligned to 16 and outlives it: structure, every value of every case. The
 * program inside is not looked at. Errors: INVALID_PROGRAM; INVALID_ARGUMENT (misaligned data). */
wick_status wick_bundled_open(struct wick_bundled_file *file, const void *data, size_t size, wick_error *err) WICK_MUST_CHECK;

uint32_t wick_bundled_suite_count(const struct wick_bundled_file *file);
/* Suite by index: method name and number of cases. */
struct wick_str wick_bundled_suite_name(const struct wick_bundled_file *file, uint32_t suite, uint32_t *cases);
/* Index of a method's suite; INVALID_ARGUMENT if there is none, as in the original. */
wick_status wick_bundled_suite_find(const struct wick_bundled_file *file, struct wick_str method, uint32_t *suite, wick_error *err) WICK_MUST_CHECK;

/* Number of inputs (or expected outputs) of a case that exists, and value `index` of them. */
uint32_t wick_bundled_value_count(const struct wick_bundled_file *file, uint32_t suite, uint32_t test, bool outputs);
wick_status wick_bundled_value_at(const struct wick_bundled_file *file, uint32_t suite, uint32_t test, bool outputs, uint32_t index,
                                  struct wick_bundled_value *value, wick_error *err) WICK_MUST_CHECK;

#endif
