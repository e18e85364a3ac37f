"""All commands behind one: `openmix-dm train digits/r8_mixup_dm`, or `python -m openmix_dm train digits/r8_mixup_dm`.

Nothing heavy is imported before the command is known, and signals are answered from the first line on.
"""

import importlib
import sys
from collections.abc import Callable, Sequence

from openmix_dm.errors import ConfigError
from openmix_dm.invocation import FILES, command
from openmix_dm.launch.early_signals import leave_at_signals, run_folder
from openmix_dm.utils.suggest import did_you_mean
from openmix_dm.version import __version__

COMMANDS = {
    'train': 'train a config',
    'test': 'test a checkpoint',
    'table': "the paper's tables, and tables of one's own: list, check, run, status, collect, doctor",
    'data': 'prepare, check or pack a data set',
    'mix': 'draw what a mixer, or what transforms do',
    'analyze': 'FGSM, occlusion, calibration, Grad-CAM, curves, ...',
    'export': 'use a trained model, or hand it on: predict, publish, onnx, timm',
    'config': 'print a config with all that it inherits, or the names of all (--list)',
    'benchmark': 'measure speed',
    'gpu-check': 'try what only a GPU can show, on this machine',
    'dist-train': 'train on several ranks of this machine: CONFIG N ...',
    'dist-test': 'test on several ranks of this machine: CONFIG CHECKPOINT N ...',
    'slurm-train': 'queue a training on a Slurm cluster: PARTITION JOB CONFIG [WORK_DIR] ...',
    'slurm-test': 'test on a Slurm cluster: PARTITION JOB CONFIG CHECKPOINT ...',
    'completion': 'print what completes commands and configs in a shell: bash, zsh, fish',
}
LISTENING = ('train', 'test', 'table', 'dist-train', 'dist-test', 'slurm-train', 'slurm-test')


def main() -> int:
    """Run the command that the first word names; return its exit code."""
    name, *arguments = sys.argv[1:] or ['--help']
    if name in LISTENING:
        leave_at_signals(run_folder(arguments))  # the imports of the command take seconds
    if name in COMMANDS:
        return main_of(name)(arguments)
    if name in ('-h', '--help'):
        print(usage())
        return 0
    if name in ('-V', '--version'):
        print(f'openmix_dm {__version__}')
        return 0
    words = f'there is no command {name!r}{did_you_mean(name, COMMANDS)}'
    print(f'openmix_dm: FAILED cause={ConfigError.cause}: {words}', file=sys.stderr)
    return ConfigError.exit_code


def main_of(name: str) -> Callable[[Sequence[str]], int]:
    """Import a command."""
    kind, _, what = name.partition('-')
    if kind == 'dist':
        dist_ranks = importlib.import_module('openmix_dm.commands.dist_ranks')
        return lambda arguments: dist_ranks.main_of(what, arguments)
    if kind == 'slurm':
        slurm_job = importlib.import_module('openmix_dm.commands.slurm_job')
        return lambda arguments: slurm_job.main([what, *arguments])
    file = FILES.get(name, f'{name}.py').removesuffix('.py')
    return importlib.import_module(f'openmix_dm.commands.{file}').main


def usage() -> str:
    """Return all commands with a line for each."""
    beginning = command('train').removesuffix(' train')
    lines = [f'  {name:12} {text}' for name, text in COMMANDS.items()]
    return '\n'.join([f'usage: {beginning} COMMAND ...', '', *lines, '', f'more: {beginning} COMMAND --help'])
