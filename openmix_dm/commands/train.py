"""The command behind tools/train.py."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mmengine.config import Config

from openmix_dm.commands.command_line import add_config_arguments, run_command
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.commands.run_words import how_to_go_on, run_words
from openmix_dm.config.load import default_work_dir, load_run_config
from openmix_dm.engine.session import train
from openmix_dm.errors import INTERRUPTED, ConfigError
from openmix_dm.invocation import command
from openmix_dm.launch.group import LAUNCHERS
from openmix_dm.runs.checkpoints import load_file

AUTO = 'auto'  # as mmengine's users say it


def main(arguments: Sequence[str] | None = None) -> int:
    """Train a config; return the exit code."""
    args = parse(arguments)
    code = run_command(run_training, args)
    if code == INTERRUPTED and os.environ.get('RANK', '0') == '0':
        print(f'next: {how_to_go_on(args, os.environ)}', file=sys.stderr, flush=True)
    return code


def run_training(args: argparse.Namespace) -> None:
    """Train the config that the command line means."""
    config = prepare(args)
    train(config, args.allow_change, run_words(args, config.filename), args.cfg_options)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = CommandParser(prog=command('train'), description='Train a config.')
    add_config_arguments(parser)
    parser.add_argument('--work-dir', type=user_path, help='folder of the run (work_dirs/<dataset>/<config>/seed<k>)')
    parser.add_argument(
        '--resume',
        nargs='?',
        const=True,
        metavar='PATH',
        help='go on with the run in the folder, or from this checkpoint',
    )
    parser.add_argument(
        '--allow-change', nargs='+', default=[], metavar='KEY', help='with --resume: keys of the config that may differ'
    )
    parser.add_argument('--amp', action='store_true', help='train in mixed precision')
    parser.add_argument(
        '--fast', action='store_true', help='mixed precision, channels_last and all else that is fast on a GPU'
    )
    parser.add_argument('--seed', type=int, help='seed of all draws (that of the config: 0)')
    parser.add_argument('--launcher', choices=LAUNCHERS, default='none', help='how the processes were started')
    return parser.parse_args(arguments)


def prepare(args: argparse.Namespace) -> Config:
    """Make the config of the run out of file and command line, and check all of it."""
    config = load_run_config(args.config, args.cfg_options, args.seed, args.amp, args.fast)
    config.work_dir = str(args.work_dir or default_work_dir(config, config.randomness.seed))
    if args.resume == AUTO and not Path(AUTO).exists():
        args.resume = True
    config.launcher, config.resume = args.launcher, bool(args.resume)
    config.load_from = args.resume if isinstance(args.resume, str) else config.get('load_from')
    if isinstance(args.resume, str) and Path(args.resume).is_dir():
        raise ConfigError(
            f'--resume {args.resume} is a folder, expected a checkpoint; to go on with the run in it: '
            f'{command("train", args.config, "--work-dir", args.resume, "--resume")}'
        )
    if config.load_from:
        load_file(config.load_from)  # a bad file shows before any work
    return config
