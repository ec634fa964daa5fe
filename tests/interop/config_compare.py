#!/usr/bin/env python3
"""What we make of files, overrides and flags against what the original makes of them: its own classes, its framework, its argument parser.
config_compare.py WICK. Needs WICK_ORACLE_PYTHON, a Python with the original's package; status 77 without it."""
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

# Ours takes what the original refuses, on purpose; docs/export.md says so.
ACCEPTED_HERE = {
    "llama_attention_sink.yaml": "a section with nothing but comments in it",
    "quantization.embedding_quantize=4,32": "a text that holds a comma",
    'base.metadata={"get_bos_id":1}': "JSON without quotes around it",
    "base.lora_config.adapter_checkpoint=x": "a field without +",
    "+base.lora_config.adapter_checkpoint=x": "a field of a mapping that is null",
    "+base.lora_config={adapter_checkpoint:x,target_modules:[q_proj]}": "a mapping over null",
    "base.lora_config={adapter_checkpoint:x}": "a mapping over null",
    "base.checkpoint=a=b": "an = in a text",
    "base.checkpoint=it\\'s": "a quote in a text",
}
# The original writes ModelType.llama3 into a text that names the class: no file of that name is meant.
OTHERWISE_HERE = {".export.output_name: 'llama3_128', not 'ModelType.llama3_128'", ".base.checkpoint: 'llama3', not 'ModelType.llama3'"}
OVERRIDES = [
    ["model.use_kv_cache=True", "model.use_sdpa_with_kv_cache=true", "base.model_class=qwen3_0_6b", "base.checkpoint=/a/b-c_d.pth"],
    ['base.metadata="{\\"get_bos_id\\":1,\\"get_eos_ids\\":[2]}"', "export.max_seq_length=64"],
    ["base.metadata='{\"get_bos_id\":1}'", "quantization.embedding_quantize='4,32'"],
    ['quantization.embedding_quantize="torchao:4,32"', "quantization.qmode=torchao:8da4w", "quantization.group_size=32"],
    ["model.local_global_attention=[16,0]", "model.use_kv_cache=1"], ["model.local_global_attention=[ 16 , 0 ]", "model.use_kv_cache=on"],
    ["quantization.calibration_tasks=[wikitext,'a b',\"c,d\"]"], ["quantization.calibration_tasks=[]"], ["quantization.calibration_tasks=null"],
    ["base.checkpoint=null", "base.params=", "base.tokenizer_path=''"], ["base.checkpoint=a\\,b", "base.params=a\\ b", "base.tokenizer_path=a\\=b"],
    ["base.checkpoint=a=b"], ["base.checkpoint=007"], ["base.checkpoint=1_0"], ["base.checkpoint=true"], ["base.checkpoint=1e3"], ["base.checkpoint=-5"],
    ["base.checkpoint=C:/x y/z"], ["base.checkpoint=$HOME/x"], ["base.checkpoint=a?b*c@d|e%f"], ["base.checkpoint=it\\'s"],
    ["base.checkpoint='it\\'s'"], ["base.checkpoint='a\\\\b'"], ["base.checkpoint='a\\\\'"], ['base.checkpoint="a\'b"'], ['base.checkpoint="a\\nb"'],
    ["base.checkpoint=${oc.env:WICK_SET}"], ["base.checkpoint=x_${oc.env:WICK_SET}/y"], ["base.checkpoint=${oc.env:WICK_UNSET,zero}"],
    ["base.checkpoint=${oc.env:WICK_UNSET,null}"], ["base.checkpoint=${oc.env:WICK_UNSET,'a, b'}"], ["base.checkpoint=${oc.env:WICK_UNSET}"],
    ["base.checkpoint=${base.model_class}"], ["base.checkpoint=${.params}", "base.params=p"], ["export.max_context_length=${export.max_seq_length}"],
    ["base.checkpoint=${export.max_seq_length}"], ["base.checkpoint=${base.nope}"],
    ["export.max_seq_length='64'"], ["export.max_seq_length=1_2"], ["export.max_seq_length=+64"], ["export.max_seq_length=064"], ["export.max_seq_length=6.4"],
    ["export.max_seq_length=x"], ["export.max_seq_length=null"], ["export.max_seq_length=true"], ["export.max_seq_length=[1]"],
    ["model.use_kv_cache=yes"], ["model.use_kv_cache=0"], ["model.use_kv_cache=7"], ["model.use_kv_cache=1.0"], ["model.use_kv_cache=y"],
    ["model.use_kv_cache=maybe"], ["model.use_kv_cache='True'"], ["model.use_kv_cache=null"],
    ["model.static_quantize_kv_cache_scale=1e-3"], ["model.static_quantize_kv_cache_scale=1"], ["model.static_quantize_kv_cache_scale=x"],
    ["model.dtype_override=bf16"], ["model.dtype_override=DtypeOverride.bf16"], ["model.dtype_override=fp64"], ["base.preq_mode=preq_8da4w"],
    ["base.preq_mode=8da4w"], ["base.preq_mode=null"], ["backend.coreml.quantize=c4w", "backend.coreml.ios=18"],
    ["backend.vgf.compile_spec=null"], ["backend.ethosu.extra_flags=[--a,-b]"], ["backend.vgf.compiler_flags=['x y']"],
    ["+base.lora_config.adapter_checkpoint=x", "+base.lora_config.lora_rank=8"], ["+base.lora_config.nope=x"], ["base.lora_config.adapter_checkpoint=x"],
    ["+base.lora_config={adapter_checkpoint:x,target_modules:[q_proj]}"], ["base.lora_config={adapter_checkpoint:x}"], ["+base.lora_config.lora_rank=8"],
    ["multimethod.methods=[{method_name:a},{method_name:b,lora_config:{adapter_checkpoint:x}}]"], ["multimethod.methods=[{lora_config:null}]"],
    ["multimethod.methods=[{method_name:a,nope:1}]"], ["multimethod.share_mutable_buffers=true"],
    ["quantization.embedding_quantize=4,32"], ['base.metadata={"get_bos_id":1}'], ["model.nope=1"], ["nope.x=1"], ["use_kv_cache=1"], ["model=1"],
    ["++model.use_kv_cache=true"], ["export.output_name='a\"b'"], ["base.checkpoint=\"x"], ["quantization.calibration_tasks=[a"], ["=x"], ["x"],
]
FILES = [
    "base: {checkpoint: x, params: 1.5}\n", "base:\n  checkpoint: yes\n", "base:\n  checkpoint: 0x10\n", "export:\n  max_seq_length: 0x20\n",
    "export:\n  max_seq_length: '32'\n", "export:\n  max_seq_length: 1_6\n", "export:\n  max_seq_length: 010\n", "export:\n  max_seq_length: 32.0\n",
    "model:\n  use_kv_cache: off\n  enable_dynamic_shape: Off\n", "model:\n  use_kv_cache: y\n", "model:\n  use_kv_cache: maybe\n", "model:\n  use_kv_cache:\n",
    "model:\n  static_quantize_kv_cache_scale: 1e-2\n", "model:\n  static_quantize_kv_cache_scale: 1.e-2\n", "quantization:\n  embedding_quantize: 4,32\n",
    "quantization:\n  qmode: 8da4w # a comment\n  group_size: ~\n", "base:\n  metadata: |\n    {\"a\": 1}\n", "base:\n  metadata: >-\n    {\"a\":\n    1}\n",
    "base:\n  metadata: \"{\\\"a\\\": \\\n    1}\"\n", "base: &b\n  checkpoint: &c x\n  params: *c\nexport:\n  output_name: *c\n",
    "backend:\n  xnnpack: &x {enabled: true}\n  vulkan:\n    <<: *x\n    force_fp16: true\n", "model:\n  use_kv_cache: 1\n  use_kv_cache: 2\n",
    "model:\n  nope: 1\n", "nope:\n  x: 1\n", "model: 3\n", "- a\n", "base: {checkpoint: {a: 1}}\n", "model:\n  local_global_attention:\n  - 16\n  - 0\n  use_kv_cache: true\n",
    "multimethod:\n  methods:\n  - method_name: a\n  - method_name: b\n    lora_config:\n      adapter_checkpoint: ${oc.env:WICK_SET}\n      lora_rank: '4'\n",
    "base:\n  lora_config:\n    adapter_checkpoint: x\n    adapter_quant: int8\n", "export:\n  output_name: ${base.model_class}_${export.max_seq_length}\n",
    "defaults:\n  - llm_config\n  - _self_\nmodel:\n  use_kv_cache: true\n", "base:\n  checkpoint: ???\n", "a: [\n", "base: {checkpoint: .inf}\n",
    "backend:\n  ethosu:\n    extra_flags: [--x, \"a b\", 3]\n", "quantization:\n  calibration_limit: 5\n  calibration_tasks: [a, 1, true]\n",
]
FLAGS = [
    ["-c", "x.pth", "-p", "p.json", "-kv", "--use_sdpa_with_kv_cache", "-X", "--xnnpack-extended-ops", "-qmode", "8da4w", "-G", "32", "-E", "4,32", "-d", "fp32"],
    ["--model", "qwen3_0_6b", "--metadata", '{"get_bos_id":1, "s":"a\\"b\\\\"}', "--max_seq_length=64", "--max_context_length", "128", "-o", "out", "-n", "a b.pte"],
    ["--preq_mode", "8da4w_output_8da8w", "--preq_group_size", "64", "--preq_embedding_quantize", "8,0", "-lora", "16", "-qat"],
    ["--preq_mode", "8da4w", "-sq", "native"], ["--adapter_checkpoint", "a.pt", "--adapter_config", "c.json"], ["--adapter_checkpoint", "a.pt"],
    ["--calibration_tasks", "a", "b c", "--calibration_limit", "3", "--calibration_seq_length", "9", "--calibration_data", "null"],
    ["--local_global_attention", "[16, 0]", "-kv"], ["--use_attention_sink", "4,28"], ["--disable_dynamic_shape", "-kv", "--static_quantize_kv_cache"],
    ["--coreml", "--coreml-ios", "18", "--coreml-quantize", "b4w", "--coreml-compute-units", "all", "--coreml-enable-state", "--coreml-preserve-sdpa"],
    ["--qnn", "--soc_model", "X", "--use_qnn_sha", "--num_sharding", "2", "--optimized_rotation_path", "r"], ["--mlx"], ["-V", "--vulkan-force-fp16"],
    ["--openvino", "--openvino_device", "GPU", "--openvino_awq", "--openvino_scale_estimation", "--group_size", "64"],
    ["--vgf", "--vgf-compile-spec", "TOSA-1.0+FP", "--vgf-quantize-scope", "linear"], ["--arm-vgf"], ["--use-torchao-kernels"], ["--use-torchao-kernels-linear"],
    ["--use-torchao-kernels-tied-embedding", "--use_shared_embedding", "--pt2e_quantize", "vulkan_8w"], ["--generate_full_logits", "--generate_etrecord"],
    ["--profile_memory", "-prof", "p.html", "-v"], ["--export_only", "-s", "lib.so", "--expand_rope_table", "--use_moe_quantized_op"],
    ["--output_prune_map", "o.json", "--input_prune_map", "i.json"], ["-Xkv"], ["-E4,32", "-XV"], ["--check", "x"], ["--max_seq", "16"], ["--use_"], ["--nope"],
    ["-t", "tok.model", "--quantize_kv_cache", "-kv", "--static_quantize_kv_cache_scale", "0.5"], ["--checkpoint"], ["-X", "--xnnpack=1"],
]


