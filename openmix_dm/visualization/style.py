"""The one style of all figures: colours, sizes, lines, and how a figure becomes a file."""

import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from openmix_dm.utils.files import write_atomically

# Okabe and Ito's colours, which colour-blind people can tell apart, without their yellow.
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#000000', '#7F7F7F')
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X', '*')
INK, SOFT, FAINT, GROUND = '#1f2328', '#59636e', '#d9dee3', '#ffffff'  # words, lines, grids, paper
HEAT = 'inferno'  # of maps over images: bright where there is much, for the colour-blind, too
DPI = 200
PALETTE = 256  # colours that a small PNG may have
UNSEEN = 8  # levels of 255 that colours may be off in a palette: more shows as steps in a sky

STYLE: dict[Any, Any] = {
    'figure.dpi': DPI,
    'savefig.dpi': DPI,
    'figure.facecolor': GROUND,
    'savefig.facecolor': GROUND,
    'font.family': 'sans-serif',
    'font.size': 9,
    'text.color': INK,
    'text.parse_math': False,  # names are anybody's: a dollar is a dollar
    'axes.facecolor': GROUND,
    'axes.edgecolor': SOFT,
    'axes.linewidth': 0.8,
    'axes.labelcolor': INK,
    'axes.titlesize': 10,
    'axes.labelsize': 9,
    'axes.grid': True,
    'axes.axisbelow': True,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'grid.color': FAINT,
    'grid.linewidth': 0.7,
    'xtick.color': SOFT,
    'ytick.color': SOFT,
    'xtick.labelcolor': INK,
    'ytick.labelcolor': INK,
    'xtick.labelsize': 8,
    'ytick.labelsize': 8,
    'lines.linewidth': 1.6,
    'lines.markersize': 4,
    'legend.fontsize': 8,
    'legend.frameon': False,
    'svg.fonttype': 'none',  # letters stay letters
    'svg.hashsalt': 'openmix_dm',
}

P = ParamSpec('P')
R = TypeVar('R')


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw in the style; that of the caller's own figures stays as it is."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        import matplotlib  # takes a while, and most commands draw nothing

        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


@styled
def new_figure(width: float, height: float, layout: Literal['constrained'] | None = 'constrained') -> Any:
    """Return an empty figure of so many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def bare(axis: Any) -> None:
    """Make an axis the frame of an image: no ticks, no grid."""
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set(visible=True, color=FAINT)


@styled
def write_figure(out: Path, figure: Any) -> None:
    """Write a figure as what its name says; a PNG with few colours gets a palette, which makes it small."""
    if out.suffix.lower() != '.png':
        figure.savefig(out, metadata={'Date': None} if out.suffix.lower() == '.svg' else None)
        return
    drawn = io.BytesIO()
    figure.savefig(drawn, format='png')
    write_atomically(out, small_png(drawn.getvalue()))


def small_png(drawn: bytes) -> bytes:
    """Return a PNG with a palette if nobody can see that, as of charts; photographs keep all of their colours."""
    import numpy as np
    from PIL import Image

    image = Image.open(io.BytesIO(drawn)).convert('RGB')
    few = image.quantize(PALETTE, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    off = np.abs(np.asarray(image, np.int16) - np.asarray(few.convert('RGB'), np.int16))
    out = io.BytesIO()
    # of a chart, only a few pixels at the edges of letters are off by more
    (few if np.percentile(off, 99.5) <= UNSEEN else image).save(out, format='PNG', optimize=True)
    return out.getvalue()
