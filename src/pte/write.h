/* pte/write.h - assembling .pte and .ptd files whose segments are streamed.
 *
 * The order for a large file, which holds one buffer at a time:
 *   1. sizes of all segments are known: wick_pte_layout gives their offsets from the segment base;
 *   2. wick_pte_render with keys of the right length (64 zeros for a SHA-256) gives program_size, hence the base:
 *      align_up(program_size, alignment), see wick_pte_segment_base;
 *   3. segments are written at base + offset, hashing on the way (gaps stay holes, which read as zeros);
 *   4. wick_pte_render with the real keys; its bytes go to offset 0.
 * The size of the rendered part depends on lengths of strings and vectors and on which numbers are zero, not on the
 * content of strings. */
#ifndef WICK_PTE_WRITE_H
#define WICK_PTE_WRITE_H

#include "pte/program.h"

/* Offsets of `count` segments whose sizes are set, in order, without overlap: segment i begins at a multiple of
 * lcm(alignment, alignments[i]) (alignments NULL or 0: alignment alone). *bytes is the end of the last: segment_data_size.
 * INVALID_ARGUMENT if an alignment is 0 or above 2^30, or sizes overflow. */
wick_status wick_pte_layout(struct wick_pte_segment *segments, const uint32_t *alignments, uint32_t count, uint32_t alignment, uint64_t *bytes,
                            wick_error *err) WICK_MUST_CHECK;

/* Where segments begin behind program_size bytes of tables. */
uint64_t wick_pte_segment_base(uint64_t program_size, uint32_t alignment);

/* The part of a file before its segments: extended header (left out if all segments are empty, as the original does) and
 * tables. alignment: of the segment base. *bytes is malloc'ed, for wick_pte_render_free. INVALID_ARGUMENT if the
 * description is wrong: what must not be absent is, a value has no kind. */
wick_status wick_pte_render(const struct wick_pte_program *program, uint32_t alignment, uint8_t **bytes, size_t *size, wick_error *err) WICK_MUST_CHECK;
void wick_pte_render_free(uint8_t *bytes);

/* One entry of a .ptd file. */
struct wick_ptd_named {
    struct wick_str key;
    uint32_t segment;
    const struct wick_shape *layout; /* NULL: a blob that is no tensor */
};

struct wick_ptd_program {
    const struct wick_pte_segment *segments;
    uint32_t segment_count;
    const struct wick_ptd_named *named;
    uint32_t named_count;
};

/* The part of a .ptd file before its segments, which begin at wick_pte_segment_base(*size, alignment). As wick_pte_render. */
wick_status wick_ptd_render(const struct wick_ptd_program *program, uint32_t alignment, uint8_t **bytes, size_t *size, wick_error *err) WICK_MUST_CHECK;

#endif
