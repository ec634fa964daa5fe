/* Configurations as people write them for the original: files, overrides, errors; what comes of each. */
#include "export/config_set.h"

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes text as a file and gives its path. */
static const char *file_of(const char *name, const char *text)
{
    const char *path = wick_test_temp(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    return path;
}

/* File (NULL: none), then overrides up to NULL, then interpolations and checks. */
static wick_status compose(struct wick_config *c, const char *yaml, const char *const *overrides, wick_error *err)
{
    *err = (wick_error){WICK_OK, ""};
    WICK_TRY(wick_config_init(c, err));
    if (yaml) WICK_TRY(wick_config_load(c, file_of("c.yaml", yaml), err));
    for (; *overrides; overrides++) WICK_TRY(wick_config_override(c, *overrides, err));
    WICK_TRY(wick_config_resolve(c, err));
    return wick_config_check(c, err);
}

/* What the configuration prints for the keys that were given, without their sections: "model_class: ..., params: ..." */
static char *given(const struct wick_config *c)
{
    struct wick_buf all = {0}, out = {0};
    wick_config_print(c, &all);
    wick_buf_reserve(&out, 1);
    for (char *line = strtok(all.data, "\n"); line; line = strtok(NULL, "\n")) {
        if (strstr(line, "  # default") || line[strlen(line) - 1] == ':') continue;
        wick_buf_printf(&out, "%s%s", out.size ? "; " : "", line + strspn(line, " "));
    }
    wick_buf_free(&all);
    if (!out.size) out.data[0] = 0;
    return out.data;
}

static const struct {
    const char *yaml, *overrides[6], *expected;
} right[] = {
    {NULL, {"model.use_kv_cache=True", "+export.output_name=a b.pte", "++export.max_seq_length=64"}, "use_kv_cache: true; max_seq_length: 64; output_name: \"a b.pte\""},
    {NULL, {"base.metadata=\"{\\\"get_bos_id\\\":1,\\\"get_eos_ids\\\":[2]}\""}, "metadata: \"{\\\"get_bos_id\\\":1,\\\"get_eos_ids\\\":[2]}\""},
    {NULL, {"base.metadata={\"get_bos_id\":1,\"get_eos_ids\":[2]}"}, "metadata: \"{\\\"get_bos_id\\\":1,\\\"get_eos_ids\\\":[2]}\""},
    {NULL, {"base.metadata='{\"a\": \"it\\'s\"}'"}, "metadata: \"{\\\"a\\\": \\\"it's\\\"}\""},
    {NULL, {"quantization.embedding_quantize=\"4,32\"", "quantization.qmode='8da4w'"}, "qmode: \"8da4w\"; embedding_quantize: \"4,32\""},
    {NULL, {"quantization.embedding_quantize=4,32", "quantization.group_size=null"}, "embedding_quantize: \"4,32\"; group_size: null"},
    {NULL, {"base.checkpoint=a\\\\b\\ c\\,d", "base.params=", "export.output_dir=null.d"}, "params: \"\"; checkpoint: \"a\\\\b c,d\"; output_dir: \"null.d\""},
    {NULL, {"base.checkpoint=007", "export.output_name=1_0", "base.tokenizer_path=TRUE"}, "checkpoint: \"007\"; tokenizer_path: \"True\"; output_name: \"10\""},
    {NULL, {"export.max_seq_length=\"1_6\"", "model.enable_dynamic_shape=oFF", "model.use_kv_cache=2"}, "enable_dynamic_shape: false; use_kv_cache: true; max_seq_length: 16"},
    {NULL, {"backend.coreml.quantize=CoreMLQuantize.c4w", "base.model_class=ModelType.llama3_1"}, "model_class: \"llama3_1\"; quantize: \"c4w\""},
    {NULL, {"hydra.run.dir=.", "hydra/job_logging=none", "hydra.output_subdir=null", "debug.verbose=yes"}, "verbose: true"},
    {NULL, {"quantization.calibration_tasks=[ wikitext , 'a,b']", "backend.vgf.compile_spec=null"}, "calibration_tasks: [\"wikitext\",\"a,b\"]; compile_spec: null"},
    {NULL, {"export.output_name=${base.model_class}_${export.max_seq_length}", "base.model_class=smollm2"}, "model_class: \"smollm2\"; output_name: \"smollm2_128\""},
    {NULL, {"base.params=${.checkpoint}.json", "base.checkpoint=x", "export.max_context_length=${export.max_seq_length}"},
     "params: \"x.json\"; checkpoint: \"x\"; max_context_length: 128"},
    {NULL, {"base.checkpoint=${oc.env:WICK_TEST_SET}/w", "base.params=${oc.env:WICK_TEST_UNSET,'p, q'}", "base.tokenizer_path=${oc.env:WICK_TEST_UNSET,null}"},
     "params: \"p, q\"; checkpoint: \"here/w\"; tokenizer_path: null"},
    {NULL, {"base.checkpoint=\\${x", "base.params=${oc.env:WICK_TEST_UNSET,${oc.env:WICK_TEST_SET}}"}, "params: \"here\"; checkpoint: \"${x\""},
    {"base:\n  metadata: '{\"get_bos_id\":128000, \"get_eos_ids\":[128009, 128001]}'\nmodel:\n  use_kv_cache: True\nquantization:\n  qmode: 8da4w\n  group_size: 128\n"
     "  embedding_quantize: 4,32\n",
     {NULL}, "metadata: \"{\\\"get_bos_id\\\":128000, \\\"get_eos_ids\\\":[128009, 128001]}\"; use_kv_cache: true; qmode: \"8da4w\"; embedding_quantize: \"4,32\"; group_size: 128"},
    {"export:\n  # comments only\nmodel: # here too\n  use_kv_cache: on\n  enable_dynamic_shape: No\n", {"export.max_seq_length=8"},
     "enable_dynamic_shape: false; use_kv_cache: true; max_seq_length: 8"},
    {"base: &b {checkpoint: \"a\\\n    b\", params: >-\n    folded\n    text\n  }\n", {NULL}, NULL}, /* a block in a flow is no YAML */
    {"base:\n  checkpoint: \"a\\\n    b\"\n  params: >-\n    folded\n    text\n  metadata: |\n    {\"a\":1}\n", {NULL}, "params: \"folded text\"; checkpoint: \"ab\"; metadata: \"{\\\"a\\\":1}\\n\""},
    {"export: &e\n  max_seq_length: 0x20\n  output_name: &n name\nbase:\n  checkpoint: *n\n", {NULL}, "checkpoint: \"name\"; max_seq_length: 32; output_name: \"name\""},
    {"quantization:\n  calibration_tasks: [a, [b]]\n", {NULL}, NULL},
    {"model:\n  static_quantize_kv_cache_scale: 1e-2\nexport: {max_seq_length: '16'}\n", {NULL}, "static_quantize_kv_cache_scale: 0.01; max_seq_length: 16"},
    {"hydra:\n  run: {dir: .}\ndefaults:\n  - llm_config\n  - _self_\ndebug: {verbose: y}\n", {NULL}, "verbose: true"},
    {"base:\n  checkpoint: \?\?\?\n", {"base.checkpoint=x"}, "checkpoint: \"x\""},
    {"base:\n  checkpoint: \?\?\?\n", {NULL}, ""},
    {"", {"debug.verbose=1"}, "verbose: true"},
    {"base:\n  checkpoint: 0x10\n  params: 1.50\n", {"base.tokenizer_path=1e3", "export.output_name=1e-7", "export.output_dir=${export.max_seq_length}"},
     "params: \"1.5\"; checkpoint: \"16\"; tokenizer_path: \"1000.0\"; output_dir: \"128\"; output_name: \"1e-07\""},
};

static void composes(void **state)
{
    (void)state;
    setenv("WICK_TEST_SET", "here", 1);
    unsetenv("WICK_TEST_UNSET");
    for (size_t i = 0; i < WICK_ARRAY_SIZE(right); i++) {
        struct wick_config c;
        wick_error err;
        wick_status status = compose(&c, right[i].yaml, right[i].overrides, &err);
        if (!right[i].expected) assert_int_equal(status, WICK_INVALID_CONFIG);
        else if (status != WICK_OK) fail_msg("case %zu: %s", i, err.message);
        else {
            char *text = given(&c);
            if (strcmp(text, right[i].expected) != 0) fail_msg("case %zu:\n%s, not\n%s", i, text, right[i].expected);
            free(text);
        }
        wick_config_release(&c);
    }
}

#define ADAPTER(path) "{\"adapter_checkpoint\":\"" path "\",\"adapter_config\":null,\"lora_rank\":0,\"lora_alpha\":0,\"target_modules\":[],\"adapter_quant\":null}"

/* Structured keys, with and without features that this build refuses: no checks. */
static void fills_structured_values(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *overrides[4];
        enum wick_key key;
        const char *expected;
    } cases[] = {
        {NULL, {"+base.lora_config.adapter_checkpoint=a.safetensors"}, WICK_KEY_BASE_LORA_CONFIG, ADAPTER("a.safetensors")},
        {"base:\n  lora_config:\n    adapter_checkpoint: ${oc.env:WICK_TEST_SET}\n    lora_rank: '16'\n",
         {"base.lora_config.target_modules=[q_proj,v_proj]", "base.lora_config.adapter_config=c.json"},
         WICK_KEY_BASE_LORA_CONFIG,
         "{\"adapter_checkpoint\":\"here\",\"adapter_config\":\"c.json\",\"lora_rank\":16,\"lora_alpha\":0,\"target_modules\":[\"q_proj\",\"v_proj\"],\"adapter_quant\":null}"},
        {"base:\n  lora_config: &l {adapter_checkpoint: x}\nmultimethod:\n  methods:\n  - method_name: f\n    lora_config:\n      <<: *l\n      lora_rank: 0\n  - method_name: g\n",
         {"multimethod.methods.1.export_seq_len=4", "multimethod.methods[0].method_name=h"},
         WICK_KEY_MULTIMETHOD_METHODS,
         "[{\"method_name\":\"h\",\"lora_config\":" ADAPTER("x") ",\"export_seq_len\":null},{\"method_name\":\"g\",\"lora_config\":null,\"export_seq_len\":4}]"},
        {NULL, {"multimethod.methods=[{method_name:forward},{\"method_name\":'g h'}]"}, WICK_KEY_MULTIMETHOD_METHODS,
         "[{\"method_name\":\"forward\",\"lora_config\":null,\"export_seq_len\":null},{\"method_name\":\"g h\",\"lora_config\":null,\"export_seq_len\":null}]"},
        {NULL, {"model.local_global_attention=[16, 0]"}, WICK_KEY_MODEL_LOCAL_GLOBAL_ATTENTION, "[16,0]"},
        {"model:\n  local_global_attention:\n  - 16\n  - 0\n", {NULL}, WICK_KEY_MODEL_LOCAL_GLOBAL_ATTENTION, "[16,0]"},
        {"backend: {ethosu: {extra_flags: [--a, '-b c']}}\n", {NULL}, WICK_KEY_BACKEND_ETHOSU_EXTRA_FLAGS, "[\"--a\",\"-b c\"]"},
    };
    setenv("WICK_TEST_SET", "here", 1);
    for (size_t i = 0; i < WICK_ARRAY_SIZE(cases); i++) {
        struct wick_config c;
        wick_error err;
        wick_status status = compose(&c, cases[i].yaml, cases[i].overrides, &err);
        const char *text = wick_config_text(&c, cases[i].key);
        if (!text || strcmp(text, cases[i].expected) != 0) fail_msg("case %zu: %s (%d %s)", i, text ? text : "null", (int)status, err.message);
        wick_config_release(&c);
    }
}

