"""The families that are checked: tiny models of each. One case a line of the list that cases() gives; other files may add theirs (FILES)."""
import copy

from hybrid import hybrid
from weights import joined

TINY = {"dim": 64, "hidden_dim": 96, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2, "vocab_size": 160}
HALVES = {"use_hf_rope": True}
# Keys of the reference that no params.json has: such cases are only written by Hugging Face's names.
BEYOND = ("rope", "output_bias", "mlp_bias", "windows", "local_theta", "sink", "no_rope", "sandwich", "embedding_scale", "query_scale", "attention_cap",
          "logit_cap", "moe_group")


class Case:
    """name; params of decoder.forward; meta: the class to export Meta's names by, or None; hf: config.json's own keys, or None; rewrite: what becomes of
    the Hugging Face weights; own_names: see weights.hf_weights; options: more of the export's options; context, prompt, chunk: lengths, chunk the largest
    of a call; forms: those of reference.py that are made, or None for all; kept_ids: (input, output) ids of a pruned vocabulary, either may be None."""

    def __init__(self, name, params, meta=None, hf=None, rewrite=None, own_names=None, options=(), context=64, prompt=9, chunk=512, forms=None,
                 kept_ids=(None, None)):
        self.chunk, self.forms, self.kept_ids = chunk, forms, kept_ids
        self.name, self.params, self.meta, self.hf = name, {**TINY, **params, "context": context}, meta, hf
        self.rewrite, self.own_names, self.options, self.context, self.prompt = rewrite, own_names, list(options), context, prompt

    def params_json(self):
        return {k: v for k, v in self.params.items() if k not in BEYOND and k not in ("context", "tied", "extra_weights")}

    def config_json(self):
        p = self.params
        config = {"hidden_size": p["dim"], "intermediate_size": p["hidden_dim"], "num_attention_heads": p["n_heads"], "num_key_value_heads": p["n_kv_heads"],
                  "num_hidden_layers": p["n_layers"], "vocab_size": p["vocab_size"], "rms_norm_eps": p.get("norm_eps", 1e-5),
                  "rope_theta": p.get("rope_theta", 10000.0), "tie_word_embeddings": bool(p.get("tied")), "max_position_embeddings": 64}
        if "head_dim" in p:
            config["head_dim"] = p["head_dim"]
        return {**config, **copy.deepcopy(self.hf)}


