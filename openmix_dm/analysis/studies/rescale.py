"""The rescaled label weight r(lam) of DM(BCE) for several (t, xi) (Figure 4)."""

import argparse
from typing import Any

import torch

from openmix_dm.analysis import figures
from openmix_dm.errors import ConfigError
from openmix_dm.losses import DecoupledBCE, rescale

SETTINGS = ('1,1', '0,1', '0.5,1', '0.3,1', '2,1', '1,0.8', '0.5,0.8')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this study takes."""
    parser.add_argument('--settings', nargs='+', default=list(SETTINGS), metavar='T,XI', help='exponent and threshold')
    parser.add_argument('--points', type=int, default=201, help='points of a curve (201)')


def run(args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Compute the curves; return figure and record."""
    if args.points < 2:
        raise ConfigError(f'--points must be at least 2, got {args.points}')
    lam = torch.linspace(0, 1, args.points, dtype=torch.float64)
    curves = [{'t': t, 'xi': xi, 'r': rescale(lam, t, xi).tolist()} for t, xi in map(parse, args.settings)]
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


def draw(record: dict[str, Any]) -> Any:
    """Draw the curves."""
    figure, axes = figures.plain_figure(width=4.6, height=4.0)
    axis = axes[0][0]
    for number, curve in enumerate(record['curves']):
        colour = figures.COLOURS[number % len(figures.COLOURS)]
        dashes = '-' if curve['xi'] == 1 else '--'
        axis.plot(record['lam'], curve['r'], dashes, color=colour, label=words(curve['t'], curve['xi']))
    figures.finish(axis, 'Label weight of a class in DM(BCE)', 'lam', 'r(lam)')
    figures.add_legend(figure, axis)
    return figure
