"""What to do when a disk is full: numbers for the user, and no end of a training for want of a log line."""

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from openmix_dm.errors import ResourceError


def no_room(path: Path, state: Any, error: BaseException) -> ResourceError:
    """Return an error with the bytes that are needed and those that are left."""
    free = shutil.disk_usage(path.parent).free
    why = str(error).strip().splitlines()[0][:150] if str(error).strip() else type(error).__name__
    return ResourceError(
        f'{path.name} cannot be written to {path.parent}: it needs about {tensor_bytes(state):,} bytes, {free:,} are '
        f'free ({why}). The checkpoints before it are intact: make room, then go on with --resume'
    )


def tensor_bytes(state: Any) -> int:
    """Return the size of all tensors in nested dicts and lists."""
    if isinstance(state, torch.Tensor):
        return state.numel() * state.element_size()
    inner = state.values() if isinstance(state, dict) else state if isinstance(state, list | tuple) else ()
    return sum(tensor_bytes(each) for each in inner)


class Dispensable:
    """Write what a run can do without: a failure is told once, and the run goes on."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.failed = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Pass over an error of the disk."""
        try:
            yield
        except OSError as error:
            self.tell(error)

    def tell(self, error: BaseException) -> None:
        """Say once what is not written any more."""
        first, self.failed = not self.failed, True
        if first:
            print(f'openmix_dm: {self.what} cannot be written ({error}); training goes on', file=sys.stderr, flush=True)


def be_quiet_when_full(handler: logging.Handler) -> None:
    """Let a log that cannot be written say so once instead of printing a traceback for each line."""
    dispensable = Dispensable('the log')

    def handle(record: logging.LogRecord) -> None:
        dispensable.tell(sys.exc_info()[1] or OSError())

    handler.handleError = handle  # type: ignore[method-assign]