def load_classes():
    package = pathlib.Path(importlib.util.find_spec("executorch").submodule_search_locations[0])
    spec = importlib.util.spec_from_file_location("llm_config", package / "extension/llm/export/config/llm_config.py")
    classes = importlib.util.module_from_spec(spec)
    sys.modules["llm_config"] = classes
    spec.loader.exec_module(classes)
    return package, classes


def plain(value):
    import enum
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


class Original:
    def __init__(self):
        from hydra.core.config_store import ConfigStore
        self.package, self.classes = load_classes()
        ConfigStore.instance().store(name="llm_config", node=self.classes.LlmConfig)

    def compose(self, config, overrides):
        """The configuration, or the text of the error; checks of values against each other do not count (ours come after the dump)."""
        from hydra import compose, initialize, initialize_config_dir
        from omegaconf import OmegaConf
        try:
            where = initialize_config_dir(str(config.parent), version_base=None) if config else initialize(None, version_base=None)
            with where:
                made = compose(config.name if config else "llm_config", overrides)
            merged = OmegaConf.merge(OmegaConf.structured(self.classes.LlmConfig), made)
            whole = OmegaConf.to_container(merged, resolve=True, throw_on_missing=True)
            return plain(whole), None
        except Exception as error:  # whatever its framework raises
            return None, f"{type(error).__name__}: {error}"

    def parse(self, flags):
        import dataclasses
        from executorch.examples.models.llama.export_llama_lib import build_args_parser
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                made = self.classes.LlmConfig.from_args(build_args_parser().parse_args(flags))
        except (SystemExit, ValueError) as error:
            return None, f"{type(error).__name__}: {error}"
        return plain(dataclasses.asdict(made)), None


