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
# Beside each other they may ask for memory and string functions, mathematics, formatting, and what the compiler itself calls.
allowed="memcmp memcpy memmove memset strchr strcmp strcspn strlen strncmp strnlen snprintf vsnprintf _GLOBAL_OFFSET_TABLE_"
allowed="$allowed $(nm -D --defined-only "$(cc -print-file-name=libm.so.6)" | sed 's/.* //; s/@.*//') $(nm --defined-only "$(cc -print-libgcc-file-name)" 2>/dev/null | awk 'NF == 3 { print $3 }')"
wrong=$(printf '%s\n' $needs | grep -vxF "$(printf '%s\n' $has $allowed)" || true)
[ -z "$wrong" ] || { echo "bare libraries need" $wrong; exit 1; }
model=$source/tests/data/golden/llm/llama32_fp32_nokv
# shellcheck disable=SC2086
cc -std=c11 -Os -no-pie -DMODEL="\"$model/model.pte\"" -DLOGITS="\"$model/logits.f32\"" -DWICK_PROFILE_bare=1 -I"$source/include" -I"$source/src" \
   "$source/tests/size/bare_main.c" -Wl,--gc-sections -Wl,--start-group $libraries -Wl,--end-group -lm -o "$build/bare_main"
"$build/bare_main"
echo "bare profile: runs a model without heap, threads or files"
