"""Line charts as SVG that needs nothing else: no script, no font, no style sheet."""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ('#2563a8', '#d9541e', '#2a8f5a', '#8a4fb0', '#b8860b', '#4a4a4a', '#c2367c', '#1797a5')
WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 30, 40
FONT = "font-family='system-ui, sans-serif' font-size='11' fill='#444'"


@dataclass(frozen=True)
class Line:
    """One curve; low and high bound a band, or error bars at the points."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class Scale:
    """From numbers to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a number."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def chart(
    title: str,
    lines: Sequence[Line],
    x_label: str,
    y_label: str,
    y_range: tuple[float, float],
    names: Sequence[str] | None = None,
) -> str:
    """Draw curves with bands; with names of the places 0, 1, ... on the x axis, draw points with error bars."""
    last = len(names) - 0.5 if names else max((max(line.x) for line in lines), default=1)
    first = -0.5 if names else min((min(line.x) for line in lines), default=0)
    x = Scale(first, max(last, first + 1), LEFT, WIDTH - RIGHT)
    y = Scale(*_widened(y_range), HEIGHT - BOTTOM, TOP)
    ticks_x = list(enumerate(names)) if names else [(tick, f'{tick:g}') for tick in ticks(first, last)]
    parts = [_frame(title, x, y, ticks_x, x_label, y_label), _clip_start(title)]
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(_bars(line, x, y, colour) if names else _band(line, x, y, colour))
        points = ' '.join(f'{x(a)},{y(b)}' for a, b in zip(line.x, line.y, strict=True))
        parts.append(
            f"<polyline class='curve' points='{points}' fill='none' stroke='{colour}' stroke-width='1.8' "
            f"stroke-linejoin='round'><title>{escape(line.name)}</title></polyline>"
        )
    return ''.join([*parts, '</g>', _legend([line.name for line in lines]), '</svg>'])


def ticks(low: float, high: float, most: float = 6.5) -> list[float]:
    """Return round numbers within a range, at most so many."""
    finest = max(high - low, 1e-9) / most
    size = 10 ** math.floor(math.log10(finest))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= finest)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _widened(y_range: tuple[float, float]) -> tuple[float, float]:
    low, high = y_range
    margin = max((high - low) * 0.06, 0.05)
    return low - margin, high + margin


def _frame(title: str, x: Scale, y: Scale, ticks_x: Sequence[tuple[float, str]], x_label: str, y_label: str) -> str:
    across = ''.join(
        f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{y(t)}' y2='{y(t)}' stroke='#e3e3e3'/>"
        f"<text x='{LEFT - 6}' y='{y(t) + 4}' text-anchor='end' {FONT}>{t:g}</text>"
        for t in ticks(y.low, y.high)
    )
    below = ''.join(
        f"<text x='{x(t)}' y='{HEIGHT - BOTTOM + 15}' text-anchor='middle' {FONT}>{escape(name)}</text>"
        for t, name in ticks_x
    )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    size = min(13, (WIDTH - 16) / (0.62 * max(len(title), 1)))  # a letter is about 0.62 of its height wide
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' "
        f"role='img' aria-label='{escape(title, quote=True)}'><rect width='100%' height='100%' fill='#fff'/>"
        f"<text x='8' y='16' font-family='system-ui, sans-serif' font-size='{size:.1f}' font-weight='600' fill='#222'>"
        f'{escape(title)}</text>{across}{below}'
        f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{HEIGHT - BOTTOM}' y2='{HEIGHT - BOTTOM}' stroke='#999'/>"
        f"<text x='{(LEFT + WIDTH - RIGHT) / 2}' y='{HEIGHT - 8}' text-anchor='middle' {FONT}>{escape(x_label)}</text>"
        f"<text x='13' y='{middle}' text-anchor='middle' transform='rotate(-90 13 {middle})' {FONT}>"
        f'{escape(y_label)}</text>'
    )


def _clip_start(title: str) -> str:
    """Cut curves off at the frame; the name has to be unique on the page."""
    name = f'clip-{zlib.crc32(title.encode()):x}'
    box = f"x='{LEFT}' y='{TOP - 2}' width='{WIDTH - LEFT - RIGHT}' height='{HEIGHT - TOP - BOTTOM + 2}'"
    return f"<clipPath id='{name}'><rect {box}/></clipPath><g clip-path='url(#{name})'>"


def _band(line: Line, x: Scale, y: Scale, colour: str) -> str:
    there = [f'{x(a)},{y(b)}' for a, b in zip(line.x, line.high, strict=True)]
    back = [f'{x(a)},{y(b)}' for a, b in zip(reversed(line.x), reversed(line.low), strict=True)]
    return f"<polygon points='{' '.join(there + back)}' fill='{colour}' fill-opacity='0.15'/>"


def _bars(line: Line, x: Scale, y: Scale, colour: str) -> str:
    return ''.join(
        f"<line x1='{x(a)}' x2='{x(a)}' y1='{y(low)}' y2='{y(high)}' stroke='{colour}' stroke-opacity='0.6'/>"
        f"<circle cx='{x(a)}' cy='{y(b)}' r='3.2' fill='{colour}'>"
        f'<title>{escape(line.name)}: {b:.2f} ({low:.2f} to {high:.2f})</title></circle>'
        for a, b, low, high in zip(line.x, line.y, line.low, line.high, strict=True)
    )


def _legend(names: Sequence[str]) -> str:
    """Write the names of the curves in the lower right corner, where learning curves leave room; dim what is below."""
    width, height = 34 + 7 * max(map(len, names), default=0), 15 * len(names) + 4
    parts = [
        f"<rect x='{WIDTH - RIGHT - width}' y='{HEIGHT - BOTTOM - 6 - height}' width='{width}' height='{height}' "
        f"fill='#fff' fill-opacity='0.8'/>"
    ]
    for number, name in enumerate(reversed(names)):
        place, colour = HEIGHT - BOTTOM - 10 - 15 * number, COLOURS[(len(names) - 1 - number) % len(COLOURS)]
        parts.append(
            f"<text x='{WIDTH - RIGHT - 26}' y='{place}' text-anchor='end' {FONT}>{escape(name)}</text>"
            f"<line x1='{WIDTH - RIGHT - 21}' x2='{WIDTH - RIGHT - 5}' y1='{place - 4}' y2='{place - 4}' "
            f"stroke='{colour}' stroke-width='2.5'/>"
        )
    return ''.join(parts)
