/* llm/metadata.h - what a language-model program says of itself: its constant methods and the shapes of its inputs. */
#ifndef WICK_LLM_METADATA_H
#define WICK_LLM_METADATA_H

#include "exec/graph.h"
#include "runtime/program.h"

enum { WICK_EOS_MAX = 32 };

struct wick_llm_metadata {
    int64_t max_seq_len, max_context_len;
    int64_t vocab_size;          /* of a row of logits; get_vocab_size when given, else from the output's shape */
    bool use_kv_cache, dynamic;  /* get_*; dynamic also when the tokens' shape says so */
    int64_t bos;                 /* get_bos_id, -1: not given */
    int64_t eos[WICK_EOS_MAX];   /* get_eos_ids or get_eos_id */
    uint32_t eos_count;
    /* From the method itself. */
    int32_t tokens_bound;        /* most tokens a call takes */
    bool tokens_static;          /* it takes exactly tokens_bound */
    int tokens_dtype;            /* i64 or i32 */
    bool has_position;           /* a second input */
    bool position_vector;        /* it holds a position for each token, not the first one's */
    int position_dtype;
};

/* Judges that the method is a language model's: one or two integer inputs, tokens first; the first output a float tensor. INVALID_PROGRAM
 * names what is not. Metadata that is missing takes the original's defaults. */
wick_status wick_llm_metadata_read(struct wick_llm_metadata *m, const struct wick_program *program, const struct wick_exec_graph *graph, wick_error *err);

#endif