/* Refused with these words. */
static const struct {
    const char *yaml, *overrides[4], *words;
} wrong[] = {
    {NULL, {"model.nope=1"}, "model.nope: Key 'nope' not in 'ModelConfig'"},
    {NULL, {"model.use_kv_cach=1"}, "did you mean model.use_kv_cache?"},
    {NULL, {"use_kv_cache=1"}, "Key 'use_kv_cache' not in 'LlmConfig'; did you mean model.use_kv_cache?"},
    {NULL, {"backend.xnpack.enabled=1"}, "Key 'xnpack' not in 'BackendConfig'; did you mean backend.xnnpack.enabled?"},
    {NULL, {"model=x"}, "model: is a section"},
    {NULL, {"model.use_kv_cache"}, "write overrides as section.key=value"},
    {NULL, {"~model.use_kv_cache"}, "not supported"},
    {NULL, {"export.max_seq_length=abc"}, "Value 'abc' of type 'str' could not be converted to Integer"},
    {NULL, {"export.max_seq_length=1.5"}, "Value '1.5' of type 'float' could not be converted to Integer"},
    {NULL, {"export.max_seq_length=99999999999999999999"}, "could not be converted to Integer"},
    {NULL, {"model.static_quantize_kv_cache_scale=x"}, "could not be converted to Float"},
    {NULL, {"model.use_kv_cache=maybe"}, "Value 'maybe' is not a valid bool (type str)"},
    {NULL, {"model.use_kv_cache=1.0"}, "is not a valid bool (type float)"},
    {NULL, {"model.use_kv_cache=null"}, "field 'use_kv_cache' is not Optional"},
    {NULL, {"base.preq_mode=8da4w"}, "Invalid value '8da4w', expected one of [preq_8da4w, preq_8da4w_out_8da8w]"},
    {NULL, {"quantization.calibration_tasks=a"}, "quantization.calibration_tasks: 'str' is no list"},
    {NULL, {"quantization.calibration_tasks=[a"}, "a list goes on with , or ]"},
    {NULL, {"quantization.calibration_tasks=a,b"}, "sweep"},
    {NULL, {"model.local_global_attention=[a]"}, "model.local_global_attention[0]: Value 'a' of type 'str' could not be converted to Integer"},
    {NULL, {"+base.lora_config.adapter_config=x"}, "base.lora_config.adapter_checkpoint: missing"},
    {NULL, {"+base.lora_config.lora_rnk=x"}, "Key 'lora_rnk' not in 'LoraConfig'; did you mean lora_rank?"},
    {NULL, {"multimethod.methods.0.method_name=x"}, "is no item of the list (0 items)"},
    {NULL, {"base.checkpoint=\"x"}, "a quote that does not end"},
    {NULL, {"base.checkpoint=${oc.env:WICK_TEST_UNSET}"}, "base.checkpoint: Environment variable 'WICK_TEST_UNSET' not found"},
    {NULL, {"base.checkpoint=${oc.decode:1}"}, "${oc.decode:...} is not supported"},
    {NULL, {"base.checkpoint=${base.params}", "base.params=${base.checkpoint}"}, "interpolations go round"},
    {NULL, {"base.checkpoint=${base.nope}"}, "Interpolation key not found: 'base.nope'"},
    {NULL, {"base.checkpoint=a${x"}, "an interpolation without its }"},
    {"base:\n  lora_config: {adapter_checkpoint: '\?\?\?'}\n", {NULL}, "base.lora_config: Missing mandatory value"},
    {"model:\n  use_kv_cache: True\n  nope: 1\n", {NULL}, "c.yaml: line 3: model.nope: Key 'nope' not in 'ModelConfig'"},
    {"model:\n  use_kv_cache: True\n  use_kv_cache: True\n", {NULL}, "line 3: found duplicate key use_kv_cache"},
    {"model: [1]\n", {NULL}, "c.yaml: line 1: model: takes a mapping"},
    {"base:\n  metadata='{\"get_bos_id\":1}'\n", {NULL}, "write 'metadata: ' for 'metadata='"},
    {"base: {checkpoint: {a: 1}}\n", {NULL}, "base.checkpoint: Cannot convert 'dict' to string"},
    {"base: {checkpoint: !!python/object:x {a: 1}}\n", {NULL}, "is not supported"},
    {"base: {checkpoint: !x a}\n", {NULL}, "the tag !x is not supported"},
    {"base: {checkpoint: \"a\\0b\"}\n", {NULL}, "a text with a NUL"},
    {"base: [\n", {NULL}, "c.yaml: line 2, column 1"},
    {"- a\n", {NULL}, "the top is no mapping"},
    {"base: {}\n---\nbase: {}\n", {NULL}, "a second document"},
    {"defaults: [c]\n", {NULL}, "defaults of defaults go round"},
    {"backend:\n  xnnpack: &x\n    <<: *x\n", {NULL}, "c.yaml: line"},
    /* values against each other */
    {NULL, {"model.use_attention_sink=\"4\""}, "must be structured like '<sink_size>,<window_size>'"},
    {NULL, {"model.use_attention_sink=\"4,5,6\""}, "must be structured like '<sink_size>,<window_size>'"},
    {NULL, {"model.quantize_kv_cache=1"}, "model.quantize_kv_cache: needs model.use_kv_cache=true"},
    {NULL, {"model.static_quantize_kv_cache=1"}, "model.static_quantize_kv_cache: needs model.use_kv_cache=true"},
    {NULL, {"model.use_kv_cache=1", "model.static_quantize_kv_cache=1"}, "requires static shapes"},
    {NULL, {"model.use_kv_cache=1", "model.static_quantize_kv_cache=1", "model.quantize_kv_cache=1"}, "cannot be combined with model.quantize_kv_cache"},
    {"model: {use_kv_cache: 1, static_quantize_kv_cache: 1, enable_dynamic_shape: 0, local_global_attention: [16]}\n", {NULL}, "cannot be combined with model.local_global_attention"},
    {"model: {use_kv_cache: 1, static_quantize_kv_cache: 1, enable_dynamic_shape: 0, use_attention_sink: '4,8'}\n", {NULL}, "cannot be combined with model.use_attention_sink"},
    {"model: {static_quantize_kv_cache_scale: .nan}\n", {NULL}, "must be finite and positive"},
    {"model: {static_quantize_kv_cache_scale: -.inf}\n", {NULL}, "must be finite and positive"},
    {NULL, {"model.static_quantize_kv_cache_scale=0"}, "must be finite and positive"},
    {NULL, {"model.local_global_attention=[16]"}, "needs model.use_kv_cache=true"},
    {NULL, {"export.max_seq_length=256"}, "export.max_context_length: 128 must be at least export.max_seq_length (256)"},
    {NULL, {"export.max_seq_length=1"}, "export.max_seq_length: 1 is not in 2.."},
    {NULL, {"quantization.qmode=8da5w"}, "'8da5w' is none of int8, 8da4w"},
    {NULL, {"quantization.qmode=torchao:8daw"}, "is none of int8"},
    {NULL, {"quantization.qmode=torchao:8da4w", "quantization.group_size=32", "backend.xnnpack.enabled=1"}, "torchao modes cannot be combined with backend.xnnpack.enabled"},
    {NULL, {"quantization.qmode=torchao:8da4w"}, "torchao modes need quantization.group_size"},
    {NULL, {"quantization.qmode=int8", "model.use_shared_embedding=1"}, "model.use_shared_embedding: needs a quantization.qmode that starts with torchao:"},
    {NULL, {"quantization.qmode=torchao:8da4w", "quantization.group_size=32", "model.use_shared_embedding=1"}, "needs a quantization.embedding_quantize that starts with torchao:"},
    {NULL, {"quantization.qmode=8da4w", "quantization.pt2e_quantize=xnnpack_dynamic"}, "cannot be combined with quantization.pt2e_quantize"},
    {NULL, {"quantization.embedding_quantize=\"3,32\""}, "3 bits is none of 2, 4, 8"},
    {NULL, {"quantization.embedding_quantize=4"}, "must follow the format <bitwidth>,<groupsize>"},
    {NULL, {"quantization.embedding_quantize=\"4,x\""}, "'x' is no group size"},
    {NULL, {"base.preq_mode=preq_8da4w", "base.preq_group_size=48"}, "base.preq_group_size: is none of 32, 64, 128, 256"},
    {NULL, {"multimethod.methods=[{method_name:a}]", "backend.vulkan.enabled=1"}, "cannot be combined with backend.vulkan.enabled"},
    {NULL, {"multimethod.methods=[{method_name:a}]", "+base.lora_config.adapter_checkpoint=x"}, "cannot be combined with base.lora_config"},
    {NULL, {"backend.coreml.ios=14"}, "backend.coreml.ios: 14 is none of 15, 16, 17, 18"},
    {NULL, {"backend.coreml.enabled=1"}, "backend.coreml.enabled: takes static shapes only"},
    {NULL, {"backend.coreml.enabled=1", "model.enable_dynamic_shape=0", "quantization.embedding_quantize=\"4,32\""}, "needs at least 18"},
    {NULL, {"backend.qnn.enabled=1"}, "backend.qnn.enabled: takes static shapes only"},
    {NULL, {"backend.qnn.enabled=1", "model.enable_dynamic_shape=0"}, "backend.qnn.enabled: needs model.use_kv_cache=true"},
    {NULL, {"backend.qnn.num_sharding=2"}, "backend.qnn.num_sharding: needs backend.qnn.enabled=true"},
    {NULL, {"backend.vulkan.enabled=1", "model.dtype_override=bf16"}, "needs model.dtype_override=fp32"},
    /* what needs a vendor's tools */
    {NULL, {"backend.coreml.enabled=1", "model.enable_dynamic_shape=0"}, "backend.coreml.enabled=true: not supported: needs Apple's coremltools"},
    {NULL, {"backend.mlx.enabled=1"}, "backend.mlx.enabled=true: not supported"},
    {NULL, {"backend.openvino.enabled=1"}, "needs Intel's OpenVINO"},
    {NULL, {"backend.vulkan.enabled=1"}, "needs the Vulkan back-end"},
    {NULL, {"backend.tosa.enabled=1"}, "TOSA"},
    {NULL, {"backend.ethosu.enabled=1"}, "Vela"},
    {NULL, {"backend.vgf.enabled=1"}, "VGF"},
    {NULL, {"quantization.pt2e_quantize=qnn_16a4w"}, "quantization.pt2e_quantize=qnn_16a4w: not supported: needs Qualcomm's"},
};

