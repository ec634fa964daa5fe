#!/bin/sh
# tests/size/size.sh SOURCE BUILD - builds the core profile in BUILD, links the least host against it, and checks that the
# stripped, position-dependent program (as boards link) is under 200 KB (204,800 bytes). Prints the size.
set -eu
source=$1 build=$2 limit=204800
cmake -S "$source" -B "$build" -G Ninja -DWICK_PROFILE=core -DWICK_XNNPACK=OFF -DCMAKE_BUILD_TYPE=MinSizeRel > /dev/null
cmake --build "$build" > "$build/size.log" 2>&1 || { cat "$build/size.log"; exit 1; }
# shellcheck disable=SC2046
cc -Os -no-pie -I"$source/include" "$source/tests/size/core_main.c" -Wl,--gc-sections -Wl,-z,noseparate-code -Wl,--start-group $(find "$build/src" -name '*.a') \
   -Wl,--end-group -lm -lpthread -o "$build/core_main"
strip "$build/core_main"
bytes=$(wc -c < "$build/core_main")
echo "core profile, stripped: $bytes bytes (limit $limit)"
[ "$bytes" -lt "$limit" ]
# It opens and binds a model; 4 is a run refused because no input was set.
status=0
"$build/core_main" "$source/tests/data/golden/llm/llama32_fp32_sdpa/model.pte" || status=$?
[ "$status" -eq 4 ]
