/* api/llm.c - implements wick/llm.h over src/tok and src/llm. */
#include "wick/llm.h"

#include "api/session.h"
#include "chat/beside.h"
#include "llm/chat.h"
#include "llm/generate.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- lists ---- */

void wick_id_list_free(wick_id_list *ids)
{
    free(ids->data);
    *ids = (wick_id_list){0};
}

void wick_text_free(char *text) { free(text); }

static wick_status append_ids(wick_id_list *list, const struct wick_ids *ids, wick_error *error)
{
    if (ids->failed) return wick_fail_oom(error, ids->count * sizeof *list->data, "token ids");
    int64_t *data = realloc(list->data, (list->count + ids->count + 1) * sizeof *data);
    if (!data) return wick_fail_oom(error, ids->count * sizeof *data, "token ids");
    for (size_t i = 0; i < ids->count; i++) data[list->count + i] = ids->data[i];
    list->data = data;
    list->count += ids->count;
    return WICK_OK;
}

/* ---- tokenizers ---- */

struct wick_tokenizer {
    struct wick_tok *tok;
    struct wick_chat_own chat;
};

static const struct wick_tok *tok_of(const wick_tokenizer *tokenizer) { return tokenizer ? tokenizer->tok : NULL; }

wick_status wick_tokenizer_open(const char *path, wick_tokenizer **tokenizer, wick_error *error)
{
    wick_tokenizer *made = calloc(1, sizeof *made);
    *tokenizer = NULL;
    if (!made) return wick_fail_oom(error, sizeof *made, "a tokenizer");
    wick_status status = wick_tok_load(&made->tok, path, error);
    if (status == WICK_OK) status = wick_chat_own_open(&made->chat, path, made->tok, error);
    if (status == WICK_OK) *tokenizer = made;
    else wick_tokenizer_close(made);
    return status;
}

wick_status wick_tokenizer_open_beside(const char *program_path, wick_tokenizer **tokenizer, wick_error *error)
{
    static const char *const names[] = {"tokenizer.json", "tokenizer.model", "tokenizer.bin"};
    struct wick_str program = wick_str_of(program_path);
    const char *slash = strrchr(program_path, '/');
    int folder = slash ? (int)(slash - program_path) + 1 : 0;
    int stem = (int)program.size - (wick_str_ends(program, WICK_STR(".pte")) ? 4 : 0);
    char path[1024];
    /* Those of this program, then what else lies in its folder. */
    for (size_t i = 0; i < WICK_ARRAY_SIZE(names); i++) {
        snprintf(path, sizeof path, "%.*s.%s", stem, program_path, names[i]);
        if (wick_path_exists(path)) return wick_tokenizer_open(path, tokenizer, error);
    }
    path[0] = 0;
    for (size_t i = 0; !path[0] || !wick_path_exists(path); i++) {
        if (i == WICK_ARRAY_SIZE(names)) {
            *tokenizer = NULL;
            return wick_fail(error, WICK_NOT_FOUND, "no tokenizer beside %s (%.*s.tokenizer.json, tokenizer.json, tokenizer.model or tokenizer.bin); name one with --tokenizer",
                             program_path, stem - folder, program_path + folder);
        }
        snprintf(path, sizeof path, "%.*s%s", folder, program_path, names[i]);
    }
    return wick_tokenizer_open(path, tokenizer, error);
}

void wick_tokenizer_close(wick_tokenizer *tokenizer)
{
    if (!tokenizer) return;
    wick_chat_own_close(&tokenizer->chat);
    wick_tok_free(tokenizer->tok);
    free(tokenizer);
}

wick_status wick_tokenizer_encode(const wick_tokenizer *tokenizer, const char *text, size_t size, bool special, wick_id_list *list, wick_error *error)
{
    struct wick_ids ids = {0};
    wick_status status = wick_tok_encode(tok_of(tokenizer), text, size, special ? WICK_TOK_SPECIAL : 0, &ids, error);
    if (status == WICK_OK) status = append_ids(list, &ids, error);
    wick_ids_free(&ids);
    return status;
}

wick_status wick_tokenizer_decode(const wick_tokenizer *tokenizer, const int64_t *ids, size_t count, bool skip_special, char **text, size_t *size, wick_error *error)
{
    struct wick_buf out = {0};
    int32_t *narrow = malloc(count * sizeof *narrow + 1);
    *text = NULL;
    if (!narrow) return wick_fail_oom(error, count * sizeof *narrow, "token ids");
    for (size_t i = 0; i < count; i++) narrow[i] = ids[i] < 0 || ids[i] > INT32_MAX ? -1 : (int32_t)ids[i];
    wick_buf_reserve(&out, 1);
    wick_status status = wick_tok_decode(tok_of(tokenizer), narrow, count, skip_special ? WICK_TOK_SKIP_SPECIAL : 0, &out, error);
    free(narrow);
    if (status == WICK_OK && out.failed) status = wick_fail_oom(error, out.size, "decoded text");
    if (status != WICK_OK) {
        wick_buf_free(&out);
        return status;
    }
    out.data[out.size] = 0;
    *text = out.data;
    *size = out.size;
    return WICK_OK;
}

