#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes text files into a C++ file as `gpuc::EmbeddedFile` records, so that programs need no data folder."""
import pathlib
import sys


def main() -> int:
    output, symbol, root, *files = sys.argv[1:]
    lines = ['#include "gpuc/Support/EmbeddedFile.h"', "namespace gpuc {"]
    for index, name in enumerate(files):
        data = (pathlib.Path(root) / name).read_bytes()
        body = ",".join(str(byte) for byte in data + b"\0")
        lines.append(f"static const unsigned char bytes{index}[] = {{{body}}};")
    lines.append(f"extern const EmbeddedFile {symbol}[] = {{")
    for index, name in enumerate(files):
        lines.append(f'  {{"{name}", reinterpret_cast<const char *>(bytes{index}), sizeof(bytes{index}) - 1}},')
    lines.append("};")
    lines.append(f"extern const unsigned {symbol}Count = {len(files)};")
    lines.append("} // namespace gpuc")
    text = "\n".join(lines) + "\n"
    target = pathlib.Path(output)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
