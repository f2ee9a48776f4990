# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shared by the scripts of this folder; sourced, never run. Sets `root`, `build` (the main build folder) and `python`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
build=${GPUC_BUILD_DIR:-$root/build}
python=$build/venv/bin/python
[ -x "$python" ] || python=$(command -v python3)

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

configure() { # folder, preset, extra arguments
  local folder=$1 preset=$2
  shift 2
  mkdir -p "$folder"
  cmake --preset "$preset" -B "$folder" "-DPython3_EXECUTABLE=$python" "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    die "configuration of $folder failed"
  }
}

# Unit tests of a build folder, in parallel; prints failures only.
unit_tests() { # folder
  ctest --test-dir "$1" -j "$(nproc)" -E '^lit$' --output-on-failure --timeout 1800
}

onnx_data() { "$python" -c 'import onnx, os; print(os.path.join(os.path.dirname(onnx.__file__), "backend/test/data"))'; }