def ours(wick, arguments):
    import yaml
    run = subprocess.run([wick, "export", *arguments, "--cfg", "job"], capture_output=True, text=True)
    return (yaml.safe_load(run.stdout), None) if run.stdout else (None, run.stderr.strip())


def difference(theirs, mine, at=""):
    """The first key that differs; None: they mean the same."""
    if isinstance(theirs, dict):
        if not isinstance(mine, dict):
            return f"{at}: {mine!r}, not {theirs!r}"
        for key in theirs:
            found = difference(theirs[key], mine.get(key), f"{at}.{key}")
            if found:
                return found
        return None
    if isinstance(theirs, float):
        mine = float(mine)
    if at == ".multimethod.methods" and mine is None:
        mine = []
    if isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        return next((found for found in (difference(a, b, f"{at}[]") for a, b in zip(theirs, mine)) if found), None)
    return None if theirs == mine and type(theirs) is type(mine) else f"{at}: {mine!r}, not {theirs!r}"


def random_overrides(original, count):
    """Overrides of random keys by random texts of the grammar's letters."""
    import dataclasses
    source = random.Random(1)
    keys = []

    def walk(item, prefix):
        for field in dataclasses.fields(item):
            value = getattr(item, field.name)
            if dataclasses.is_dataclass(value):
                walk(value, prefix + field.name + ".")
            elif field.name not in ("lora_config", "methods"):
                keys.append(prefix + field.name)
    walk(original.classes.LlmConfig(), "")
    pieces = ["a", "B", "_", "0", "1", "12", ".", "-", "/", "+", "true", "null", "'x'", '"y z"', "[", "]", ",", "\\,", "\\\\", " ", ":", "=", "e", "fp16", "${base.params}", "{", "}"]
    return [[f"{source.choice(keys)}={''.join(source.choices(pieces, k=source.randint(1, 4)))}"] for _ in range(count)]


