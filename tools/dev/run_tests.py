#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs all tests of a build and sums them up.

    run_tests.py --build build             what CI runs
    run_tests.py --build build --all       adds the large models and long runs
    run_tests.py --build build --only unit --only lit

Each step writes its full log to BUILD/test-logs/<step>.log; here appear the failures, the counts and the time. The
last line is `N passed, N failed, N skipped`. Exit code 1 when anything failed.
"""
import argparse
import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Shared libraries that gpuc may need; everything else is linked into it.
ALLOWED_LIBRARIES = ("linux-vdso", "libc.so", "libm.so", "ld-linux", "libpthread.so", "libdl.so", "librt.so")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
MOST_LINES_SHOWN = 60


@dataclasses.dataclass
class Result:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""

    def add(self, other: "Result") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


class Tests:
    """The steps; each returns a Result and has a docstring that says what it tests."""

    def __init__(self, build: Path, everything: bool):
        self.build, self.everything = build, everything
        self.bin, self.models = build / "bin", build / "models"
        self.logs = build / "test-logs"
        self.list = "all" if everything else "ci"
        self.log = self.logs / "none.log"

    # ---- running programs ----
    def run(self, *command, seconds: float = 7200, cwd: Path = ROOT) -> tuple[int, str]:
        """Exit code and output (both streams) of a program; the output goes to the step's log too."""
        words = [str(word) for word in command]
        with self.log.open("a", encoding="utf-8") as log:
            log.write("$ " + " ".join(words) + "\n")
            log.flush()
            start = log.tell()
            try:
                code = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, timeout=seconds, cwd=cwd).returncode
            except subprocess.TimeoutExpired:
                code = 124
            except OSError as error:
                log.write(f"{error}\n")
                code = 127
        with self.log.open(encoding="utf-8", errors="replace") as log:
            log.seek(start)
            return code, log.read()

    def show(self, lines: list[str]) -> None:
        for line in lines[:MOST_LINES_SHOWN]:
            print("    " + line[:400], flush=True)
        if len(lines) > MOST_LINES_SHOWN:
            print(f"    … {len(lines) - MOST_LINES_SHOWN} more lines in {self.log}")

    def counted(self, *command, seconds: float = 7200) -> Result:
        """A program that prints FAIL lines and ends with `N passed, N failed`."""
        code, output = self.run(*command, seconds=seconds)
        found = COUNTS.findall(output)
        if not found:
            self.show(output.strip().splitlines()[-10:])
            return Result(failed=1, note=f"ended with exit code {code} before it counted")
        passed, failed, skipped = (int(number or 0) for number in found[-1])
        lines = output.splitlines()
        self.show([line for i, line in enumerate(lines) if line.startswith(("FAIL", "    ")) and failed])
        if code != 0 and failed == 0:
            return Result(passed, 1, skipped, f"exit code {code}")
        return Result(passed, failed, skipped)

    def simple(self, *command, seconds: float = 1800) -> Result:
        """A program that is one test: its exit code decides."""
        code, output = self.run(*command, seconds=seconds)
        if code != 0:
            self.show(output.strip().splitlines()[-15:])
        return Result(passed=int(code == 0), failed=int(code != 0))

    def python(self, script: str, *arguments) -> list:
        return [sys.executable, ROOT / script, *arguments]

    # ---- the steps, in their order ----
    def linkage(self) -> Result:
        """gpuc needs no shared library but libc's own."""
        code, output = self.run("ldd", self.bin / "gpuc")
        foreign = [line.strip() for line in output.splitlines() if line.strip() and not any(name in line for name in ALLOWED_LIBRARIES)]
        self.show([f"gpuc needs {line}" for line in foreign])
        return Result(passed=int(code == 0 and not foreign), failed=int(code != 0 or bool(foreign)))

    def unit(self) -> Result:
        """GoogleTest programs, two at a time."""
        code, output = self.run("ctest", "--test-dir", self.build, "-j", "2", "-E", "^lit$", "--output-on-failure", "--timeout", "1200")
        found = re.search(r"(\d+) tests? failed out of (\d+)", output)
        if not found:
            return Result(failed=1, note=f"ctest ended with exit code {code}")
        interesting = re.compile(r"\[  FAILED  \]|: Failure|\*\*\*(Failed|Timeout|Exception|Not Run)")
        self.show([line for line in output.splitlines() if interesting.search(line)])
        return Result(int(found[2]) - int(found[1]), int(found[1]))

    def lit(self) -> Result:
        """Dialect, passes and the command line, by lit and FileCheck."""
        tool = next((path for path in re.findall(r"^GPUC_LIT:FILEPATH=(.*)$", (self.build / "CMakeCache.txt").read_text(), re.M)), "lit")
        code, output = self.run(tool, "-sv", "-j", "2", self.build / "test")
        numbers = {word: int(n) for word, n in re.findall(r"^ +(Passed|Failed|Unresolved|Unsupported|Timed Out) *: *(\d+)", output, re.M)}
        failed = numbers.get("Failed", 0) + numbers.get("Unresolved", 0) + numbers.get("Timed Out", 0)
        if code != 0 and not failed:
            self.show(output.strip().splitlines()[-10:])
            failed = 1
        self.show(re.findall(r"^(?:FAIL|UNRESOLVED|TIMEOUT): .*|^# \| .*error: .*", output, re.M))
        return Result(numbers.get("Passed", 0), failed, numbers.get("Unsupported", 0))

    def docs(self) -> Result:
        """The generated reference pages are those that this build generates."""
        return self.simple(*self.python("tools/dev/generate_docs.py", "--build", self.build, "--check"))

    def fetch(self) -> Result:
        """The models that the steps below need are here and unchanged."""
        return self.simple(*self.python("test/e2e/fetch_models.py", "--out", self.models, "--list", self.list))

    def demo(self) -> Result:
        """The example program tells the types of files."""
        return self.simple(*self.python("docs/examples/file_type/check.py", "--build", self.build))

    def determinism(self) -> Result:
        """Two compilations give the same bytes: other thread counts, one without a cache."""
        result = Result()
        with tempfile.TemporaryDirectory() as folder:
            for model, shapes in (("magika", "bytes:1x2048"), ("espcn_subpixel", ""), ("g2p_bert", "input_1:1x32")):
                path = next((self.models / model).glob("*.onnx"))
                plans = []
                for index, words in enumerate((["-j", "2"], ["-j", "1", "--cache-dir=-"])):
                    plan = Path(folder, f"{model}{index}.gpuc")
                    words += [f"--shapes={shapes}"] if shapes else []
                    self.run(self.bin / "gpuc", "compile", path, "-o", plan, "--target=h200,rtx4090", "-q", *words)
                    plans.append(plan.read_bytes() if plan.exists() else None)
                same = plans[0] is not None and plans[0] == plans[1]
                if not same:
                    self.show([f"{model}: " + ("the plans differ" if all(plans) else "could not be compiled")])
                result.add(Result(passed=int(same), failed=int(not same)))
        return result

    def conformance(self, device: str) -> Result:
        import onnx

        data = Path(onnx.__file__).parent / "backend/test/data"
        known = ROOT / "test/conformance/onnx/known-failures.txt"
        return self.counted(self.bin / "gpuc-onnx-conformance", "--data", data, f"--device={device}", "--known-failures", known)

    def conformance_reference(self) -> Result:
        """ONNX's own cases on the reference executor."""
        return self.conformance("reference")

    def conformance_sim(self) -> Result:
        """ONNX's own cases: the GPU kernels, on the simulator."""
        return self.conformance("sim")

    def real_models(self, device: str, precision: str) -> Result:
        words = ["--gpuc", self.bin / "gpuc", "--models", self.models, f"--device={device}", f"--precision={precision}"]
        return self.counted(*self.python("test/e2e/run_models.py", *words, f"--list={self.list}"))

    def models_reference(self) -> Result:
        """Real models against ONNX Runtime: import and graph, on the reference executor."""
        return self.real_models("reference", "fp32")

    def models_sim_fp32(self) -> Result:
        """Real models against ONNX Runtime: everything, on the simulator."""
        return self.real_models("sim", "fp32")

    def models_sim_fp16(self) -> Result:
        """The same in fp16."""
        return self.real_models("sim", "fp16")

    def targets(self) -> Result:
        """Real models compile for every architecture, and no kernel spills registers."""
        import json

        result = Result()
        spec = json.loads((ROOT / "test/e2e/models.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            for model in (m for m in spec["models"] if m["id"] in spec["lists"]["ci"]):
                path, plan = next((self.models / model["id"]).glob("*.onnx")), Path(folder, "model.gpuc")
                shapes = [f"{name}:{'x'.join(map(str, i.get('ci_shape', i['shape'])))}" for name, i in model["inputs"].items()]
                for precision in ([], ["--fp16"]):
                    words = ["-o", plan, "--target=all", "-v", *precision, *(f"--shapes={shape}" for shape in shapes)]
                    code, output = self.run(self.bin / "gpuc", "compile", path, *words)
                    spills = re.findall(r"^gpuc: (kernel .* spills registers .*)", output, re.M)
                    fine = code == 0 and plan.exists() and not spills
                    if not fine:
                        what = " ".join([model["id"], *precision])
                        self.show([f"{what}: exit code {code}", *(spills or output.strip().splitlines()[-4:])])
                    plan.unlink(missing_ok=True)
                    result.add(Result(passed=int(fine), failed=int(not fine)))
        return result

    def hostile(self) -> Result:
        """Damaged and malicious models and plans: an error, no crash, no file left."""
        words = ["--gpuc", self.bin / "gpuc", "--models", self.models, "--keep", self.logs / "hostile"]
        return self.counted(*self.python("test/e2e/run_hostile.py", *words, "--count", "100" if self.everything else "15"))

    def fuzz(self) -> Result:
        """The importer's and the plan loader's fuzzers, built with sanitizers, for a minute each."""
        code, output = self.run(ROOT / "tools/dev/fuzz.sh", "600" if self.everything else "60", seconds=3600)
        failed = re.findall(r"^FAIL (\S+)", output, re.M)
        ran = re.findall(r"^ran (\S+)", output, re.M)
        if code != 0 or len(ran) + len(failed) != 2:
            self.show(output.strip().splitlines()[-15:])
        return Result(len(ran), max(len(failed), int(code != 0), int(len(ran) < 2)))

    def format(self) -> Result:
        """Sources are formatted, licensed and without stray white space."""
        return self.simple(ROOT / "tools/dev/format.sh", "check")

    def steps(self) -> list[tuple[str, Callable[[], Result]]]:
        return [(step.__name__.replace("_", "-"), step) for step in (
            self.linkage, self.format, self.unit, self.lit, self.docs, self.fetch, self.demo, self.determinism, self.conformance_reference,
            self.models_reference, self.hostile, self.models_sim_fp32, self.models_sim_fp16, self.targets, self.conformance_sim, self.fuzz)]

    def execute(self, name: str, step: Callable[[], Result]) -> tuple[Result, float]:
        print(f"-- {name}: {step.__doc__.splitlines()[0]}", flush=True)
        self.log = self.logs / f"{name}.log"
        self.log.write_text("", encoding="utf-8")
        start = time.monotonic()
        try:
            result = step()
        except (OSError, StopIteration, ImportError, ValueError) as error:
            result = Result(failed=1, note=f"the step could not run: {error!r}")
        if result.passed + result.failed + result.skipped == 0:
            result = Result(failed=1, note="nothing ran")
        return result, time.monotonic() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--all", type=int, nargs="?", const=1, default=0, metavar="0|1", help="large models and long runs too")
    parser.add_argument("--only", action="append", metavar="STEP", help="only this step; may be repeated")
    parser.add_argument("--list", action="store_true", help="list the steps")
    arguments = parser.parse_args()
    tests = Tests(arguments.build.resolve(), bool(arguments.all))
    steps = tests.steps()
    if arguments.list:
        print("\n".join(f"{name:<24}{step.__doc__.splitlines()[0]}" for name, step in steps))
        return 0
    unknown = set(arguments.only or []) - {name for name, _ in steps}
    if unknown:
        parser.error(f"unknown step {', '.join(sorted(unknown))}; --list shows them")
    tests.logs.mkdir(parents=True, exist_ok=True)
    total, rows = Result(), []
    for name, step in steps:
        if arguments.only and name not in arguments.only:
            continue
        result, seconds = tests.execute(name, step)
        total.add(result)
        rows.append((name, result, seconds))
        note = f"; {result.note}" if result.note else ""
        print(f"   {result.passed} passed, {result.failed} failed, {result.skipped} skipped in {seconds:.1f} s{note}", flush=True)
    print(f"\n{'step':<24}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, result, seconds in rows:
        print(f"{name:<24}{result.passed:>8}{result.failed:>8}{result.skipped:>9}{seconds:>9.1f}" + ("  <-- FAILED" if result.failed else ""))
    print(f"full logs: {tests.logs}")
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