def llama():
    scaled = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    theta = {"rope_theta": 500000.0}
    yield Case("llama2", {}, "llama2", {"model_type": "llama"})
    yield Case("llama3_2", {**theta, "use_scaled_rope": True, "rope_scale_factor": 32}, "llama3_2", {"model_type": "llama", "rope_scaling": scaled})
    # The base of rope and its scaling show at far positions only.
    yield Case("llama3_2 at 5000", {**theta, "use_scaled_rope": True, "rope_scale_factor": 32, "n_layers": 1}, "llama3_2",
               {"model_type": "llama", "rope_scaling": scaled}, context=5120, prompt=5001)
    yield Case("llama, new spelling", {**theta, "use_scaled_rope": True, "rope_scale_factor": 32}, None,
               {"model_type": "llama", "rope_theta": None, "rope_parameters": {**scaled, **theta}})
    yield Case("llama, no scaling", theta, None, {"model_type": "llama", "rope_scaling": None})
    yield Case("llama, linear", {"rope": ("linear", 4.0)}, None, {"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 4.0}})
    for context in (64, 256):
        yield Case(f"llama, dynamic, context {context}", {"rope": ("dynamic", 2.0, 64)}, None,
                   {"model_type": "llama", "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, context=context)
    yield Case("llama, yarn", {"rope": ("yarn", 4.0, 32)}, None,
               {"model_type": "llama", "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}})
    yield Case("llama, biases", {"attention_qkv_bias": True, "output_bias": True, "mlp_bias": True}, None,
               {"model_type": "llama", "attention_bias": True, "mlp_bias": True})
    yield Case("smollm2", {"rope_theta": 100000.0, "tied": True}, "smollm2", {"model_type": "llama"})


def qwen():
    base = {**HALVES, "norm_eps": 1e-6, "rope_theta": 1e6}
    yield Case("qwen2_5", {**base, "attention_qkv_bias": True, "tied": True}, "qwen2_5_0_5b", {"model_type": "qwen2"})
    yield Case("qwen2_5, yarn", {**base, "attention_qkv_bias": True, "rope": ("yarn", 4.0, 32)}, None,
               {"model_type": "qwen2", "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}})
    yield Case("qwen3", {**base, "head_dim": 32, "use_qk_norm": True, "qk_norm_before_rope": True, "tied": True}, "qwen3_0_6b",
               {"model_type": "qwen3", "attention_bias": False})


def phi():
    base = {**HALVES, "partial_rotary_factor": 0.75}
    short, long = [1.0 + 0.05 * i for i in range(6)], [1.0 + 1.5 * i for i in range(6)]
    yield Case("phi_4_mini, plain", base, "phi_4_mini", {"model_type": "phi3", "partial_rotary_factor": 0.75}, rewrite=joined)
    for context in (64, 256):
        yield Case(f"phi_4_mini, context {context}", {**base, "rope": ("longrope", short, long, 64, 512), "tied": True}, None,
                   {"model_type": "phi3", "partial_rotary_factor": 0.75, "original_max_position_embeddings": 64, "max_position_embeddings": 512,
                    "rope_scaling": {"type": "longrope", "short_factor": short, "long_factor": long}}, rewrite=joined, context=context)
    yield Case("phi_3_mini", HALVES, None, {"model_type": "phi3"}, rewrite=joined)


def gemma():
    base = {**HALVES, "n_layers": 6, "n_kv_heads": 1, "head_dim": 32, "norm_eps": 1e-6, "rope_theta": 1e6, "local_theta": 1e4, "use_qk_norm": True,
            "qk_norm_before_rope": True, "rms_norm_add_unit_offset": True, "act_fn": "gelu_approx", "sandwich": True, "embedding_scale": 8.0, "tied": True,
            "windows": [8] * 5 + [0], "query_scale": 24 ** -0.5,
            "extra_weights": lambda layer: {"post_attention_norm.weight": (64,), "post_ffn_norm.weight": (64,)}}
    text = {"model_type": "gemma3_text", "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 8, "rope_local_base_freq": 1e4, "query_pre_attn_scalar": 24,
            "attn_logit_softcapping": None, "final_logit_softcapping": None}
    ring = {"prompt": 25, "chunk": 9}
    yield Case("gemma3", base, None, text, **ring)
    yield Case("gemma3, linear rope, layer types", {**base, "windows": [8, 0, 8, 0, 0, 8], "rope": ("linear", 8.0)}, None,
               {**text, "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "layer_types": [f"{k}_attention" for k in ("sliding", "full", "sliding", "full", "full", "sliding")]},
               **ring)
    nested = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}, "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
    yield Case("gemma3, capped logits, nested rope", {**base, "rope": ("linear", 8.0), "logit_cap": 30.0}, None,
               {**{k: v for k, v in text.items() if k != "rope_local_base_freq"}, "rope_theta": None, "rope_parameters": nested, "final_logit_softcapping": 30.0}, **ring)


def smollm3():
    base = {"n_layers": 5, "norm_eps": 1e-6, "rope_theta": 5e6, "tied": True}
    yield Case("smollm3", {**base, "no_rope": (3,)}, None, {"model_type": "smollm3", "no_rope_layers": [1, 1, 1, 0, 1], "use_sliding_window": False, "sliding_window": None})
    yield Case("smollm3, interval", {**base, "no_rope": (1, 3)}, None, {"model_type": "smollm3", "no_rope_layer_interval": 2})


def windows():
    """Sliding windows as other models' configurations say them."""
    ring = {"prompt": 25, "chunk": 9}
    yield Case("phi_3_mini, window", {**HALVES, "windows": [8, 8]}, None, {"model_type": "phi3", "sliding_window": 8}, rewrite=joined, **ring)
    qwen = {**HALVES, "norm_eps": 1e-6, "rope_theta": 1e6, "attention_qkv_bias": True, "tied": True}
    yield Case("qwen2_5, window not used", qwen, None, {"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": False, "max_window_layers": 1}, **ring)
    yield Case("qwen2_5, window", {**qwen, "windows": [0, 8]}, None, {"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": True, "max_window_layers": 1}, **ring)


def variants():
    """What the original's params.json and configuration have beyond the families."""
    norms = {"use_qk_norm": True}
    yield Case("qk norm after rope", {**norms, "scale_query_by": 1.7}, "llama3")
    yield Case("qk norm without weights", {**norms, "qk_norm_affine": False, "qk_norm_before_rope": True, "scale_query_by": 0.6}, "llama3")
    yield Case("gates of attention", {"use_attn_o_gate": True, "use_attn_o_norm": True, "use_q_gate": True,
                                      "extra_weights": lambda layer: {"attention.og.weight": (64, 64)}}, "llama3")
    yield Case("gated residuals", {"use_residual_gate": True, "use_ffn_learnable_scales": True,
                                   "extra_weights": lambda layer: {"add_attn.gate": (64,), "add_ffn.gate": (64,), "post_ffn_norm.weight": (64,)}}, "llama3")
    yield Case("unit offsets, gelu", {"rms_norm_add_unit_offset": True, "act_fn": "gelu"}, "llama3")
    yield Case("a layer without attention", {"layer_types": ["full_attention", "skip_attention"]}, "llama3")
    for halves in (False, True):
        yield Case(f"shared keys and values, {'halves' if halves else 'pairs'}", {"n_layers": 4, "num_kv_shared_layers": 2, "use_hf_rope": halves}, "llama3")
    cached = ("kv", "sdpa", "sdpa_xnn", "static")
    for sink, window in ((4, 8), (0, 8)):
        yield Case(f"attention sink {sink},{window}", {"sink": (sink, window)}, "llama3", options=[f"model.use_attention_sink='{sink},{window}'"],
                   prompt=41, chunk=9, forms=cached)
    # Calls within the window, calls that want a larger ring, and a ring that is the whole context.
    for chunk in (9, 24, 64):
        yield Case(f"local and global, chunks of {chunk}", {"windows": [8, 0]}, "llama3", options=["model.local_global_attention=[8,0]"],
                   prompt=41, chunk=chunk, forms=cached)
    yield Case("rope table of every head", {"n_kv_heads": 4}, "llama3", options=["model.expand_rope_table=true"])
    some, odd = list(range(3, 60)), list(range(1, 160, 2))
    yield Case("pruned ids", {"tied": True}, "llama3", options=["model.input_prune_map={folder}/input.json", "model.output_prune_map={folder}/output.json"],
               kept_ids=(some, odd))
    yield Case("pruned ids, all logits", {}, "llama3", options=["model.output_prune_map={folder}/output.json", "debug.generate_full_logits=true"],
               kept_ids=(None, odd))


FILES = [llama, variants, qwen, phi, gemma, smollm3, windows, hybrid]


def cases():
    for file in FILES:
        yield from file()
