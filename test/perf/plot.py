# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bar plot as SVG, without a plotting library."""

import html
import math

WIDTH, LABELS, VALUES, ROW, TOP, BOTTOM = 860, 230, 150, 26, 52, 30
GPUC, PEER, ROOFLINE, INK, GRID = "#2a78b5", "#c9ced6", "#d1495b", "#24292f", "#e4e7eb"


def text(x: float, y: float, content: str, anchor: str = "start", size: int = 12, colour: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{html.escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(0, width):.1f}" height="{height:.1f}" fill="{colour}"/>'


def latency_plot(bars: list[dict], title: str) -> str:
    """`bars`: label, gpuc, and where known peer and roofline, in one unit. One row each on a logarithmic axis: the best peer's
    bar behind gpuc's, the roofline as a mark."""
    values = [bar[key] for bar in bars for key in ("gpuc", "peer", "roofline") if bar.get(key)]
    low = 10 ** math.floor(math.log10(min(values, default=0.1)))
    high = 10 ** math.ceil(math.log10(max(values, default=1)))
    if high <= low:
        high = low * 10
    width = WIDTH - LABELS - VALUES
    height = TOP + ROW * len(bars) + BOTTOM

    def at(value: float) -> float:
        return LABELS + width * math.log(value / low) / math.log(high / low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif">',
        box(0, 0, WIDTH, height, "#ffffff"),
        text(12, 20, title, size=14),
    ]
    x = LABELS
    for colour, name in ((GPUC, "gpuc"), (PEER, "best peer"), (ROOFLINE, "layer-wise roofline")):
        out += [box(x, 29, 12, 10, colour), text(x + 17, 38, name, size=11)]
        x += 40 + 7 * len(name)
    for exponent in range(round(math.log10(low)), round(math.log10(high)) + 1):
        for step in range(1, 10):
            tick = step * 10.0**exponent
            if low <= tick <= high:
                out.append(
                    f'<line x1="{at(tick):.1f}" y1="{TOP - 4}" x2="{at(tick):.1f}" y2="{height - BOTTOM + 4}" stroke="{GRID}" '
                    f'stroke-width="{1.2 if step == 1 else 0.5}"/>'
                )
                if step in (1, 3):
                    out.append(text(at(tick), height - BOTTOM + 18, f"{tick:g}", "middle", 11))
    for number, bar in enumerate(bars):
        y = TOP + ROW * number
        out.append(text(LABELS - 8, y + 15, bar["label"], "end"))
        if bar.get("peer"):
            out.append(box(LABELS, y + 3, at(bar["peer"]) - LABELS, ROW - 7, PEER))
        out.append(box(LABELS, y + 7, at(bar["gpuc"]) - LABELS, ROW - 15, GPUC))
        if bar.get("roofline"):
            out.append(box(at(bar["roofline"]) - 1.5, y + 1, 3, ROW - 3, ROOFLINE))
        note = f"{bar['gpuc']:.3g}"
        note += f", peer {bar['peer'] / bar['gpuc']:.2f}×" if bar.get("peer") else ""
        note += f", {bar['roofline'] / bar['gpuc']:.0%}" if bar.get("roofline") else ""
        out.append(text(WIDTH - VALUES + 8, y + 15, note, size=11))
    out.append("</svg>")
    return "\n".join(out) + "\n"
