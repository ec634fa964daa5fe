/* export/metadata.c - constant methods: what runners ask a program before they run it. Next: describe.c. */
#include "export/metadata.h"

#include "base/json.h"
#include "export/special_ids.h"

static void add(struct wick_metadata *m, const char *name, const struct wick_pte_value *values, uint32_t count)
{
    if (m->count == m->capacity) {
        struct wick_pte_plan *plans = WICK_NEW_ARRAY(m->arena, struct wick_pte_plan, m->capacity * 2 + 16);
        if (!plans) {
            m->out_of_memory = true;
            return;
        }
        if (m->count) memcpy(plans, m->plans, m->count * sizeof *plans);
        m->plans = plans;
        m->capacity = m->capacity * 2 + 16;
    }
    static const int64_t no_buffers[1] = {0};
    int32_t *outputs = WICK_NEW_ARRAY(m->arena, int32_t, count);
    struct wick_pte_value *copy = WICK_NEW_ARRAY(m->arena, struct wick_pte_value, count);
    struct wick_pte_chain *chain = WICK_NEW(m->arena, struct wick_pte_chain);
    char *text = wick_arena_copy(m->arena, name, strlen(name));
    if (!outputs || !copy || !chain || !text) {
        m->out_of_memory = true;
        return;
    }
    if (count) memcpy(copy, values, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++) outputs[i] = (int32_t)i;
    /* Empty vectors, not absent ones: readers demand them. */
    *chain = (struct wick_pte_chain){.inputs = {outputs, 0}, .outputs = {outputs, 0}, .instructions = (const struct wick_pte_instruction *)chain, .instruction_count = 0};
    m->plans[m->count++] = (struct wick_pte_plan){.name = wick_str_of(text), .values = copy, .value_count = count, .inputs = {outputs, 0}, .outputs = {outputs, count},
                                                  .chains = chain, .chain_count = 1, .operators = (const struct wick_pte_operator *)chain,
                                                  .delegates = (const struct wick_pte_delegate *)chain, .buffer_sizes = no_buffers, .buffer_count = 1};
}

static struct wick_pte_value int_value(int64_t i) { return (struct wick_pte_value){.kind = PTE_KIND_INT, .as.i = i}; }
static struct wick_pte_value bool_value(bool b) { return (struct wick_pte_value){.kind = PTE_KIND_BOOLEAN, .as.b = b}; }

static void add_int(struct wick_metadata *m, const char *name, int64_t i)
{
    struct wick_pte_value v = int_value(i);
    add(m, name, &v, 1);
}

static void add_bool(struct wick_metadata *m, const char *name, bool b)
{
    struct wick_pte_value v = bool_value(b);
    add(m, name, &v, 1);
}

/* Nested lists and objects are flattened, as the original's pytree does. */
enum { METADATA_VALUES_MAX = 1024, METADATA_DEPTH_MAX = 8 };

static bool flatten(struct wick_metadata *m, const json_t *json, struct wick_pte_value *values, uint32_t *count, int depth)
{
    size_t i;
    const char *key;
    json_t *item;
    if (depth > METADATA_DEPTH_MAX || *count == METADATA_VALUES_MAX) return false;
    if (json_is_array(json)) {
        json_array_foreach(json, i, item) if (!flatten(m, item, values, count, depth + 1)) return false;
        return true;
    }
    if (json_is_object(json)) {
        json_object_foreach((json_t *)(uintptr_t)json, key, item) if (!flatten(m, item, values, count, depth + 1)) return false;
        return true;
    }
    struct wick_pte_value v = {0};
    if (json_is_integer(json)) v = int_value(json_integer_value(json));
    else if (json_is_real(json)) v = (struct wick_pte_value){.kind = PTE_KIND_DOUBLE, .as.d = json_real_value(json)};
    else if (json_is_boolean(json)) v = bool_value(json_is_true(json));
    else if (json_is_string(json)) {
        char *text = wick_arena_copy(m->arena, json_string_value(json), json_string_length(json));
        if (!text) return !(m->out_of_memory = true);
        v = (struct wick_pte_value){.kind = PTE_KIND_STRING, .as.string = {text, json_string_length(json)}};
    } else v = (struct wick_pte_value){.kind = PTE_KIND_NIL};
    values[(*count)++] = v;
    return true;
}

