#!/bin/sh
# tests/size/bare.sh SOURCE BUILD - builds the bare profile in BUILD, checks what its libraries ask of the world, links a
# host without heap against it and runs it.
set -eu
source=$1 build=$2
cmake -S "$source" -B "$build" -G Ninja -DWICK_PROFILE=bare -DWICK_XNNPACK=OFF -DCMAKE_BUILD_TYPE=MinSizeRel > /dev/null
cmake --build "$build" > "$build/size.log" 2>&1 || { cat "$build/size.log"; exit 1; }
libraries=$(find "$build/src" -name '*.a')
# shellcheck disable=SC2086
needs=$(nm $libraries 2>/dev/null | awk '$1 == "U" { print $2 }' | sort -u)
# shellcheck disable=SC2086
has=$(nm $libraries 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }' | sort -u)
wrong=""
for symbol in $needs; do
    case $symbol in mem*|str*|snprintf|vsnprintf|__cpu_*|_GLOBAL_OFFSET_TABLE_|__*) continue ;; esac
    case " $(echo $has) " in *" $symbol "*) continue ;; esac
    case $symbol in malloc|calloc|realloc|free|pthread_*|open*|read|write|f[a-z]*open|mmap|exit|abort|printf|fprintf|getenv|clock*|sched*) wrong="$wrong $symbol" ;; esac
done
[ -z "$wrong" ] || { echo "bare libraries need$wrong"; exit 1; }
model=$source/tests/data/golden/llm/llama32_fp32_nokv
# shellcheck disable=SC2086
cc -std=c11 -Os -no-pie -DMODEL="\"$model/model.pte\"" -DLOGITS="\"$model/logits.f32\"" -DWICK_PROFILE_bare=1 -I"$source/include" -I"$source/src" \
   "$source/tests/size/bare_main.c" -Wl,--gc-sections -Wl,--start-group $libraries -Wl,--end-group -lm -o "$build/bare_main"
"$build/bare_main"
echo "bare profile: runs a model without heap, threads or files"
