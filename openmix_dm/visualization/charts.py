"""Charts: words and legends that all of them share, curves, and how they are saved together with their numbers."""

import io
import json
import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openmix_dm.errors import ConfigError
from openmix_dm.utils.files import write_atomically
from openmix_dm.utils.sealed import seal
from openmix_dm.visualization.style import COLOURS, MARKERS, new_figure, styled, write_figure

HOLLOW: dict[str, Any] = {'marker': 'D', 'markersize': 6, 'markerfacecolor': 'none', 'linestyle': ''}
FORMATS = ('.png', '.svg', '.pdf')
LETTERS_PER_INCH = 16  # of a legend
LEGEND_LINE = 0.18  # inches
LEGEND_BELOW = 4  # entries from which on a legend is put below the axes instead of into them


def check_out(out: Path) -> None:
    """Refuse a place that a figure cannot be written to, before any work."""
    if out.suffix.lower() not in FORMATS:
        raise ConfigError(f'--out must end in {", ".join(FORMATS)}, got {out}')
    if out.is_dir():
        raise ConfigError(f'--out {out} is a folder; name a file in it')
    if not out.absolute().parent.is_dir():
        raise ConfigError(f'--out {out}: there is no folder {out.absolute().parent}')


@styled
def plain_figure(columns: int = 1, rows: int = 1, width: float = 4.6, height: float = 3.6) -> tuple[Any, Any]:
    """Return a figure and its axes, (rows, columns), laid out without overlaps."""
    figure = new_figure(width * columns, height * rows)
    return figure, figure.subplots(rows, columns, squeeze=False)


def line_style(number: int) -> dict[str, Any]:
    """Return colour and marker of the n-th line."""
    return {'color': COLOURS[number % len(COLOURS)], 'marker': MARKERS[number % len(MARKERS)]}


def finish(axis: Any, title: str, x: str, y: str) -> None:
    """Give an axis its words."""
    axis.set(title=title, xlabel=x, ylabel=y)


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only: there is no half of an epoch."""
    from matplotlib.ticker import MaxNLocator

    axis.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def end_of(name: str, longest: int = 32) -> str:
    """Return a name as far as a title has room for it: of a long one its end, which tells most."""
    return name if len(name) <= longest else f'...{name[3 - longest :]}'


def legend_columns(names: Sequence[str], inches: float) -> int:
    """Return how many names stand beside each other in a legend without leaving a figure of this width."""
    letters = max(len(name) for name in names) + 6  # and the sign before it
    return max(1, min(4, len(names), int(inches * LETTERS_PER_INCH / letters)))


def add_legend(figure: Any, axis: Any, below: bool = False) -> None:
    """Explain the lines of an axis: inside it if they are few and leave room, below the figure otherwise."""
    handles, labels = axis.get_legend_handles_labels()
    if not handles:
        return
    if len(handles) < LEGEND_BELOW and not below:
        axis.legend()
        return
    width, height = figure.get_size_inches()
    columns = min(legend_columns(labels, width), 2 if len(handles) == 4 else 3)
    further = max(0, math.ceil(len(handles) / columns) - 2)  # two lines have their place already
    figure.set_size_inches(width, height + LEGEND_LINE * further)
    figure.legend(handles, labels, loc='outside lower center', ncols=columns)


@dataclass(frozen=True)
class Line:
    """One curve; low and high bound a band, or error bars at the points. Points of `printed` are the paper's."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    printed: Sequence[tuple[float, float]] = ()


@styled
def line_chart(
    title: str,
    lines: Sequence[Line],
    x_label: str,
    y_label: str,
    y_range: tuple[float, float],
    names: Sequence[str] | None = None,
) -> Any:
    """Draw curves over epochs with bands; with names of the places 0, 1, ... on the x axis, points with error bars."""
    figure, axes = plain_figure(width=4.4, height=2.8)
    axis = axes[0][0]
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        (curve,) = axis.plot(line.x, line.y, color=colour, label=line.name, marker='o' if names else '')
        curve.set_gid('curve')
        if names:
            axis.vlines(line.x, line.low, line.high, color=colour, alpha=0.6, linewidth=1.2)
        else:
            axis.fill_between(line.x, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
        if line.printed:
            axis.plot(*zip(*line.printed, strict=True), color=colour, **HOLLOW)
    if any(line.printed for line in lines):  # one entry for all colours
        axis.plot([], [], color=COLOURS[-1], label="the paper's tables", **HOLLOW)
    margin = max((y_range[1] - y_range[0]) * 0.06, 0.05)
    axis.set_ylim(y_range[0] - margin, y_range[1] + margin)
    if names:
        axis.set_xticks(range(len(names)), names)
        axis.set_xlim(-0.5, len(names) - 0.5)
    else:
        whole_numbers(axis)
    finish(axis, title, x_label, y_label)
    axis.title.set_fontsize(min(10.0, 430 / max(len(title), 1)))  # so that a long one fits
    add_legend(figure, axis, below=names is not None)  # error bars leave no room that can be counted on
    return figure


@styled
def to_svg(figure: Any) -> str:
    """Return a figure as SVG for a page that may hold others: letters stay letters, names are unique, no clock."""
    file = io.StringIO()
    figure.savefig(file, format='svg', metadata={'Date': None})
    drawn = file.getvalue()
    # a page has no use for the description of the program, and no room for a style of all its elements
    drawn = re.sub(r'<metadata>.*?</metadata>|<style.*?</style>', '', drawn[drawn.index('<svg') :].strip(), flags=re.S)
    drawn = re.sub('id="(curve|estimate|dot|printed)"', r'class="\1"', drawn)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', drawn))
    prefix = f'c{zlib.crc32(drawn.encode()):x}-'
    drawn = re.sub(r' id="([^"]+)"', lambda name: f' id="{prefix}{name[1]}"' if name[1] in used else '', drawn)
    return re.sub(r'(url\(#|href="#)', lambda start: f'{start[1]}{prefix}', drawn)


def save(out: Path, figure: Any, record: dict[str, Any]) -> None:
    """Write the figure and, beside it, its numbers as strict JSON."""
    write_figure(out, figure)
    numbers = out.with_suffix('.json')
    write_atomically(numbers, json.dumps(seal(_finite(record)), indent=1, allow_nan=False) + '\n')
    print(f'wrote {out} and {numbers}')


def _finite(value: Any) -> Any:
    """Return plain data in which what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
