/* wick/llm.h - tokenizers, sessions and text generation over a program of a language model.
 *
 *     wick_tokenizer *tokenizer;
 *     wick_session *session;
 *     wick_tokenizer_open_beside("model.pte", &tokenizer, &error);
 *     wick_session_open(model, NULL, &session, &error);
 *     wick_id_list prompt = {0};
 *     wick_tokenizer_chat(tokenizer, NULL, "Hello", &prompt, &error);
 *     wick_generate_options options;
 *     wick_generate_options_init(&options);
 *     options.on_text = print;
 *     wick_generate(session, tokenizer, prompt.data, prompt.count, &options, NULL, &error);
 *
 * Functions that can fail return a wick_status and take a wick_error last (NULL allowed). */
#ifndef WICK_LLM_H
#define WICK_LLM_H

#include "wick/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list of token ids made by this library; free with wick_id_list_free. Zero-initialise. */
typedef struct wick_id_list {
    int64_t *data;
    size_t count;
} wick_id_list;
WICK_API void wick_id_list_free(wick_id_list *ids);
/* Frees text that a function here returned; NULL allowed. */
WICK_API void wick_text_free(char *text);

/* ---- tokenizers: immutable, shared by any number of threads ---- */

typedef struct wick_tokenizer wick_tokenizer;

/* Opens a tokenizer file or a folder with a tokenizer.json; the format is told by content. INVALID_TOKENIZER, NOT_FOUND, NOT_SUPPORTED. */
WICK_API wick_status wick_tokenizer_open(const char *path, wick_tokenizer **tokenizer, wick_error *error);
/* The tokenizer beside a program: MODEL.tokenizer.json, then tokenizer.json, tokenizer.model, tokenizer.bin in its folder. NOT_FOUND names them. */
WICK_API wick_status wick_tokenizer_open_beside(const char *program_path, wick_tokenizer **tokenizer, wick_error *error);
WICK_API void wick_tokenizer_close(wick_tokenizer *tokenizer); /* NULL allowed */

/* Appends the ids of text. special: text may name special tokens; else it is plain text. Adds no BOS. */
WICK_API wick_status wick_tokenizer_encode(const wick_tokenizer *tokenizer, const char *text, size_t size, bool special, wick_id_list *ids, wick_error *error);
/* Text of a sequence, NUL-terminated and UTF-8 (bytes that form no character become U+FFFD). */
WICK_API wick_status wick_tokenizer_decode(const wick_tokenizer *tokenizer, const int64_t *ids, size_t count, bool skip_special, char **text, size_t *size,
                                           wick_error *error);
/* Appends one user turn in the model's chat format, ready for the answer: by its own template (MODEL.chat_template.jinja or
 * MODEL.tokenizer_config.json beside MODEL.tokenizer.json, else chat_template.jinja or tokenizer_config.json in the folder), else by the built-in format that
 * the vocabulary tells. Control tokens come from the format only, never from the texts. system NULL: none. NOT_SUPPORTED if there is neither;
 * INVALID_ARGUMENT with the template's own words if it refuses the turn. */
WICK_API wick_status wick_tokenizer_chat(const wick_tokenizer *tokenizer, const char *system, const char *user, wick_id_list *ids, wick_error *error);
/* The file's spelling of a token; NULL if there is none. Not NUL-terminated; as long as the tokenizer. */
WICK_API const char *wick_tokenizer_piece(const wick_tokenizer *tokenizer, int64_t id, size_t *size);
/* What the file prescribes before a text (BOS); -1: nothing. */
WICK_API int64_t wick_tokenizer_prescribed_bos(const wick_tokenizer *tokenizer);
WICK_API int64_t wick_tokenizer_vocab_size(const wick_tokenizer *tokenizer);

/* ---- sessions: one sequence each, used by one thread at a time ---- */

typedef struct wick_session wick_session;

typedef struct wick_session_info {
    int64_t vocab_size;
    int64_t context;      /* tokens that fit */
    int64_t chunk;        /* most tokens one call of the program takes */
    bool kv_cache;
    int64_t bos;          /* of the program's metadata; -1: not given */
    int64_t eos[32];
    size_t eos_count;     /* 0: not given */
} wick_session_info;

/* A fresh sequence over a model's method (NULL: "forward"). Holds a reference of the model. INVALID_PROGRAM: not a language model's method. */
WICK_API wick_status wick_session_open(wick_model *model, const char *method, wick_session **session, wick_error *error);
WICK_API void wick_session_close(wick_session *session); /* NULL allowed */
WICK_API void wick_session_describe(const wick_session *session, wick_session_info *info);

/* Appends tokens, cut into chunks as the program takes them. CONTEXT_FULL before anything ran if they do not fit. */
WICK_API wick_status wick_session_feed(wick_session *session, const int64_t *ids, size_t count, wick_error *error);
/* The same, and on_logits gets the logits (vocab_size) that follow each of the tokens, in order. Programs that return every position are fed in chunks,
 * others one token a call. Returning false stops (CANCELLED). */
WICK_API wick_status wick_session_feed_each(wick_session *session, const int64_t *ids, size_t count, bool (*on_logits)(void *user, const float *logits, size_t count),
                                            void *user, wick_error *error);
