"""TensorBoard, in one folder for all continuations of a run."""

import threading
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.utils.files import Dispensable


class Board:
    """Write scalars and images by iteration; stands where mmengine's hooks expect a visualizer.

    The writer is made at the first write: its import takes longer than everything else before the first iteration.
    """

    def __init__(self, folder: Path, enabled: bool) -> None:
        self._folder, self._enabled = folder, enabled
        self._writer: Any = None
        self._purge: int | None = None
        self._dispensable = Dispensable('TensorBoard')
        self.dataset_meta: Any = None

    def continue_from(self, iteration: int) -> None:
        """Hide what an earlier start wrote after an iteration, from which the run goes on."""
        self._purge = iteration + 1

    def add_config(self, config: Any, **options: Any) -> None:
        """Do nothing: the config has a file of its own."""

    def add_scalar(self, name: str, value: float, step: int = 0, **options: Any) -> None:
        """Write one number."""
        if self._enabled:
            with self._dispensable.writing():
                self._open().add_scalar(name, value, step)

    def add_scalars(self, scalar_dict: dict[str, float], step: int = 0, **options: Any) -> None:
        """Write several numbers."""
        for name, value in scalar_dict.items():
            self.add_scalar(name, value, step)

    def add_image(self, name: str, image: np.ndarray, step: int = 0) -> None:
        """Write an image, (H, W, 3) uint8."""
        if self._enabled:
            with self._dispensable.writing():
                self._open().add_image(name, image, step, dataformats='HWC')

    def close(self) -> None:
        """Flush and close the file."""
        if self._writer is not None:
            with self._dispensable.writing():
                self._writer.close()

    def _open(self) -> Any:
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._watch_writer()
            self._writer = SummaryWriter(str(self._folder), purge_step=self._purge)
        return self._writer

    def _watch_writer(self) -> None:
        """Stop using a writer whose thread the disk has ended, and keep its traceback from the screen."""
        before = threading.excepthook

        def notice(args: Any) -> None:
            if isinstance(args.exc_value, OSError) and type(args.thread).__name__ == '_AsyncWriterThread':
                self._enabled, self._writer = False, None
                self._dispensable.tell(args.exc_value)
            else:
                before(args)

        threading.excepthook = notice
