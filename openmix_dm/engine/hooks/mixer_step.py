"""Let mixers that learn follow the model."""

from typing import Any

import torch
from mmengine.hooks import Hook
from torch.distributed import gather_object

from openmix_dm.errors import CheckpointError
from openmix_dm.registry import HOOKS
from openmix_dm.utils.dist import several_ranks


@HOOKS.register_module()
class MixerStepHook(Hook):
    """Tell the mixer how long the run is and where epochs begin, and call its `after_step` after each optimiser step.

    Schedules and momentum networks of a mixer count optimiser steps by it, not iterations. What a mixer carries from
    batch to batch is saved for each rank, so that a run goes on from it. A model without a mixer is left alone.

    Example:
        default_hooks = dict(mixer=dict(type='MixerStepHook'))
    """

    def __init__(self) -> None:
        self._of_ranks: list[dict[str, Any]] = []

    def before_train(self, runner: Any) -> None:
        """Say how many optimiser steps there will be."""
        # rounded up: the optimiser also steps at the last iteration, with what has accumulated until then
        if hasattr(runner.bare_model, 'mixer'):
            runner.bare_model.mixer.begin(-(-runner.max_iters // runner.optim_wrapper._accumulative_counts))

    def before_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None) -> None:
        """Say that an epoch begins: at its first iteration, not where a run goes on in the middle of it."""
        if hasattr(runner.bare_model, 'mixer') and runner.iter % len(runner.train_dataloader) == 0:
            runner.bare_model.mixer.begin_epoch()

    def before_save(self, runner: Any) -> None:
        """Collect what the mixers of all ranks carry from batch to batch, before rank 0 saves."""
        mixer = getattr(runner.bare_model, 'mixer', None)
        own = mixer.history() if mixer is not None else {}
        self._of_ranks = [to_host(own)]
        # Whether there is any is the same on all ranks: they have seen equally many batches.
        if own and several_ranks():
            self._of_ranks = [{}] * runner.world_size
            gather_object(to_host(own), self._of_ranks if runner.rank == 0 else None)

    def before_save_checkpoint(self, runner: Any, checkpoint: dict[str, Any]) -> None:
        """Save it."""
        if any(self._of_ranks):
            checkpoint['mixer_history'] = self._of_ranks

    def after_load_checkpoint(self, runner: Any, checkpoint: dict[str, Any]) -> None:
        """Go on from what this rank carried; from nothing, where there are more or fewer ranks now."""
        of_ranks = checkpoint.get('mixer_history') or []
        if not of_ranks or not hasattr(runner.bare_model, 'mixer'):
            return
        same = isinstance(of_ranks, list) and len(of_ranks) == runner.world_size
        try:
            runner.bare_model.mixer.restore_history(of_ranks[runner.rank] if same else {})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f'what its mixer carried cannot be read ({type(error).__name__}: {error})') from None

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Follow the model."""
        model = runner.bare_model
        if hasattr(model, 'mixer') and runner.optim_wrapper.should_update():
            model.mixer.after_step(model)


def to_host(values: dict[str, Any]) -> dict[str, Any]:
    """Return nested values with their tensors in the memory of the host."""
    return {
        name: to_host(value) if isinstance(value, dict) else value.cpu() if isinstance(value, torch.Tensor) else value
        for name, value in values.items()
    }
