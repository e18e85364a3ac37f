"""See what a mixer does: own image, partner, mask and mixed image side by side, with lam and both labels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from openmix_dm.structures import MixedBatch, MixTarget
from openmix_dm.visualization.style import bare, new_figure, styled


@dataclass(frozen=True)
class Panel:
    """One sample of a mixed batch, as a person looks at it; images are (H, W, 3) in [0, 1]."""

    own: np.ndarray
    partner: np.ndarray
    mask: np.ndarray
    mixed: np.ndarray
    caption: str


def panels(
    images: Tensor,
    batch: MixedBatch,
    loss: Any = None,
    names: list[str] | None = None,
    show: Callable[[Tensor], Tensor] = lambda images: images,
) -> list[Panel]:
    """Make panels of images and of what a mixer made of them; `show` turns them into pixels in [0, 1]."""
    lam = batch.target.lam
    mixed = batch.hidden.mix(batch.inputs) if batch.hidden else batch.inputs
    mask = lam[:, None, None, None].expand(-1, 1, *images.shape[-2:]) if batch.mask is None else batch.mask
    mask = mask.expand(len(images), -1, -1, -1)
    rows = batch.index.tolist() if batch.partners is None else range(len(images))
    return [
        Panel(
            _picture(show(images)[i]),
            _picture(show(images if batch.partners is None else batch.partners)[rows[i]]),
            mask[i, 0].cpu().numpy(),
            _picture(show(mixed)[i]),
            caption(batch.target, i, loss, names),
        )
        for i in range(len(images))
    ]


def caption(target: MixTarget, row: int, loss: Any = None, names: list[str] | None = None) -> str:
    """Say how much of which class a sample is labelled with, and what the loss makes of it."""
    own, other, lam = int(target.y_a[row]), int(target.y_b[row]), float(target.lam[row])
    a, b = (names[own], names[other]) if names else (str(own), str(other))
    text = f'{lam:.2f} {a}\n{float(target.weight_b[row]):.2f} {b}{" and others" if target.rows_b is not None else ""}'
    words = loss.describe_target(lam) if hasattr(loss, 'describe_target') else ''
    return f'{text}\n{words}' if words else text


@styled
def draw(rows: list[Panel], title: str) -> Any:
    """Draw panels as the columns of a figure."""
    kinds = ('own', 'partner', 'mask', 'mixed')
    figure = new_figure(1.25 * len(rows) + 0.9, 5.9, layout=None)
    axes = figure.subplots(len(kinds), len(rows), squeeze=False)
    for column, panel in enumerate(rows):
        for row, kind in enumerate(kinds):
            axis = axes[row][column]
            bare(axis)
            axis.imshow(getattr(panel, kind), cmap='gray', vmin=0, vmax=1, interpolation='nearest')
            if column == 0:
                axis.set_ylabel(kind)
        axes[-1][column].set_xlabel(panel.caption, fontsize=8)
    figure.suptitle(title)
    figure.tight_layout()
    return figure


@styled
def draw_overview(images: Tensor, batches: dict[str, MixedBatch], rows: int = 2, widest: int = 8) -> Any:
    """Draw the first mixed images of several mixers beside each other, after the images as they were.

    In as few bands as there can be with so many columns at most, and with as few columns as fill these.
    """
    shown = {'images': images, **{name: batch.inputs for name, batch in batches.items()}}
    lams = {name: float(batch.target.lam[0]) for name, batch in batches.items()}
    bands = -(-len(shown) // widest)
    columns = -(-len(shown) // bands)
    figure = new_figure(1.35 * columns, (1.35 * rows + 0.3) * bands, layout=None)
    axes = figure.subplots(bands * rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.axis('off')
    for place, (name, pictures) in enumerate(shown.items()):
        for row in range(rows):
            axis = axes[place // columns * rows + row][place % columns]
            axis.imshow(_picture(pictures[row]), interpolation='nearest')
            if row == 0:
                axis.set_title(f'{name} {lams[name]:.2f}' if name in lams else name, fontsize=8, pad=3)
    figure.tight_layout(pad=0.3)
    return figure


@styled
def to_array(figure: Any) -> np.ndarray:
    """Return a figure as pixels, (H, W, 3) uint8."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _picture(image: Tensor) -> np.ndarray:
    return image.float().clamp(0, 1).permute(1, 2, 0).cpu().numpy()
