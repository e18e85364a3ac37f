"""Dot plots: numbers with their intervals a line, and beside them what others have printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from openmix_dm.utils.stats import Interval
from openmix_dm.visualization.charts import legend_columns
from openmix_dm.visualization.style import COLOURS, GROUND, MARKERS, new_figure, styled

WIDTH = 6.2  # inches
LINE, MORE = 0.3, 0.16  # inches of a row, and what a further series adds to it
SPREAD = 0.5  # of its row's height that the dots of a row take
AROUND = 1.0  # inches for the axis, its words and the legend
PRINTED = 'the paper'


@dataclass(frozen=True)
class Dot:
    """One number of a dot plot.

    Args:
        row: the line that it is on.
        series: which colour it has.
        ours: our mean and its interval; None where there is none yet.
        printed: the number that the paper prints.
    """

    row: str
    series: str
    ours: Interval | None
    printed: float | None = None


@styled
def dot_chart(title: str, dots: Sequence[Dot], x_label: str) -> Any:
    """Draw rows from top to bottom: our means as filled signs with intervals, the paper's numbers as hollow ones."""
    rows, series = (list(dict.fromkeys(getattr(dot, name) for dot in dots)) for name in ('row', 'series'))
    figure = new_figure(WIDTH, AROUND + (LINE + MORE * (len(series) - 1)) * len(rows))
    axis = figure.subplots()
    for dot in dots:
        beside = [other.series for other in dots if other.row == dot.row]
        aside = SPREAD * (beside.index(dot.series) - (len(beside) - 1) / 2) / len(beside)
        _draw(axis, rows.index(dot.row) + aside, dot, series.index(dot.series))
    for number, name in enumerate(series):
        axis.plot([], [], MARKERS[number % len(MARKERS)], color=COLOURS[number % len(COLOURS)], label=name)
    if any(dot.printed is not None for dot in dots):  # one entry for all colours
        axis.plot([], [], 'o', color=COLOURS[-1], mfc=GROUND, label=PRINTED)
    axis.set(xlabel=x_label, xlim=frame(dots), ylim=(len(rows) - 0.5, -0.5))  # the first is on top
    axis.set_title(title, fontsize=min(10.0, 520 / max(len(title), 1)))
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(axis='y', length=0)
    axis.spines['left'].set_visible(False)
    figure.legend(loc='outside lower center', ncols=legend_columns([*series, PRINTED], WIDTH))
    return figure


def frame(dots: Sequence[Dot]) -> tuple[float, float]:
    """Return the ends of the x axis: all numbers, and of intervals as much as leaves the numbers apart.

    The interval of two seeds can be a hundred times as wide as all that is to be compared.
    """
    numbers = [dot.ours.mean for dot in dots if dot.ours] + [dot.printed for dot in dots if dot.printed is not None]
    low, high = min(numbers), max(numbers)
    room = max(0.6 * (high - low), 0.5)
    ends = [end for dot in dots if dot.ours for end in (dot.ours.low, dot.ours.high) if end is not None]
    left, right = max(min([low, *ends]), low - room), min(max([high, *ends]), high + room)
    margin = 0.05 * (right - left) or 0.5
    return left - margin, right + margin


def _draw(axis: Any, place: float, dot: Dot, number: int) -> None:
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    if dot.printed is not None:
        axis.plot([dot.printed], [place], marker, color=colour, mfc=GROUND, markersize=5.5, gid='printed')
    if dot.ours is None:
        return
    if dot.ours.low is not None and dot.ours.high is not None:
        axis.hlines(place, dot.ours.low, dot.ours.high, color=colour, linewidth=1.4)
    axis.plot([dot.ours.mean], [place], marker, color=colour, markersize=5, gid='dot')
