"""TensorBoard: one curve for all starts of a run."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from mmengine import visualization as mmengine

from openmix_dm.registry import VISBACKENDS
from openmix_dm.utils.files import Dispensable


@VISBACKENDS.register_module()
class ContinuedTensorboard(mmengine.BaseVisBackend):
    """Write TensorBoard files, one curve over all starts of a run; a full disk ends them, not the training.

    The writer is made at the first write: its import takes longer than everything else before the first iteration.

    Args:
        save_dir: folder of the files; filled in by the runner with `<run>/tensorboard`.

    Example:
        visualizer = dict(vis_backends=[dict(type='ContinuedTensorboard')])
    """

    def __init__(self, save_dir: str) -> None:
        super().__init__(save_dir)
        self._enabled = True
        self._writer: Any = None
        self._purge: int | None = None
        self._dispensable = Dispensable('TensorBoard')

    @property
    def experiment(self) -> Any:
        """torch's SummaryWriter."""
        return self._open()

    def _init_env(self) -> None:
        """Do nothing: the writer is made at the first write."""

    def continue_from(self, iteration: int) -> None:
        """Hide what earlier starts wrote after an iteration, from which the run goes on."""
        if any(Path(self._save_dir).glob('*')):
            self._purge = iteration + 1

    def add_scalar(self, name: str, value: float, step: int = 0, **options: Any) -> None:
        """Write one number."""
        if self._enabled:
            with self._dispensable.writing():
                self._open().add_scalar(name, value, step)

    def add_scalars(
        self, scalar_dict: dict[str, float], step: int = 0, file_path: str | None = None, **options: Any
    ) -> None:
        """Write several numbers."""
        for name, value in scalar_dict.items():
            self.add_scalar(name, value, step)

    def add_image(self, name: str, image: np.ndarray, step: int = 0, **options: Any) -> None:
        """Write an image, (H, W, 3) uint8."""
        if self._enabled:
            with self._dispensable.writing():
                self._open().add_image(name, image, step, dataformats='HWC')

    def flush(self) -> None:
        """Write what the writer keeps, as it does for two minutes."""
        if self._writer is not None:
            with self._dispensable.writing():
                self._writer.flush()

    def close(self) -> None:
        """Flush and close the file."""
        if self._writer is not None:
            with self._dispensable.writing():
                self._writer.close()

    def _open(self) -> Any:
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._watch_writer()
            with self._named_after_earlier_files():
                self._writer = SummaryWriter(self._save_dir, purge_step=self._purge)
        return self._writer

    @contextmanager
    def _named_after_earlier_files(self) -> Iterator[None]:
        """Have the writer name a file that sorts after all others, as TensorBoard reads them in this order.

        Names begin with the second of their start. Starts within a second, or on a node whose clock is late, would be
        read before what they continue, and points that are done again would stand twice in the curves.
        """
        from tensorboard.summary.writer import event_file_writer

        seconds = [file.name.split('.')[3] for file in Path(self._save_dir).glob('events.out.tfevents.*')]
        newest = max((int(second) for second in seconds if second.isdecimal()), default=0)
        stamp = max(time.time(), newest + 1)
        event_file_writer.time = SimpleNamespace(time=lambda: stamp)
        try:
            yield
        finally:
            event_file_writer.time = time

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