/* Logits (vocab_size) that follow the last token fed; valid until the next feed. */
WICK_API const float *wick_session_logits(const wick_session *session);
WICK_API int64_t wick_session_position(const wick_session *session);
/* A new sequence: nothing of the old one is left. */
WICK_API void wick_session_reset(wick_session *session);
/* Stops the work under way; safe from any thread, a callback or a signal handler. */
WICK_API void wick_session_cancel(wick_session *session);

/* ---- generation ---- */

typedef struct wick_logit_bias {
    int64_t id;
    float bias; /* added to the logit; -INFINITY: never this token */
} wick_logit_bias;

/* How the next token is chosen. The chain, in this order: bias, penalties, DRY; then temperature 0 takes the highest logit; else top-n-sigma,
 * temperature, top-k, typical, top-p, min-p, XTC (or mirostat in place of these cuts), and one draw. Fill with wick_sampling_init. */
typedef struct wick_sampling {
    float temperature;        /* 0.8; 0 is greedy (the lowest id wins a tie) */
    int32_t top_k;            /* 0: off */
    float top_p;              /* 0.9; 1: off */
    float min_p;              /* 0: off. Keeps p >= min_p times the best p */
    float typical_p;          /* 1: off (Meister et al., 2022) */
    float top_n_sigma;        /* 0: off (Tang et al., 2024) */
    float xtc_probability, xtc_threshold; /* 0, 0.1: off (p-e-w, 2024) */
    int32_t min_keep;         /* candidates that typical, top-p, min-p and XTC leave at least; 1 */
    int32_t mirostat;         /* 0: off; 1, 2 (Basu et al., 2021) */
    float mirostat_tau, mirostat_eta; /* 5 bits, 0.1 */
    float repetition_penalty; /* 1: off (Keskar et al., 2019) */
    float presence_penalty, frequency_penalty; /* 0: off; as in OpenAI's API */
    int32_t penalty_last_n;   /* tokens these three look back; -1: the whole sequence (default) */
    float dry_multiplier, dry_base; /* 0: off; 1.75 (p-e-w, 2024) */
    int32_t dry_allowed_length, dry_last_n; /* repetitions shorter than 2 go free; -1: the whole sequence */
    const char *const *dry_breakers; /* texts no repetition reaches across: tokens that contain one. NULL: line break, colon, quote, asterisk */
    size_t dry_breaker_count;
    const wick_logit_bias *biases;
    size_t bias_count;
    uint64_t seed;
    bool original;            /* ExecuTorch's sampler: temperature, then top-k or else top-p, with its random numbers */
} wick_sampling;

WICK_API void wick_sampling_init(wick_sampling *sampling);

typedef struct wick_logprob {
    int64_t id;
    float logprob; /* natural logarithm of the probability before anything of the chain */
} wick_logprob;

typedef enum wick_finish { WICK_FINISH_LENGTH, WICK_FINISH_EOS, WICK_FINISH_STOP } wick_finish;

typedef struct wick_generate_options {
    size_t struct_size;
    int64_t max_new_tokens; /* -1: to the end of the context */
    int64_t seq_len;        /* most tokens in the sequence, prompt included; -1: the context */
    wick_sampling sampling;
    bool ignore_eos;
    const char *const *stops; /* texts that end the answer; not delivered */
    size_t stop_count;
    const int64_t *forced;  /* id i is fed after step i instead of the chosen one, which is reported all the same */
    size_t forced_count;
    /* Called in order for each step; returning false stops (CANCELLED). NULL: none. */
    bool (*on_logits)(void *user, const float *logits, size_t count);
    bool (*on_token)(void *user, int64_t id);
    /* The chosen token and the `top_logprobs` most likely ones (fewer in a small vocabulary), before on_token; valid during the call. */
    bool (*on_logprobs)(void *user, wick_logprob chosen, const wick_logprob *top, size_t top_count);
    int32_t top_logprobs;   /* 0..64 */
    bool (*on_text)(void *user, const char *text, size_t size); /* whole UTF-8 characters; needs a tokenizer */
    void *user;
} wick_generate_options;

/* Times in ms since 1970 where the original has them so; the names are the original's. */
typedef struct wick_generate_stats {
    int64_t prompt_tokens, generated_tokens;
    uint64_t inference_start_ms, prompt_eval_end_ms, first_token_ms, inference_end_ms;
    uint64_t aggregate_sampling_time_ms, aggregate_model_execution_time_ms;
    double prefill_seconds, decode_seconds; /* finer than the milliseconds above */
    wick_finish finish;
} wick_generate_stats;

WICK_API void wick_generate_options_init(wick_generate_options *options);

/* Feeds the prompt and generates. The session goes on from where it is; it may be used again after. tokenizer NULL: ids only. stats may be NULL; it
 * is filled as far as it got on failure too. Errors: CONTEXT_FULL (prompt too long), INVALID_ARGUMENT, CANCELLED, what the program reports. */
WICK_API wick_status wick_generate(wick_session *session, const wick_tokenizer *tokenizer, const int64_t *prompt, size_t prompt_count,
                                   const wick_generate_options *options, wick_generate_stats *stats, wick_error *error);

#ifdef __cplusplus
}
#endif
#endif
