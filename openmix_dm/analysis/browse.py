"""See what a mixer does: own image, partner, mask and mixed image side by side, with lam and both labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from openmix_dm.losses import DecoupledBCE, MixedBCE, rescale
from openmix_dm.structures import MixedBatch, MixTarget


@dataclass(frozen=True)
class Panel:
    """One sample of a mixed batch, as a person looks at it; images are (H, W, 3) in [0, 1]."""

    own: np.ndarray
    partner: np.ndarray
    mask: np.ndarray
    mixed: np.ndarray
    caption: str


def panels(images: Tensor, batch: MixedBatch, loss: Any = None, names: list[str] | None = None) -> list[Panel]:
    """Make panels of images in [0, 1] and of what a mixer made of them."""
    lam = batch.target.lam
    mask = lam[:, None, None, None].expand(-1, 1, *images.shape[-2:]) if batch.mask is None else batch.mask
    mask = mask.expand(len(images), -1, -1, -1)
    return [
        Panel(
            _picture(images[i]),
            _picture(images[int(batch.index[i])]),
            mask[i, 0].numpy(),
            _picture(batch.inputs[i]),
            caption(batch.target, i, loss, names),
        )
        for i in range(len(images))
    ]


def caption(target: MixTarget, row: int, loss: Any = None, names: list[str] | None = None) -> str:
    """Say how much of which class a sample is labelled with, and what the loss makes of it."""
    own, other, lam = int(target.y_a[row]), int(target.y_b[row]), float(target.lam[row])
    a, b = (names[own], names[other]) if names else (str(own), str(other))
    text = f'{lam:.2f} {a}\n{1 - lam:.2f} {b}'
    if isinstance(loss, MixedBCE) and loss.two_hot:
        return f'{text}\nBCE 1 / 1'
    if isinstance(loss, DecoupledBCE):
        t_a, t_b = (float(rescale(torch.tensor(w), loss.t, loss.xi)) for w in (lam, 1 - lam))
        return f'{text}\nBCE {t_a:.2f} / {t_b:.2f}'
    return text


def draw(rows: list[Panel], title: str) -> Any:
    """Draw panels as the columns of a figure."""
    from matplotlib.figure import Figure

    kinds = ('own', 'partner', 'mask', 'mixed')
    figure = Figure(figsize=(1.25 * len(rows) + 0.9, 5.9), dpi=100)
    axes = figure.subplots(len(kinds), len(rows), squeeze=False)
    for column, panel in enumerate(rows):
        for row, kind in enumerate(kinds):
            axis = axes[row][column]
            axis.set_xticks([])
            axis.set_yticks([])
            axis.imshow(getattr(panel, kind), cmap='gray', vmin=0, vmax=1, interpolation='nearest')
            if column == 0:
                axis.set_ylabel(kind)
        axes[-1][column].set_xlabel(panel.caption, fontsize=8)
    figure.suptitle(title)
    figure.tight_layout()
    return figure


def _picture(image: Tensor) -> np.ndarray:
    return image.clamp(0, 1).permute(1, 2, 0).numpy()
