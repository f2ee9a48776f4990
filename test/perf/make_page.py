#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes docs/benchmarks.md and its plot from what was measured.

    make_page.py DIR docs/benchmarks.md

DIR holds results.json (bench_models.py) and, if there are any, operators.json (bench_operators.py) and check.json
(check_models.py). Beside the page comes <page>.svg.
"""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import ceilings  # noqa: E402
import plot  # noqa: E402

PEERS = {"graph": "torch graph", "compile": "torch.compile", "ort_nchw": "ORT", "ort_nhwc": "ORT"}

PAGE = """# Benchmarks

GPU time in milliseconds, fp16, smaller is better. `./dev bench-gpu` makes this page on any machine with an NVIDIA GPU and
torch; nothing is downloaded.

## Networks

{models}

{geomean}
- **gpuc**: a plan compiled with `--fp16`, through the C API. **torch graph**: torch captured into a CUDA graph, channels-last
  for convolutional networks, cuDNN's search on. **torch.compile**: Inductor's kernels (those of `mode="reduce-overhead"`),
  weights frozen, captured into a CUDA graph with static inputs, so that neither Python nor copies of inputs count. **ORT**:
  ONNX Runtime's CUDA provider with a CUDA graph, exhaustive search and bound inputs and outputs; of NCHW and NHWC the better.
- **best / gpuc**: the fastest of the others over gpuc; above 1 gpuc is faster.
- **of roofline**: the time that the card would need at its ceilings, over gpuc's. The sum over gpuc's launches of the longer
  of flops / tensor rate and bytes / copy bandwidth (`gpuc inspect --json`; every operand read once, every result written
  once), with both ceilings measured in the same run. At batch 1 activations stay in the L2 cache, which is faster.
- **error**: relative L2 error of the fp16 output against torch in fp32 without TF32, gpuc's and torch's. A row fails when the
  cosine is below 0.9995 or the error more than 1.5 times torch's.

![latency against roofline]({plot})

All run the same networks with the same random weights (`test/perf/networks.py`) and inputs, which lie on the device before
and after, as the outputs do. One process holds a network in every form. A burst is 4 to 20 replays back to back between two
events; a round is one burst of each form, in rotating order without a pause, so that all meet the same clock; a number is
the median over {seconds} s of rounds after {warm} s of warming up. Encoder: 128 positions at batch 1, 512 at batch 16.

{operators}{failures}{checks}## Measured on

{machine}

