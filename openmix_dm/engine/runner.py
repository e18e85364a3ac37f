"""mmengine's Runner with our checkpoints, our record and our folder."""

import copy
import itertools
import logging
import os
import re
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from mmengine.evaluator import Evaluator
from mmengine.logging import MMLogger
from mmengine.model import is_model_wrapper
from mmengine.runner import Runner
from mmengine.visualization import Visualizer
from torch import nn
from torch.utils.data import DataLoader

from openmix_dm.config.check import refusing
from openmix_dm.config.resolve import DEFAULT_HOOKS
from openmix_dm.engine.loader import build_dataloader, stop_workers
from openmix_dm.engine.optim.schedules import replay, same_schedules
from openmix_dm.engine.optim.wrapper import PRECISIONS
from openmix_dm.errors import CheckpointError
from openmix_dm.evaluation import BatchEvaluator
from openmix_dm.registry import EVALUATORS, RUNNERS, VISUALIZERS
from openmix_dm.runs.checkpoints import CheckpointStore, fill_model, load_file, save_file, weights_in
from openmix_dm.runs.folder import BOARD, LOG
from openmix_dm.utils.dist import agree
from openmix_dm.utils.files import be_quiet_when_full
from openmix_dm.utils.modules import digest
from openmix_dm.version import __version__

_STARTED = itertools.count()


