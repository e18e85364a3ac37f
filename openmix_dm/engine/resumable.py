"""A runner that saves all that its next iteration depends on, and goes on exactly where it was."""

import copy
import re
from pathlib import Path
from typing import Any

from mmengine.model import is_model_wrapper
from mmengine.runner import Runner
from torch import nn

from openmix_dm.engine.optim.schedules import replay, same_schedules
from openmix_dm.errors import CheckpointError
from openmix_dm.runs.checkpoints import CheckpointStore, fill_model, load_file, save_file, usable, weights_in
from openmix_dm.utils.dist import agree
from openmix_dm.utils.modules import digest
from openmix_dm.version import __version__


class ResumableRunner(Runner):
    """mmengine's Runner with our checkpoints instead of its own."""

    _train_loop: Any
    _train_dataloader: Any
    _val_dataloader: Any
    _val_loop: Any
    optim_wrapper: Any
    param_schedulers: Any
    _has_loaded: bool
    mixer_is_loaded: bool = True  # False where the loaded weights came without the mixer's
    resumed_from: Path | None = None  # the checkpoint that the run goes on from

    @property
    def store(self) -> CheckpointStore:
        """The checkpoints of this run."""
        return CheckpointStore(Path(self.work_dir))

    @property
    def bare_model(self) -> nn.Module:
        """The model without the wrapper for several ranks."""
        return self.model.module if is_model_wrapper(self.model) else self.model

    def save(self, name: str, iteration: int, keep: int | None) -> None:
        """Save all that the next iteration depends on; rank 0 writes, the others go on. All ranks have to come here.

        Before it `before_save` of those hooks that have it is called, on all ranks.

        Args:
            name: name of the file in the run's folder.
            iteration: how many iterations are done.
            keep: how many of the newest checkpoints stay; None removes nothing.
        """
        self.call_hook('before_save')
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
        """Go on from the newest good checkpoint of the folder or a given one, or load weights to start from.

        After it `after_load` of those hooks that have it is called: nothing is trained yet.
        """
        if self._has_loaded:
            return
        self._has_loaded = True
        if self._resume and self._load_from is None:
            self.store.clean() if self.rank == 0 else None
            found = self.store.newest(self.logger.warning)
            if found is not None:
                with usable(found[0]):
                    self._restore(*found)
        elif self._load_from is not None:
            state = load_file(self._load_from)
            with usable(self._load_from):
                restore = self._restore if self._resume else self.load_weights
                restore(Path(self._load_from), state)
        agree(lambda: {'the iteration': self.iter, 'the weights': digest(*self.bare_model.state_dict().values())})
        self.call_hook('after_load')

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
        self.resumed_from = path
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
        training = self._train_loop is not None
        missing = fill_model(model, weights_in(state, ema), path, training)
        self.mixer_is_loaded = not any(key.startswith('mixer.') for key in missing)
        if not self.mixer_is_loaded:
            model.mixer.attach(model)  # a learned mixer starts from these weights
        if training and hasattr(model, 'start_parts'):
            model.start_parts(missing)  # so do the teachers and heads of semi-supervised methods
