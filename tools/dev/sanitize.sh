#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Unit tests and a few runs of the command line under AddressSanitizer and UndefinedBehaviorSanitizer, in build/asan.
# LLVM's libraries are not instrumented, so checks of its containers and allocators would report them: they are off.
#   sanitize.sh [PRESET]     asan (default), ubsan or tsan
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
preset=${1:-asan}
case $preset in asan | ubsan | tsan) ;; *) die "unknown preset '$preset', expected asan, ubsan or tsan" ;; esac
folder=$build/$preset
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:abort_on_error=0:exitcode=86
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=86
export TSAN_OPTIONS=exitcode=86
export GPUC_CACHE_DIR=$folder/cache

say "building with preset $preset"
configure "$folder" "$preset" -DGPUC_WERROR=OFF
ninja -C "$folder"

say "unit tests"
unit_tests "$folder" >"$folder/unit.log" 2>&1 || {
  grep -E 'ERROR: |runtime error: |WARNING: ThreadSanitizer|\[  FAILED  \]|\*\*\*' "$folder/unit.log" >&2 || true
  die "unit tests fail, see $folder/unit.log"
}

say "command line"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { # expected exit code, command
  local expected=$1 code=0
  shift
  "$@" >"$work/log" 2>&1 || code=$?
  if [ "$code" != "$expected" ] || grep -qE 'ERROR: AddressSanitizer|runtime error: |WARNING: ThreadSanitizer' "$work/log"; then
    cat "$work/log" >&2
    die "exit code $code, expected $expected: $*"
  fi
}
gpuc=$folder/bin/gpuc
for kind in mlp convnet odd_names; do
  "$python" test/lib/make_model.py "$kind" "$work/$kind.onnx"
  run 0 "$gpuc" compile "$work/$kind.onnx" -o "$work/$kind.gpuc" --target=h200,a100
  run 0 "$gpuc" inspect "$work/$kind.gpuc"
  run 0 "$gpuc" run "$work/$kind.gpuc" --device=sim
  run 0 "$gpuc" run "$work/$kind.onnx" --device=reference
  run 0 "$gpuc" compile "$work/$kind.onnx" --emit=cuda --fp16 --target=a100
done
for kind in unsupported mismatched undefined_value outside_data; do
  "$python" test/lib/make_model.py "$kind" "$work/$kind.onnx"
  run 1 "$gpuc" compile "$work/$kind.onnx" -o "$work/$kind.gpuc"
  run 1 "$gpuc" check "$work/$kind.onnx"
done
head -c 1000 "$work/mlp.gpuc" >"$work/cut.gpuc"
run 1 "$gpuc" inspect "$work/cut.gpuc"
run 2 "$gpuc" compile
say "no findings"
