"""Forest plots: an estimate with its interval a line, and what they come to below."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from openmix_dm.utils.stats import Interval
from openmix_dm.visualization.charts import legend_columns, plain_figure
from openmix_dm.visualization.style import COLOURS, FAINT, GROUND, SOFT, styled

WIDTH = 6.6  # inches
LINE = 0.26  # inches that a line takes
AROUND = 0.7  # inches for the axis and its words
TITLE_WIDTH = 95  # letters of a line


@dataclass(frozen=True)
class Estimate:
    """One line of a forest plot.

    Args:
        name: of the line, at its left.
        group: which colour it has; groups are explained where there are several.
        found: the estimate and its interval; one without ends is a point alone.
        total: what the lines above come to: a diamond as wide as its interval, below a rule.
    """

    name: str
    group: str
    found: Interval
    total: bool = False


@styled
def forest_chart(title: str, estimates: Sequence[Estimate], x_label: str) -> Any:
    """Draw estimates from top to bottom, with their numbers at the right and a line at zero."""
    before = ['', *(each.name for each in estimates)]  # the lines of one name stand together, and say it once
    names = ['' if each.name == name else each.name for each, name in zip(estimates, before, strict=False)]
    groups = list(dict.fromkeys(each.group for each in estimates))
    titles = textwrap.wrap(title, TITLE_WIDTH)
    below = -(-len(groups) // legend_columns(groups, WIDTH)) if len(groups) > 1 else 0  # lines of the legend
    around = AROUND + 0.17 * len(titles) + 0.22 * below
    figure, axes = plain_figure(width=WIDTH, height=around + LINE * len(estimates))
    figure.get_layout_engine().set(w_pad=0.1)
    figure.suptitle('\n'.join(titles), fontsize=9.5)
    axis = axes[0][0]
    explained: set[str] = set()
    for place, each in enumerate(estimates):
        colour = COLOURS[groups.index(each.group) % len(COLOURS)]
        _draw(axis, place, each, colour, each.group if len(groups) > 1 and each.group not in explained else '')
        explained.add(each.group)
        axis.text(
            1.02, place, _numbers(each.found), transform=axis.get_yaxis_transform(), va='center', fontsize=8,
            fontweight='bold' if each.total else 'normal',
        )  # fmt: skip
    first_total = next((place for place, each in enumerate(estimates) if each.total), 0)
    if first_total:
        axis.axhline(first_total - 0.5, color=FAINT, linewidth=0.8)
    axis.axvline(0, color=SOFT, linewidth=0.9, zorder=1)
    _finish(axis, names, estimates, x_label)
    if len(groups) > 1:  # below: inside it would cover intervals
        figure.legend(loc='outside lower center', ncols=legend_columns(groups, WIDTH))
    return figure


def _draw(axis: Any, place: int, each: Estimate, colour: str, label: str) -> None:
    found = each.found
    if found.low is None or found.high is None:
        drawn = axis.plot([found.mean], [place], marker='o', markersize=5, color=colour, mfc=GROUND, ls='', zorder=3)
    elif each.total:
        corners = [(found.low, place), (found.mean, place - 0.3), (found.high, place), (found.mean, place + 0.3)]
        drawn = axis.fill(*zip(*corners, strict=True), color=colour, zorder=3, linewidth=1)
    else:
        axis.hlines(place, found.low, found.high, color=colour, linewidth=1.6, zorder=2)
        axis.vlines([found.low, found.high], place - 0.13, place + 0.13, color=colour, linewidth=1.2, zorder=2)
        drawn = axis.plot([found.mean], [place], marker='s', markersize=5, color=colour, ls='', zorder=3)
    drawn[0].set_gid('estimate')
    if label:
        drawn[0].set_label(label)


def _finish(axis: Any, names: Sequence[str], estimates: Sequence[Estimate], x_label: str) -> None:
    """Give the axis its words, and room for all intervals and for zero."""
    ends = [0.0, *(end for each in estimates for end in (each.found.low, each.found.mean, each.found.high) if end)]
    margin = (max(ends) - min(ends)) * 0.06 or 0.5
    axis.set_xlim(min(ends) - margin, max(ends) + margin)
    axis.set_ylim(len(names) - 0.4, -0.6)  # the first is on top
    axis.set_yticks(range(len(names)), names, fontsize=8.5)
    for label, each in zip(axis.get_yticklabels(), estimates, strict=True):
        label.set_fontweight('bold' if each.total else 'normal')
    axis.set_xlabel(x_label)
    axis.tick_params(axis='y', length=0)
    axis.grid(False, axis='y')
    axis.spines['left'].set_visible(False)


def _numbers(found: Interval) -> str:
    ends = '' if found.low is None else f'  [{found.low:+.2f}, {found.high:+.2f}]'
    return f'{found.mean:+.2f}{ends}'.replace('-', '\N{MINUS SIGN}')
