/* tok/hf.h - the parts of a tokenizer.json: hf_json.c reads the file, hf_model.c the model, hf_steps.c the pipeline. */
#ifndef WICK_TOK_HF_H
#define WICK_TOK_HF_H

#include "base/json.h"
#include "tok/model.h"

/* Where the values of model.vocab and model.merges stand in the document; begin NULL: absent. */
struct wick_tok_hf_range {
    const char *begin, *end;
};
struct wick_tok_hf_parts {
    const char *document;
    struct wick_tok_hf_range vocab, merges;
};

/* The model, in this order: its type and options; its vocabulary, first only counted, then entered; merges or scores, after
 * wick_tok_finish_vocab; what its options name, after the added tokens. */
wick_status wick_tok_hf_model_begin(struct wick_tok *tok, const json_t *model, const struct wick_tok_hf_parts *parts, wick_error *err) WICK_MUST_CHECK;
wick_status wick_tok_hf_model_vocab(struct wick_tok *tok, const struct wick_tok_hf_parts *parts, struct wick_buf *scratch, bool enter, size_t *count,
                                    int32_t *highest, wick_error *err) WICK_MUST_CHECK;
wick_status wick_tok_hf_model_tables(struct wick_tok *tok, const struct wick_tok_hf_parts *parts, wick_error *err) WICK_MUST_CHECK;
wick_status wick_tok_hf_model_end(struct wick_tok *tok, const json_t *model, wick_error *err) WICK_MUST_CHECK;

/* Each reads one section; json null: the section is absent. Components this library does not have are NOT_SUPPORTED, by name. */
wick_status wick_tok_hf_normalizer(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK;
wick_status wick_tok_hf_pre_tokenizer(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK; /* sets byte_level */
wick_status wick_tok_hf_decoder(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK;
/* What stands before and after a text; ids must exist by now. */
wick_status wick_tok_hf_post_processor(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK;

#endif
