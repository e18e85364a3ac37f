"""mmengine's Runner with our parts, our records and our folder."""

import copy
import itertools
import logging
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from mmengine.device import get_device
from mmengine.evaluator import Evaluator
from mmengine.logging import MMLogger
from mmengine.visualization import Visualizer
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from openmix_dm.config.check_built import refusing
from openmix_dm.config.resolve import DEFAULT_HOOKS
from openmix_dm.engine.loader import build_dataloader, stop_workers
from openmix_dm.engine.optim.wrapper import PRECISIONS
from openmix_dm.engine.recompute import recompute_activations
from openmix_dm.engine.resumable import ResumableRunner
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.evaluation import BatchEvaluator
from openmix_dm.launch.group import describe_device
from openmix_dm.registry import EVALUATORS, MODEL_WRAPPERS, RUNNERS, VISUALIZERS
from openmix_dm.runs.folder import BOARD, LOG
from openmix_dm.utils.files import be_quiet_when_full
from openmix_dm.utils.signatures import arguments_of
from openmix_dm.version import __version__

_STARTED = itertools.count()


@RUNNERS.register_module()
class MixRunner(ResumableRunner):
    """Run a config; see DEFAULT_HOOKS for what happens around each iteration unless `default_hooks` says otherwise.

    Takes the arguments of mmengine's Runner; `build_runner` fills them in from a config, which does not name the class.
    """

    averaged_model: nn.Module | None = None  # set by EmaHook; evaluated beside the trained one

    # ---- the folder: one log, one board, nothing named by the clock ----

    @property
    def timestamp(self) -> str:
        """Return nothing: mmengine puts each start into a folder of this name below the run's."""
        return ''

    def setup_env(self, env_cfg: dict[str, Any]) -> None:
        """Set the process up, under a name that no other runner of this process has."""
        super().setup_env(env_cfg)
        self._timestamp = f'{time.time_ns()}_{os.getpid()}_{next(_STARTED)}'

    def build_logger(self, log_level: int | str = 'INFO', log_file: str | None = None, **options: Any) -> MMLogger:
        """Log everything to one file over all continuations, and warnings to the screen."""
        logger = super().build_logger(log_level, str(Path(self.work_dir) / LOG), **options)
        for handler in logger.handlers:
            if isinstance(handler, logging.FileHandler):
                be_quiet_when_full(handler)
            else:
                handler.setLevel(logging.WARNING)
        return logger

    def build_visualizer(self, visualizer: Any = None) -> Visualizer:
        """Build what records go to; TensorBoard unless the config names other backends."""
        if isinstance(visualizer, Visualizer):
            return visualizer
        given = copy.deepcopy(dict(visualizer or {}))
        backends = given.pop('vis_backends', None) or [{'type': 'ContinuedTensorboard'}]
        for backend in backends if isinstance(backends, list) else [backends]:
            if backend['type'] == 'ContinuedTensorboard':
                backend.setdefault('save_dir', str(Path(self.work_dir) / BOARD))
        filled = {'type': 'RunVisualizer', 'name': self._experiment_name, 'save_dir': self.work_dir}
        return VISUALIZERS.build({**filled, **given, 'vis_backends': backends})

    def dump_config(self) -> None:
        """Do nothing: the run's folder has its config already."""

    def _log_env(self, env_cfg: dict[str, Any]) -> None:
        self.logger.info(
            f'openmix_dm {__version__}, torch {torch.__version__}, seed {self.seed}, rank {self.rank} of '
            f'{self.world_size}{describe_device(os.environ)}, config {self.cfg.filename}'
        )

    # ---- building ----

    def register_default_hooks(self, hooks: dict[str, Any] | None = None) -> None:
        """Register the default hooks, each overridden or left out (None) by its name in the config."""
        for hook in {**DEFAULT_HOOKS, **(hooks or {})}.values():
            if hook is not None:
                self.register_hook(hook)

    @staticmethod
    def build_dataloader(
        dataloader: DataLoader | dict[str, Any], seed: int | None = None, diff_rank_seed: bool = False
    ) -> DataLoader:
        """Build a loader whose every draw is a function of the seed and the place in the epoch."""
        if isinstance(dataloader, DataLoader):
            return dataloader
        return build_dataloader(**dataloader, seed=seed or 0)

    @property
    def loaders(self) -> dict[str, DataLoader | None]:
        """The loaders of a training by phase."""
        return {'train': self._train_dataloader, 'val': self._val_dataloader}

    def wrap_model(self, model_wrapper_cfg: dict[str, Any] | None, model: nn.Module) -> nn.Module:
        """Wrap for several ranks, by what the config says of the wrapper beside what we say."""
        if not self.distributed:
            return super().wrap_model(model_wrapper_cfg, model)
        model = model.to(get_device())
        if self.cfg.get('sync_bn'):
            model = synchronise_norms(model)
        return MODEL_WRAPPERS.build(wrapper_settings(self.cfg, model), default_args={'module': model})

    def build_optim_wrapper(self, optim_wrapper: Any) -> Any:
        """Build the optimiser by our parameter groups, unless the config names another constructor."""
        if isinstance(optim_wrapper, dict):
            optim_wrapper = {'constructor': 'MixOptimConstructor', **optim_wrapper}
        return super().build_optim_wrapper(optim_wrapper)

    def build_evaluator(self, evaluator: Any) -> Evaluator:
        """Build an evaluator that hands each metric what it takes; one of another package stays as it is."""
        if isinstance(evaluator, Evaluator):
            return evaluator
        kind = evaluator.get('type') if isinstance(evaluator, dict) else None
        named = isinstance(kind, str) and EVALUATORS.get(kind) is not None
        return EVALUATORS.build(evaluator) if named else BatchEvaluator(evaluator)

    def build_model(self, model: nn.Module | dict[str, Any]) -> nn.Module:
        """Build the model in the memory format of the config."""
        built = super().build_model(model)
        if self.cfg.get('channels_last'):
            built = built.to(memory_format=torch.channels_last)
            built.data_preprocessor.memory_format = torch.channels_last
        return built

    def _maybe_compile(self, target: str) -> None:
        """Compile the backbone, in place: mixers draw numbers on the host, and checkpoints keep their names."""
        options = self.cfg.get('compile')
        if options:
            backbone: Any = self.bare_model.backbone
            backbone.compile(**(options if isinstance(options, dict) else {}))

    def evaluation_precision(self) -> AbstractContextManager:
        """Evaluate in the precision of training."""
        amp = (self.cfg.get('optim_wrapper') or {}).get('amp')
        device = next(self.bare_model.parameters()).device.type
        return torch.autocast(device, dtype=PRECISIONS.get(amp or ''), enabled=amp is not None)

    def build_training(self) -> None:
        """Build now what `train` would build: a wrong value shows before the run has started."""
        recomputed = self.cfg.pop('activation_checkpointing', None)  # mmengine, which would do it too, must not find it
        if recomputed is not None:
            recompute_activations(self.bare_model, recomputed)
        with refusing('train_cfg'):
            self._train_loop = self.build_train_loop(self._train_loop)
        if self._val_loop is not None:
            with refusing('val_evaluator'):
                self._val_loop = self.build_val_loop(self._val_loop)
        with refusing('optim_wrapper'):
            self.optim_wrapper = self.build_optim_wrapper(self.optim_wrapper)
        if self.param_schedulers is not None:
            with refusing('param_scheduler'):
                self.param_schedulers = self.build_param_scheduler(self.param_schedulers)

    def _init_model_weights(self) -> None:
        """Load pretrained weights, if the model asks for some."""
        try:
            super()._init_model_weights()
        except (FileNotFoundError, ValueError) as error:
            raise CheckpointError(f'model.backbone.pretrained: {error}') from None

    def close(self) -> None:
        """End what would outlive the run: the workers of its loaders and the writer to TensorBoard."""
        for loader in (self._train_dataloader, self._val_dataloader, self._test_dataloader):
            if isinstance(loader, DataLoader):
                stop_workers(loader)
        self.visualizer.close()


