"""Train on the pretended device as a run does, step by step, without loader and records."""

from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.engine.hooks import EmaHook, MixerStepHook
from openmix_dm.registry import OPTIM_WRAPPER_CONSTRUCTORS

SGD = {'type': 'MixOptimWrapper', 'optimizer': {'type': 'SGD', 'lr': 0.01, 'momentum': 0.9, 'weight_decay': 1e-4}}


class DeviceTraining:
    """Hold a model on the device with its optimiser and hooks; to the hooks it is their runner.

    Args:
        model: the model to train.
        optim_wrapper: config of the optimiser. Default: SGD.
        ema: decay of averaged weights; None keeps none. Default: None.
        steps: iterations of the whole training. Default: 100.
        device: where to train. Default: 'cuda'.
    """

    def __init__(
        self,
        model: Any,
        optim_wrapper: dict[str, Any] | None = None,
        ema: float | None = None,
        steps: int = 100,
        device: str = 'cuda',
    ) -> None:
        self.bare_model = model.to(device).train()
        self.averaged_model: nn.Module | None = None
        self.max_iters = steps
        options = dict(optim_wrapper or SGD)
        paramwise = options.pop('paramwise_cfg', None)
        constructor: Any = OPTIM_WRAPPER_CONSTRUCTORS.build(
            {'type': 'MixOptimConstructor', 'optim_wrapper_cfg': options, 'paramwise_cfg': paramwise}
        )
        self.optim_wrapper = constructor(model)
        self.optim_wrapper.initialize_count_status(model, 0, steps)
        self.hooks: list[Any] = [MixerStepHook(), *([EmaHook(decay=ema)] if ema is not None else [])]
        for hook in self.hooks:
            hook.before_train(self)

    def step(self, batch: dict[str, Any]) -> None:
        """Train on a batch of the host."""
        self.bare_model.train_step(batch, self.optim_wrapper)
        for hook in self.hooks:
            hook.after_train_iter(self, 0)


def pinned(batch: Any) -> Any:
    """Return a batch in pinned memory, as a loader hands it over where there is a GPU."""
    if isinstance(batch, Tensor):
        return batch.pin_memory()
    if isinstance(batch, dict):
        return {name: pinned(value) for name, value in batch.items()}
    return type(batch)(map(pinned, batch)) if isinstance(batch, list | tuple) else batch


def image_batch(size: int, pixels: int, classes: int) -> dict[str, Tensor]:
    """Draw a batch as a loader gives it."""
    images = torch.randint(256, (size, 3, pixels, pixels), dtype=torch.uint8)
    return {'inputs': images, 'labels': torch.randint(classes, (size,))}
