"""Grad-CAM of the two best classes on mixed test images, several models side by side (Figure 1)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from openmix_dm.analysis.grad_cam import grad_cam
from openmix_dm.analysis.mixed_images import Pairs, draw_pairs, mix_pixels, pixel_mixer
from openmix_dm.analysis.models import ModelSelection, NamedModel, check_same_data, load_models
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.pixels import normalise
from openmix_dm.structures import MixedPair
from openmix_dm.utils.progress import track
from openmix_dm.visualization import charts
from openmix_dm.visualization.style import COLOURS, HEAT, INK, bare, styled


def run(
    selection: ModelSelection, *, mixer: str, lam: float, n: int, pairs: Sequence[str] | None, seed: int
) -> tuple[Any, dict[str, Any]]:
    """Look at every model; return figure and record."""
    if not 0 <= lam <= 1 or n < 1:
        raise ConfigError(f'--lam must be in [0, 1] and --n at least 1, got {lam} and {n}')
    mixing, models = pixel_mixer(mixer), load_models(selection)
    check_same_data(models)
    data = models[0].data
    chosen = choose_pairs(pairs, data.dataset, data.places(selection.limit), n, seed)
    ((_, shown, labels),) = data.read(chosen.cut(len(chosen.own)), models[0].device)
    mixed = mix_pixels(mixing, shown, lam, seed)
    y_a, y_b = labels.chunk(2)
    looked = [look(model, mixed) for model in track(models, len(models), 'cam')]
    record = {
        'mixer': mixer,
        'lam': mixed.lam.tolist(),
        'pairs': [list(pair) for pair in zip(chosen.own, chosen.partner, strict=True)],
        'labels': [[data.name_of(int(a)), data.name_of(int(b))] for a, b in zip(y_a, y_b, strict=True)],
        'runs': [
            {**model.describe(), 'images': describe(model, seen, mixed, y_a, y_b)}
            for model, seen in zip(models, looked, strict=True)
        ],
    }
    return draw(models, looked, mixed, record), record


def choose_pairs(given: Sequence[str] | None, dataset: Any, places: list[int], n: int, seed: int) -> Pairs:
    """Return the pairs that the command line names, or the first of those that the seed draws."""
    if given is None:
        drawn = draw_pairs(dataset.labels, places, seed)
        return Pairs(drawn.own[:n], drawn.partner[:n])
    pairs = []
    for text in given:
        numbers = text.split(',')
        if len(numbers) != 2 or not all(each.isdigit() and int(each) < len(dataset) for each in numbers):
            raise ConfigError(f'--pairs takes A,B with places from 0 to {len(dataset) - 1}, got {text!r}')
        pairs.append((int(numbers[0]), int(numbers[1])))
    return Pairs([a for a, _ in pairs], [b for _, b in pairs])


def look(model: NamedModel, mixed: MixedPair) -> tuple[Tensor, Tensor, Tensor]:
    """Return the two best classes (N, 2), their probabilities and their maps (N, 2, H, W)."""
    inputs = normalise(model.network, mixed.inputs)
    with torch.no_grad():
        best = model.network(inputs).float().softmax(dim=1).topk(2, dim=1)
    return best.indices, best.values, grad_cam(model.network, inputs, best.indices)


def describe(
    model: NamedModel, seen: tuple[Tensor, Tensor, Tensor], mixed: MixedPair, y_a: Tensor, y_b: Tensor
) -> list[dict[str, Any]]:
    """Say what was found in each image and, for cut images, how much of a class's map is on its own part."""
    classes, probabilities, maps = seen
    rows = []
    for i in range(len(classes)):
        two = classes[i].tolist()
        row: dict[str, Any] = {
            'top2': [model.data.name_of(each) for each in two],
            'probability': probabilities[i].tolist(),
            'both_found': set(two) == {int(y_a[i]), int(y_b[i])},
        }
        if mixed.mask is not None:
            mask = mixed.mask[min(i, len(mixed.mask) - 1), 0]
            for name, label, part in (('a', int(y_a[i]), mask), ('b', int(y_b[i]), 1 - mask)):
                if label in two:
                    row[f'on_own_part_{name}'] = _share(maps[i, two.index(label)], part)
        rows.append(row)
    return rows


def _share(cam: Tensor, part: Tensor) -> float | None:
    total = float(cam.sum())
    return float((cam * part).sum()) / total if total > 0 else None


@styled
def draw(
    models: list[NamedModel], looked: list[tuple[Tensor, Tensor, Tensor]], mixed: MixedPair, record: dict[str, Any]
) -> Any:
    """Draw a row for each image: the mixed image, then two maps for each model."""
    rows, columns = len(mixed.inputs), 1 + 2 * len(models)
    figure, axes = charts.plain_figure(columns, rows, width=1.6, height=1.95)
    pictures = mixed.inputs.clamp(0, 1).permute(0, 2, 3, 1).cpu().numpy()
    for row in range(rows):
        a, b = record['labels'][row]
        lam = record['lam'][row]
        _picture(axes[row][0], pictures[row], f'{lam:.2f} of "{a}"\n{1 - lam:.2f} of "{b}"')
        for number, (model, (_, probabilities, maps)) in enumerate(zip(models, looked, strict=True)):
            found = record['runs'][number]['images'][row]['top2']
            for place in range(2):
                right = found[place] in (a, b)
                axis = axes[row][1 + 2 * number + place]
                words = f'"{found[place]}", p {float(probabilities[row, place]):.2f}'
                if row == 0:
                    words = f'{model.name}, top-{place + 1}\n{words}'
                _picture(axis, pictures[row], words, COLOURS[2 if right else 1])
                cam = maps[row, place].cpu().numpy()
                axis.imshow(cam, cmap=HEAT, alpha=0.45, vmin=0, vmax=1, interpolation='bilinear')
    return figure


def _picture(axis: Any, picture: Any, words: str, colour: str = INK) -> None:
    axis.imshow(picture, interpolation='nearest')
    bare(axis)
    axis.set_title(words, fontsize=7, color=colour)