def main():
    wick = os.path.abspath(sys.argv[1])
    python = os.environ.get("WICK_ORACLE_PYTHON")
    if not python:
        print("SKIP: WICK_ORACLE_PYTHON names no Python with the original's package")
        return 77
    if not os.environ.get("WICK_INSIDE"):
        os.environ["WICK_INSIDE"] = "1"
        os.execv(python, [python, *sys.argv])
    try:
        import hydra  # noqa: F401
        original = Original()
    except ImportError as error:
        print(f"SKIP: {error}")
        return 77
    os.environ.update({"LORA_ADAPTER_CHECKPOINT": "a.safetensors", "LORA_ADAPTER_CONFIG": "c.json", "WICK_SET": "here"})
    os.environ.pop("WICK_UNSET", None)
    work = pathlib.Path(tempfile.mkdtemp())
    os.chdir(work)
    cases = []
    for path in sorted(original.package.glob("examples/models/*/config*/*.yaml")):
        for extra in ([], ["+export.so_library=x", "++model.dtype_override=bf16"]):
            cases.append((f"{path.name} {' '.join(extra)}".strip(), path, extra))
    for i, text in enumerate(FILES):
        (work / f"file{i}.yaml").write_text(text)
        cases.append((text, work / f"file{i}.yaml", []))
    cases += [(" ".join(overrides), None, overrides) for overrides in OVERRIDES]
    loose = [(overrides[0], None, overrides) for overrides in random_overrides(original, 150)]
    wrong = same = refused = looser = 0
    for name, config, overrides in cases + loose:
        theirs, error = original.compose(config, overrides)
        mine, complaint = ours(wick, [*(["--config", str(config)] if config else []), *overrides])
        if theirs is not None and mine is not None:
            found = difference(theirs, mine)
            found = None if found in OTHERWISE_HERE else found
            same += not found
        elif theirs is None:
            allowed = mine is None or name.split(" ")[0] in ACCEPTED_HERE or (name, config, overrides) in loose
            found = None if allowed else f"accepted, not refused: {error[:200]}"
            refused += mine is None
            looser += mine is not None
        else:
            found = f"refused: {complaint}"
        if found:
            wrong += 1
            print(f"WRONG: {name!r}: {found}")
    for flags in FLAGS:
        theirs, error = original.parse(flags)
        mine, complaint = ours(wick, flags)
        found = difference(theirs, mine) if theirs and mine else None if theirs is None and mine is None else f"{complaint or 'accepted'}, not {error or 'accepted'}"
        same += not found
        wrong += found is not None
        if found:
            print(f"WRONG: {flags}: {found}")
    print(f"{same} configurations mean the same, {refused} are refused by both, {looser} only here accepted, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
