/* llm/metadata.c - see metadata.h. Next: session.c. */
#include "llm/metadata.h"

static int64_t constant(const struct wick_program *program, const char *name, uint32_t i, int64_t absent)
{
    struct wick_value v;
    if (wick_program_constant(program, wick_str_of(name), i, &v, NULL) != WICK_OK) return absent;
    return v.tag == WICK_TAG_INT ? v.as.i : v.tag == WICK_TAG_BOOL ? (int64_t)v.as.b : absent;
}

static void read_eos(struct wick_llm_metadata *m, const struct wick_program *program)
{
    /* optimum-executorch writes the singular. */
    static const char *const names[] = {"get_eos_ids", "get_eos_id"};
    for (size_t k = 0; k < WICK_ARRAY_SIZE(names) && m->eos_count == 0; k++) {
        uint32_t count = wick_program_constant_count(program, wick_str_of(names[k]));
        for (uint32_t i = 0; i < count && m->eos_count < WICK_EOS_MAX; i++) {
            int64_t id = constant(program, names[k], i, -1);
            if (id >= 0) m->eos[m->eos_count++] = id;
        }
    }
}

static const struct wick_tensor *input_tensor(const struct wick_exec_graph *graph, uint32_t i)
{
    const struct wick_value *v = i < graph->method->input_count ? &graph->values[graph->method->inputs[i]] : NULL;
    return v && v->tag == WICK_TAG_TENSOR ? v->as.tensor : NULL;
}

static bool is_id_type(const struct wick_tensor *t) { return t->shape.dtype == WICK_DTYPE_I64 || t->shape.dtype == WICK_DTYPE_I32; }

static wick_status read_inputs(struct wick_llm_metadata *m, const struct wick_exec_graph *graph, wick_error *err)
{
    const struct wick_tensor *tokens = input_tensor(graph, 0), *position = input_tensor(graph, 1);
    if (graph->method->input_count < 1 || graph->method->input_count > 2)
        return wick_fail(err, WICK_INVALID_PROGRAM, "not a language model: %u inputs, not tokens and a position", graph->method->input_count);
    if (!tokens || !is_id_type(tokens) || tokens->shape.rank != 2 || tokens->shape.sizes[0] != 1 || tokens->shape.sizes[1] < 1)
        return wick_fail(err, WICK_INVALID_PROGRAM, "not a language model: the first input is not a row of token ids");
    m->tokens_bound = tokens->shape.sizes[1];
    m->tokens_static = tokens->dynamism == WICK_STATIC;
    m->tokens_dtype = tokens->shape.dtype;
    m->has_position = graph->method->input_count == 2;
    if (!m->has_position) return WICK_OK;
    if (!position || !is_id_type(position) || position->shape.rank != 1)
        return wick_fail(err, WICK_INVALID_PROGRAM, "not a language model: the second input is not a position");
    m->position_vector = position->shape.sizes[0] > 1;
    m->position_dtype = position->shape.dtype;
    return WICK_OK;
}

wick_status wick_llm_metadata_read(struct wick_llm_metadata *m, const struct wick_program *program, const struct wick_exec_graph *graph, wick_error *err)
{
    *m = (struct wick_llm_metadata){0};
    WICK_TRY(read_inputs(m, graph, err));
    const struct wick_value *out = graph->method->output_count ? &graph->values[graph->method->outputs[0]] : NULL;
    const struct wick_tensor *logits = out && out->tag == WICK_TAG_TENSOR ? out->as.tensor : NULL;
    if (!logits || !wick_dtype_is_float(logits->shape.dtype) || logits->shape.rank < 2 || logits->shape.rank > 3)
        return wick_fail(err, WICK_INVALID_PROGRAM, "not a language model: the first output is no row of logits");
    m->vocab_size = logits->shape.sizes[logits->shape.rank - 1];
    m->dynamic = !m->tokens_static;
    m->use_kv_cache = constant(program, "use_kv_cache", 0, m->has_position) != 0 && m->has_position;
    m->max_seq_len = constant(program, "get_max_seq_len", 0, m->tokens_bound);
    m->max_context_len = constant(program, "get_max_context_len", 0, m->max_seq_len);
    if (!m->use_kv_cache) m->max_context_len = m->tokens_bound;
    if (m->max_context_len < 1 || m->max_context_len > INT32_MAX)
        return wick_fail(err, WICK_INVALID_PROGRAM, "get_max_context_len: %lld is not in 1..2147483647", (long long)m->max_context_len);
    m->bos = constant(program, "get_bos_id", 0, -1);
    read_eos(m, program);
    return WICK_OK;
}
