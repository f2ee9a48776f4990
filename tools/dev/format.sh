#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks the form of all tracked sources; `format.sh fix` rewrites C++ with clang-format.
#   format.sh [check|fix]
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mode=${1:-check}
[ "$mode" = check ] || [ "$mode" = fix ] || die "unknown mode '$mode', expected check or fix"
formatter=$(command -v clang-format-22 || command -v clang-format) || die "clang-format was not found: apt-get install clang-format-22"
failed=0

mapfile -t sources < <(git ls-files '*.cpp' '*.h' '*.c')
if [ "$mode" = fix ]; then
  "$formatter" -i "${sources[@]}"
elif ! printf '%s\0' "${sources[@]}" | xargs -0 -n 16 -P "$(nproc)" "$formatter" --dry-run -Werror 2>"$build/format.log"; then
  grep -oE '^[^:]+:[0-9]+' "$build/format.log" | cut -d: -f1 | sort | uniq -c | sed 's/^ *\([0-9]*\) /not formatted (\1 places): /' >&2 || true
  echo "run ./dev format fix" >&2
  failed=1
fi

# Every source file states its licence in one of its first three lines.
mapfile -t licensed < <(git ls-files '*.cpp' '*.h' '*.c' '*.td' '*.cuh' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' '*.fbs' dev)
for file in "${licensed[@]}"; do
  if [ -e "$file" ] && ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception'; then
    echo "no SPDX line: $file" >&2
    failed=1
  fi
done

# White space at the end of a line, tabs, and files that do not end with a newline.
mapfile -t texts < <(git ls-files | grep -vE '\.(npy|pb|onnx|gpuc|png)$')
for file in "${texts[@]}"; do
  [ -f "$file" ] && [ -s "$file" ] || continue
  if grep -nE '[[:blank:]]+$' "$file" /dev/null | sed -n 1,3p | grep . >&2; then failed=1; fi
  if [ -n "$(tail -c 1 "$file")" ]; then
    echo "no newline at the end: $file" >&2
    failed=1
  fi
done

# NVRTC takes a pragma for the whole body of `if constexpr (...)`: where the condition is false it then drops the
# statement after the loop as well. So a body that starts with a pragma has braces.
mapfile -t kernels < <(git ls-files '*.cuh')
if ! awk 'FNR == 1 { open = 0 }
          open && /^[[:blank:]]*#[[:blank:]]*pragma/ { print FILENAME ":" FNR ": a pragma after if or else without braces"; bad = 1 }
          !/^[[:blank:]]*\/\// { open = /^[[:blank:]]*(} )?(if|else)/ && !/[{;]([[:blank:]]*\/\/.*)?$/ }
          END { exit bad }' "${kernels[@]}" >&2; then
  failed=1
fi
exit $failed
