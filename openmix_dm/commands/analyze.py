"""The command behind tools/analyze.py: one subcommand for each analysis, a figure and a JSON from each."""

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from openmix_dm.commands.command_line import add_imports, run_command
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.invocation import command

Parser = argparse.ArgumentParser
TENTHS = [step / 10 for step in range(11)]
METRICS = ('median_last10', 'best', 'last', 'ema_median_last10', 'ema_best', 'ema_last')


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one analysis; return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return run_command(analyze, make_parser().parse_args(given))


def make_parser() -> Parser:
    """Make the parser; no study is imported for it."""
    parser = CommandParser(prog=command('analyze'), description='Analyse trained models.')
    commands = parser.add_subparsers(dest='study', metavar='STUDY', required=True)
    for name, (add_arguments, text) in STUDIES.items():
        study = commands.add_parser(name, help=text, description=text)
        study.add_argument(
            '--out', type=user_path, default=Path(f'{name}.png'), help='.png, .svg or .pdf; its numbers go to .json'
        )
        add_arguments(study)
    return parser


def analyze(args: argparse.Namespace) -> None:
    """Run a study, and write its figure and its numbers."""
    from openmix_dm.analysis.models import ModelSelection
    from openmix_dm.version import __version__
    from openmix_dm.visualization import charts

    charts.check_out(args.out)
    values = {name: value for name, value in vars(args).items() if name not in ('study', 'out')}
    if 'ema' in values:  # the arguments of `_models`
        values['selection'] = ModelSelection(**{field.name: values.pop(field.name) for field in fields(ModelSelection)})
    study = importlib.import_module(f'openmix_dm.analysis.studies.{args.study.replace("-", "_")}')
    figure, record = study.run(**values)
    charts.save(args.out, figure, {'analysis': args.study, 'version': __version__, **record})


# ---- the arguments of each study; their names are those of the study's `run` ----


def _models(parser: Parser, nargs: str = '+') -> None:
    """Add the models that are looked at, and how many images they are shown."""
    parser.add_argument(
        'runs',
        nargs=nargs,
        metavar='RUN',
        help='a run folder, a checkpoint in one, or CONFIG CHECKPOINT; several are compared',
    )
    parser.add_argument('--names', nargs='+', help='names for the figure, one for each run')
    parser.add_argument('--limit', type=int, help='look at so many test images only, spread evenly')
    parser.add_argument('--batch-size', type=int, help='images at a time (as the config says)')
    parser.add_argument('--ema', action='store_true', help='take the averaged weights of the checkpoints')
    parser.add_argument(
        '--cfg-options', nargs='+', default=[], metavar='KEY=VALUE', help='override values of all configs'
    )
    add_imports(parser)


def _folders(parser: Parser) -> None:
    parser.add_argument('runs', nargs='+', metavar='FOLDER', help='run folders, or folders of them (work_dirs/digits)')


def _seed(parser: Parser, of: str) -> None:
    parser.add_argument('--seed', type=int, default=0, help=f'seed of {of}')


def _fgsm(parser: Parser) -> None:
    _models(parser)
    strengths = [0.0, 1.0, 2.0, 4.0, 8.0]  # the paper has 8
    parser.add_argument('--eps', nargs='+', type=float, default=strengths, help='strengths in 1/255 (0 1 2 4 8)')
    parser.add_argument('--pgd', type=int, default=0, metavar='STEPS', help='also PGD with so many steps of 2/255')
    _seed(parser, "PGD's random starts")


def _occlusion(parser: Parser) -> None:
    _models(parser)
    parser.add_argument('--ratios', nargs='+', type=float, default=TENTHS, help='hidden shares (0 0.1 ... 1)')
    parser.add_argument('--patch', type=int, help='side of a patch in pixels (16; an eighth of images below 112)')
    parser.add_argument('--fill', choices=('mean', 'black'), default='mean', help='0 after normalisation, or black')
    _seed(parser, 'the choice of patches')


def _calibration(parser: Parser) -> None:
    _models(parser)
    parser.add_argument('--bins', type=int, default=15, help='bins of confidence (15)')


