"""See what transforms do: ours, torchvision's and mmcv's, each on the same photograph."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openmix_dm.datasets.samplers.sample_index import seed_draws
from openmix_dm.datasets.transforms.image import CenterCrop, ResizeShortEdge, to_tensor
from openmix_dm.registry import TRANSFORMS
from openmix_dm.visualization.sample_images import digits, folder, sample_photographs
from openmix_dm.visualization.style import SOFT, bare, new_figure, styled
from openmix_dm.visualization.transform_examples import OURS, SIDE, shown_configs, takes_batches


@dataclass(frozen=True)
class Panel:
    """One transform and what it made of the photograph."""

    group: str
    config: dict[str, Any]
    image: np.ndarray


def read_photograph(source: str | None) -> np.ndarray:
    """Return a square photograph: of scikit-learn (None or `photos`), of a folder, or a digit."""
    if source in (None, 'photos'):
        image = CenterCrop(SIDE)(ResizeShortEdge(SIDE + 20)(sample_photographs()[1]))
        # neither black nor white, so that it is seen when contrast is stretched
        return (image * 0.875 + 16).astype(np.uint8)
    images = digits(1)[0] if source == 'digits' else folder(Path(str(source)), 1, SIDE)[0]
    pixels = (images[0] * 255).round().byte().permute(1, 2, 0).numpy()
    return ResizeShortEdge(SIDE)(pixels)


def panels(photograph: np.ndarray, seed: int) -> Iterator[Panel]:
    """Apply each transform, all with the same seed; leave out those that leave every image as it is."""
    for group, configs in shown_configs().items():
        for config in configs:
            transform = TRANSFORMS.build(config)
            seed_draws(seed)
            image = _applied(transform, photograph)
            if getattr(transform, 'needs_draws', True) or not np.array_equal(image, photograph):
                yield Panel(group, config, image)


def _applied(transform: Any, image: np.ndarray) -> np.ndarray:
    if not takes_batches(type(transform)):
        return transform(image.copy())
    batch = transform(to_tensor(image)[None], torch.default_generator)
    return batch[0].movedim(-3, -1).numpy()


# ---- the figure: a page of panels in groups, each under its heading ----

COLUMNS, PANEL, WORDS, HEADING = 9, 1.36, 0.5, 0.34  # columns, and inches of a panel, of what is below it, of headings


@styled
def draw(photograph: np.ndarray, seed: int) -> Any:
    """Draw the photograph and what each transform makes of it, at one scale, with names and arguments."""
    groups: dict[str, list[Panel]] = {OURS: [Panel(OURS, {'type': 'the image'}, photograph)]}
    for panel in panels(photograph, seed):
        groups.setdefault(panel.group, []).append(panel)
    rows = {group: -(-len(members) // COLUMNS) for group, members in groups.items()}
    width = COLUMNS * (PANEL + 0.12) + 0.12
    height = sum(HEADING + count * (PANEL + WORDS) for count in rows.values()) + 0.1
    figure = new_figure(width, height, layout=None)
    top = height - 0.05
    for group, members in groups.items():
        figure.text(0.12 / width, (top - HEADING * 0.7) / height, group, fontsize=10, weight='bold')
        top -= HEADING
        for place, panel in enumerate(members):
            row, column = divmod(place, COLUMNS)
            left, bottom = 0.12 + column * (PANEL + 0.12), top - row * (PANEL + WORDS) - PANEL
            axis = figure.add_axes((left / width, bottom / height, PANEL / width, PANEL / height))
            _draw_panel(axis, panel)
        top -= rows[group] * (PANEL + WORDS)
    return figure


def _draw_panel(axis: Any, panel: Panel) -> None:
    image = montage(panel.image) if panel.image.ndim == 4 else panel.image
    height, width = image.shape[:2]
    room = max(height, width, SIDE)
    x, y = (room - width) / 2, (room - height) / 2
    axis.imshow(image, extent=(x, x + width, y + height, y), interpolation='bilinear')
    axis.set(xlim=(0, room), ylim=(room, 0), facecolor='#f2f2f2')
    bare(axis)
    name = panel.config['type'].rpartition('/')[2]
    axis.text(0.5, -0.03, name, transform=axis.transAxes, ha='center', va='top', fontsize=min(7.5, 150 / len(name)))
    axis.text(0.5, -0.13, _words(panel), transform=axis.transAxes, ha='center', va='top', fontsize=5.4, color=SOFT)


def _words(panel: Panel) -> str:
    """Return the arguments of a transform, and below them the size of its result if it is another one."""
    shown = ', '.join(f'{key}={_short(value)}' for key, value in panel.config.items() if key != 'type')
    *crops, height, width, _ = panel.image.shape
    size = f'{height} x {width}' + (f', {crops[0]} crops' if crops else '')
    lines = textwrap.wrap(shown, 34, max_lines=2, placeholder=' ...')
    return '\n'.join(lines if (height, width) == (SIDE, SIDE) else [*lines, size])


def _short(value: Any) -> str:
    if isinstance(value, dict) and 'type' in value:
        return value['type'].rpartition('/')[2]
    if isinstance(value, list | tuple):
        return f'[{", ".join(_short(each) for each in value)}]'
    return f'{value}'


def montage(crops: np.ndarray, gap: int = 6) -> np.ndarray:
    """Put crops beside each other, five in a row."""
    count, height, width, _ = crops.shape
    page = np.full((-(-count // 5) * (height + gap) - gap, min(count, 5) * (width + gap) - gap, 3), 242, np.uint8)
    for place, crop in enumerate(crops):
        row, column = divmod(place, 5)
        page[row * (height + gap) :, column * (width + gap) :][:height, :width] = crop
    return page
