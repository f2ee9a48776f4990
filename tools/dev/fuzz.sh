#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Both fuzzers, the importer's and the plan loader's, at once for some seconds; builds them into build/fuzz. Corpora stay in
# build/fuzz/corpus and start from the models of the onnx package and from plans that the main build makes of them.
#   fuzz.sh [SECONDS]     60
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
seconds=${1:-60}
[[ $seconds =~ ^[0-9]+$ ]] || die "'$seconds' is no number of seconds"
folder=$build/fuzz
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0

say "building the fuzzers"
configure "$folder" asan -DGPUC_FUZZ=ON -DGPUC_SANITIZE=address,undefined,fuzzer-no-link -DGPUC_WERROR=OFF
ninja -C "$folder" ImporterFuzz PlanLoaderFuzz

say "seeds"
importer=$folder/corpus/ImporterFuzz plans=$folder/corpus/PlanLoaderFuzz
mkdir -p "$importer" "$plans"
data=$(onnx_data)
find "$data" -name model.onnx -size -8k -path '*/test_*' | while read -r model; do
  name=$(basename "$(dirname "$model")")
  [ -e "$importer/$name" ] || cp "$model" "$importer/$name"
done
if [ -x "$build/bin/gpuc" ]; then
  for name in test_add test_softmax_axis_1 test_matmul_2d test_conv_with_strides_padding test_reduce_mean_keepdims_example; do
    model=$data/node/$name/model.onnx
    if [ -e "$model" ] && [ ! -e "$plans/$name" ]; then
      "$build/bin/gpuc" compile "$model" -o "$plans/$name" --target=a100 -q || echo "note: no seed from $name" >&2
    fi
  done
fi

fuzz() { # name
  local name=$1
  if "$folder/bin/$name" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=30 -print_final_stats=1 \
    -artifact_prefix="$folder/findings/$name-" "$folder/corpus/$name" >"$folder/$name.log" 2>&1; then
    echo "ran $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log") units"
  else
    grep -nE 'ERROR|SUMMARY|runtime error|Test unit written' "$folder/$name.log" | head -n 20 || tail -n 20 "$folder/$name.log"
    echo "FAIL $name: full log $folder/$name.log"
    return 1
  fi
}

say "fuzzing for $seconds s"
mkdir -p "$folder/findings"
failed=0 jobs=()
for name in ImporterFuzz PlanLoaderFuzz; do
  fuzz "$name" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
exit $failed