def _mixed_accuracy(parser: Parser) -> None:
    _models(parser)
    parser.add_argument('--mixers', nargs='+', default=['Mixup', 'CutMix'], help='how to mix (Mixup CutMix)')
    words = 'for AutoMix and SAMix: a run (or checkpoint) whose mix block mixes for all models; one for each mixer'
    parser.add_argument('--mix-block', nargs='+', default=[], metavar='RUN', help=words)
    parser.add_argument('--lams', nargs='+', type=float, default=TENTHS[1:-1], help='lam of the own image (0.1 to 0.9)')
    _seed(parser, 'pairs and masks')


def _cam(parser: Parser) -> None:
    _models(parser)
    parser.add_argument('--mixer', default='CutMix', help='how to mix (CutMix)')
    parser.add_argument('--lam', type=float, default=0.5, help='lam of the own image (0.5)')
    parser.add_argument('--n', type=int, default=4, help='how many mixed images')
    parser.add_argument('--pairs', nargs='+', metavar='A,B', help='places of test images, instead of random ones')
    _seed(parser, 'pairs and masks')


def _hard(parser: Parser) -> None:
    _models(parser, nargs='*')
    parser.add_argument('--images', help='without runs: a folder of images, `digits`, or `photos` (default)')
    parser.add_argument('--weight', type=float, default=0.3, help='label weight of the hard side (0.3)')
    parser.add_argument('--n', type=int, default=2, help='how many pairs')
    _seed(parser, 'the pairs')


def _rescale(parser: Parser) -> None:
    settings = ['1,1', '0,1', '0.5,1', '0.3,1', '2,1', '1,0.8', '0.5,0.8']
    parser.add_argument('--settings', nargs='+', default=settings, metavar='T,XI', help='exponent and threshold')
    parser.add_argument('--points', type=int, default=201, help='points of a curve (201)')


def _curves(parser: Parser) -> None:
    _folders(parser)
    parser.add_argument(
        '--metrics', nargs='+', default=['top1'], help='keys of metrics.jsonl: top1, ema_top1, loss, val_loss, lr'
    )
    parser.add_argument('--last', type=int, help='draw only the last so many epochs')


def _cost(parser: Parser) -> None:
    _folders(parser)
    parser.add_argument('--metric', choices=METRICS, default=METRICS[0], help='which top-1 (median_last10)')


def _lr(parser: Parser) -> None:
    parser.add_argument('configs', nargs='+', metavar='CONFIG', help='config files; several are compared')
    parser.add_argument('--cfg-options', nargs='+', default=[], metavar='KEY=VALUE', help='change all configs')
    words = 'iterations that stand for an epoch (100; shapes do not depend on it)'
    parser.add_argument('--iterations', type=int, default=100, help=words)
    parser.add_argument('--relative', action='store_true', help='draw against the share of the training')


def _compare(parser: Parser) -> None:
    _models(parser)
    parser.add_argument(
        '--against', nargs='+', required=True, metavar='RUN', help='the second side: as many runs as the first has'
    )
    parser.add_argument('--metric', choices=METRICS, default=METRICS[0], help='top-1 for the t-interval over seeds')


# subcommand, which is a module of openmix_dm.analysis.studies: its arguments, and what it is
STUDIES: dict[str, tuple[Callable[[Parser], None], str]] = {
    'fgsm': (_fgsm, 'error under FGSM and PGD against eps (Table A7)'),
    'occlusion': (_occlusion, 'accuracy against the share of hidden patches (Figure 6)'),
    'calibration': (_calibration, 'reliability diagrams and expected calibration error'),
    'mixed-accuracy': (_mixed_accuracy, 'top-1 and top-2 accuracy on mixed images by lam (Figures 3, 5 and A1)'),
    'cam': (_cam, 'Grad-CAM of the two best classes on mixed images (Figure 1)'),
    'hard': (_hard, 'the two kinds of hard CutMix samples (Figure 2)'),
    'rescale': (_rescale, 'the rescaled label weight r(lam) of DM(BCE) (Figure 4)'),
    'curves': (_curves, 'metrics over epochs, with bands over seeds (Figures 3 and A1)'),
    'cost': (_cost, 'accuracy against time and memory (Figure 3)'),
    'lr': (_lr, 'learning rates of configs over epochs'),
    'confusion': (_models, 'confusion matrix, and the difference of two models'),
    'compare': (_compare, "McNemar's test image by image, t-interval over seeds"),
}
