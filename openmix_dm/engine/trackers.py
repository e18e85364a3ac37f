"""Where records and pictures go besides metrics.jsonl: mmengine's Visualizer and its backends.

Every backend of mmengine and of other packages works as it is. Three are ours, because a run that goes on has to go on
there too: TensorBoard with one curve, W&B under one id, MLflow in one run.
"""

import importlib.util
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from mmengine import visualization as mmengine
from mmengine.config import Config
from mmengine.dist import is_main_process

from openmix_dm.errors import ConfigError
from openmix_dm.registry import VISBACKENDS, VISUALIZERS
from openmix_dm.utils.files import Dispensable, write_atomically


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


@VISBACKENDS.register_module()
class ContinuedTensorboard(mmengine.BaseVisBackend):
    """Write TensorBoard files, one curve over all starts of a run; a full disk ends them, not the training.

    The writer is made at the first write: its import takes longer than everything else before the first iteration.

    Args:
        save_dir: folder of the files; filled in by the runner with <run>/tensorboard.

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


@VISBACKENDS.register_module()
class WandbVisBackend(mmengine.WandbVisBackend):
    """Write to Weights & Biases under one id for all starts of a run, each record at its iteration.

    mmengine's own counts its calls instead of iterations, and begins a new run at each start. Arguments as there.

    Args:
        save_dir: folder for what it writes; filled in by the runner.
        init_kwargs: arguments of `wandb.init`: project, name, mode ('offline' writes files only). Default: None.
        define_metric_cfg: arguments of `wandb.define_metric`, as mmengine documents them. Default: None.
        watch_kwargs: arguments of `wandb.watch`. Default: None.

    Example:
        visualizer = dict(vis_backends=[dict(type='WandbVisBackend', init_kwargs=dict(project='mixup'))])
    """

    def __init__(
        self,
        save_dir: str,
        init_kwargs: dict[str, Any] | None = None,
        define_metric_cfg: dict[str, Any] | list[dict[str, Any]] | None = None,
        watch_kwargs: dict[str, Any] | None = None,
    ) -> None:
        require('wandb')
        super().__init__(save_dir, None, define_metric_cfg, watch_kwargs=watch_kwargs)
        self._given = dict(init_kwargs or {})

    def _init_env(self) -> None:
        file = Path(self._save_dir) / 'wandb_id.txt'
        one_run = {'id': read_name(file) or uuid.uuid4().hex[:12], 'resume': 'allow', 'allow_val_change': True}
        self._init_kwargs = {**one_run, **self._given}
        super()._init_env()
        keep_name(file, self._wandb.run.id)

    def add_config(self, config: Config, **options: Any) -> None:
        """Record the config; no code is uploaded."""
        self.experiment.config.update(config.to_dict(), allow_val_change=True)

    def add_scalar(self, name: str, value: Any, step: int = 0, **options: Any) -> None:
        """Write one number at an iteration."""
        self.add_scalars({name: value}, step)

    def add_scalars(
        self, scalar_dict: dict[str, Any], step: int = 0, file_path: str | None = None, **options: Any
    ) -> None:
        """Write several numbers at an iteration."""
        self.experiment.log(scalar_dict, step=step)

    def add_image(self, name: str, image: np.ndarray, step: int = 0, **options: Any) -> None:
        """Write an image at an iteration."""
        self.experiment.log({name: self.experiment.Image(image)}, step=step)

    def close(self) -> None:
        """End this start of the run."""
        if hasattr(self, '_wandb'):
            self._wandb.finish()


@VISBACKENDS.register_module()
class MLflowVisBackend(mmengine.MLflowVisBackend):
    """Write to MLflow, one run for all starts of a training.

    mmengine's own begins a new run at each start, and copies the whole run folder at the end. Arguments as there.

    Args:
        save_dir: folder for what it writes; filled in by the runner.
        exp_name: name of the experiment; None is 'Default'. Default: None.
        run_name: name of the run. Default: None.
        tags: tags of the run. Default: None.
        tracking_uri: where MLflow keeps its data, such as 'sqlite:///mlflow.db' or the address of a server; None is a
            folder below the run's, where the version of MLflow allows it. Default: None.

    Example:
        visualizer = dict(vis_backends=[dict(type='MLflowVisBackend', tracking_uri='sqlite:///mlflow.db')])
    """

    def __init__(
        self,
        save_dir: str,
        exp_name: str | None = None,
        run_name: str | None = None,
        tags: dict[str, str] | None = None,
        tracking_uri: str | None = None,
    ) -> None:
        require('mlflow')
        super().__init__(save_dir, exp_name, run_name, tags, tracking_uri=tracking_uri)

    def _init_env(self) -> None:
        file = Path(self._save_dir) / 'mlflow_run_id.txt'
        known = read_name(file)
        if known is not None:
            os.environ['MLFLOW_RUN_ID'] = known  # the run that MLflow goes on with when it is first written to
        super()._init_env()
        run = self._mlflow.active_run() or self._mlflow.start_run(run_name=self._run_name)
        os.environ.pop('MLFLOW_RUN_ID', None)
        self._is_new = known is None
        keep_name(file, run.info.run_id)

    def add_config(self, config: Config, **options: Any) -> None:
        """Record the config at the first start: MLflow refuses to change the parameters of a run."""
        if self.experiment and self._is_new:
            flat = {name: str(value)[:500] for name, value in self._flatten(config.to_dict()).items()}
            self._mlflow.log_params(flat)

    def add_image(self, name: str, image: np.ndarray, step: int = 0, **options: Any) -> None:
        """Write an image as a file of the run."""
        self.experiment.log_image(image, f'{name.replace(" ", "_")}_{step}.png')

    def close(self) -> None:
        """End this start of the run."""
        if hasattr(self, '_mlflow'):
            self._mlflow.end_run()


def require(package: str) -> None:
    """Say how to get what a backend needs, before any work."""
    if importlib.util.find_spec(package) is None:
        raise ConfigError(f"visualizer.vis_backends needs {package}; run: pip install 'openmix_dm[track]'")


def read_name(path: Path) -> str | None:
    """Return the name that a tracker gave a run at an earlier start, from a file of the run's folder."""
    return path.read_text().strip() if path.is_file() else None


def keep_name(path: Path, name: str) -> None:
    """Write the name down for the next start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, name + '\n')
