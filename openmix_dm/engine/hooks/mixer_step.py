"""Let mixers that learn follow the model."""

from typing import Any

from mmengine.hooks import Hook

from openmix_dm.registry import HOOKS


@HOOKS.register_module()
class MixerStepHook(Hook):
    """Tell the mixer how long the run is, and call its `after_step` whenever the optimiser has stepped.

    Schedules and momentum networks of a mixer count optimiser steps by it, not iterations. A model without a mixer is
    left alone.

    Example:
        default_hooks = dict(mixer=dict(type='MixerStepHook'))
    """

    def before_train(self, runner: Any) -> None:
        """Say how many optimiser steps there will be."""
        # rounded up: the optimiser also steps at the last iteration, with what has accumulated until then
        if hasattr(runner.bare_model, 'mixer'):
            runner.bare_model.mixer.begin(-(-runner.max_iters // runner.optim_wrapper._accumulative_counts))

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Follow the model."""
        model = runner.bare_model
        if hasattr(model, 'mixer') and runner.optim_wrapper.should_update():
            model.mixer.after_step(model)