@RUNNERS.register_module()
class MixRunner(Runner):
    """Run a config; see DEFAULT_HOOKS for what happens around each iteration unless `default_hooks` says otherwise.

    Takes the arguments of mmengine's Runner; `build_runner` fills them in from a config, which does not name the class.
    """

    _train_loop: Any
    _train_dataloader: Any
    _val_dataloader: Any
    _val_loop: Any
    optim_wrapper: Any
    param_schedulers: Any
    _has_loaded: bool
    mixer_is_loaded: bool = True  # False where the loaded weights came without the mixer's
    averaged_model: nn.Module | None = None  # set by EmaHook; evaluated beside the trained one

    # ---- the folder: one log, one board, nothing named by the clock ----

    @property
    def timestamp(self) -> str:
        """Return nothing: mmengine puts each start into a folder of this name below the run's."""
        return ''

    @property
    def store(self) -> CheckpointStore:
        """The checkpoints of this run."""
        return CheckpointStore(Path(self.work_dir))

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
            f'{self.world_size}, config {self.cfg.filename}'
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
        """Wrap for several ranks; without GPUs by hand, since mmengine names a GPU in any case."""
        if self.distributed and model_wrapper_cfg is None:
            rests = getattr(getattr(model, 'mixer', None), 'rests', False)
            model_wrapper_cfg = {
                'type': 'MMDistributedDataParallel',
                # not at each iteration: `share_buffers` gives all ranks those of rank 0 where they count
                'broadcast_buffers': False,
                'find_unused_parameters': self.cfg.get('find_unused_parameters', rests),
                **({} if torch.cuda.is_available() else {'device_ids': None}),
            }
        return super().wrap_model(model_wrapper_cfg, model)

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

    # ---- checkpoints ----

    @property
    def bare_model(self) -> nn.Module:
        """The model without the wrapper for several ranks."""
        return self.model.module if is_model_wrapper(self.model) else self.model

    def save(self, name: str, iteration: int, keep: int | None) -> None:
        """Save all that the next iteration depends on; rank 0 writes, the others go on.

        Args:
            name: name of the file in the run's folder.
            iteration: how many iterations are done.
            keep: how many of the newest checkpoints stay; None removes nothing.
        """
        if self.rank:
            return
        path = self.store.save(self._state(iteration), name, iteration, keep)
        self.logger.info(f'saved {path.name}')

    def save_best(self, name: str, value: float) -> None:
        """Save the weights alone as best_<name>.pth; no run goes on from them."""
        whole = self._state(self.iter)
        kept: dict[str, Any] = {key: whole[key] for key in ('state_dict', 'ema_state_dict', 'meta') if key in whole}
        kept['meta'] = {**kept['meta'], 'best': {name: value}}
        path = Path(self.work_dir) / f'best_{re.sub(r"[^-A-Za-z0-9_.]", "_", name)}.pth'
        save_file(kept, path)
        self.logger.info(f'saved {path.name}: {name} {value:.4f}')

    def _state(self, iteration: int) -> dict[str, Any]:
        """Return all that the next iteration depends on."""
        state = {
            'state_dict': self.bare_model.state_dict(),
            'optimizer': self.optim_wrapper.state_dict(),
            'param_schedulers': [scheduler.state_dict() for scheduler in self.param_schedulers or []],
            'meta': {
                'iter': iteration,
                'epoch': self._epochs_at(iteration),
                'validation_is_due': getattr(self.train_loop, 'validation_is_due', False),
                'seed': self.seed,
                'world_size': self.world_size,
                'version': __version__,
            },
        }
        self.call_hook('before_save_checkpoint', checkpoint=state)
        return state

    def _epochs_at(self, iteration: int) -> int:
        loop: Any = self.train_loop  # mmengine's own loops do not say
        return loop.epochs_at(iteration) if hasattr(loop, 'epochs_at') else iteration // len(self.train_dataloader)

    def load_or_resume(self) -> None:
        """Go on from the newest good checkpoint of the folder or a given one, or load weights to start from."""
        if self._has_loaded:
            return
        self._has_loaded = True
        if self._resume and self._load_from is None:
            self.store.clean() if self.rank == 0 else None
            found = self.store.newest(self.logger.warning)
            if found is not None:
                self._restore(*found)
        elif self._load_from is not None:
            state = load_file(self._load_from)
            self._restore(Path(self._load_from), state) if self._resume else self.load_weights(self._load_from, state)
        agree(lambda: {'the iteration': self.iter, 'the weights': digest(*self.bare_model.state_dict().values())})

    def _restore(self, path: Path, state: dict[str, Any]) -> None:
        missing = [key for key in ('state_dict', 'optimizer', 'param_schedulers', 'meta') if key not in state]
        if missing:
            raise CheckpointError(f'{path} has no {", ".join(missing)}: weights alone cannot be resumed, use load_from')
        before = state['meta'].get('world_size', self.world_size)
        if before != self.world_size:
            ranks = f'{before} rank{"s" if before > 1 else ""} before, {self.world_size} now'
            self.logger.warning(f'{ranks}: the global batch stays, but the run goes on with other random draws')
        self.load_weights(path, state)
        self.call_hook('after_load_checkpoint', checkpoint=state)
        self.train_loop._iter, self.train_loop._epoch = state['meta']['iter'], state['meta']['epoch']
        self.train_loop.validation_is_due = state['meta'].get('validation_is_due', False)
        self.optim_wrapper.load_state_dict(state['optimizer'])
        self._restore_schedules(state['param_schedulers'])
        self.logger.info(f'resumed from {path.name}: {self.iter} iterations, {self.epoch} epochs done')

    def _restore_schedules(self, saved: list[dict[str, Any]]) -> None:
        """Go on with the schedules; where the run became longer or shorter, with those of its new length."""
        if same_schedules(self.param_schedulers or [], saved):
            for scheduler, state in zip(self.param_schedulers or [], saved, strict=True):
                scheduler.load_state_dict(state)
            return
        before = self.optim_wrapper.get_lr()['lr'][0]
        self.optim_wrapper.optimizer.param_groups[:] = [
            {**group, **{name: group[f'initial_{name}'] for name in ('lr', 'momentum') if f'initial_{name}' in group}}
            for group in self.optim_wrapper.optimizer.param_groups
        ]
        self.param_schedulers = self.build_param_scheduler(copy.deepcopy(self.cfg.param_scheduler))
        replay(self.param_schedulers, self.iter, len(self.train_dataloader))
        self.logger.warning(
            f'the schedules are not those that the run was started with: from iteration {self.iter} on the learning '
            f'rate is {self.optim_wrapper.get_lr()["lr"][0]:.6g}, where it was {before:.6g}, and goes on as in a run '
            'of the new length'
        )

    def load_weights(self, path: str | Path, state: dict[str, Any], ema: bool = False) -> None:
        """Load the weights of a checkpoint, or its averaged ones; every key has to fit."""
        model: Any = self.bare_model
        missing = fill_model(model, weights_in(state, ema), path, training=self._train_loop is not None)
        self.mixer_is_loaded = not any(key.startswith('mixer.') for key in missing)
        if not self.mixer_is_loaded:
            model.mixer.attach(model)  # a learned mixer starts from these weights
