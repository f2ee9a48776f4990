# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times several ways to compute the same thing on the GPU, fairly.

All are ready before: captured, warm, their inputs on the device. A burst is some replays back to back between two
events, so what the host does for one replay hides behind the one before. A round is one burst of each, in an order that
rotates from round to round, without a pause: every burst meets the clock and the temperature that all of them make
together. The result is the median over rounds.
"""

import dataclasses
import statistics
import time
from collections.abc import Callable

MOST_REPLAYS, LEAST_REPLAYS = 20, 4
BURST_MS = 12.0  # aimed at; short ones are 20 replays, however short
LEAST_ROUNDS = 9


@dataclasses.dataclass
class Times:
    """Milliseconds of one replay."""

    median: float
    low: float  # 10 % of the rounds are faster
    high: float  # 10 % are slower
    rounds: int
    replays: int


class ClockReader:
    """The SM clock in MHz while something runs; None where NVML is missing."""

    def __init__(self):
        self.read: list[int] = []
        try:
            import pynvml

            pynvml.nvmlInit()
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            self.query = lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)
            self.query()
        except Exception:  # no package, no library, no permission
            self.query = None

    def sample(self) -> None:
        if self.query:
            self.read.append(self.query())

    def median(self) -> int | None:
        return int(statistics.median(self.read)) if self.read else None


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def replays_for(run: Callable[[], None]) -> int:
    """As many as make a burst of BURST_MS, within bounds; also warms up."""
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(2):
        run()
    begin.record()
    for _ in range(3):
        run()
    end.record()
    end.synchronize()
    milliseconds = max(begin.elapsed_time(end) / 3, 1e-4)
    return max(LEAST_REPLAYS, min(MOST_REPLAYS, int(BURST_MS / milliseconds) + 1))


def interleaved(methods: dict[str, Callable[[], None]], seconds: float) -> tuple[dict[str, Times], int | None]:
    """Times of each method and the median clock. Each call of a method enqueues one replay on the current stream."""
    import torch

    names = list(methods)
    replays = {name: replays_for(run) for name, run in methods.items()}
    events = {name: [torch.cuda.Event(enable_timing=True) for _ in range(2)] for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    clock = ClockReader()

    def one_round(number: int, keep: bool) -> None:
        for name in names[number % len(names) :] + names[: number % len(names)]:
            begin, end = events[name]
            run = methods[name]
            run()  # the first one meets caches that another method left
            begin.record()
            for _ in range(replays[name]):
                run()
            end.record()
        if keep:
            clock.sample()
        torch.cuda.synchronize()
        if keep:
            for name in names:
                times[name].append(events[name][0].elapsed_time(events[name][1]) / replays[name])

    start, number = time.monotonic(), 0
    while time.monotonic() - start < max(0.2, seconds / 4):  # until the clock has settled
        one_round(number, keep=False)
        number += 1
    start = time.monotonic()
    while number < LEAST_ROUNDS or len(times[names[0]]) < LEAST_ROUNDS or time.monotonic() - start < seconds:
        one_round(number, keep=True)
        number += 1
    return {
        name: Times(statistics.median(t), quantile(t, 0.1), quantile(t, 0.9), len(t), replays[name])
        for name, t in times.items()
    }, clock.median()
