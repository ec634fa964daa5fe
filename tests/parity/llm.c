/* tests/parity/llm.c - the original's own language-model programs: our logits against its runtime's (golden/llm, golden/smollm2).
 *
 *   parity_llm llm [CASE]    every program of llm/index.json marked ok, with the reference's tokens fed
 *   parity_llm smollm2       the real SmolLM2: 5 prompts x 48 steps, the 32 best logits of each
 * Prints a line a case; exit status 77 when the data is missing. */
#include "fixture.h"
#include "wick/llm.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    const float *want; /* (count, vocab) */
    size_t count, vocab, row;
    double worst, largest;
};

static bool compare_row(void *user, const float *logits, size_t count)
{
    struct rows *r = user;
    if (r->row >= r->count || count != r->vocab) return false;
    const float *want = r->want + r->row++ * r->vocab;
    for (size_t i = 0; i < count; i++) {
        /* Masked entries agree when both are the same infinity. */
        if (want[i] == logits[i]) continue;
        double difference = fabs((double)want[i] - logits[i]);
        if (!(difference <= r->worst)) r->worst = difference;
        if (isfinite(want[i]) && fabs(want[i]) > r->largest) r->largest = fabs(want[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (isfinite(want[i]) && fabs(want[i]) > r->largest) r->largest = fabs(want[i]);
    return true;
}

static int64_t *ids_of(const json_t *list, size_t *count)
{
    *count = json_array_size(list);
    int64_t *ids = calloc(*count + 1, sizeof *ids);
    for (size_t i = 0; ids && i < *count; i++) ids[i] = json_integer_value(json_array_get(list, i));
    return ids;
}

static float *read_floats(const char *path, size_t *count)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    float *data = malloc((size_t)size);
    *count = data ? fread(data, 4, (size_t)size / 4, file) : 0;
    fclose(file);
    return data;
}

static bool open_session(const char *path, const char *data, wick_model **model, wick_session **session, wick_error *err)
{
    wick_model_options options;
    wick_model_options_init(&options);
    options.cpu = getenv("WICK_CPU");
    options.data_paths = &data;
    options.data_path_count = data != NULL;
    *model = NULL;
    *session = NULL;
    return wick_model_open(path, &options, model, err) == WICK_OK && wick_session_open(*model, NULL, session, err) == WICK_OK;
}

static bool run_case(const char *name, const json_t *entry)
{
    char relative[256], ptd_relative[256];
    wick_error err = {0};
    size_t prompt_count, token_count, want_count = 0;
    snprintf(relative, sizeof relative, "llm/%s/logits.f32", name);
    float *want = read_floats(wick_test_golden(relative), &want_count);
    int64_t *prompt = ids_of(json_object_get(entry, "prompt"), &prompt_count), *tokens = ids_of(json_object_get(entry, "tokens"), &token_count);
    const char *ptd = json_string_value(json_object_get(entry, "ptd")), *data = NULL;
    if (ptd) {
        if (strchr(ptd, '/')) snprintf(ptd_relative, sizeof ptd_relative, "llm/%s", ptd);
        else snprintf(ptd_relative, sizeof ptd_relative, "llm/%s/%s", name, ptd);
        data = wick_test_golden(ptd_relative);
    }
    snprintf(relative, sizeof relative, "llm/%s/model.pte", name);
    wick_model *model = NULL;
    wick_session *session = NULL;
    bool good = want && open_session(wick_test_golden(relative), data, &model, &session, &err);
    struct rows rows = {0};
    double tolerance = json_number_value(json_object_get(entry, "tolerance"));
    if (good) {
        wick_session_info info;
        wick_session_describe(session, &info);
        rows.vocab = (size_t)info.vocab_size;
        rows.count = token_count;
        size_t total = want_count / rows.vocab;
        good = total >= token_count;
        rows.want = good ? want + (total - token_count) * rows.vocab : want;
    }
    if (good) {
        wick_generate_options options;
        wick_generate_options_init(&options);
        options.sampling.temperature = 0;
        options.max_new_tokens = (int64_t)token_count;
        options.forced = tokens;
        options.forced_count = token_count;
        options.on_logits = compare_row;
        options.user = &rows;
        good = wick_generate(session, NULL, prompt, prompt_count, &options, NULL, &err) == WICK_OK;
    }
    bool pass = good && rows.row == token_count && rows.worst <= tolerance * rows.largest;
    printf("%s %-32s %zu rows, worst difference %.2e of %.2e allowed%s%s\n", pass ? "pass" : "FAIL", name, rows.row, rows.largest > 0 ? rows.worst / rows.largest : 0, tolerance,
           good ? "" : ": ", good ? "" : err.message);
    if (model && session) wick_session_close(session);
    wick_model_unref(model);
    free(want), free(prompt), free(tokens);
    return pass;
}

static int run_llm(const char *only)
{
    const char *path = wick_test_golden("llm/index.json"), *name;
    json_t *index = path ? json_load_file(path, 0, NULL) : NULL, *entry;
    unsigned ran = 0, failed = 0, skipped = 0;
    if (!index) {
        printf("SKIP: llm/index.json is missing\n");
        return 77;
    }
    json_object_foreach(index, name, entry)
    {
        char relative[256];
        if (!json_is_true(json_object_get(entry, "ok")) || (only && strcmp(only, name) != 0)) continue;
        snprintf(relative, sizeof relative, "llm/%s/model.pte", name);
        if (!wick_test_golden(relative)) {
            skipped++;
            continue;
        }
        ran++;
        failed += !run_case(name, entry);
    }
    json_decref(index);
    printf("%u programs, %u failed, %u skipped for want of the file\n", ran, failed, skipped);
    return ran == 0 ? 77 : failed > 0;
}

/* ---- SmolLM2: the 32 best of each step, and the sum over all ---- */

struct steps {
    const json_t *steps;
    double largest, max, sum, divergence;
    size_t step, count;
    unsigned wrong_best;
};

static bool compare_step(void *user, const float *logits, size_t count)
{
    struct steps *s = user;
    const json_t *step = json_array_get(s->steps, s->step++), *ids = json_object_get(step, "ids"), *values = json_object_get(step, "logits");
    if (!step || !values) return false;
    double lse = json_number_value(json_object_get(step, "lse")), top = -INFINITY, total = 0;
    for (size_t i = 0; i < count; i++)
        if (logits[i] > top) top = logits[i];
    for (size_t i = 0; i < count; i++) total += exp(logits[i] - top);
    double ours = top + log(total), kl = 0, rest = 1, our_rest = 1;
    for (size_t k = 0; k < json_array_size(ids); k++) {
        size_t id = (size_t)json_integer_value(json_array_get(ids, k));
        double want = json_number_value(json_array_get(values, k)), difference = id < count ? fabs(want - logits[id]) / s->largest : 1;
        double p = exp(want - lse), q = id < count ? exp(logits[id] - ours) : 0;
        s->max = fmax(s->max, difference);
        s->sum += difference;
        s->count++;
        kl += p * log(p / q);
        rest -= p;
        our_rest -= q;
    }
    if (rest > 1e-9 && our_rest > 1e-9) kl += rest * log(rest / our_rest);
    s->divergence += kl;
    double margin = (json_number_value(json_array_get(values, 0)) - json_number_value(json_array_get(values, 1))) / s->largest;
    size_t best = (size_t)json_integer_value(json_array_get(ids, 0));
    if (margin > 0.05 && (best >= count || logits[best] != top)) s->wrong_best++;
    return true;
}

static int run_smollm2(void)
{
    const char *path = wick_test_golden("smollm2/reference.json"), *program = wick_test_golden("smollm2/model_8da4w.pte");
    json_t *reference = path && program ? json_load_file(path, 0, NULL) : NULL;
    wick_error err = {0};
    wick_model *model;
    wick_session *session;
    if (!reference) {
        printf("SKIP: smollm2 is missing\n");
        return 77;
    }
    if (!open_session(program, NULL, &model, &session, &err)) {
        printf("FAIL: %s\n", err.message);
        return 1;
    }
    struct steps all = {0};
    size_t steps = 0;
    bool good = true;
    for (size_t i = 0; i < json_array_size(reference) && good; i++) {
        const json_t *entry = json_array_get(reference, i);
        size_t prompt_count, token_count;
        int64_t *prompt = ids_of(json_object_get(entry, "ids"), &prompt_count), *tokens = ids_of(json_object_get(entry, "tokens"), &token_count);
        struct steps s = {.steps = json_object_get(entry, "steps"), .largest = json_number_value(json_object_get(entry, "max_abs_logit"))};
        wick_generate_options options;
        wick_generate_options_init(&options);
        options.sampling.temperature = 0;
        options.max_new_tokens = (int64_t)token_count;
        options.forced = tokens;
        options.forced_count = token_count;
        options.on_logits = compare_step;
        options.user = &s;
        wick_session_reset(session);
        good = wick_generate(session, NULL, prompt, prompt_count, &options, NULL, &err) == WICK_OK && s.step == token_count;
        printf("prompt %zu: max %.4f mean %.4f KL %.4f wrong best %u\n", i, s.max, s.sum / (double)(s.count ? s.count : 1), s.divergence / (double)(s.step ? s.step : 1), s.wrong_best);
        all.max = fmax(all.max, s.max);
        all.sum += s.sum;
        all.count += s.count;
        all.divergence += s.divergence;
        all.wrong_best += s.wrong_best;
        steps += s.step;
        free(prompt), free(tokens);
    }
    if (!good) printf("FAIL: %s\n", err.message);
    double mean = all.sum / (double)(all.count ? all.count : 1), kl = all.divergence / (double)(steps ? steps : 1);
    bool pass = good && steps > 0 && all.max <= 0.15 && mean <= 0.03 && kl <= 0.06 && all.wrong_best == 0;
    printf("%s: %zu steps, max %.4f (0.15) mean %.4f (0.03) KL %.4f (0.06) wrong best %u\n", pass ? "pass" : "FAIL", steps, all.max, mean, kl, all.wrong_best);
    wick_session_close(session);
    wick_model_unref(model);
    json_decref(reference);
    return !pass;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "smollm2") == 0) return run_smollm2();
    return run_llm(argc > 2 ? argv[2] : NULL);
}
