#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the page docs/benchmarks.md of a results.json of bench_models.py and, if there is one, a check.json of check_models.py.

make_table.py results.json docs/benchmarks.md [check.json]
"""

import json
import sys
from pathlib import Path

PEERS = ("eager_ms", "graph_ms", "compile_ms", "ort_ms")

PAGE = """# Benchmarks

GPU time of one run in milliseconds, fp16, smaller is better. One run of `test/perf/bench_models.py`.

{table}

- **gpuc**: `gpuc bench` of a plan compiled with `--fp16`, under a CUDA graph.
- **eager**, **eager + graph**: torch kernel by kernel, and the same captured into a CUDA graph; channels-last for
  convolutional networks, cuDNN's search on.
- **compile**: `torch.compile(mode="reduce-overhead")`.
- **ORT**: ONNX Runtime's CUDA provider under a CUDA graph with exhaustive search; of NCHW and NHWC the better one.
- **best / gpuc**: the fastest of the others over gpuc; above 1 gpuc is faster. **graph / gpuc**: eager + graph over gpuc.
- **error**: relative L2 error of the fp16 output against torch in fp32 without TF32, gpuc's and torch's.

All run the same networks with the same random weights (`test/perf/networks.py`) and inputs, which are on the device before
and after, as the outputs are. A number is the median over {seconds} s of the time between two events around one run. Methods
are timed one after the other with nothing else running; gpuc before and after the others. The encoder sees 128 positions
at batch 1 and 512 at batch 16.

{failures}{checks}## Measured on

| | |
|---|---|
| date | {date} |
| card | {card}, {memory} |
| driver | {driver} |
| CUDA | {cuda}, cuDNN {cudnn} |
| packages | {packages} |
| command | `{command}` |

`tools/dev/bench_gpu.sh --help` lists the options; `--only` runs the checks alone.
"""


def cell(value: float | None) -> str:
    """Three or four significant digits."""
    if value is None:
        return "–"
    return f"{value:.4f}" if value < 1 else f"{value:.3f}" if value < 10 else f"{value:.2f}"


def ratio(peer: float | None, own: float | None) -> str:
    return f"{peer / own:.2f}" if peer and own else "–"


def table(results: dict) -> str:
    """The table in Markdown."""
    head = [
        "model",
        "batch",
        "gpuc",
        "eager",
        "eager + graph",
        "compile",
        "ORT",
        "best / gpuc",
        "graph / gpuc",
        "launches",
        "error gpuc, torch",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for row in results["rows"]:
        own, peers = row.get("gpuc_ms"), [row[peer] for peer in PEERS if peer in row]
        error = ", ".join(f"{row[key]:.1e}" if key in row else "–" for key in ("gpuc_l2", "torch_l2"))
        cells = [
            row["title"],
            str(row["batch"]),
            cell(own),
            *(cell(row.get(peer)) for peer in PEERS),
            ratio(min(peers, default=None), own),
            ratio(row.get("graph_ms"), own),
            str(row.get("launches", "–")),
            error,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


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


def page(results: dict, checked: list[dict]) -> str:
    machine = results["machine"]
    lines = [
        f"- {row['title']}, batch {row['batch']}, {method.replace('_', ' ')}: {error.splitlines()[0]}"
        for row in results["rows"]
        for method, error in row["errors"].items()
    ]
    failures = "Not measured, or measured otherwise:\n\n" + "\n".join(lines) + "\n\n" if lines else ""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return PAGE.format(
        table=table(results),
        failures=failures,
        checks=checks_section(checked),
        seconds=results["seconds"],
        packages=packages,
        command=results["command"],
        **{key: machine[key] for key in ("date", "card", "memory", "driver", "cuda", "cudnn")},
    )


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print("usage: make_table.py results.json PAGE.md [check.json]", file=sys.stderr)
        return 2
    read = lambda path: json.loads(Path(path).read_text(encoding="utf-8"))  # noqa: E731
    checked = read(sys.argv[3]) if len(sys.argv) == 4 else []
    Path(sys.argv[2]).write_text(page(read(sys.argv[1]), checked), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
