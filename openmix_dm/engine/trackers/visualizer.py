"""The one that hands records and pictures of a run to all backends."""

from collections.abc import Callable
from typing import Any

import numpy as np
from mmengine import visualization as mmengine
from mmengine.config import Config
from mmengine.dist import is_main_process

from openmix_dm.registry import VISUALIZERS
from openmix_dm.utils.files import Dispensable


@VISUALIZERS.register_module()
class RunVisualizer(mmengine.Visualizer):
    """Hand records and pictures of a run to its backends, from rank 0, once the training begins.

    mmengine's Visualizer opens its backends when the runner is built; here a run that fails before its first iteration
    leaves nothing there.

    Args:
        vis_backends: configs of the backends: ContinuedTensorboard, WandbVisBackend, MLflowVisBackend, LocalVisBackend,
            or any other that is registered.
        save_dir: folder for what they write; filled in by the runner with that of the run.
        name: filled in by the runner. Default: 'run'.

    Example:
        visualizer = dict(type='RunVisualizer', vis_backends=[dict(type='ContinuedTensorboard')])
    """

    def __init__(self, vis_backends: list[dict[str, Any]], save_dir: str, name: str = 'run') -> None:
        super().__init__(name, vis_backends=vis_backends, save_dir=save_dir)
        self._config: Config | None = None

    def add_config(self, config: Config, **options: Any) -> None:
        """Keep the config until the training begins."""
        self._config = config

    def begin(self, iteration: int) -> None:
        """Open the backends; what earlier starts wrote after an iteration is hidden where that is possible."""
        for backend in self._vis_backends.values():
            if hasattr(backend, 'continue_from'):
                backend.continue_from(iteration)
        if self._config is not None:
            super().add_config(self._config)

    def flush(self) -> None:
        """Write out what backends still hold back: a checkpoint must not be newer than the curves before it."""
        for backend in self._vis_backends.values():
            if hasattr(backend, 'flush'):
                backend.flush()

    def add_scalars(self, scalar_dict: dict[str, Any], step: int = 0, file_path: str | None = None) -> None:
        """Write several numbers to all backends."""
        self._each(lambda backend: backend.add_scalars(scalar_dict, step))

    def add_image(self, name: str, image: np.ndarray, step: int = 0) -> None:
        """Write an image, (H, W, 3) uint8, to all backends."""
        self._each(lambda backend: backend.add_image(name, image, step))

    def _each(self, write: Callable[[Any], None]) -> None:
        """Write to each backend, from rank 0; one that fails in mid-run is told of and left out: training goes on."""
        if not is_main_process():
            return
        for name, backend in list(self._vis_backends.items()):
            try:
                write(backend)
            except Exception as error:  # a server that is gone, a quota: metrics.jsonl has the numbers
                if 'DataLoader worker' in str(error):  # torch tells of its death wherever the process happens to be
                    raise
                del self._vis_backends[name]
                Dispensable(name).tell(error)
