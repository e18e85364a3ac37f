"""Error under FGSM, and under PGD if asked for, against the strength of the attack (Table A7)."""

import argparse
from functools import partial
from typing import Any

import torch

from openmix_dm.analysis import figures
from openmix_dm.analysis.progress import track
from openmix_dm.analysis.subjects import Subject, add_subject_arguments, load_subjects
from openmix_dm.errors import ConfigError
from openmix_dm.evaluation.attacks import ascent_sign, pgd, step_up
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.keys import key

EPS = (0.0, 1.0, 2.0, 4.0, 8.0)  # in 1/255; the paper has 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this study takes."""
    add_subject_arguments(parser)
    parser.add_argument('--eps', nargs='+', type=float, default=list(EPS), help='strengths in 1/255 (0 1 2 4 8)')
    parser.add_argument('--pgd', type=int, default=0, metavar='STEPS', help='also PGD with so many steps of 2/255')
    parser.add_argument('--seed', type=int, default=0, help="seed of PGD's random starts")


def run(args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Attack every model; return figure and record."""
    if min(args.eps) < 0 or max(args.eps) > 255 or args.pgd < 0:
        raise ConfigError(f'--eps must be in [0, 255] and --pgd 0 or above, got {args.eps} and {args.pgd}')
    subjects, eps = load_subjects(args), sorted(set(args.eps))
    rows = [{**subject.describe(), **attack(subject, eps, args.pgd, args.limit, args.seed)} for subject in subjects]
    record = {'eps_255': eps, 'pgd_steps': args.pgd, 'error': 'percent of attacked test images', 'runs': rows}
    return draw(eps, rows), record


def attack(subject: Subject, eps: list[float], pgd_steps: int, limit: int | None, seed: int) -> dict[str, Any]:
    """Return the errors of one model in percent, one for each strength."""
    batches, total = subject.batches(limit)
    wrong = {'fgsm': torch.zeros(len(eps)), 'pgd': torch.zeros(len(eps))}
    images = 0
    for places, shown, labels in track(batches, total, f'fgsm {subject.name}'):
        sign = ascent_sign(subject.model, shown, labels)  # one for all strengths: the gradient is at the image itself
        for number, strength in enumerate(eps):
            moved = {'fgsm': step_up(shown, sign, strength / 255)}
            if pgd_steps:
                draws = torch.Generator().manual_seed(key(seed, places[0]))
                moved['pgd'] = pgd(
                    subject.model, shown, labels, strength / 255, steps=pgd_steps, generator=draws if strength else None
                )
            for kind, attacked in moved.items():
                with torch.no_grad():
                    wrong[kind][number] += (logits_of(subject.model, attacked).argmax(1) != labels).sum().cpu()
        images += len(labels)
    kinds = ('fgsm', 'pgd') if pgd_steps else ('fgsm',)
    return {'images': images, **{kind: (100 * wrong[kind].double() / images).tolist() for kind in kinds}}


def draw(eps: list[float], rows: list[dict[str, Any]]) -> Any:
    """Draw the error against the strength: solid lines for FGSM, dashed ones for PGD."""
    figure, axes = figures.plain_figure()
    axis = axes[0][0]
    for number, row in enumerate(rows):
        line = partial(axis.plot, eps, **figures.style(number))
        line(row['fgsm'], label=row['name'] + (' FGSM' if 'pgd' in row else ''))
        if 'pgd' in row:
            line(row['pgd'], linestyle='--', label=f'{row["name"]} PGD')
    figures.finish(axis, 'Error under attack (lower is better)', 'eps in 1/255', 'error in %')
    axis.set_ylim(bottom=0)
    figures.add_legend(figure, axis)
    return figure
