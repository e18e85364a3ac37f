"""The configs that come with the package, by their names: `digits/r8_mixup_dm`.

In a clone they are in configs/, in a wheel inside of the package; setup.py puts them there. Nothing heavy is imported
here, because a shell that completes names does not wait.
"""

from fnmatch import fnmatchcase
from pathlib import Path

from openmix_dm.errors import ConfigError
from openmix_dm.invocation import PACKAGE, command, shown
from openmix_dm.utils.suggest import did_you_mean, nearest

CONFIGS = PACKAGE / 'configs' if (PACKAGE / 'configs').is_dir() else PACKAGE.parent / 'configs'
OURS = f'{PACKAGE.name}::'  # in front of a name in a _base_ line
NO_RUNS = ('_base_', 'tables')  # folders of what cannot be trained


def list_configs(pattern: str = '*') -> list[str]:
    """Return the names of the configs that match a pattern such as 'imagenet/*dm*', sorted."""
    files = (file.relative_to(CONFIGS) for file in CONFIGS.glob('*/*.py'))
    names = (file.with_suffix('').as_posix() for file in files if file.parent.name not in NO_RUNS)
    return sorted(name for name in names if fnmatchcase(name, pattern))


def find_config(name: str | Path) -> Path:
    """Return the file of a config: a path that exists wins, then a name of ours, each with or without its .py."""
    path = Path(name)
    if not str(name).strip():
        raise ConfigError(
            "there is no config '': expected a file, or a name such as digits/r8_mixup_dm (a variable that is not set?)"
        )
    try:
        for file in (path, Path(f'{path}.py'), *_shipped(str(name))):
            if file.is_file():
                return file
        raise ConfigError(f'there is no config {name}{_of_a_folder(path) or _meant(path)}')
    except OSError as error:  # such as a name that is too long
        raise ConfigError(f'there is no config {str(name)[:200]}: {error.strerror}') from None


def is_config(word: str) -> bool:
    """Say whether a word of a command line names a config, where it could name something else as well."""
    return word.endswith('.py') or (not Path(word).exists() and any(file.is_file() for file in _shipped(word)))


def find_base(text: str, file: Path) -> Path:
    """Return the file that a _base_ line of a config means: one of ours by `openmix_dm::`, or one beside the config."""
    if not text.startswith(OURS):
        return file.parent / text
    for found in _shipped(text):
        if found.is_file():
            return found
    raise ConfigError(f'{file} inherits {text}, which is not there{_meant(Path(text.removeprefix(OURS)))}')


def short_name(file: Path) -> str:
    """Return how a config can be named here: as a path below this folder, by its name if it is ours, or as a path."""
    file = Path(file)
    if not Path(shown(file)).is_absolute() or not file.resolve().is_relative_to(CONFIGS):
        return shown(file)
    name = file.resolve().relative_to(CONFIGS).with_suffix('').as_posix()
    return name if find_config(name).resolve() == file.resolve() else str(file)


def _shipped(name: str) -> tuple[Path, ...]:
    """Return the files that a name could mean; `configs/` may stand before it, as in a clone, and .py behind it."""
    inner = name.removeprefix(OURS).removeprefix('configs/').removesuffix('.py')
    # a name that leaves the folder is none of ours
    return () if '..' in Path(inner).parts or Path(inner).is_absolute() else (CONFIGS / f'{inner}.py',)


def _of_a_folder(path: Path) -> str:
    """Say what to type instead of a folder: of a run, or of configs."""
    name = path.as_posix().removeprefix('configs/').strip('/')
    if (path / 'config.py').is_file():
        return f': it is the folder of a run, whose config is {path / "config.py"}'
    if name and '..' not in path.parts and (CONFIGS / name).is_dir():
        return f': it is a folder of configs, see: {command("config", "--list", f"{name}/*")}'
    return ': it is a folder, expected a file' if path.is_dir() else ''


def _meant(path: Path) -> str:
    """Return the nearest config: beside the path that was given, else of ours."""
    here = [file.name for file in path.parent.glob('*.py')] if path.parent.is_dir() else []
    if path.suffix == '.py' and nearest(path.name, here):
        return did_you_mean(path.name, here)
    name = path.as_posix().removeprefix('configs/').removesuffix('.py')
    return did_you_mean(name, list_configs()) or did_you_mean(path.name, here)
