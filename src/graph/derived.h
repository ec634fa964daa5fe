/* graph/derived.h - sources whose numbers are those of other float sources, otherwise arranged. Nothing is read before they are; NULL: no memory. */
#ifndef WICK_GRAPH_DERIVED_H
#define WICK_GRAPH_DERIVED_H

#include "graph/source.h"

/* `count` sources of equal columns, one below the other: (sum of rows, columns). The sources are kept by pointer, the list is copied. */
struct wick_source *wick_source_stacked(struct wick_arena *arena, struct wick_source *const *parts, size_t count);
/* Column `column` of a matrix (rows, columns): a vector (rows). */
struct wick_source *wick_source_column(struct wick_arena *arena, struct wick_source *matrix, size_t column);
/* A matrix of `count` blocks of rows, (count * R, C), each block transposed: (count * C, R). A block is held in memory while it is read. */
struct wick_source *wick_source_transposed(struct wick_arena *arena, struct wick_source *matrix, size_t count);
/* Rows [first, first + count) of a matrix. */
struct wick_source *wick_source_row_range(struct wick_arena *arena, struct wick_source *matrix, size_t first, size_t count);
/* Rows `ids` of a matrix, in that order; the list is kept by pointer. */
struct wick_source *wick_source_picked(struct wick_arena *arena, struct wick_source *matrix, const int32_t *ids, size_t count);
/* The same numbers under another shape, whose first size divides the rows: (E * F, D) as (E, F, D). dtype stays. */
struct wick_source *wick_source_shaped(struct wick_arena *arena, struct wick_source *source, int rank, const int32_t *sizes);
/* W + factor * high low: W (rows, columns), high (rows, rank), low (rank, columns). low is read anew for each slab of rows. */
struct wick_source *wick_source_low_rank_sum(struct wick_arena *arena, struct wick_source *matrix, struct wick_source *low, struct wick_source *high, float factor);
/* f(x) of each element, computed in float: y = exp(x) negated and the like. */
struct wick_source *wick_source_mapped(struct wick_arena *arena, struct wick_source *source, float (*f)(float));

#endif
