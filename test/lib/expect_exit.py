#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command and succeeds when it ends with exactly the given exit code.

    expect_exit.py CODE [--stdout=FILE] COMMAND…

--stdout is for devices such as /dev/full: lit reads back what it redirects, and those never end.
"""
import subprocess
import sys

words = sys.argv[1:]
wanted = int(words.pop(0))
stdout = open(words.pop(0).split("=", 1)[1], "wb") if words[0].startswith("--stdout=") else None
found = subprocess.run(words, stdout=stdout).returncode
if found != wanted:
    print(f"expect_exit.py: exit code {found}, expected {wanted}: {' '.join(words)}", file=sys.stderr)
sys.exit(0 if found == wanted else 1)
