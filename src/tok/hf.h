/* tok/hf.h - the parts of a tokenizer.json: hf_json.c reads the file and the large parts, hf_steps.c the pipeline. */
#ifndef WICK_TOK_HF_H
#define WICK_TOK_HF_H

#include "base/json.h"
#include "tok/model.h"

/* Each reads one section; json null: the section is absent. Components this library does not have are NOT_SUPPORTED, by name. */
wick_status wick_tok_hf_normalizer(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK;
wick_status wick_tok_hf_pre_tokenizer(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK; /* sets byte_level */
wick_status wick_tok_hf_decoder(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK;
/* What stands before and after a text; ids must exist by now. */
wick_status wick_tok_hf_post_processor(struct wick_tok *tok, const json_t *json, wick_error *err) WICK_MUST_CHECK;

#endif
