"""The command behind tools/analyze.py: one subcommand for each analysis, a figure and a JSON from each."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmix_dm.engine.command import run_command

# subcommand: module below openmix_dm.analysis.studies, and what it is
STUDIES: dict[str, tuple[str, str]] = {
    'fgsm': ('fgsm', 'error under FGSM and PGD against eps (Table A7)'),
    'occlusion': ('occlusion', 'accuracy against the share of hidden patches (Figure 6)'),
    'calibration': ('calibration', 'reliability diagrams and expected calibration error'),
    'mixed-accuracy': ('mixed_accuracy', 'top-1 and top-2 accuracy on mixed images by lam (Figures 3, 5 and A1)'),
    'cam': ('cam', 'Grad-CAM of the two best classes on mixed images (Figure 1)'),
    'hard': ('hard', 'the two kinds of hard CutMix samples (Figure 2)'),
    'rescale': ('rescale', 'the rescaled label weight r(lam) of DM(BCE) (Figure 4)'),
    'curves': ('curves', 'metrics over epochs, with bands over seeds (Figures 3 and A1)'),
    'cost': ('cost', 'accuracy against time and memory (Figure 3)'),
    'lr': ('lr', 'learning rates of configs over epochs'),
    'confusion': ('confusion', 'confusion matrix, and the difference of two models'),
    'compare': ('compare', "McNemar's test image by image, t-interval over seeds"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one analysis; return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    args = make_parser(given[0] if given else None).parse_args(given)
    return run_command(analyze, args)


def make_parser(chosen: str | None) -> argparse.ArgumentParser:
    """Make the parser; only the chosen study is imported, so that the others cost nothing."""
    parser = argparse.ArgumentParser(prog='analyze.py', description='Analyse trained models.')
    commands = parser.add_subparsers(dest='study', metavar='STUDY', required=True)
    for name, (module, text) in STUDIES.items():
        command = commands.add_parser(name, help=text, description=text)
        if name == chosen:
            command.add_argument(
                '--out', type=Path, default=Path(f'{name}.png'), help='.png, .svg or .pdf; its numbers go to .json'
            )
            _study(module).add_arguments(command)
    return parser


def analyze(args: argparse.Namespace) -> None:
    """Run a study, and write its figure and its numbers."""
    from openmix_dm import __version__
    from openmix_dm.analysis import figures

    figures.check_out(args.out)
    figure, record = _study(STUDIES[args.study][0]).run(args)
    figures.save(args.out, figure, {'analysis': args.study, 'version': __version__, **record})


def _study(module: str) -> Any:
    return importlib.import_module(f'openmix_dm.analysis.studies.{module}')