def wrapper_settings(config: Any, model: nn.Module) -> dict[str, Any]:
    """Return the config of the wrapper for several ranks: our defaults, and over them what `model_wrapper_cfg` says.

    A wrapper of another kind than torch's DistributedDataParallel is left to itself.
    """
    given = {'type': 'MMDistributedDataParallel', **(config.get('model_wrapper_cfg') or {})}
    kind: Any = MODEL_WRAPPERS.get(given['type']) if isinstance(given['type'], str) else given['type']
    if not issubclass(kind, DistributedDataParallel):
        return given
    rests = getattr(getattr(model, 'mixer', None), 'rests', False)
    defaults = {
        # not at each iteration: `share_buffers` gives all ranks those of rank 0 where they count
        'broadcast_buffers': False,
        'find_unused_parameters': config.get('find_unused_parameters', rests),
        'device_ids': [torch.cuda.current_device()] if torch.cuda.is_available() else None,
    }
    if given.get('static_graph'):
        _check_static_graph(config, rests)
    known = arguments_of(kind)
    return {**{key: value for key, value in defaults.items() if known.open or key in known.known}, **given}


def _check_static_graph(config: Any, rests: bool) -> None:
    """Refuse what DistributedDataParallel would stumble over in the first iterations."""
    why = None
    if rests:
        why = 'which parameters get a gradient changes with the policy that the mixer draws'
    elif (config.get('optim_wrapper') or {}).get('accumulative_counts', 1) > 1:
        why = 'optim_wrapper.accumulative_counts holds gradients back, which torch cannot in a static graph'
    if why is not None:
        raise ConfigError(f'model_wrapper_cfg.static_graph=True, but {why}; leave static_graph out')


def synchronise_norms(model: nn.Module) -> nn.Module:
    """Let batch norm see the batches of all ranks."""
    if not torch.cuda.is_available():
        raise ConfigError("sync_bn='torch' needs GPUs: torch synchronises batch norm on them alone; leave it out")
    from timm.layers import convert_sync_batchnorm  # torch's drops the activation that timm puts into some norms

    return convert_sync_batchnorm(model)
