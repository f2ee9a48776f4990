# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two ceilings of the card, measured: fp16 tensor rate and copy bandwidth. Rooflines are made of them.

ceilings.py prints them as JSON.
"""

import json
import statistics
import time


def median_ms(run, repeats: int, replays: int) -> float:
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(repeats):
        begin.record()
        for _ in range(replays):
            run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / replays)
    return statistics.median(times)


def measure() -> dict[str, float]:
    """TFLOP/s of cuBLAS on random data (the best short burst, and 8192³ under load) and TB/s of a copy, reads plus writes."""
    import torch

    rates = {}
    for size in (4096, 8192):
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.half) for _ in range(2))
        out = torch.empty_like(a)
        product = lambda a=a, b=b, out=out: torch.matmul(a, b, out=out)  # noqa: E731
        for _ in range(3):
            product()
        torch.cuda.synchronize()
        best = float("inf")
        for _ in range(5):
            time.sleep(0.1)  # cool: at most a few milliseconds at full clock
            best = min(best, median_ms(product, 1, 4 if size == 4096 else 2))
        rates[size, "burst"] = 2 * size**3 / best / 1e9
        rates[size, "sustained"] = 2 * size**3 / median_ms(product, 40, 2) / 1e9
    source = torch.randint(0, 1 << 30, (1 << 28,), dtype=torch.int32, device="cuda")  # 1 GiB
    target = torch.empty_like(source)
    copy = lambda: target.copy_(source)  # noqa: E731
    copy()
    milliseconds = median_ms(copy, 20, 4)
    return {
        "tensor_tflops": round(max(rates.values()), 1),
        "tensor_tflops_sustained": round(rates[8192, "sustained"], 1),
        "copy_tbps": round(2 * source.numel() * 4 / milliseconds / 1e9, 3),
    }


def roofline_ms(steps: list[list[int]], ceilings: dict[str, float]) -> float:
    """Layer-wise: each (flops, bytes) takes the longer of its arithmetic and its traffic, one after the other."""
    peak, bandwidth = ceilings["tensor_tflops"] * 1e12, ceilings["copy_tbps"] * 1e12
    return sum(max(flops / peak, moved / bandwidth) for flops, moved in steps) * 1e3


if __name__ == "__main__":
    print(json.dumps(measure()))
