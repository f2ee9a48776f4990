#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Line coverage of passes, ir, frontend and runtime under the unit tests, lit and the conformance cases on the reference
# executor. Builds with clang's source-based coverage into build/coverage; prints the table of files and a line for each
# folder.
#   coverage.sh [LEAST]     fails when one of the folders is below LEAST percent (80)
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
least=${1:-80}
folder=$build/coverage
profiles=$folder/profiles
readonly areas=(passes ir frontend runtime)

say "building with coverage"
configure "$folder" dev -DCMAKE_CXX_FLAGS="-fprofile-instr-generate -fcoverage-mapping" \
  -DCMAKE_EXE_LINKER_FLAGS="-fprofile-instr-generate" -DGPUC_WERROR=OFF
ninja -C "$folder"

say "running the tests"
rm -rf "$profiles"
mkdir -p "$profiles"
# %4m: at most four files for each program, merged as they are written.
export LLVM_PROFILE_FILE="$profiles/%4m.profraw"
unit_tests "$folder" >"$folder/unit.log" 2>&1 || say "some unit tests fail, see $folder/unit.log"
lit_tool=$(sed -n 's/^GPUC_LIT:FILEPATH=//p' "$folder/CMakeCache.txt")
"$lit_tool" -sv -j "$(nproc)" "$folder/test" >"$folder/lit.log" 2>&1 || say "some lit tests fail, see $folder/lit.log"
"$folder/bin/gpuc-onnx-conformance" --data "$(onnx_data)" --device=reference \
  --known-failures test/conformance/onnx/known-failures.txt >"$folder/conformance.log" 2>&1 ||
  say "some conformance cases fail, see $folder/conformance.log"

say "line coverage"
llvm-profdata-22 merge -sparse "$profiles"/*.profraw -o "$folder/all.profdata"
# llvm-cov takes the first program by position and the others as -object.
programs=()
for program in "$folder"/bin/unit/* "$folder"/bin/gpuc "$folder"/bin/gpuc-opt "$folder"/bin/gpuc-onnx-conformance; do
  [ -x "$program" ] && programs+=("$program")
done
objects=("${programs[@]}")
for ((i = 1; i < ${#objects[@]}; ++i)); do objects[i]="-object=${objects[i]}"; done
sources=()
for area in "${areas[@]}"; do sources+=("$root/$area"); done
llvm-cov-22 export -summary-only -instr-profile="$folder/all.profdata" "${objects[@]}" "${sources[@]}" >"$folder/summary.json" 2>"$folder/llvm-cov.log"
"$python" - "$folder/summary.json" "$root" "$least" "${areas[@]}" <<'PYTHON'
import json
import sys

summary, root, least, *areas = sys.argv[1:]
files = json.load(open(summary))["data"][0]["files"]
sums = {area: [0, 0] for area in areas}
print(f"{'file':<56}{'lines':>8}{'covered':>9}{'%':>8}")
for entry in sorted(files, key=lambda entry: entry["filename"]):
    name, lines = entry["filename"].removeprefix(root + "/"), entry["summary"]["lines"]
    print(f"{name:<56}{lines['count']:>8}{lines['covered']:>9}{lines['percent']:>8.1f}")
    area = sums[name.split("/")[0]]
    area[0] += lines["count"]
    area[1] += lines["covered"]
print()
below = []
for area, (count, covered) in sums.items():
    percent = 100 * covered / max(count, 1)
    print(f"{area:<56}{count:>8}{covered:>9}{percent:>8.1f}")
    if percent < float(least):  # a folder without lines was not measured: 0 %
        below.append(area)
if below:
    sys.exit(f"coverage.sh: error: line coverage is below {least} % in {', '.join(below)}")
PYTHON
