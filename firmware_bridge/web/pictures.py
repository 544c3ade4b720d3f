"""The charts of the published pages as SVG text: what the served pages draw with a script, for pages without one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from firmware_bridge.web.words import Words


def distribution(lines: Sequence[Mapping[str, Any]], words: Words) -> str:
    """How often each score was reached on a board, as North-South see it; "" without scores."""
    counts = Counter(line["score"] for line in lines if line["score"] is not None)
    if not counts:
        return ""
    scores, most, wide, each = sorted(counts, reverse=True), max(counts.values()), 300, 20
    parts = []
    for at, score in enumerate(scores):
        length = counts[score] / most * (wide - 90)
        kind = "bar minus" if score < 0 else "bar"
        parts.append(f'<text x="52" y="{at * each + 15}" text-anchor="end">{signed(score)}</text>')
        parts.append(
            f'<rect x="58" y="{at * each + 4}" width="{length:.1f}" height="{each - 6}" rx="3" class="{kind}"/>'
        )
        parts.append(f'<text x="{64 + length:.1f}" y="{at * each + 15}">{counts[score]}</text>')
    label = words.get("chart.from-ns") + ": " + ", ".join(f"{signed(score)}: {counts[score]}" for score in scores)
    return _svg(wide, len(scores) * each + 6, label, parts)


def rounds(standings: Sequence[Mapping[str, Any]], words: Words, *, own: str = "", top: int = 3) -> str:
    """Standings after each round, the best in front and those of ``own`` ("A7"); "" when there is nothing to draw."""
    lines = {f"{one['section']}{one['pair']}": _line(one) for one in standings}
    lines = {name: line for name, line in lines.items() if any(value is not None for value in line)}
    if not lines:
        return ""
    percent = any("percent" in one for one in standings)
    values = [value for line in lines.values() for value in line if value is not None]
    step = 10.0 if percent else _step(max(values) - min(values))
    low = math.floor(min([*values, 40.0 if percent else 0.0]) / step) * step
    high = math.ceil(max([*values, 60.0 if percent else step]) / step) * step
    last, wide, tall = max(map(len, lines.values())), 460, 230

    def x(at: int) -> float:
        return 40 + (at * (wide - 96) / (last - 1) if last > 1 else 0)

    def y(value: float) -> float:
        return 12 + (high - value) * (tall - 40) / ((high - low) or 1)

    now = {name: next(value for value in reversed(line) if value is not None) for name, line in lines.items()}
    ranked = sorted(lines, key=lambda name: -now[name])
    front = [name for at, name in enumerate(ranked) if at < top or name == own]
    many = len({one["section"] for one in standings}) > 1
    parts = []
    for mark in range(round_up((high - low) / step) + 1):
        value = low + mark * step
        parts.append(f'<line x1="40" x2="{wide - 50}" y1="{y(value):.1f}" y2="{y(value):.1f}" class="axis"/>')
        parts.append(f'<text x="34" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    tags: list[float] = []
    for name in reversed(ranked):
        points = " ".join(f"{x(at):.1f},{y(v):.1f}" for at, v in enumerate(lines[name]) if v is not None)
        kind = "line top own" if name == own else "line top" if name in front else "line"
        parts.append(f'<polyline points="{points}" class="{kind}"/>')
    for name in front:
        place = y(now[name]) + 4
        while any(abs(place - other) < 12 for other in tags):
            place += 1
        tags.append(place)
        shown = name if many else name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        parts.append(f'<text x="{x(len(lines[name]) - 1) + 6:.1f}" y="{place:.1f}">{escape(shown)}</text>')
    parts += [f'<text x="{x(at):.1f}" y="{tall - 8}" text-anchor="middle">{at + 1}</text>' for at in range(last)]
    label = words.get("chart.over-rounds") + ": " + ", ".join(f"{name}: {now[name]:g}" for name in ranked[:top])
    return _svg(wide, tall, label, parts)


def signed(score: int | None) -> str:
    """A score with its sign, as people write it."""
    return "" if score is None else "0" if score == 0 else f"{score:+d}".replace("-", "−")


def round_up(value: float) -> int:
    return math.ceil(value - 1e-9)


def _line(one: Mapping[str, Any]) -> list[float | None]:
    return list(one.get("percent") or one.get("points") or [])


def _step(spread: float) -> float:
    """1, 2 or 5 times a power of ten, so that there are about five lines."""
    rough = max(1.0, spread / 5)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= rough - 1e-9)


def _svg(wide: int, tall: int, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {wide} {tall}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
