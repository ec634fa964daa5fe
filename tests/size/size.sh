#!/bin/sh
# tests/size/size.sh SOURCE BUILD - builds the core profile in BUILD, links the least host against it, and checks that the stripped program is
# under 200 KB (204,800 bytes), at a fixed address as boards link and position-independent with packed relocations. Prints both. Segments lie
# without gaps: the linker's default fills them with up to 8 KB of zeros so that each begins on a page of the file.
set -eu
source=$1 build=$2 limit=204800
cmake -S "$source" -B "$build" -G Ninja -DWICK_PROFILE=core -DWICK_XNNPACK=OFF -DCMAKE_BUILD_TYPE=MinSizeRel > /dev/null
cmake --build "$build" > "$build/size.log" 2>&1 || { cat "$build/size.log"; exit 1; }
for form in "-no-pie -Wl,-z,noseparate-code" "-pie -Wl,-z,noseparate-code -Wl,-z,pack-relative-relocs"; do
    # shellcheck disable=SC2046,SC2086
    cc -Os -flto=auto $form -I"$source/include" "$source/tests/size/core_main.c" -Wl,--gc-sections -Wl,--start-group $(find "$build/src" -name '*.a') \
       -Wl,--end-group -lm -lpthread -o "$build/core_main"
    strip "$build/core_main"
    bytes=$(wc -c < "$build/core_main")
    echo "core profile, $form: $bytes bytes (limit $limit)"
    [ "$bytes" -lt "$limit" ]
done
# It opens and binds a model; 4 is a run refused because no input was set.
status=0
"$build/core_main" "$source/tests/data/golden/llm/llama32_fp32_sdpa/model.pte" || status=$?
[ "$status" -eq 4 ]