static wick_status add_given(struct wick_metadata *m, const char *text, bool *has_bos, bool *has_eos, wick_error *err)
{
    json_t *root, *value;
    const char *name;
    WICK_TRY(wick_json_parse(&root, text, strlen(text), "base.metadata", WICK_INVALID_CONFIG, err));
    wick_status status = json_is_object(root) ? WICK_OK : wick_fail(err, WICK_INVALID_CONFIG, "base.metadata: not a JSON object");
    if (status == WICK_OK) json_object_foreach(root, name, value)
    {
        struct wick_pte_value *values = WICK_NEW_ARRAY(m->arena, struct wick_pte_value, METADATA_VALUES_MAX);
        uint32_t count = 0;
        *has_bos |= strcmp(name, "get_bos_id") == 0;
        *has_eos |= strcmp(name, "get_eos_ids") == 0;
        if (!values) m->out_of_memory = true;
        else if (!flatten(m, value, values, &count, 0)) status = wick_fail(err, WICK_INVALID_CONFIG, "base.metadata: %s: nested too deep or too many values", name);
        else add(m, name, values, count);
        if (status != WICK_OK || m->out_of_memory) break;
    }
    json_decref(root);
    return status;
}

static wick_status add_special(struct wick_metadata *m, const struct wick_config *config, const struct wick_checkpoint *ckpt, bool has_bos, bool has_eos, wick_error *err)
{
    struct wick_special_ids ids;
    struct wick_pte_value values[WICK_EOS_IDS_MAX];
    if (has_bos && has_eos) return WICK_OK;
    WICK_TRY(wick_special_ids_find(&ids, ckpt, wick_config_text(config, WICK_KEY_BASE_CHECKPOINT), err));
    if (!has_bos && ids.has_bos) add_int(m, "get_bos_id", ids.bos);
    for (uint32_t i = 0; i < ids.eos_count; i++) values[i] = int_value(ids.eos[i]);
    if (!has_eos && ids.eos_count) add(m, "get_eos_ids", values, ids.eos_count);
    return WICK_OK;
}

wick_status wick_metadata_make(struct wick_metadata *m, const struct wick_config *config, const struct wick_hparams *h, const struct wick_checkpoint *ckpt,
                               struct wick_arena *arena, wick_error *err)
{
    *m = (struct wick_metadata){.arena = arena};
    bool has_bos = false, has_eos = false;
    add_int(m, "get_max_seq_len", wick_config_int(config, WICK_KEY_EXPORT_MAX_SEQ_LENGTH));
    add_int(m, "get_max_context_len", wick_config_int(config, WICK_KEY_EXPORT_MAX_CONTEXT_LENGTH));
    add_int(m, "get_n_layers", h->n_layers);
    add_int(m, "get_vocab_size", h->vocab_size);
    add_bool(m, "use_kv_cache", wick_config_bool(config, WICK_KEY_MODEL_USE_KV_CACHE));
    add_bool(m, "use_sdpa_with_kv_cache", wick_config_bool(config, WICK_KEY_MODEL_USE_SDPA_WITH_KV_CACHE));
    add_bool(m, "enable_dynamic_shape", wick_config_bool(config, WICK_KEY_MODEL_ENABLE_DYNAMIC_SHAPE));
    if (h->num_kv_shared_layers > 0) add_int(m, "get_num_kv_shared_layers", h->num_kv_shared_layers);
    const char *given = wick_config_text(config, WICK_KEY_BASE_METADATA);
    if (given && *given) WICK_TRY(add_given(m, given, &has_bos, &has_eos, err));
    WICK_TRY(add_special(m, config, ckpt, has_bos, has_eos, err));
    return m->out_of_memory ? wick_fail_oom(err, 0, "metadata") : WICK_OK;
}
