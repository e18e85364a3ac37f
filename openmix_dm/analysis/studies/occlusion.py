"""Accuracy against the share of hidden patches (Figure 6)."""

import argparse
from typing import Any

import torch
from torch import Tensor

from openmix_dm.analysis import figures
from openmix_dm.analysis.progress import track
from openmix_dm.analysis.subjects import Subject, add_subject_arguments, load_subjects
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.occlusion import hidden_mask, hiding_order, occlude, patch_grid, usual_patch
from openmix_dm.evaluation.pixels import normalise

RATIOS = tuple(step / 10 for step in range(11))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this study takes."""
    add_subject_arguments(parser)
    parser.add_argument('--ratios', nargs='+', type=float, default=list(RATIOS), help='hidden shares (0 0.1 ... 1)')
    parser.add_argument('--patch', type=int, help='side of a patch in pixels (16; an eighth of images below 112)')
    parser.add_argument('--fill', choices=('mean', 'black'), default='mean', help='0 after normalisation, or black')
    parser.add_argument('--seed', type=int, default=0, help='seed of the choice of patches')


def run(args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Hide patches from every model; return figure and record."""
    if min(args.ratios) < 0 or max(args.ratios) > 1:
        raise ConfigError(f'--ratios must be in [0, 1], got {args.ratios}')
    subjects, ratios = load_subjects(args), sorted(set(args.ratios))
    rows = [{**subject.describe(), **hide(subject, ratios, args)} for subject in subjects]
    record = {'ratios': ratios, 'fill': args.fill, 'seed': args.seed, 'runs': rows}
    return draw(ratios, rows), record


def hide(subject: Subject, ratios: list[float], args: argparse.Namespace) -> dict[str, Any]:
    """Return the accuracies of one model in percent, one for each ratio; each image has its own hidden patches."""
    batches, total = subject.batches(args.limit)
    hits, images, patch = torch.zeros(len(ratios)), 0, 0
    for places, shown, labels in track(batches, total, f'occlusion {subject.name}'):
        height, width = shown.shape[-2:]
        patch = args.patch or usual_patch(height, width)
        if patch > min(height, width):
            raise ConfigError(f'--patch must be at most the {min(height, width)} pixels of the images, got {patch}')
        rows, columns = patch_grid(height, width, patch)
        order = hiding_order(places, rows * columns, args.seed)
        inputs = normalise(subject.model, shown)
        fill: float | Tensor = 0.0 if args.fill == 'mean' else normalise(subject.model, torch.zeros_like(shown))
        for number, ratio in enumerate(ratios):
            with torch.no_grad():
                logits = subject.model(occlude(inputs, hidden_mask(order, ratio, height, width, patch), fill))
            hits[number] += (logits.argmax(1) == labels).sum().cpu()
        images += len(labels)
    return {'images': images, 'patch': patch, 'accuracy': (100 * hits.double() / images).tolist()}


def draw(ratios: list[float], rows: list[dict[str, Any]]) -> Any:
    """Draw the accuracy against the hidden share."""
    figure, axes = figures.plain_figure()
    axis = axes[0][0]
    for number, row in enumerate(rows):
        axis.plot(ratios, row['accuracy'], label=row['name'], **figures.style(number))
    figures.finish(axis, 'Accuracy under occlusion', 'share of patches that are hidden', 'top-1 in %')
    axis.set_ylim(bottom=0)
    figures.add_legend(figure, axis)
    return figure
