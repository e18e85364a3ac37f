"""What all commands share: their arguments, and one line for each failure."""

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from openmix_dm.errors import INTERRUPTED, ConfigError, Failure, ResourceError, printable

CLOSED_PIPE = 141  # what shells report for a command that was ended by a closed pipe


def add_config_arguments(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the config and the options that override it."""
    parser.add_argument(
        'config', metavar='CONFIG', nargs=nargs, help='a config file, or a name such as digits/r8_mixup_dm'
    )
    parser.add_argument(
        '--cfg-options', nargs='+', default=[], metavar='KEY=VALUE', help='override values, e.g. model.mixer.alpha=0.5'
    )


def add_imports(parser: argparse.ArgumentParser) -> None:
    """Add the packages that a user trusts to register what a run folder's config names."""
    parser.add_argument(
        '--import', dest='imports', nargs='+', default=[], metavar='PACKAGE',
        help='packages of your own that the config of a folder needs; a folder alone imports nothing',
    )  # fmt: skip


def check_parent(option: str, path: Path | None) -> None:
    """Refuse a file that cannot be written, before any work: its folder is not there, or it is a folder itself."""
    if path is None:
        return
    folder = path.absolute().parent
    if path.is_dir():
        raise ConfigError(f'{option} {path} is a folder; name a file in it')
    if not folder.is_dir():
        raise ConfigError(f'{option} {path}: there is no folder {folder}')
    if not os.access(folder, os.W_OK):
        raise ResourceError(f'{option} {path}: the folder {folder} cannot be written')


def check_suffix(option: str, path: Path | None, suffix: str) -> None:
    """Refuse a file whose name promises another kind of content."""
    if path is not None and path.suffix.lower() != suffix:
        raise ConfigError(f'{option} must end in {suffix}, got {path}')


def run_command(command: Callable[[argparse.Namespace], None], args: argparse.Namespace) -> int:
    """Run a command; turn a failure that a user can act on into one line and its exit code."""
    for text in KNOWN_WARNINGS:
        warnings.filterwarnings('ignore', message=text)
    try:
        command(args)
    except Failure as failure:
        text = printable(str(failure), keep='\n')
        print(f'openmix_dm: {failure.verdict} cause={failure.cause}: {text}', file=sys.stderr, flush=True)
        return failure.exit_code
    except BrokenPipeError:  # whoever reads the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except Exception as error:  # nobody foresaw it: the traceback follows, below a line that says what it is about
        text = printable((str(error).strip().splitlines() or [''])[0][:200])
        print(f'openmix_dm: FAILED cause=unexpected: {type(error).__name__}: {text}', file=sys.stderr, flush=True)
        raise
    except KeyboardInterrupt:
        print('openmix_dm: FAILED cause=interrupted: stopped from the keyboard', file=sys.stderr, flush=True)
        return INTERRUPTED
    return 0


# Noise of other packages that says nothing about a run.
KNOWN_WARNINGS = (
    r'.*torch\.jit\.script.*',
    r'.*broadcast_buffers.*',
    r'Setting (OMP|MKL)_NUM_THREADS.*',
    r'.*scheduler\.step\(\).*optimizer\.step\(\).*',
)
