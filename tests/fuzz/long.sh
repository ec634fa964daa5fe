#!/bin/sh
# tests/fuzz/long.sh BUILD [COUNT] - the long fuzz: COUNT (100,000) mutations of every format, in a build with sanitizers
# (`make fuzz`). Stops at the first finding.
set -eu
build=$1 count=${2:-100000}
for fuzz in pte run xnn checkpoint tokenizer config; do
    echo "$fuzz: $count mutations of every format"
    "$build/tests/fuzz/wick_fuzz_$fuzz" "$count" 11
done
WICK_FUZZ_COUNT=$count "$build/src/tok/test_tok.fuzz"