static void refuses(void **state)
{
    (void)state;
    unsetenv("WICK_TEST_UNSET");
    for (size_t i = 0; i < WICK_ARRAY_SIZE(wrong); i++) {
        struct wick_config c;
        wick_error err;
        wick_status status = compose(&c, wrong[i].yaml, wrong[i].overrides, &err);
        if (status == WICK_OK || err.status != status || !strstr(err.message, wrong[i].words)) fail_msg("case %zu: '%s' (%d), not '%s'", i, err.message, (int)status, wrong[i].words);
        wick_config_release(&c);
    }
}

/* Aliases of aliases do not make a short file a long work. */
static void survives_alias_bombs(void **state)
{
    (void)state;
    struct wick_buf text = {0};
    struct wick_config c;
    wick_error err;
    static const char *const none[] = {NULL};
    wick_buf_text(&text, "base:\n  lora_config:\n    a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++) {
        wick_buf_printf(&text, "    a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) wick_buf_printf(&text, "%s*a%d", k ? "," : "", i - 1);
        wick_buf_text(&text, "]\n");
    }
    assert_int_equal(compose(&c, text.data, none, &err), WICK_INVALID_CONFIG);
    assert_non_null(strstr(err.message, "longer than a configuration is"));
    wick_config_release(&c);
    wick_buf_free(&text);
}

/* What is printed is a file that means the same. */
static void prints_what_it_reads(void **state)
{
    (void)state;
    struct wick_config c;
    wick_error err;
    struct wick_buf first = {0}, second = {0};
    static const char *const overrides[] = {"base.metadata='{\"a\":\"b\\\\n\"}'", "model.use_kv_cache=1", "multimethod.methods=[{method_name:f}]", "base.checkpoint=x: y # z", NULL};
    static const char *const none[] = {NULL};
    (void)compose(&c, NULL, overrides, &err);
    wick_config_print(&c, &first);
    wick_config_release(&c);
    (void)compose(&c, first.data, none, &err);
    for (int i = 0; i < WICK_KEY_COUNT; i++) c.values[i].given = false;
    wick_config_print(&c, &second);
    wick_config_release(&c);
    assert_non_null(strstr(first.data, "  checkpoint: \"x: y # z\"\n"));
    assert_non_null(strstr(first.data, "\nbackend:\n  xnnpack:\n    enabled: false  # default\n"));
    /* but for the marks of defaults */
    char *a = first.data, *b = second.data;
    while (*a && *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        char *mark_a = strstr(a, "  # default"), *mark_b = strstr(b, "  # default");
        size_t k = mark_a && mark_a < a + n ? (size_t)(mark_a - a) : n, l = mark_b && mark_b < b + m ? (size_t)(mark_b - b) : m;
        if (k != l || memcmp(a, b, k) != 0) fail_msg("%.*s, not %.*s", (int)l, b, (int)k, a);
        a += n + (a[n] != 0);
        b += m + (b[m] != 0);
    }
    assert_true(!*a && !*b);
    wick_buf_free(&first);
    wick_buf_free(&second);
}

/* A file that another names as a default comes first. */
static void merges_defaults(void **state)
{
    (void)state;
    struct wick_config c;
    wick_error err;
    static const char *const none[] = {NULL};
    file_of("other.yaml", "export: {max_seq_length: 32, output_name: other}\n");
    WICK_ASSERT_OK(compose(&c, "defaults: [other]\nexport: {max_seq_length: 16}\n", none, &err), &err);
    assert_int_equal(wick_config_int(&c, WICK_KEY_EXPORT_MAX_SEQ_LENGTH), 16);
    assert_string_equal(wick_config_text(&c, WICK_KEY_EXPORT_OUTPUT_NAME), "other");
    wick_config_release(&c);
    WICK_ASSERT_OK(compose(&c, "defaults: [_self_, other]\nexport: {max_seq_length: 16}\n", none, &err), &err);
    assert_int_equal(wick_config_int(&c, WICK_KEY_EXPORT_MAX_SEQ_LENGTH), 32);
    wick_config_release(&c);
    assert_int_equal(compose(&c, "defaults: [nobody]\n", none, &err), WICK_NOT_FOUND);
    assert_non_null(strstr(err.message, "nobody.yaml"));
    wick_config_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composes), cmocka_unit_test(fills_structured_values), cmocka_unit_test(refuses), cmocka_unit_test(survives_alias_bombs),
        cmocka_unit_test(prints_what_it_reads), cmocka_unit_test(merges_defaults),
    };
    return WICK_TEST_MAIN(tests);
}
