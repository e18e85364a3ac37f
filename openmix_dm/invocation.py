"""How the user has started us: what our messages tell him to type can be pasted where he stands.

Nothing but the standard library is imported here: hints are part of errors, and errors come early.
"""

import shlex
import shutil
import sys
from pathlib import Path

CONSOLE = 'openmix-dm'  # the console command that setup.py declares
PACKAGE = Path(__file__).resolve().parent
# Commands whose file in tools/ has another name.
FILES = {
    'data': 'prepare_data.py',
    'mix': 'browse_mix.py',
    'config': 'print_config.py',
    'gpu-check': 'gpu_check.py',
    'dist-train': 'dist_train.sh',
}


def command(name: str, *words: str | Path) -> str:
    """Return a command of ours as one would type it here: python tools/train.py, openmix-dm train, ...

    Args:
        name: as the console command knows it: train, table, data.
        words: its arguments, to be quoted where a shell asks for it.
    """
    return shlex.join([*_beginning(name), *map(str, words)])


def program(name: str) -> str:
    """Return another program of our environment, such as tensorboard, as one would type it here."""
    return shlex.quote(_typed(name) or name)


def documented(name: str, *words: str | Path) -> str:
    """Return a command of ours for a document that others read, whoever has written it, and wherever."""
    return shlex.join([CONSOLE, name, *map(str, words)])


def start_words(name: str) -> list[str]:
    """Return what starts a command of this very installation as another process, whatever folder that is started in.

    By -P Python does not look into the working folder, where another copy of us could lie; unless we are from there.
    """
    from_working_folder = sys.path[:1] == [str(PACKAGE.parent)]
    return [sys.executable, *([] if from_working_folder else ['-P']), '-m', PACKAGE.name, name]


def _beginning(name: str) -> list[str]:
    script = Path(sys.argv[0])
    sibling = script.parent / FILES.get(name, f'{name}.py')
    if script.parent.resolve().name == 'tools' and script.suffix == '.py' and sibling.is_file():
        return [_python(), str(sibling)] if sibling.suffix == '.py' else [str(sibling)]
    console = _typed(CONSOLE)
    if console is None or script.resolve() == PACKAGE / '__main__.py':
        return [_python(), '-m', PACKAGE.name, name]
    return [console, name]


def _python() -> str:
    """Return the interpreter that runs us: `python` where that is it."""
    for name in ('python', 'python3'):
        found = shutil.which(name)
        if found and _is_beside_us(found) and Path(found).resolve() == Path(sys.executable).resolve():
            return name
    return shown(Path(sys.executable)) if sys.executable else 'python'


def _typed(name: str) -> str | None:
    """Return how a program beside our interpreter is typed: its name, else its path; None where there is none."""
    found = shutil.which(name)
    if found and _is_beside_us(found):
        return name
    beside = Path(sys.executable).with_name(name)
    return shown(beside) if beside.is_file() else None


def _is_beside_us(found: str) -> bool:
    # not the file that a link leads to: of a virtual environment that is the interpreter of the system
    return Path(found).absolute().parent.resolve() == Path(sys.executable).parent.resolve()


def shown(path: Path) -> str:
    """Return a path as seen from here, where it is below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # it is elsewhere, or somebody has removed the folder that we are in
        return str(path)
