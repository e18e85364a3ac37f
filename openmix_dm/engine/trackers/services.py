"""Trackers of others, where all starts of a run are one: W&B under one id, MLflow in one run."""

import importlib.util
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from mmengine import visualization as mmengine
from mmengine.config import Config

from openmix_dm.errors import ConfigError
from openmix_dm.registry import VISBACKENDS
from openmix_dm.utils.files import write_atomically


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
