"""Let mixers that learn follow the model."""

from typing import Any

from mmengine.hooks import Hook

from openmix_dm.registry import HOOKS


@HOOKS.register_module()
class MixerStepHook(Hook):
    """Tell the mixer how long the run is, and call its `after_step` whenever the optimiser has stepped."""

    def before_train(self, runner: Any) -> None:
        """Say how many optimiser steps there will be."""
        if hasattr(runner.bare_model, 'mixer'):
            runner.bare_model.mixer.begin(-(-runner.max_iters // runner.optim_wrapper._accumulative_counts))

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Follow the model."""
        model = runner.bare_model
        if hasattr(model, 'mixer') and runner.optim_wrapper.should_update():
            model.mixer.after_step(model)
