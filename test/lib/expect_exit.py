#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command and succeeds when it ends with exactly the given exit code: expect_exit.py CODE COMMAND…"""
import subprocess
import sys

wanted = int(sys.argv[1])
found = subprocess.run(sys.argv[2:]).returncode
if found != wanted:
    print(f"expect_exit.py: exit code {found}, expected {wanted}: {' '.join(sys.argv[2:])}", file=sys.stderr)
sys.exit(0 if found == wanted else 1)
