"""How is a tail drawn? One SVG: time over percentile, both on logarithmic scales, a line for each engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from timing import percentile

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 150, 44, 52
_TICKS = ((0.0, "min"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"))
_COLOURS = ("#0b6e4f", "#c8553d", "#3d5a80", "#8e6c8a", "#b08900")
_DEPTH = 4.0  # the axis ends at the percentile 1 - 10**-4


def tail_curves(title: str, series: Mapping[str, Sequence[float]]) -> str:
    """An SVG document. `series` maps a name to its samples in nanoseconds; an empty series is left out."""
    ordered = {name: sorted(values) for name, values in series.items() if values}
    if not ordered:
        return _document(title, [])
    low = math.floor(math.log10(max(1.0, min(values[0] for values in ordered.values()))))
    high = max(low + 1, math.ceil(math.log10(max(values[-1] for values in ordered.values()))))
    parts = [*_grid(low, high)]
    for number, (name, values) in enumerate(ordered.items()):
        parts.extend(_line(name, values, _COLOURS[number % len(_COLOURS)], number, (low, high)))
    return _document(title, parts)


def _x(share: float) -> float:
    nines = min(_DEPTH, -math.log10(max(1.0 - share, 10**-_DEPTH)))
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * nines / _DEPTH


def _y(value: float, span: tuple[int, int]) -> float:
    low, high = span
    share = (math.log10(max(value, 1.0)) - low) / (high - low)
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share


def _grid(low: int, high: int) -> list[str]:
    parts = []
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    for share, label in _TICKS:
        x = _x(share)
        parts.append(f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{label}</text>')
    for power in range(low, high + 1):
        y = _y(10.0**power, (low, high))
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_duration(10**power)}</text>')
    return parts


def _line(name: str, values: Sequence[float], colour: str, number: int, span: tuple[int, int]) -> list[str]:
    steps = 200
    shares = [1.0 - 10 ** (-_DEPTH * i / steps) for i in range(steps + 1)]
    points = " ".join(f"{_x(share):.1f},{_y(percentile(values, share), span):.1f}" for share in shares)
    y = _TOP + 16 + 20 * number
    return [
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
        f'<path d="M{_WIDTH - _RIGHT + 12} {y - 4}h18" stroke="{colour}" stroke-width="3"/>',
        f'<text x="{_WIDTH - _RIGHT + 36}" y="{y}">{escape(name)}</text>',
    ]


def _duration(nanoseconds: int) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if nanoseconds >= size:
            return f"{nanoseconds // size} {unit}"
    return f"{nanoseconds} ns"


def _document(title: str, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">'
    )
    back = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>'
    name = f'<text x="{_LEFT}" y="26" font-size="15">{escape(title)}</text>'
    return "\n".join([head, back, name, *parts, "</svg>", ""])
