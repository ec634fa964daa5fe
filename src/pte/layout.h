/* pte/layout.h - the parts of opening a program, inside src/pte only. */
#ifndef WICK_PTE_LAYOUT_H
#define WICK_PTE_LAYOUT_H

#include "pte/pte.h"

/* The meaning of the program: everything pte.h promises beyond structure. */
wick_status wick_pte_check(const struct wick_pte_file *file, wick_error *err) WICK_MUST_CHECK;

/* A shape from the three fields that describe one in every format, checked. status_order is the code for a dim order that is
 * no permutation, status for all else. what names the tensor in messages. */
wick_status wick_pte_shape(int scalar_type, struct flat_vec sizes, struct flat_vec dim_order, struct wick_shape *shape, uint64_t *nbytes,
                           const char *what, wick_status status, wick_status status_order, wick_error *err) WICK_MUST_CHECK;

#endif
