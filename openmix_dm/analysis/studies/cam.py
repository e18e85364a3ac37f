"""Grad-CAM of the two best classes on mixed test images, several models side by side (Figure 1)."""

import argparse
from typing import Any

import torch
from torch import Tensor

from openmix_dm.analysis import figures
from openmix_dm.analysis.grad_cam import grad_cam
from openmix_dm.analysis.mixing import Pairs, draw_pairs, mix_pixels, pixel_mixer
from openmix_dm.analysis.progress import track
from openmix_dm.analysis.subjects import Subject, add_subject_arguments, check_same_data, load_subjects
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.pixels import normalise
from openmix_dm.structures import MixedPair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this study takes."""
    add_subject_arguments(parser)
    parser.add_argument('--mixer', default='CutMix', help='how to mix (CutMix)')
    parser.add_argument('--lam', type=float, default=0.5, help='lam of the own image (0.5)')
    parser.add_argument('--n', type=int, default=4, help='how many mixed images')
    parser.add_argument('--pairs', nargs='+', metavar='A,B', help='places of test images, instead of random ones')
    parser.add_argument('--seed', type=int, default=0, help='seed of pairs and masks')


def run(args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Look at every model; return figure and record."""
    if not 0 <= args.lam <= 1 or args.n < 1:
        raise ConfigError(f'--lam must be in [0, 1] and --n at least 1, got {args.lam} and {args.n}')
    mixer, subjects = pixel_mixer(args.mixer), load_subjects(args)
    check_same_data(subjects)
    data = subjects[0].data
    pairs = choose_pairs(args, data.dataset, data.places(args.limit))
    ((_, shown, labels),) = data.read(pairs.cut(len(pairs.own)), subjects[0].device)
    mixed = mix_pixels(mixer, shown, args.lam, args.seed)
    y_a, y_b = labels.chunk(2)
    looked = [look(subject, mixed) for subject in track(subjects, len(subjects), 'cam')]
    record = {
        'mixer': args.mixer,
        'lam': mixed.lam.tolist(),
        'pairs': [list(pair) for pair in zip(pairs.own, pairs.partner, strict=True)],
        'labels': [[data.name_of(int(a)), data.name_of(int(b))] for a, b in zip(y_a, y_b, strict=True)],
        'runs': [
            {**subject.describe(), 'images': describe(subject, seen, mixed, y_a, y_b)}
            for subject, seen in zip(subjects, looked, strict=True)
        ],
    }
    return draw(subjects, looked, mixed, record), record


def choose_pairs(args: argparse.Namespace, dataset: Any, places: list[int]) -> Pairs:
    """Return the pairs that the command line names, or the first of those that the seed draws."""
    if args.pairs is None:
        drawn = draw_pairs(dataset.labels, places, args.seed)
        return Pairs(drawn.own[: args.n], drawn.partner[: args.n])
    pairs = []
    for text in args.pairs:
        numbers = text.split(',')
        if len(numbers) != 2 or not all(each.isdigit() and int(each) < len(dataset) for each in numbers):
            raise ConfigError(f'--pairs takes A,B with places from 0 to {len(dataset) - 1}, got {text!r}')
        pairs.append((int(numbers[0]), int(numbers[1])))
    return Pairs([a for a, _ in pairs], [b for _, b in pairs])


def look(subject: Subject, mixed: MixedPair) -> tuple[Tensor, Tensor, Tensor]:
    """Return the two best classes (N, 2), their probabilities and their maps (N, 2, H, W)."""
    inputs = normalise(subject.model, mixed.inputs)
    with torch.no_grad():
        best = subject.model(inputs).float().softmax(dim=1).topk(2, dim=1)
    return best.indices, best.values, grad_cam(subject.model, inputs, best.indices)


def describe(
    subject: Subject, seen: tuple[Tensor, Tensor, Tensor], mixed: MixedPair, y_a: Tensor, y_b: Tensor
) -> list[dict[str, Any]]:
    """Say what was found in each image and, for cut images, how much of a class's map is on its own part."""
    classes, probabilities, maps = seen
    rows = []
    for i in range(len(classes)):
        two = classes[i].tolist()
        row: dict[str, Any] = {
            'top2': [subject.data.name_of(each) for each in two],
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


def draw(
    subjects: list[Subject], looked: list[tuple[Tensor, Tensor, Tensor]], mixed: MixedPair, record: dict[str, Any]
) -> Any:
    """Draw a row for each image: the mixed image, then two maps for each model."""
    rows, columns = len(mixed.inputs), 1 + 2 * len(subjects)
    figure, axes = figures.plain_figure(columns, rows, width=1.6, height=1.95)
    pictures = mixed.inputs.clamp(0, 1).permute(0, 2, 3, 1).cpu().numpy()
    for row in range(rows):
        a, b = record['labels'][row]
        lam = record['lam'][row]
        _picture(axes[row][0], pictures[row], f'{lam:.2f} of "{a}"\n{1 - lam:.2f} of "{b}"')
        for number, (subject, (_, probabilities, maps)) in enumerate(zip(subjects, looked, strict=True)):
            found = record['runs'][number]['images'][row]['top2']
            for place in range(2):
                right = found[place] in (a, b)
                axis = axes[row][1 + 2 * number + place]
                words = f'"{found[place]}", p {float(probabilities[row, place]):.2f}'
                if row == 0:
                    words = f'{subject.name}, top-{place + 1}\n{words}'
                _picture(axis, pictures[row], words, figures.COLOURS[2 if right else 1])
                cam = maps[row, place].cpu().numpy()
                axis.imshow(cam, cmap='jet', alpha=0.45, vmin=0, vmax=1, interpolation='bilinear')
    return figure


def _picture(axis: Any, picture: Any, words: str, colour: str = 'black') -> None:
    axis.imshow(picture, interpolation='nearest')
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_title(words, fontsize=7, color=colour)
