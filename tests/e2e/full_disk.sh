#!/bin/sh
# tests/e2e/full_disk.sh WICK SOURCE WORK - a result that cannot be written is an error that names the place and the reason, whatever the command.
set -eu
wick=$1 source=$2 work=$3
[ -e /dev/full ] || { echo "SKIP: no /dev/full"; exit 77; }
mkdir -p "$work"
"$wick" export --quiet base.model_class=llama3_2 "base.checkpoint=$source/assets/story/consolidated.00.pth" "base.params=$source/assets/story/params.json" \
    model.use_kv_cache=true "export.output_name=$work/story.pte"
failed=0
refused() {
    place=$1
    shift
    status=0
    said=$("$wick" "$@" 2>&1 > /dev/full) || status=$?
    case $status:$said in
        1:*"$place: cannot write: No space left on device"*) echo "refused: $1" ;;
        *) echo "status $status, said: $said (wick $*)"; failed=1 ;;
    esac
}
refused "standard output" --version
refused "standard output" inspect "$work/story.pte"
refused "standard output" tokenize --tokenizer "$source/assets/story/tokenizer.json" once
refused "standard output" run "$work/story.pte" --tokenizer "$source/assets/story/tokenizer.json" --prompt once --max-new-tokens 4
refused "standard output" run "$work/story.pte" --tokens 1,2,3 --max-new-tokens 4

status=0
said=$("$wick" run "$work/story.pte" --tokens 1,2,3 --max-new-tokens 4 --logits /dev/full 2>&1 > /dev/null) || status=$?
case $status:$said in 1:*"/dev/full: cannot write: No space left on device"*) echo "refused: --logits" ;; *) echo "status $status, said: $said"; failed=1 ;; esac
exit $failed
