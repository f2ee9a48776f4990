#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks and benchmarks on this machine's GPU. Needs NVIDIA's driver, a CUDA toolkit (NVRTC) and a python3 with torch,
# torchvision, transformers, onnx, onnxscript and onnxruntime; nothing is downloaded.
#
#   bench_gpu.sh [--gpuc PATH] [--models DIR] [--out DIR] [--only STAGES] [--networks NAMES] [--batches LIST]
#                [--ort-site DIR] [--onnx-data DIR] [--page FILE] [--quick]
#
#   --gpuc PATH      the program (build/bin/gpuc); bench and operators also load lib/libgpuc.so beside its folder
#   --models DIR     models out of packages, of test/e2e/fetch_models.py (build/models)
#   --out DIR        results: check.json, results.json, operators.json (build/gpu); they gather over several runs
#   --page FILE      the page made of them (OUT/benchmarks.md)
#   --exported DIR   where exported networks are kept (build/exported)
#   --only STAGES    of networks, packages, families, compile-cost, conformance, bench, operators; all of them without it.
#                    Only when named: tune, which tunes each network (docs/tuning.md) into OUT/tuned.jsonl, before bench
#   --tune-seconds S for each network and batch size (40)
#   --networks NAMES of test/perf/networks.py
#   --batches LIST   only these of each network's batch sizes
#   --ort-site DIR   folder to import ONNX Runtime with its CUDA provider from
#   --onnx-data DIR  backend/test/data of the onnx package (that of the installed one)
#   --quick          batch 1, no torch.compile, short measurements
# Environment: PYTHON, the interpreter (python3).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly root python=${PYTHON:-python3}

die() { printf 'bench_gpu.sh: error: %s\n' "$*" >&2; exit 1; }

gpuc=$root/build/bin/gpuc models=$root/build/models out=$root/build/gpu exported=$root/build/exported
only=networks,packages,families,compile-cost,conformance,bench,operators
ort_site='' onnx_data='' page='' tune_seconds=40 quick=0 selection=()
while [ $# -gt 0 ]; do
  case $1 in
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
    --quick) quick=1; shift; continue ;;
    -h | --help) sed -n '3,22p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//'; exit 0 ;;
  esac
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --gpuc) gpuc=$2 ;;
    --models) models=$2 ;;
    --out) out=$2 ;;
    --exported) exported=$2 ;;
    --only) only=$2 ;;
    --networks | --batches) selection+=("$1" "$2") ;;
    --ort-site) ort_site=$2 ;;
    --page) page=$2 ;;
    --tune-seconds) tune_seconds=$2 ;;
    --onnx-data) onnx_data=$2 ;;
    *) die "unknown option '$1'; --help lists them" ;;
  esac
  shift 2
done
[ -x "$gpuc" ] || die "'$gpuc' is no program: run ./dev build, or name it with --gpuc"
"$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null ||
  die "'$python' has no torch that sees a GPU; name another interpreter with PYTHON"
[ -n "$onnx_data" ] || onnx_data=$("$python" -c 'import onnx, os; print(os.path.join(os.path.dirname(onnx.__file__), "backend/test/data"))')
# Toolkit libraries of torch's own packages, for a machine without a toolkit.
wheels=$("$python" -c 'import glob, nvidia; print(":".join(d for p in nvidia.__path__ for d in glob.glob(p + "/*/lib")))' 2>/dev/null || true)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$wheels
mkdir -p "$out"
out=$(cd "$out" && pwd)

wants() { case ,$only, in *,"$1",*) return 0 ;; *) return 1 ;; esac; }

checks=() measuring=()
for stage in ${only//,/ }; do
  case $stage in
    networks | packages | families | conformance | compile-cost) checks+=("$stage") ;;
    bench | operators | tune) ;;
    *) die "unknown stage '$stage'" ;;
  esac
done
if [ $quick = 1 ]; then
  selection+=(--batches 1)
  measuring+=(--seconds 0.3)
fi

failed=0
export_models() { # options
  "$python" "$root/test/perf/export_models.py" --out "$exported" "$@"
}
if wants networks; then
  export_models --types fp32 "${selection[@]}" || failed=1
elif wants compile-cost; then
  export_models --types fp32 --networks resnet50 --batches 1 || failed=1
fi
if [ ${#checks[@]} -gt 0 ]; then
  list=$(IFS=,; echo "${checks[*]}")
  "$python" "$root/test/perf/check_models.py" --gpuc "$gpuc" --exported "$exported" --models "$models" --onnx-data "$onnx_data" \
    --out "$out" --only "$list" "${selection[@]}" "${measuring[@]}" || failed=1
fi
tuned=()
if wants tune; then
  export_models --types fp16 "${selection[@]}" || failed=1
  for model in "$exported"/fp16/*/b*.onnx; do
    printf '== tuning %s\n' "${model#"$exported"/fp16/}"
    timeout "$tune_seconds" "$gpuc" tune "$model" --fp16 -o "$out/tuned.jsonl" || [ $? = 124 ] || failed=1
  done
  [ ! -e "$out/tuned.jsonl" ] || tuned=(--gpuc-flags "--tuning-database=$out/tuned.jsonl")
fi
if wants bench; then
  peers=()
  [ -z "$ort_site" ] || peers+=(--ort-site "$ort_site")
  [ $quick = 0 ] || peers+=(--methods "gpuc,graph,ort")
  # Torch gets ready while the models are exported.
  export_models --types fp16 "${selection[@]}" &
  exporting=$!
  "$python" "$root/test/perf/bench_models.py" --gpuc "$gpuc" --exported "$exported" --out "$out" --export-seconds 200 \
    "${tuned[@]}" "${peers[@]}" "${selection[@]}" "${measuring[@]}" || failed=1
  wait "$exporting" || failed=1
fi
if wants operators; then
  "$python" "$root/test/perf/bench_operators.py" --gpuc "$gpuc" --out "$out" "${measuring[@]}" || failed=1
fi
if [ -e "$out/results.json" ]; then
  "$python" "$root/test/perf/make_page.py" "$out" "${page:-$out/benchmarks.md}" || failed=1
fi
exit $failed
