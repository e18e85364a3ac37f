"""Command lines: what cannot be read is told in one line, with what was given and the nearest that could be meant."""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from openmix_dm.errors import ConfigError, printable
from openmix_dm.invocation import command
from openmix_dm.utils.suggest import did_you_mean

# Options of other projects, and where their values are here.
OF_CONFIGS = {
    '--epochs': 'train_cfg.max_epochs=100',
    '--batch-size': 'global_batch_size=256',
    '--lr': 'optim_wrapper.optimizer.lr=0.1',
    '--alpha': 'model.mixer.alpha=0.2',
    '--workers': 'train_dataloader.num_workers=4',
}
OF_DEVICES = ('--gpus', '--gpu', '--gpu-id', '--gpu-ids', '--device')
NUMBERS = {'int': 'a whole number', 'float': 'a number'}


def user_path(text: str) -> Path:
    """Return the path that an option means; a shell leaves the ~ of --out=~/file to us.

    Paths of options are never empty: `--work-dir ""` mostly comes from a variable that is not set.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError('expected a path, got nothing (a variable that is not set?)')
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # the home of nobody
        raise argparse.ArgumentTypeError(f'{text}: {error}') from None


def user_folder(text: str) -> Path:
    """Return the folder that an option means, whether it is there or not."""
    path = user_path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f'expected a folder, got the file {path}')
    return path


class CommandParser(argparse.ArgumentParser):
    """Read a command line; its sub-commands are read likewise."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Return what was given; refuse words that nobody takes."""
        words = list(sys.argv[1:] if args is None else args)
        found, unknown = self.parse_known_args(words, namespace)
        if unknown:
            *_, chosen = self._chosen(words)
            chosen.error(chosen._unknown(unknown))
        return found

    def error(self, message: str) -> NoReturn:
        """End with one line, as all other failures do."""
        text = printable(_in_our_words(message))
        words = f'openmix_dm: FAILED cause={ConfigError.cause}: {text}; see: {self.prog} --help'
        print(words, file=sys.stderr, flush=True)
        raise SystemExit(ConfigError.exit_code)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            near = did_you_mean(str(value), names)
            listed = '' if '(known:' in near else f' (known: {", ".join(names)})'
            raise argparse.ArgumentError(action, f'there is no {value!r}{near}{listed}')

    def _chosen(self, words: Sequence[str]) -> Iterator['CommandParser']:
        """Go from this parser to that of the sub-command that words name."""
        yield self
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                named = next((word for word in words if word in action.choices), None)
                if named is not None:
                    yield from action.choices[named]._chosen(words[list(words).index(named) + 1 :])

    def _unknown(self, words: Sequence[str]) -> str:
        options = [word.partition('=')[0] for word in words if word.startswith('-') and not _is_number(word)]
        if not options:
            return f'nothing is expected after the other arguments, got {" ".join(words)!r}'
        option = options[0]
        known = [name for name in self._option_string_actions if name.startswith('--') and name != '--help']
        if option in OF_CONFIGS and '--cfg-options' in known:
            return f'there is no {option}: it is a value of the config, as in --cfg-options {OF_CONFIGS[option]}'
        if option in OF_DEVICES:
            several = command('dist-train', 'CONFIG', 'N')
            return f'there is no {option}: CUDA_VISIBLE_DEVICES=0 chooses a GPU, and {several} takes several'
        return f'there is no {option}{did_you_mean(option, known)}'


def _is_number(word: str) -> bool:
    return bool(re.fullmatch(r'-\d+(\.\d+)?', word))


def _in_our_words(message: str) -> str:
    """Say what argparse has to say in the words of our other messages."""
    number = re.fullmatch(r'argument (\S+): invalid (int|float) value: (.*)', message)
    if number:
        return f'{number[1]} takes {NUMBERS[number[2]]}, got {number[3]}'
    return re.sub(r'^argument ', '', message).replace('the following arguments are required: ', 'expected also ')
