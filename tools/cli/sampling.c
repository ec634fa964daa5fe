/* tools/cli/sampling.c - from options to wick_sampling. */
#include "sampling.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void cli_sampling_init(struct cli_sampling *s)
{
    wick_sampling d;
    wick_sampling_init(&d);
    *s = (struct cli_sampling){.temperature = 0.8, .top_p = 0.9, .min_p = d.min_p, .typical = d.typical_p, .sigma = d.top_n_sigma, .xtc_probability = d.xtc_probability,
                               .xtc_threshold = 0.1, .tau = d.mirostat_tau, .eta = 0.1, .repetition = d.repetition_penalty, .dry_base = d.dry_base, .top_k = d.top_k,
                               .min_keep = d.min_keep, .last_n = d.penalty_last_n, .dry_length = d.dry_allowed_length, .dry_last_n = d.dry_last_n, .seed = -1};
}

static int read_bias(const char *text, wick_logit_bias *bias)
{
    char *end, *value;
    bias->id = strtoll(text, &end, 10);
    if (end == text || *end != '=') return cli_usage_error("--logit-bias: '%s' is not ID=BIAS", text);
    bias->bias = strtof(end + 1, &value);
    if (value == end + 1 || *value || bias->bias != bias->bias) return cli_usage_error("--logit-bias: '%s' is not ID=BIAS", text);
    return -1;
}

static int check_counts(const struct cli_sampling *s)
{
    const struct {
        const char *option;
        int64_t value;
    } counts[] = {{"--top-k", s->top_k}, {"--min-keep", s->min_keep}, {"--mirostat", s->mirostat}, {"--penalty-last-n", s->last_n + 1},
                  {"--dry-allowed-length", s->dry_length}, {"--dry-last-n", s->dry_last_n + 1}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].value < 0 || counts[i].value > INT_MAX) return cli_usage_error("%s: out of range", counts[i].option);
    if (s->sampler && strcmp(s->sampler, "chain") != 0 && strcmp(s->sampler, "original") != 0)
        return cli_usage_error("--sampler: '%s' is neither chain nor original", s->sampler);
    return -1;
}

int cli_sampling_apply(struct cli_sampling *s, wick_sampling *sampling)
{
    int code = check_counts(s);
    if (code >= 0) return code;
    s->parsed = calloc(s->biases.count + 1, sizeof *s->parsed);
    for (size_t i = 0; s->parsed && i < s->biases.count && code < 0; i++) code = read_bias(s->biases.items[i], &s->parsed[i]);
    if (code >= 0 || !s->parsed) return code >= 0 ? code : cli_usage_error("out of memory");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    wick_sampling_init(sampling);
    sampling->temperature = (float)s->temperature;
    sampling->top_k = (int32_t)s->top_k;
    sampling->top_p = (float)s->top_p;
    sampling->min_p = (float)s->min_p;
    sampling->typical_p = (float)s->typical;
    sampling->top_n_sigma = (float)s->sigma;
    sampling->xtc_probability = (float)s->xtc_probability;
    sampling->xtc_threshold = (float)s->xtc_threshold;
    sampling->min_keep = (int32_t)s->min_keep;
    sampling->mirostat = (int32_t)s->mirostat;
    sampling->mirostat_tau = (float)s->tau;
    sampling->mirostat_eta = (float)s->eta;
    sampling->repetition_penalty = (float)s->repetition;
    sampling->presence_penalty = (float)s->presence;
    sampling->frequency_penalty = (float)s->frequency;
    sampling->penalty_last_n = (int32_t)s->last_n;
    sampling->dry_multiplier = (float)s->dry;
    sampling->dry_base = (float)s->dry_base;
    sampling->dry_allowed_length = (int32_t)s->dry_length;
    sampling->dry_last_n = (int32_t)s->dry_last_n;
    if (s->breakers.count) sampling->dry_breakers = s->breakers.items, sampling->dry_breaker_count = s->breakers.count;
    sampling->biases = s->parsed;
    sampling->bias_count = s->biases.count;
    sampling->original = s->sampler && *s->sampler == 'o';
    sampling->seed = s->seed >= 0 ? (uint64_t)s->seed : ((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid();
    if (cli_settings.verbose) fprintf(stderr, "wick: seed %" PRIu64 "\n", sampling->seed);
    return -1;
}

void cli_sampling_free(struct cli_sampling *s)
{
    free(s->parsed);
    cli_list_free(&s->biases);
    cli_list_free(&s->breakers);
}
