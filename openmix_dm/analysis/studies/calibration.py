"""Reliability diagrams and expected calibration error."""

import argparse
from dataclasses import asdict
from typing import Any

import torch

from openmix_dm.analysis import figures
from openmix_dm.analysis.progress import track
from openmix_dm.analysis.subjects import Subject, add_subject_arguments, load_subjects, trained_by_bce
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.calibration import Reliability, confidence_of, reliability
from openmix_dm.evaluation.pixels import logits_of

COLUMNS = 4  # diagrams beside each other


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this study takes."""
    add_subject_arguments(parser)
    parser.add_argument('--bins', type=int, default=15, help='bins of confidence (15)')


def run(args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Measure every model; return figure and record."""
    if args.bins < 1:
        raise ConfigError(f'--bins must be at least 1, got {args.bins}')
    subjects = load_subjects(args)
    measured = [measure(subject, args.bins, args.limit) for subject in subjects]
    rows = [
        {**subject.describe(), 'accuracy_percent': each.accuracy_percent, 'sigmoid': trained_by_bce(subject.model)}
        | asdict(each)
        for subject, each in zip(subjects, measured, strict=True)
    ]
    return draw([subject.name for subject in subjects], measured), {'ece': 'percent', 'runs': rows}


def measure(subject: Subject, bins: int, limit: int | None) -> Reliability:
    """Return the reliability of one model on its test images."""
    batches, total = subject.batches(limit)
    sigmoid = trained_by_bce(subject.model)
    sure, right = [], []
    for _, shown, labels in track(batches, total, f'calibration {subject.name}'):
        with torch.no_grad():
            confidence, best = confidence_of(logits_of(subject.model, shown), sigmoid)
        sure.append(confidence.cpu())
        right.append((best == labels).cpu())
    return reliability(torch.cat(sure), torch.cat(right), bins)


def draw(names: list[str], measured: list[Reliability]) -> Any:
    """Draw one diagram a model: accuracy as bars, the gap to the diagonal hatched, the share of images below."""
    columns = min(len(names), COLUMNS)
    bands = -(-len(names) // columns)
    figure, axes = figures.plain_figure(columns, bands, width=3.2, height=3.4)
    for axis in axes.flat[len(names) :]:
        axis.axis('off')
    for axis, name, each in zip(axes.flat, names, measured, strict=False):
        _diagram(axis, each)
        figures.finish(axis, f'{name}\nECE {each.ece:.2f} %, accuracy {each.accuracy_percent:.2f} %', 'confidence', '')
        axis.set_ylabel('accuracy', fontsize=9)
    return figure


def _diagram(axis: Any, each: Reliability) -> None:
    width = each.edges[1] - each.edges[0]
    centres = [(low + high) / 2 for low, high in zip(each.edges, each.edges[1:], strict=False)]
    shares = [count / sum(each.counts) for count in each.counts]
    filled = [number for number, count in enumerate(each.counts) if count]
    at = [centres[number] for number in filled]
    accuracy = [each.accuracy[number] for number in filled]
    gap = [each.confidence[number] - each.accuracy[number] for number in filled]
    axis.bar(at, accuracy, width=width * 0.92, color=figures.COLOURS[0], label='accuracy')
    axis.bar(
        at, gap, bottom=accuracy, width=width * 0.92, fill=False, edgecolor=figures.COLOURS[1], hatch='////',
        linewidth=0.8, label='gap to confidence',
    )  # fmt: skip
    axis.step([*each.edges], [0, *shares], color=figures.COLOURS[6], linewidth=0.8, label='share of images')
    axis.plot([0, 1], [0, 1], color=figures.COLOURS[7], linewidth=0.8, linestyle=':')
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1.02)
    axis.legend(fontsize=7, frameon=False, loc='upper left')
