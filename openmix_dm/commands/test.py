"""The command behind tools/test.py."""

import argparse
import json
from collections.abc import Sequence

from openmix_dm.commands.command_line import add_config_arguments, check_parent, check_suffix, run_command
from openmix_dm.commands.parser import CommandParser, user_path
from openmix_dm.config.check import validate
from openmix_dm.config.load import load_config
from openmix_dm.engine import session
from openmix_dm.invocation import command
from openmix_dm.launch.group import LAUNCHERS
from openmix_dm.launch.signals import stopping_at_once
from openmix_dm.runs.model import newest_checkpoint
from openmix_dm.utils.files import write_atomically


def main(arguments: Sequence[str] | None = None) -> int:
    """Test a checkpoint; return the exit code."""
    with stopping_at_once():
        return run_command(test, parse(arguments))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = CommandParser(prog=command('test'), description='Test a checkpoint.')
    add_config_arguments(parser)
    parser.add_argument(
        'checkpoint', metavar='CHECKPOINT', type=user_path, help='a checkpoint of this config, or its run folder'
    )
    parser.add_argument('--ema', action='store_true', help='test the averaged weights of the checkpoint')
    parser.add_argument('--out', type=user_path, help='write the metrics to this JSON file')
    parser.add_argument('--hits', type=user_path, help='write what it says of every image to this .npz file')
    parser.add_argument('--launcher', choices=LAUNCHERS, default='none', help='how the processes were started')
    return parser.parse_args(arguments)


def test(args: argparse.Namespace) -> None:
    """Evaluate the weights of a checkpoint, print the metrics and write them where asked to."""
    config = load_config(args.config, args.cfg_options)
    validate(config, args.cfg_options)
    for name, suffix in (('out', '.json'), ('hits', '.npz')):
        check_suffix(f'--{name}', getattr(args, name), suffix)
        check_parent(f'--{name}', getattr(args, name))
    if args.checkpoint.is_dir():
        args.checkpoint, _ = newest_checkpoint(args.checkpoint)
    metrics = session.evaluate_checkpoint(config, args.checkpoint, args.ema, args.hits, args.launcher)
    if metrics is None:
        return
    print('  '.join(f'{name} {value:.2f}' for name, value in metrics.items()))
    if args.out is not None:
        record = {'config': str(args.config), 'checkpoint': str(args.checkpoint), **metrics}
        write_atomically(args.out, json.dumps(record, indent=1) + '\n')
