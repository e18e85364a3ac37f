"""The optimiser step: mixed precision, accumulation and clipping."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from mmengine.optim import OptimWrapper
from torch import nn

from openmix_dm.checks import one_of
from openmix_dm.engine.numerics import LossGuard
from openmix_dm.engine.parameter_groups import OWNER
from openmix_dm.registry import OPTIM_WRAPPERS
from openmix_dm.stopwatch import stopwatch

PRECISIONS = {'bf16': torch.bfloat16, 'fp16': torch.float16}


@OPTIM_WRAPPERS.register_module()
class MixOptimWrapper(OptimWrapper):
    """Step an optimiser, on any device.

    amp: None, 'bf16', or 'fp16' with a loss scale. mmengine's own wrapper for it insists on a GPU.
    accumulative_counts: add up the gradients of so many iterations. clip_grad: e.g. dict(max_norm=1.0).
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        amp: str | None = None,
        accumulative_counts: int = 1,
        clip_grad: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(optimizer, accumulative_counts, clip_grad)
        if amp is not None:
            one_of('amp', amp, PRECISIONS)
        self.amp = amp
        self._scaler = torch.amp.GradScaler(_device_type(optimizer), enabled=amp == 'fp16')
        self._guard = LossGuard()

    @contextmanager
    def optim_context(self, model: nn.Module) -> Iterator[None]:
        """Run the forward pass in the chosen precision and hold gradients back while they accumulate."""
        device = _device_type(self.optimizer)
        dtype = PRECISIONS.get(self.amp or '')
        with super().optim_context(model), torch.autocast(device, dtype=dtype, enabled=self.amp is not None):
            yield

    def update_params(
        self, loss: torch.Tensor, step_kwargs: dict[str, Any] | None = None, zero_kwargs: dict[str, Any] | None = None
    ) -> None:
        """Compute gradients and step, unless the loss of any rank is not finite."""
        with stopwatch.span('backward'):
            self._guard.ask(loss)
            self.backward(self.scale_loss(loss))
            self._guard.check()
            if self.should_update():
                self.step(**(step_kwargs or {}))
                self.zero_grad(**(zero_kwargs or {}))

    def backward(self, loss: torch.Tensor, **options: Any) -> None:
        """Compute gradients, scaled if the precision needs it."""
        self._scaler.scale(loss).backward(**options)
        self._inner_count += 1

    def step(self, **options: Any) -> None:
        """Clip and step; a scaled step with infinite gradients is left out."""
        if self.clip_grad_kwargs:
            self._scaler.unscale_(self.optimizer)
            self._clip_grad()
        self._scaler.step(self.optimizer, **options)
        self._scaler.update()

    def _clip_grad(self) -> None:
        # Not mmengine's: it reads the norm back from the device at each step and keeps all of them.
        # And each owner's for itself: the gradients of a mixer must not decide how far the model steps.
        owners: dict[str | None, list[nn.Parameter]] = {}
        for group in self.optimizer.param_groups:
            owners.setdefault(group.get(OWNER), []).extend(p for p in group['params'] if p.grad is not None)
        for parameters in filter(None, owners.values()):
            self.clip_func(parameters, **self.clip_grad_kwargs)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of optimiser and loss scale."""
        return {**super().state_dict(), 'loss_scaler': self._scaler.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state of optimiser and loss scale."""
        state_dict = dict(state_dict)
        self._scaler.load_state_dict(state_dict.pop('loss_scaler', {}) or self._scaler.state_dict())
        super().load_state_dict(state_dict)


def _device_type(optimizer: torch.optim.Optimizer) -> str:
    return optimizer.param_groups[0]['params'][0].device.type
