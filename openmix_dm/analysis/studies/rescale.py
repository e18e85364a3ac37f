"""The rescaled label weight r(lam) of DM(BCE) for several (t, xi) (Figure 4)."""

from collections.abc import Sequence
from typing import Any

import torch

from openmix_dm.errors import ConfigError
from openmix_dm.losses import DecoupledBCE, rescale
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import COLOURS, styled


def run(settings: Sequence[str], points: int) -> tuple[Any, dict[str, Any]]:
    """Compute the curves; return figure and record."""
    if points < 2:
        raise ConfigError(f'--points must be at least 2, got {points}')
    lam = torch.linspace(0, 1, points, dtype=torch.float64)
    curves = [{'t': t, 'xi': xi, 'r': rescale(lam, t, xi).tolist()} for t, xi in map(parse, settings)]
    record = {'formula': 'r = min(1, lam / xi) ** t, r(0) = 0', 'lam': lam.tolist(), 'curves': curves}
    return draw(record), record


def parse(text: str) -> tuple[float, float]:
    """Read T,XI; whether they are possible is for the loss to say."""
    try:
        t, xi = (float(part) for part in text.split(','))
        DecoupledBCE(t, xi)
    except ValueError as error:
        raise ConfigError(f'--settings takes T,XI such as 0.5,0.8; {text!r}: {error}') from None
    return t, xi


def words(t: float, xi: float) -> str:
    """Name a setting."""
    special = {(1.0, 1.0): ' (MBCE one)'}.get((t, xi), ' (MBCE two)' if t == 0 else '')
    return f't {t:g}, xi {xi:g}{special}'


@styled
def draw(record: dict[str, Any]) -> Any:
    """Draw the curves."""
    figure, axes = charts.plain_figure(width=4.6, height=4.0)
    axis = axes[0][0]
    for number, curve in enumerate(record['curves']):
        colour = COLOURS[number % len(COLOURS)]
        dashes = '-' if curve['xi'] == 1 else '--'
        axis.plot(record['lam'], curve['r'], dashes, color=colour, label=words(curve['t'], curve['xi']))
    charts.finish(axis, 'Label weight of a class in DM(BCE)', 'lam', 'r(lam)')
    charts.add_legend(figure, axis)
    return figure
