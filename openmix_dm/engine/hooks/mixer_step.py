"""Let mixers that learn follow the model."""

from typing import Any

from mmengine.hooks import Hook
from mmengine.model import is_model_wrapper

from openmix_dm.registry import HOOKS


@HOOKS.register_module()
class MixerStepHook(Hook):
    """Call the mixer's `after_step` whenever the optimiser has stepped."""

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Follow the model."""
        model = runner.model.module if is_model_wrapper(runner.model) else runner.model
        if hasattr(model, 'mixer') and runner.optim_wrapper.should_update():
            model.mixer.after_step(model)
