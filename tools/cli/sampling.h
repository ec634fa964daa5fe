/* tools/cli/sampling.h - the options that say how tokens are chosen, for every command that generates. */
#ifndef WICK_CLI_SAMPLING_H
#define WICK_CLI_SAMPLING_H

#include "cli.h"

#include "wick/llm.h"

struct cli_sampling {
    double temperature, top_p, min_p, typical, sigma, xtc_probability, xtc_threshold, tau, eta, repetition, presence, frequency, dry, dry_base;
    int64_t top_k, min_keep, mirostat, last_n, dry_length, dry_last_n, seed;
    const char *sampler;
    struct cli_list biases, breakers;
    wick_logit_bias *parsed; /* of biases */
};

/* The defaults of wick_sampling_init. */
void cli_sampling_init(struct cli_sampling *s);
/* Fills sampling from the options, which must outlive it; a seed that was not given comes from the clock and is shown with -v. Returns -1, or the
 * exit code after saying what is wrong. */
int cli_sampling_apply(struct cli_sampling *s, wick_sampling *sampling);
void cli_sampling_free(struct cli_sampling *s);

/* Entries of a table of options; s: a struct cli_sampling. */
#define CLI_SAMPLING_OPTIONS(s)                                                                                               \
    {"--temperature", 't', CLI_REAL, &(s)->temperature, "T", "0 is greedy (default 0.8)"},                                    \
    {"--top-p", 0, CLI_REAL, &(s)->top_p, "P", "default 0.9"},                                                                \
    {"--top-k", 0, CLI_INT, &(s)->top_k, "K", "default 0: off"},                                                              \
    {"--min-p", 0, CLI_REAL, &(s)->min_p, "P", "default 0: off"},                                                             \
    {"--typical-p", 0, CLI_REAL, &(s)->typical, "P", "default 1: off"},                                                       \
    {"--top-n-sigma", 0, CLI_REAL, &(s)->sigma, "N", "default 0: off"},                                                       \
    {"--xtc-probability", 0, CLI_REAL, &(s)->xtc_probability, "P", "exclude top choices (default 0: off)"},                   \
    {"--xtc-threshold", 0, CLI_REAL, &(s)->xtc_threshold, "P", "what a top choice is (default 0.1)"},                         \
    {"--min-keep", 0, CLI_INT, &(s)->min_keep, "N", "candidates that the cuts leave at least (default 1)"},                   \
    {"--mirostat", 0, CLI_INT, &(s)->mirostat, "V", "version 1 or 2 in place of the cuts (default 0: off)"},                  \
    {"--mirostat-tau", 0, CLI_REAL, &(s)->tau, "BITS", "surprise aimed at (default 5)"},                                      \
    {"--mirostat-eta", 0, CLI_REAL, &(s)->eta, "RATE", "how fast (default 0.1)"},                                             \
    {"--repetition-penalty", 0, CLI_REAL, &(s)->repetition, "R", "default 1: off"},                                           \
    {"--presence-penalty", 0, CLI_REAL, &(s)->presence, "A", "default 0: off"},                                               \
    {"--frequency-penalty", 0, CLI_REAL, &(s)->frequency, "A", "default 0: off"},                                             \
    {"--penalty-last-n", 0, CLI_INT, &(s)->last_n, "N", "tokens the penalties look back (default -1: all)"},                  \
    {"--dry-multiplier", 0, CLI_REAL, &(s)->dry, "M", "against repeated phrases (default 0: off)"},                           \
    {"--dry-base", 0, CLI_REAL, &(s)->dry_base, "B", "default 1.75"},                                                         \
    {"--dry-allowed-length", 0, CLI_INT, &(s)->dry_length, "N", "default 2"},                                                 \
    {"--dry-last-n", 0, CLI_INT, &(s)->dry_last_n, "N", "tokens it looks back (default -1: all)"},                            \
    {"--dry-breaker", 0, CLI_LIST, &(s)->breakers, "STR", "no repetition reaches across (repeatable)"},                       \
    {"--logit-bias", 0, CLI_LIST, &(s)->biases, "ID=B", "added to the logit; -inf bans the token (repeatable)"},              \
    {"--sampler", 0, CLI_TEXT, &(s)->sampler, "NAME", "chain (default) or original: ExecuTorch's"},                           \
    {"--seed", 0, CLI_INT, &(s)->seed, "S", "default: from the clock (-v shows it)"}

#endif
