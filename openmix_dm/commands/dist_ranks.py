"""The command behind tools/dist_train.sh and tools/dist_test.sh, and `dist-train` and `dist-test` of the console."""

import argparse
import os
import sys
from collections.abc import Sequence

from openmix_dm.commands.command_line import run_command
from openmix_dm.commands.parser import CommandParser
from openmix_dm.invocation import command, start_words
from openmix_dm.launch.early_signals import leave_at_signals, run_folder
from openmix_dm.launch.ranks import launch


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a script on several ranks; return the exit code of the first that failed.

    The script has to listen to signals from its first line on, as train.py and test.py do: they wait till then.
    """
    parser = CommandParser(prog=command('dist-train'), description='Start the ranks of this machine.')
    parser.add_argument('ranks', type=int, metavar='N', help='how many ranks on this machine')
    parser.add_argument('command', nargs=argparse.REMAINDER, metavar='SCRIPT ...', help='script and its arguments')
    return run_ranks(parser.parse_args(arguments))


def run_ranks(args: argparse.Namespace) -> int:
    """Start the ranks and wait for them."""
    codes: list[int] = []
    failed = run_command(lambda args: codes.append(launch(args.ranks, args.command, os.environ)), args)
    return failed or codes[0]


def main_of(name: str, arguments: Sequence[str]) -> int:
    """Run train or test on several ranks: the arguments are those of the scripts in tools/."""
    parser = CommandParser(prog=command(f'dist-{name}'), description=f'{name} on several ranks.')
    parser.add_argument('config', metavar='CONFIG')
    if name == 'test':
        parser.add_argument('checkpoint', metavar='CHECKPOINT')
    parser.add_argument('ranks', type=int, metavar='N', help='how many ranks on this machine')
    parser.add_argument('rest', nargs=argparse.REMAINDER, metavar='...', help=f'arguments of {name}')
    args = parser.parse_args(arguments)
    _, *words = start_words(name)
    subject = [args.config] if name == 'train' else [args.config, args.checkpoint]
    args.command = [*words, *subject, '--launcher', 'pytorch', *args.rest]
    return run_ranks(args)


if __name__ == '__main__':
    leave_at_signals(run_folder(sys.argv))  # nothing heavy is imported above: this is as good as the first line
    sys.exit(main())