`tools/dev/bench_gpu.sh --help` lists the options. `--only` runs some stages, `--networks` and `--batches` measure some rows
again: results gather in `build/gpu/results.json`, from which the page is made.
"""


def cell(value: float | None) -> str:
    """Three or four significant digits."""
    if value is None:
        return "–"
    return f"{value:.4f}" if value < 1 else f"{value:.3f}" if value < 10 else f"{value:.2f}"


def best_peer(row: dict) -> float | None:
    return min((row["ms"][peer] for peer in PEERS if peer in row["ms"]), default=None)


def ort_of(row: dict) -> float | None:
    return min((row["ms"][peer] for peer in ("ort_nchw", "ort_nhwc") if peer in row["ms"]), default=None)


def ratio_of(row: dict) -> float | None:
    own, peer = row["ms"].get("gpuc"), best_peer(row)
    return peer / own if own and peer else None


def line(row: dict) -> str:
    """One row for the terminal."""
    times = "  ".join(f"{name} {cell(ms)}" for name, ms in row["ms"].items())
    ratio = ratio_of(row)
    return f"{row['network']} b{row['batch']}: {times}" + (f"  best/gpuc {ratio:.2f}" if ratio else "")


def in_order(rows: list[dict]) -> list[dict]:
    """Batch 1 first, as the comparison is read."""
    return sorted(rows, key=lambda row: (row["network"] == "convnet", row["batch"] > 1))


def roofline_of(results: dict, row: dict) -> float | None:
    """Milliseconds."""
    run = results["runs"][row.get("run", -1)]
    return ceilings.roofline_ms(row["steps"], run["ceilings"]) if row.get("steps") and run["ceilings"] else None


def model_table(results: dict) -> str:
    head = [
        "model",
        "batch",
        "gpuc",
        "torch graph",
        "torch.compile",
        "ORT",
        "best / gpuc",
        "roofline",
        "of roofline",
        "launches",
    ]
    head += ["MHz", "error gpuc, torch"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for row in in_order(results["rows"]):
        own, roof, ratio = row["ms"].get("gpuc"), roofline_of(results, row), ratio_of(row)
        cells = [
            row["title"],
            str(row["batch"]),
            cell(own),
            cell(row["ms"].get("graph")),
            cell(row["ms"].get("compile")),
            cell(ort_of(row)),
            f"{ratio:.2f}" if ratio else "–",
            cell(roof),
            f"{roof / own:.0%}" if roof and own else "–",
            str(row.get("launches", "–")),
            str(row.get("clock_mhz") or "–"),
            ", ".join(f"{row['l2'][key]:.1e}" if key in row["l2"] else "–" for key in ("gpuc", "eager")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def geomean_lines(results: dict) -> str:
    """Ratios to the best peer, together."""
    groups = {
        "batch 1 (without ConvNet and GPT-2)": lambda row: row["batch"] == 1,
        "larger batches (likewise)": lambda row: row["batch"] > 1,
    }
    lines = []
    for title, belongs in groups.items():
        ratios = [
            ratio
            for row in results["rows"]
            if belongs(row) and row["network"] not in ("convnet", "gpt2") and (ratio := ratio_of(row))
        ]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            lines.append(
                f"- Geometric mean of best / gpuc at {title}: **{mean:.2f}**, least {min(ratios):.2f}, {len(ratios)} models."
            )
    return "\n".join(lines) + "\n" if lines else ""


def operator_section(content: dict) -> str:
    """The tables of bench_operators.py."""
    if not content.get("rows"):
        return ""
    run = content["run"]
    lines = [
        "## Operators",
        "",
        "Own kernels (`--no-cublaslt`), fp16, random data, buffers rotating beyond the L2 cache, interleaved with the peer in one "
        "process. Ceilings in this run: "
        f"{run['ceilings']['tensor_tflops']:.0f} TFLOP/s in a short burst, {run['ceilings']['tensor_tflops_sustained']:.0f} under load, "
        f"copy {run['ceilings']['copy_tbps']:.2f} TB/s.",
        "",
    ]
    tables = {
        "product": ("| product M×N×K | epilogue | gpuc µs | TFLOP/s | cuBLASLt µs | cuBLASLt / gpuc | peer |", "flops"),
        "attention": (
            "| attention B, H, S, D | | gpuc µs | TFLOP/s | best of torch µs | torch / gpuc | peer |",
            "flops",
        ),
        "memory": ("| 256 MB | | gpuc µs | TB/s | torch µs | of copy bandwidth | peer |", "bytes"),
    }
    for kind, (head, measure) in tables.items():
        rows = [row for row in content["rows"] if row["kind"] == kind]
        if not rows:
            continue
        lines += [head, "|---|---|" + "--:|" * 4 + "---|"]
        for row in rows:
            own, peer = row.get("gpuc_us"), row.get("peer_us")
            rate = row[measure] / own / 1e6 if own else None
            if kind == "memory":
                share = f"{rate / run['ceilings']['copy_tbps']:.0%}" if rate else "–"
            else:
                share = f"{peer / own:.2f}" if own and peer else "–"
            rate_text = "–" if rate is None else f"{rate:.2f}" if kind == "memory" else f"{rate:.0f}"
            number = lambda us: "–" if us is None else f"{us:.1f}"  # noqa: E731
            lines.append(
                f"| {row['shape']} | {row['variant']} | {number(own)} | {rate_text} | {number(peer)} | {share} | {row.get('peer', '–')} |"
            )
        lines.append("")
    failed = [f"- {row['shape']} {row['variant']}: {row['error']}" for row in content["rows"] if row.get("error")]
    return "\n".join(lines + ([*failed, ""] if failed else [])) + "\n"


STAGES = {
    "network": "networks above, fp32 and fp16, against torch in fp32",
    "package": "models out of packages, fp32 and fp16, against ONNX Runtime",
    "family": "one small model per kernel family: values, compute-sanitizer memcheck and racecheck",
    "conformance": "the onnx package's own tests on the GPU",
    "compile-cost": "compile time and memory",
}


def checks_section(rows: list[dict]) -> str:
    """What check_models.py found, in a few lines."""
    lines = []
    for stage, title in STAGES.items():
        own = [row for row in rows if row["stage"] == stage]
        if own:
            failed = [f"{row['name']} {row['precision']}".strip() for row in own if row["error"]]
            totals = next(
                (row["note"] for row in own if row["name"] == "totals"),
                f"{len(own) - len(failed)} passed, {len(failed)} failed",
            )
            lines.append(f"- {title}: {totals}" + (f" ({', '.join(failed)})" if failed else ""))
    for row in rows:
        if row["stage"] == "compile-cost" and row["compile_s"] is not None:
            lines.append(
                f"- compiling {row['name']} in {row['precision']} for one target with an empty cache: {row['compile_s']:.1f} s, {row['note']}"
            )
    return "## Checks on the same card\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def machine_table(results: dict) -> str:
    """One column for each run that rows are from."""
    used = sorted({row.get("run", 0) for row in results["rows"]})
    runs = [results["runs"][number] for number in used]
    rows = {
        "date": [run["machine"]["date"] for run in runs],
        "card": [f"{run['machine']['card']}, {run['machine']['memory']}" for run in runs],
        "driver": [run["machine"]["driver"] for run in runs],
        "CUDA": [f"{run['machine']['cuda']}, cuDNN {run['machine']['cudnn']}" for run in runs],
        "tensor rate, copy": [
            f"{run['ceilings']['tensor_tflops']:.0f} TFLOP/s, {run['ceilings']['copy_tbps']:.2f} TB/s"
            if run["ceilings"]
            else "–"
            for run in runs
        ],
        "packages": [
            ", ".join(f"{name} {version}" for name, version in run["machine"]["packages"].items()) for run in runs
        ],
        "command": [f"`{run['command']}`" for run in runs],
    }
    if len(runs) > 1:
        titles = [
            ", ".join(f"{r['title']} b{r['batch']}" for r in results["rows"] if r.get("run", 0) == n) for n in used
        ]
        rows = {"rows": titles} | rows
    table = ["| |" + " |" * len(runs), "|---|" + "---|" * len(runs)]
    return "\n".join(table + [f"| {name} | " + " | ".join(values) + " |" for name, values in rows.items()])


def page(results: dict, operators: dict, checked: list[dict], plot_name: str) -> str:
    lines = [
        f"- {row['title']}, batch {row['batch']}, {method.replace('_', ' ')}: {error.splitlines()[0]}"
        for row in results["rows"]
        for method, error in row["errors"].items()
    ]
    seconds = results["runs"][-1]["seconds"]
    return PAGE.format(
        models=model_table(results),
        geomean=geomean_lines(results),
        plot=plot_name,
        operators=operator_section(operators),
        failures="## Not measured, or wrong\n\n" + "\n".join(lines) + "\n\n" if lines else "",
        checks=checks_section(checked),
        machine=machine_table(results),
        seconds=seconds,
        warm=max(0.2, seconds / 4),
    )


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: make_page.py DIR PAGE.md", file=sys.stderr)
        return 2
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    read = lambda name, default: json.loads((folder / name).read_text()) if (folder / name).is_file() else default  # noqa: E731
    results = read("results.json", None)
    if results is None:
        print(f"error: '{folder}' has no results.json; run ./dev bench-gpu --only bench", file=sys.stderr)
        return 1
    bars = [
        {
            "label": f"{row['title']} b{row['batch']}",
            "gpuc": row["ms"]["gpuc"],
            "peer": best_peer(row),
            "roofline": roofline_of(results, row),
        }
        for row in in_order(results["rows"])
        if "gpuc" in row["ms"]
    ]
    picture = target.with_suffix(".svg")
    picture.write_text(plot.latency_plot(bars, "fp16 latency, ms"), encoding="utf-8")
    target.write_text(page(results, read("operators.json", {}), read("check.json", []), picture.name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
