"""Random weights of a decoder by Meta's names, and the same weights by Hugging Face's."""
import numpy as np


def random_weights(params, seed):
    """Float32, of a size that lets every part of the model show in the logits. extra: shapes of a family's own weights, params["extra_weights"]."""
    rng = np.random.default_rng(seed)
    d, hidden, vocab = params["dim"], params["hidden_dim"], params["vocab_size"]
    heads, head = params["n_heads"], params.get("head_dim", params["dim"] // params["n_heads"])
    q, kv = heads * head, params.get("n_kv_heads", heads) * head
    unit = 0.0 if params.get("rms_norm_add_unit_offset") else 1.0
    w = {}

    def matrix(name, rows, columns):
        w[name] = (rng.standard_normal((rows, columns)) * (1.5 / np.sqrt(columns))).astype(np.float32)

    def vector(name, size, mean=0.0):
        w[name] = (mean + 0.3 * rng.standard_normal(size)).astype(np.float32)

    w["tok_embeddings.weight"] = rng.standard_normal((vocab, d)).astype(np.float32)
    for layer in range(params["n_layers"]):
        at, kind = f"layers.{layer}.", params["layer_types"][layer] if params.get("layer_types") else "attention"
        own = layer < params["n_layers"] - params.get("num_kv_shared_layers", 0)
        if kind != "skip_attention":
            vector(at + "attention_norm.weight", d, unit)
        vector(at + "ffn_norm.weight", d, unit)
        for name, shape in params.get("extra_weights", lambda layer: {})(layer).items():
            if len(shape) == 1:
                vector(at + name, shape[0], unit if "norm" in name else 0.0)
            else:
                w[at + name] = (rng.standard_normal(shape) * (1.5 / np.sqrt(shape[-1]))).astype(np.float32)
        if kind not in ("conv", "linear_attention", "skip_attention"):
            matrix(at + "attention.wq.weight", q * (2 if params.get("use_q_gate") else 1), d)
            if own:
                matrix(at + "attention.wk.weight", kv, d)
                matrix(at + "attention.wv.weight", kv, d)
            matrix(at + "attention.wo.weight", d, q)
            if params.get("attention_qkv_bias"):
                for name, size in (("wq", q), ("wk", kv), ("wv", kv)):
                    vector(at + f"attention.{name}.bias", size)
            if params.get("output_bias"):
                vector(at + "attention.wo.bias", d)
            if params.get("use_qk_norm") and params.get("qk_norm_affine", True):
                vector(at + "attention.q_norm_fn.weight", head, unit)
                if own:
                    vector(at + "attention.k_norm_fn.weight", head, unit)
        if not params.get("moe"):
            matrix(at + "feed_forward.w1.weight", hidden, d)
            matrix(at + "feed_forward.w2.weight", d, hidden)
            matrix(at + "feed_forward.w3.weight", hidden, d)
            if params.get("mlp_bias"):
                for name, size in (("w1", hidden), ("w2", d), ("w3", hidden)):
                    vector(at + f"feed_forward.{name}.bias", size)
    vector("norm.weight", d, unit)
    if not params.get("tied"):
        matrix("output.weight", vocab, d)
    return w


TOP = {"tok_embeddings": "model.embed_tokens", "norm": "model.norm", "output": "lm_head"}
IN_LAYER = {
    "attention.wq": "self_attn.q_proj", "attention.wk": "self_attn.k_proj", "attention.wv": "self_attn.v_proj", "attention.wo": "self_attn.o_proj",
    "attention.q_norm_fn": "self_attn.q_norm", "attention.k_norm_fn": "self_attn.k_norm",
    "attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "feed_forward.w1": "mlp.gate_proj", "feed_forward.w2": "mlp.down_proj", "feed_forward.w3": "mlp.up_proj",
}
SANDWICH = {"attention_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
            "post_ffn_norm": "post_feedforward_layernorm"}


def halves_from_pairs(t, head):
    """Rows of each head from (x0, y0, x1, y1, ..) to (x0, x1, .., y0, y1, ..)."""
    return t.reshape(-1, head // 2, 2, *t.shape[1:]).swapaxes(1, 2).reshape(t.shape)


def hf_weights(params, weights, own_names=None):
    """Hugging Face's names and order of rows; own_names: a family's {name within a layer: its name}, or a function of (layer, name, tensor) that gives
    [(name, tensor)]."""
    names = {**IN_LAYER, **(SANDWICH if params.get("sandwich") else {}), **(own_names if isinstance(own_names, dict) else {})}
    head, out = params.get("head_dim", params["dim"] // params["n_heads"]), {}
    for name, t in weights.items():
        stem, kind = name.rsplit(".", 1)
        if not name.startswith("layers."):
            out[f"{TOP[stem]}.{kind}"] = t
            continue
        _, layer, inner = stem.split(".", 2)
        if inner in ("attention.wq", "attention.wk") and not params.get("use_hf_rope"):
            t = halves_from_pairs(t, head)
        pairs = own_names(int(layer), f"{inner}.{kind}", t) if callable(own_names) else None
        for hf, tensor in pairs or [(f"{names[inner]}.{kind}", t)]:
            out[f"model.layers.{layer}.{hf}"] = tensor
    return out


def joined(weights_hf):
    """q, k, v and gate, up of each layer as one tensor, as Phi has them."""
    out = {}
    for name, t in weights_hf.items():
        stem = name.rsplit(".", 2)[0]
        if ".q_proj." in name:
            out[stem + ".qkv_proj.weight"] = np.concatenate([weights_hf[f"{stem}.{part}_proj.weight"] for part in "qkv"])
        elif ".gate_proj." in name:
            out[stem + ".gate_up_proj.weight"] = np.concatenate([weights_hf[f"{stem}.{part}_proj.weight"] for part in ("gate", "up")])
        elif not any(f".{part}_proj." in name for part in ("k", "v", "up")):
            out[name] = t
    return out
