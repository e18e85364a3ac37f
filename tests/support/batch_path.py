"""Which files of the package one batch passes: those with a function that runs until the end of the first iteration.

    python tests/support/batch_path.py CONFIG [KEY=VALUE ...]

counts them from tools/train.py on; what runs only because a module is imported does not count.
"""

import runpy
import sys
import tempfile
import threading
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[2]


class EndOfIteration(BaseException):
    """The first batch has been trained on."""


class Watch:
    """Note the files whose functions are called; modules that are being imported are passed over."""

    def __init__(self, package: Path) -> None:
        self.package = str(package)
        self.files: set[str] = set()
        self._known: dict[CodeType, bool] = {}

    def __call__(self, frame: FrameType, event: str, value: object) -> None:
        """Look at one event of the interpreter."""
        code = frame.f_code
        if event == 'call' and self._is_ours(code) and not _is_importing(frame):
            self.files.add(code.co_filename)
        elif (
            event == 'return' and code.co_name == 'run_iter' and self._is_ours(code) and code.co_filename in self.files
        ):
            sys.setprofile(None)
            raise EndOfIteration

    def _is_ours(self, code: CodeType) -> bool:
        if code not in self._known:
            function = bool(code.co_flags & CO_NEWLOCALS) and code.co_name != '<module>'
            self._known[code] = function and code.co_filename.startswith(self.package)
        return self._known[code]


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == '<module>' and frame.f_globals.get('__name__') != '__main__':
            return True
        frame = frame.f_back
    return False


def files_of_one_batch(arguments: list[str], root: Path = ROOT) -> list[Path]:
    """Train until the first batch is through; return the files that it passed, relative to the repository."""
    watch = Watch(root / 'openmix_dm')
    sys.argv = [str(root / 'tools' / 'train.py'), *arguments]
    sys.path.insert(0, str(root))
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        runpy.run_path(sys.argv[0], run_name='__main__')
    except EndOfIteration:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(Path(file).relative_to(root) for file in watch.files)


if __name__ == '__main__':
    root = Path(sys.argv.pop(1)[7:]).resolve() if sys.argv[1].startswith('--root=') else ROOT
    config, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        changes = ['--cfg-options', *options] if options else []
        files = files_of_one_batch([config, '--work-dir', f'{folder}/run', *changes], root)
    print(*files, f'{len(files)} files', sep='\n')