wick_status wick_tokenizer_chat(const wick_tokenizer *tokenizer, const char *system, const char *user, wick_id_list *list, wick_error *error)
{
    struct wick_ids ids = {0};
    /* The model's own template, else a format that its vocabulary tells. */
    bool own = tokenizer->chat.chat || tokenizer->chat.why.status != WICK_OK;
    wick_status status = own ? wick_chat_own_turn(&tokenizer->chat, tok_of(tokenizer), system, user, &ids, error)
                             : wick_chat_encode(tok_of(tokenizer), system, user, &ids, error);
    if (status == WICK_OK) status = append_ids(list, &ids, error);
    wick_ids_free(&ids);
    return status;
}

const char *wick_tokenizer_piece(const wick_tokenizer *tokenizer, int64_t id, size_t *size)
{
    struct wick_str piece = id < 0 || id > INT32_MAX ? (struct wick_str){NULL, 0} : wick_tok_piece(tok_of(tokenizer), (int32_t)id);
    *size = piece.size;
    return piece.data;
}

int64_t wick_tokenizer_prescribed_bos(const wick_tokenizer *tokenizer) { return wick_tok_adds_bos(tok_of(tokenizer)) ? wick_tok_bos(tok_of(tokenizer)) : -1; }
int64_t wick_tokenizer_vocab_size(const wick_tokenizer *tokenizer) { return wick_tok_vocab_size(tok_of(tokenizer)); }

/* ---- sessions ---- */

wick_status wick_session_open(wick_model *model, const char *method, wick_session **out, wick_error *error)
{
    *out = NULL;
    const struct wick_allocator *allocator = wick_model_allocator(model);
    wick_session *session = allocator->alloc(allocator->user, sizeof *session);
    if (!session) return wick_fail_oom(error, sizeof *session, "session");
    memset(session, 0, sizeof *session);
    wick_status status = wick_timeline_open(&session->timeline, model, wick_str_of(method ? method : "forward"), NULL, error);
    if (status != WICK_OK) {
        allocator->free(allocator->user, session, sizeof *session);
        return status;
    }
    struct wick_llm_metadata metadata;
    wick_arena_init(&session->temp, allocator);
    status = wick_llm_metadata_read(&metadata, wick_model_program(model), wick_instance_graph(session->timeline.instance), error);
    if (status == WICK_OK) status = wick_llm_session_init(&session->llm, &metadata, session->timeline.instance, &session->timeline.load, error);
    if (status == WICK_OK) *out = session;
    else wick_session_close(session);
    return status;
}

void wick_session_close(wick_session *session)
{
    if (!session) return;
    struct wick_allocator allocator = *wick_model_allocator(session->timeline.model);
    wick_arena_release(&session->temp);
    wick_timeline_close(&session->timeline);
    allocator.free(allocator.user, session, sizeof *session);
}

void wick_session_describe(const wick_session *session, wick_session_info *info)
{
    const struct wick_llm_metadata *m = &session->llm.metadata;
    *info = (wick_session_info){.vocab_size = m->vocab_size, .context = m->max_context_len, .chunk = m->tokens_bound, .kv_cache = m->use_kv_cache, .bos = m->bos,
                                .eos_count = m->eos_count};
    for (uint32_t i = 0; i < m->eos_count; i++) info->eos[i] = m->eos[i];
}

wick_status wick_session_feed(wick_session *session, const int64_t *ids, size_t count, wick_error *error)
{
    if (count > INT32_MAX) return wick_fail(error, WICK_CONTEXT_FULL, "%zu tokens at once", count);
    return wick_llm_session_feed(&session->llm, ids, (int32_t)count, error);
}

wick_status wick_session_feed_each(wick_session *session, const int64_t *ids, size_t count, bool (*on_logits)(void *user, const float *logits, size_t count), void *user,
                                   wick_error *error)
{
    if (count > INT32_MAX) return wick_fail(error, WICK_CONTEXT_FULL, "%zu tokens at once", count);
    return wick_llm_session_feed_each(&session->llm, ids, (int32_t)count, on_logits, user, error);
}

const float *wick_session_logits(const wick_session *session) { return session->llm.logits; }
int64_t wick_session_position(const wick_session *session) { return session->llm.position; }
void wick_session_reset(wick_session *session) { wick_llm_session_reset(&session->llm); }
void wick_session_cancel(wick_session *session) { wick_instance_cancel(session->timeline.instance); }

/* ---- generation ---- */

void wick_sampling_init(wick_sampling *sampling)
{
    *sampling = (wick_sampling){.temperature = 0.8f, .top_p = 0.9f, .typical_p = 1, .xtc_threshold = 0.1f, .min_keep = 1, .mirostat_tau = 5, .mirostat_eta = 0.1f, .repetition_penalty = 1,
                                .penalty_last_n = -1, .dry_base = 1.75f, .dry_allowed_length = 2, .dry_last_n = -1};
}

void wick_generate_options_init(wick_generate_options *options)
{
    *options = (wick_generate_options){.struct_size = sizeof *options, .max_new_tokens = -1, .seq_len = -1};
    wick_sampling_init(&options->sampling);
}

wick_status wick_generate(wick_session *session, const wick_tokenizer *tokenizer, const int64_t *prompt, size_t prompt_count, const wick_generate_options *options,
                          wick_generate_stats *stats, wick_error *error)
{
    wick_generate_stats unused;
    if (!stats) stats = &unused;
    *stats = (wick_generate_stats){0};
    wick_status status = wick_llm_generate(&session->llm, tok_of(tokenizer), prompt, prompt_count, options, stats, &session->temp, error);
    wick_arena_reset(&session->temp);
    return status;
}
