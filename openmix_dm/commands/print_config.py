"""The command behind tools/print_config.py."""

import argparse
from collections.abc import Sequence

from openmix_dm.commands.command_line import add_config_arguments, run_command
from openmix_dm.commands.parser import CommandParser
from openmix_dm.config.shipped import list_configs
from openmix_dm.errors import ConfigError
from openmix_dm.invocation import command


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a config, or the names of all; return the exit code."""
    parser = CommandParser(prog=command('config'), description='Print a config with all that it inherits.')
    add_config_arguments(parser, nargs='?')
    parser.add_argument('--resolved', action='store_true', help='also what is derived from it, for one process')
    parser.add_argument(
        '--list', nargs='?', const='*', metavar='GLOB', help="only the names of the configs, e.g. 'imagenet/*dm*'"
    )
    return run_command(print_config, parser.parse_args(arguments))


def print_config(args: argparse.Namespace) -> None:
    """Print a valid config as Python that can be loaded again, or names."""
    if (args.config is None) == (args.list is None):
        raise ConfigError(f'{command("config")} takes a CONFIG, or --list for the names of all')
    if args.list is not None:
        names = list_configs(args.list)
        if not names:
            raise ConfigError(
                f"no config matches {args.list!r}; expected a pattern such as 'digits/*' or 'imagenet/*dm*'"
            )
        print(''.join(f'{name}\n' for name in names), end='')
        return
    from openmix_dm.config import load as configs  # takes a second: a shell that completes names does not wait
    from openmix_dm.config.check import validate
    from openmix_dm.config.resolve import resolve

    config = configs.load_config(args.config, args.cfg_options)
    validate(config, args.cfg_options)
    print(configs.to_text(resolve(config, world_size=1) if args.resolved else config), end='')
