"""The optimiser step: mixed precision, accumulation and clipping."""

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from mmengine.logging import print_log
from mmengine.optim import OptimWrapper
from torch import nn

from openmix_dm.engine.guard import LossGuard
from openmix_dm.engine.optim.parameter_groups import OWNER
from openmix_dm.errors import NumericError
from openmix_dm.registry import OPTIM_WRAPPERS, Built
from openmix_dm.utils.checks import one_of
from openmix_dm.utils.stopwatch import stopwatch

PRECISIONS = {'bf16': torch.bfloat16, 'fp16': torch.float16}


@OPTIM_WRAPPERS.register_module()
class MixOptimWrapper(OptimWrapper):
    """Step an optimiser on any device, with mixed precision, accumulation and clipping.

    One class for all precisions: mmengine's own wrapper for mixed precision insists on a GPU. No step is made with a
    loss that is not finite on any rank: the run stops, unless `skip_nonfinite` lets it pass over the iteration.

    Args:
        optimizer: the optimiser that steps; filled in by the constructor, a config describes it by a dict.
        amp: precision of the forward pass: 'bf16', or 'fp16' with a loss scale; None is full precision. Validation runs
            in it too. Default: None.
        accumulative_counts: iterations whose gradients are added up for one step. `global_batch_size` counts the images
            of all of them, so that the learning rate stays. Default: 1.
        clip_grad: e.g. dict(max_norm=1.0), or dict(type='value', clip_value=0.2). The gradients of the model and of a
            mixer that learns are clipped apart. Default: None.
        skip_nonfinite: iterations with a loss that is not finite that are passed over before the run stops for one,
            counted over the whole run, with its continuations. Default: 0.

    Example:
        optim_wrapper = dict(type='MixOptimWrapper', amp='bf16', optimizer=dict(type='SGD', lr=0.1))
    """

    builds = {
        'clip_grad': Built(frozenset({'type', 'max_norm', 'norm_type', 'error_if_nonfinite', 'foreach', 'clip_value'}))
    }

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        amp: str | None = None,
        accumulative_counts: int = 1,
        clip_grad: dict[str, Any] | None = None,
        skip_nonfinite: int = 0,
    ) -> None:
        super().__init__(optimizer, accumulative_counts, clip_grad)
        if skip_nonfinite < 0:
            raise ValueError(f'skip_nonfinite must be 0 or more iterations, got {skip_nonfinite}')
        self.skip_nonfinite, self.skipped_losses = skip_nonfinite, 0
        self.skipped_steps = SkippedSteps()
        if amp is not None:
            one_of('amp', amp, PRECISIONS)
        self.amp = amp
        self._scaler = torch.amp.GradScaler(_device_type(optimizer), enabled=amp == 'fp16')
        self._guard = LossGuard()

    @property
    def stop_agreed(self) -> bool:
        """Say whether all ranks know, since the last iteration, that one of them was asked to stop."""
        return self._guard.stop_agreed

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
            if self._passes_over():
                # with what has accumulated before: it is one sum, and cannot be taken apart
                self.zero_grad()
            elif self.should_update():
                self.step(**(step_kwargs or {}))
                self.zero_grad(**(zero_kwargs or {}))

    def _passes_over(self) -> bool:
        """Say whether this iteration is to be left out; all ranks know the same and decide alike."""
        try:
            self._guard.check()
        except NumericError:
            if self.skipped_losses >= self.skip_nonfinite:
                raise
            self.skipped_losses += 1
            warn(f'a loss that is not finite was passed over ({self.skipped_losses} of {self.skip_nonfinite})')
            return True
        return False

    def backward(self, loss: torch.Tensor, **options: Any) -> None:
        """Compute gradients, scaled if the precision needs it."""
        self._scaler.scale(loss).backward(**options)
        self._inner_count += 1

    def step(self, **options: Any) -> None:
        """Clip and step; a scaled step with infinite gradients is left out."""
        if self.clip_grad_kwargs:
            self._scaler.unscale_(self.optimizer)
            self._clip_grad()
        # the scaler does not say whether it left the step out, but lowers its scale where it did
        before = self._scaler.get_scale() if self.amp == 'fp16' else 0.0
        self._scaler.step(self.optimizer, **options)
        self._scaler.update()
        if self.amp == 'fp16':
            self.skipped_steps.count(self._scaler.get_scale() < before)

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
        ours = {'loss_scaler': self._scaler.state_dict(), 'skipped_losses': self.skipped_losses}
        return {**super().state_dict(), **ours}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state of optimiser and loss scale."""
        state_dict = dict(state_dict)
        self._scaler.load_state_dict(state_dict.pop('loss_scaler', {}) or self._scaler.state_dict())
        self.skipped_losses = state_dict.pop('skipped_losses', 0)
        super().load_state_dict(state_dict)


class SkippedSteps:
    """Count the steps that a loss scale left out because gradients were infinite, and warn where they are many."""

    def __init__(self, window: int = 1000, share: float = 0.01) -> None:
        self.total, self.share = 0, share
        self._last: deque[bool] = deque(maxlen=window)

    def count(self, skipped: bool) -> None:
        """Count a step; warn once a window."""
        self.total += skipped
        self._last.append(skipped)
        window = self._last.maxlen or 0
        if len(self._last) == window and sum(self._last) > self.share * window:
            warn(
                f'{sum(self._last)} of the last {window} steps were left out because gradients were infinite in fp16; '
                "lower the learning rate, or use amp='bf16'"
            )
            self._last.clear()


def warn(text: str) -> None:
    """Put a warning into the log and on the screen."""
    print_log(text, logger='current', level=logging.WARNING)


def _device_type(optimizer: torch.optim.Optimizer) -> str:
    return optimizer.param_groups[0]['params'][0].device.type
