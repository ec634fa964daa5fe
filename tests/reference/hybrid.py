"""Short convolutions, gated delta layers and mixtures of experts: their reference, and the families that have them."""
import numpy as np

from decoder import FEED_FORWARDS, MIXERS, linear, sigmoid


def silu(x):
    return x * sigmoid(x)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def causal_conv(u, taps):
    """u (S, channels), taps (channels, 1, width): depthwise, zeros before the sequence."""
    width = taps.shape[-1]
    padded = np.concatenate([np.zeros((width - 1, u.shape[1])), u])
    return sum(padded[i:i + len(u)] * taps[:, 0, i] for i in range(width))


def short_conv(p, w, layer, x):
    at = f"layers.{layer}.conv."
    mixed = causal_conv(linear(x, w, at + "B_proj") * linear(x, w, at + "x_proj"), w[at + "conv.weight"])
    return linear(linear(x, w, at + "C_proj") * mixed, w, at + "out_proj")


def delta_net(p, w, layer, x):
    at, n = f"layers.{layer}.attention.", len(x)
    keys, heads, dim_k, dim_v = (p[f"linear_{name}"] for name in ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim"))
    mixed = silu(causal_conv(linear(x, w, at + "in_proj_qkv"), w[at + "conv1d.weight"]))
    q, k, v = np.split(mixed, [keys * dim_k, 2 * keys * dim_k], axis=1)
    q, k = (y.reshape(n, keys, dim_k) for y in (q, k))
    q, k = (np.repeat(y / np.sqrt((y * y).sum(-1, keepdims=True) + 1e-6), heads // keys, axis=1) for y in (q, k))
    q, v = q / np.sqrt(dim_k), v.reshape(n, heads, dim_v)
    beta = sigmoid(linear(x, w, at + "in_proj_b"))
    decay = np.exp(-np.exp(w[at + "A_log"]) * np.logaddexp(0, linear(x, w, at + "in_proj_a") + w[at + "dt_bias"]))
    state, out = np.zeros((heads, dim_k, dim_v)), np.zeros((n, heads, dim_v))
    for t in range(n):
        state = state * decay[t][:, None, None]
        change = (v[t] - np.einsum("hkv,hk->hv", state, k[t])) * beta[t][:, None]
        state = state + k[t][:, :, None] * change[:, None, :]
        out[t] = np.einsum("hkv,hk->hv", state, q[t])
    out = out / np.sqrt((out * out).mean(-1, keepdims=True) + p["norm_eps"]) * w[at + "norm.weight"]
    out = out * silu(linear(x, w, at + "in_proj_z").reshape(n, heads, dim_v))
    return linear(out.reshape(n, -1), w, at + "out_proj")


def four_bits(x, group):
    """Symmetric, one scale a group of the last axis, rounded as the exporter does in float32."""
    x = x.astype(np.float32)
    groups = x.reshape(*x.shape[:-1], -1, group)
    scale = np.abs(groups).max(-1, keepdims=True) / np.float32(7.5)
    return (np.clip(np.round(groups * (np.float32(1) / scale)), -8, 7) * scale).reshape(x.shape).astype(np.float64)


def experts(p, w, layer, x):
    at, function = f"layers.{layer}.block_sparse_moe.", p.get("moe_score_func", "softmax")
    scores = linear(x, w, at + "gate")
    scores = sigmoid(scores) if function == "sigmoid" else softmax(scores) if function == "softmax_all" else scores
    ranked = scores + w[at + "expert_bias"] if p.get("moe_use_expert_bias") else scores
    chosen = np.argsort(-ranked, -1, kind="stable")[:, :p["num_activated_experts"]]
    weights = np.take_along_axis(scores, chosen, -1)
    if function == "sigmoid":
        weights = weights / weights.sum(-1, keepdims=True) * p.get("moe_route_scale", 1.0)
    elif function == "softmax":
        weights = softmax(weights)
    w1, w2, w3 = (w[at + "cond_ffn." + name] for name in ("w1", "w2", "w3"))
    if p.get("moe_group"):
        w1, w3 = four_bits(w1, p["moe_group"]), four_bits(w3, p["moe_group"])
        w2 = four_bits(w2.swapaxes(1, 2), p["moe_group"]).swapaxes(1, 2)
    y = np.zeros_like(x)
    for t in range(len(x)):
        for e, weight in zip(chosen[t], weights[t]):
            y[t] += weight * ((silu(w1[e] @ x[t]) * (w3[e] @ x[t])) @ w2[e])
    if p.get("moe_shared_expert_hidden_dim"):
        at += "shared_expert."
        y = y + linear(silu(linear(x, w, at + "w1")) * linear(x, w, at + "w3"), w, at + "w2")
    return y


MIXERS.update({"conv": short_conv, "linear_attention": delta_net})
FEED_FORWARDS["moe"] = experts


# ---- weights ----

def extra_weights(p):
    """Shapes of a layer's weights beyond attention and dense feed-forward."""
    def shapes(layer):
        kind, dim, made = (p.get("layer_types") or ["attention"] * p["n_layers"])[layer], p["dim"], {}
        if kind == "conv":
            made = {f"conv.{name}_proj.weight": (dim, dim) for name in ("B", "C", "x", "out")}
            made["conv.conv.weight"] = (dim, 1, 3)
        if kind == "linear_attention":
            heads, values = p["linear_num_value_heads"], p["linear_num_value_heads"] * p["linear_value_head_dim"]
            channels = 2 * p["linear_num_key_heads"] * p["linear_key_head_dim"] + values
            made = {"in_proj_qkv.weight": (channels, dim), "in_proj_z.weight": (values, dim), "in_proj_b.weight": (heads, dim), "in_proj_a.weight": (heads, dim),
                    "conv1d.weight": (channels, 1, p["linear_conv_kernel_dim"]), "dt_bias": (heads,), "A_log": (heads,),
                    "norm.weight": (p["linear_value_head_dim"],), "out_proj.weight": (dim, values)}
            made = {"attention." + name: shape for name, shape in made.items()}
        if p.get("moe"):
            count, hidden, shared = p["num_experts"], p.get("moe_hidden_dim") or p["hidden_dim"], p.get("moe_shared_expert_hidden_dim")
            made = {**made, "block_sparse_moe.gate.weight": (count, dim), **{f"block_sparse_moe.cond_ffn.w{i}": (count, hidden, dim) for i in (1, 2, 3)}}
            if p.get("moe_use_expert_bias"):
                made["block_sparse_moe.expert_bias"] = (count,)
            if shared:
                made.update({f"block_sparse_moe.shared_expert.w{i}.weight": (dim, shared) if i == 2 else (shared, dim) for i in (1, 2, 3)})
        return made
    return shapes


def lfm2_names(layer, name, t):
    own = {"attention.wo": "self_attn.out_proj", "attention.q_norm_fn": "self_attn.q_layernorm", "attention.k_norm_fn": "self_attn.k_layernorm",
           "attention_norm": "operator_norm", "ffn_norm": "ffn_norm"}
    stem = name[:-len(".weight")]
    return [(own[stem] + ".weight", t)] if stem in own else [(name, t)] if name.startswith(("conv.", "feed_forward.")) else None


def lfm2_joined(weights):
    out = {}
    for name, t in weights.items():
        if name == "model.norm.weight":
            out["model.embedding_norm.weight"] = t
        elif name.endswith("conv.B_proj.weight"):
            stem = name[:-len("B_proj.weight")]
            out[stem + "in_proj.weight"] = np.concatenate([weights[f"{stem}{part}_proj.weight"] for part in "BCx"])
        elif not name.endswith(("conv.C_proj.weight", "conv.x_proj.weight")):
            out[name] = t
    return out


def delta_names(layer, name, t):
    """Linear attention's weights keep their names under another one of the layer; in layers of full attention nothing has these."""
    inner = name.split(".", 1)[-1]
    return [("linear_attn." + inner, t)] if inner.split(".")[0] in ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "conv1d", "dt_bias", "A_log", "norm", "out_proj") and \
        name.startswith("attention.") else None


def inside(weights):
    return {name.replace("model.", "model.language_model.", 1): t for name, t in weights.items()}


def expert_names(router, each):
    """Every expert's matrices as tensors of their own; each: names of w1, w2, w3 within an expert."""
    def names(layer, name, t):
        if name == "block_sparse_moe.gate.weight":
            return [(router + ".gate.weight", t)]
        if ".cond_ffn." not in name:
            return None
        which = int(name[-1]) - 1
        return [(f"{router}.experts.{e}.{each[which]}.weight", t[e].T if which == 1 else t[e]) for e in range(len(t))]
    return names


# ---- cases ----

def hybrid():
    from families import HALVES, Case

    def case(name, params, *args, **more):
        return Case(name, {**params, "extra_weights": extra_weights({"dim": 64, "hidden_dim": 96, "n_layers": 2, **params})}, *args, **more)

    lfm2 = {**HALVES, "n_layers": 3, "rope_theta": 1e6, "use_qk_norm": True, "qk_norm_before_rope": True, "tied": True,
            "layer_types": ["conv", "full_attention", "conv"]}
    # 96 = ceil(2 * 140 / 3 to 16)
    config = {"model_type": "lfm2", "conv_L_cache": 3, "conv_bias": False, "norm_eps": 1e-5, "block_ff_dim": 140, "block_multiple_of": 16}
    yield case("lfm2", lfm2, "lfm2_350m", {**config, "layer_types": lfm2["layer_types"]}, own_names=lfm2_names, rewrite=lfm2_joined)
    yield case("lfm2, older spelling", lfm2, None, {**config, "full_attn_idxs": [1], "tie_embedding": True, "tie_word_embeddings": None}, own_names=lfm2_names,
               rewrite=lfm2_joined)

    linear_sizes = {"linear_conv_kernel_dim": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4}
    delta = {**HALVES, "n_layers": 4, "head_dim": 32, "norm_eps": 1e-6, "rope_theta": 1e7, "partial_rotary_factor": 0.25, "use_q_gate": True, "use_qk_norm": True,
             "qk_norm_before_rope": True, "rms_norm_add_unit_offset": True, "tied": True, **linear_sizes,
             "layer_types": ["linear_attention"] * 3 + ["full_attention"]}
    text = {"model_type": "qwen3_5_text", "partial_rotary_factor": 0.25, **linear_sizes}
    yield case("qwen3_5", delta, "qwen3_5_0_8b", {**text, "layer_types": delta["layer_types"]}, own_names=delta_names)
    yield case("qwen3_5, one head a key", {**delta, "linear_num_value_heads": 2}, "qwen3_5_0_8b", None)
    inner = case("", delta, None, text).config_json()
    yield case("qwen3_5 in a multi-modal model", delta, None, {"model_type": "qwen3_5", "hidden_size": None, "text_config": {**inner, "full_attention_interval": 4}},
               own_names=delta_names, rewrite=inside)

    moe = {"moe": True, "num_experts": 6, "num_activated_experts": 2}
    biased = {**moe, "moe_score_func": "sigmoid", "moe_use_expert_bias": True, "moe_route_scale": 2.5, "moe_hidden_dim": 32, "moe_shared_expert_hidden_dim": 48}
    mixtral = expert_names("block_sparse_moe", ("w1", "w2", "w3"))
    qwen = expert_names("mlp", ("gate_proj", "down_proj", "up_proj"))
    packed = ["model.use_moe_quantized_op=true"]
    yield case("mixtral", moe, "mixtral", {"model_type": "mixtral", "num_local_experts": 6, "num_experts_per_tok": 2}, own_names=mixtral)
    yield case("mixtral, 4 bits", {**moe, "moe_group": 32}, "llama3", {"model_type": "mixtral", "num_local_experts": 6, "num_experts_per_tok": 2}, own_names=mixtral,
               options=packed)
    yield case("experts by sigmoid", biased, "llama3", None)
    yield case("experts by sigmoid, 4 bits", {**biased, "moe_group": 16}, "llama3", None, options=packed + ["quantization.group_size=16"])
    names = {"model_type": "qwen3_moe", "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 32, "decoder_sparse_step": 1, "mlp_only_layers": []}
    wide = {**HALVES, **moe, "norm_eps": 1e-6, "head_dim": 32, "num_activated_experts": 3, "moe_hidden_dim": 32, "use_qk_norm": True, "qk_norm_before_rope": True}
    yield case("qwen3_moe", wide, "qwen3_moe", {**names, "norm_topk_prob": True}, own_names=qwen)
    yield case("qwen3_moe, scores as they are", {**wide, "moe_score_func": "softmax_all"}, "qwen3_moe", {**names, "norm_topk_prob": False}, own_names=qwen)
    yield case("qwen3_moe, 4 bits", {**wide, "moe_group": 32}, "qwen3_moe", {**names, "norm_topk_prob": True}, own_names=qwen, options=packed)
    mixed = {**biased, "n_layers": 3, "layer_types": ["conv", "linear_attention", "full_attention"], **linear_sizes}
    yield case("every kind of layer", mixed, "llama3", None)
