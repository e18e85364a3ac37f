"""The command behind tools/print_config.py."""

import argparse
from collections.abc import Sequence

from openmix_dm.commands.command_line import add_config_arguments, run_command
from openmix_dm.config import load as configs
from openmix_dm.config.check import validate
from openmix_dm.config.resolve import resolve


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a config; return the exit code."""
    parser = argparse.ArgumentParser(prog='print_config.py', description='Print a config with all that it inherits.')
    add_config_arguments(parser)
    parser.add_argument('--resolved', action='store_true', help='also what is derived from it, for one process')
    return run_command(print_config, parser.parse_args(arguments))


def print_config(args: argparse.Namespace) -> None:
    """Print a valid config as Python that can be loaded again."""
    config = configs.load_config(args.config, args.cfg_options)
    validate(config)
    print(configs.to_text(resolve(config, world_size=1) if args.resolved else config), end='')
