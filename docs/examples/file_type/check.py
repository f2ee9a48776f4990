#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the example: it must tell the types of some files of the repository, and fail properly.

    check.py --build build

Needs build/bin/gpuc, build/bin/file_type and build/models/magika (fetch_models.py).
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Files of the repository and the labels that are right for them.
EXPECTED = {
    "docs/examples/file_type/file_type.cpp": {"cpp", "c"},
    "docs/architecture.md": {"markdown"},
    "test/e2e/run_models.py": {"python"},
    "CMakeLists.txt": {"cmake"},
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Tests the file_type example.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    build = parser.parse_args().build.resolve()
    model = next((build / "models" / "magika").glob("*.onnx"))
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "magika.gpuc")
        command = [build / "bin/gpuc", "compile", model, "-o", plan, "--shapes=bytes:1x2048", "--target=h200", "--quiet"]
        subprocess.run(command, check=True)
        short = Path(folder, "short")
        short.write_text("abc")

        def classify(*files) -> subprocess.CompletedProcess:
            program = [build / "bin/file_type", plan, HERE / "labels.txt", *files]
            return subprocess.run(program, cwd=ROOT, capture_output=True, text=True)

        done = classify(*EXPECTED, short)
        print(done.stdout, done.stderr, sep="", end="")
        if done.returncode != 0 or not done.stdout.startswith("running on "):
            errors.append(f"exit code {done.returncode}")
        for name, right in EXPECTED.items():
            found = re.search(rf"^{re.escape(name)} +(\S+) +([0-9.]+) %$", done.stdout, re.M)
            if not found or found[1] not in right or float(found[2]) < 50:
                errors.append(f"{name}: {found[0] if found else 'no answer'}, expected {' or '.join(sorted(right))}")
        if not re.search(r"short +too short to tell", done.stdout):
            errors.append("a file of three bytes got a type")
        missing = classify("no such file", "docs/architecture.md")
        if missing.returncode != 1 or "'no such file': cannot be opened" not in missing.stderr or "markdown" not in missing.stdout:
            errors.append("a missing file is not reported, or stops the others")
    for error in errors:
        print(f"check.py: error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
