/* graph/quantized.h - a weight matrix in few bits with one scale a group: numbers, and the sources that write them. */
#ifndef WICK_GRAPH_QUANTIZED_H
#define WICK_GRAPH_QUANTIZED_H

#include "graph/source.h"

/* How the scale of a group follows from its largest magnitude where it is not searched for, as the original's quantizers have it. */
enum wick_quant_rule {
    WICK_QUANT_AFFINE,   /* max / (2^bits - 1) * 2; scales in the type that the checkpoint holds the weight in (torchao) */
    WICK_QUANT_OBSERVED, /* 8 bits: max / 127, values from -127; else as above; at least 2^-12 (pt2e's XNNPACK quantizer) */
    WICK_QUANT_WEIGHT_ONLY, /* as affine, at least 2^-23, all in the checkpoint's type; the scale is then rounded to bf16 (qmode int8) */
};

struct wick_quant_spec {
    int bits;   /* 2, 4 or 8; values are in [-2^(bits-1), 2^(bits-1) - 1], zero point 0 */
    int group;  /* columns that share a scale; 0: the whole row */
    bool hqq;   /* search the scale (half-quadratic, scale only) instead of taking the maximum; rule is AFFINE then */
    enum wick_quant_rule rule;
};

/* How values lie in a row of bytes. */
enum wick_packing {
    WICK_PACK_INT8,         /* one a byte */
    WICK_PACK_LOW_NIBBLE,   /* value + 8, even columns in the low nibble: XNNPACK payloads */
    WICK_PACK_HIGH_NIBBLE,  /* value + 8, even columns in the high nibble: embedding_4bit */
    WICK_PACK_CRUMBS,       /* value + 2, first column in the lowest bits: embedding_2bit */
};

struct wick_quantized;

/* Refuses shapes the group does not divide. inner: (rows, columns) float, with `rows`. Lives in the arena. */
wick_status wick_quantized_make(struct wick_quantized **q, struct wick_arena *arena, struct wick_source *inner, const struct wick_quant_spec *spec, wick_error *err);
/* A weight that a checkpoint holds quantized. inner (rows, columns) gives its integers as floats, scales rows * groups numbers, zeros as many or NULL:
 * they must be 0, which is checked when the bytes are made, as are the integers. name: for messages. */
wick_status wick_quantized_given(struct wick_quantized **q, struct wick_arena *arena, struct wick_source *inner, struct wick_source *scales, struct wick_source *zeros,
                                 const struct wick_quant_spec *spec, const char *name, wick_error *err);
/* Of a given one: (rows, columns) float, the integers times their scales. */
struct wick_source *wick_quantized_floats(struct wick_quantized *q, struct wick_arena *arena);
/* (rows, bytes of a row), dtype u8 or i8 (INT8). */
struct wick_source *wick_quantized_values(struct wick_quantized *q, struct wick_arena *arena, enum wick_packing packing);
/* (rows, groups), or (rows) when the group is the whole row and `vector`; dtype f32 or bf16. Values are first rounded to the type the checkpoint
 * holds the weight in. The bytes of values and scales may be produced in any order; the search runs once for both. */
struct wick_source *wick_quantized_scales(struct wick_quantized *q, struct wick_arena *arena, int dtype, bool vector);
int wick_quantized_group(const struct wick_quantized *q); /* columns that share a scale */
int wick_quantized_bits(const struct wick_quantized *q);
enum wick_quant_rule wick_quantized_rule(const struct wick_quantized *q);

/* One group's scale; w: n columns. rounds: HQQ rounds (1..20). For tests and the search. */
float wick_quant_scale_max(const struct wick_ukernels *uk, const float *w, size_t n, int bits);
/* The search over a block of rows: scales (rows * groups) after `rounds` rounds; change[r] (20) receives the largest relative change of
 * round r, for the tensor-wide stop. */
void wick_quant_hqq(const struct wick_ukernels *uk, const float *w, size_t count, size_t group, int bits, int rounds, float *scales, float change[20]);

#endif
