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
from openmix_dm.engine.optim.fused import fill_momentum, leaves_out_on_device, step_unless
from openmix_dm.engine.optim.parameter_groups import OWNER
from openmix_dm.registry import OPTIM_WRAPPERS, Built
from openmix_dm.utils.checks import one_of
from openmix_dm.utils.stopwatch import stopwatch
from openmix_dm.utils.transfers import HostCopy

PRECISIONS = {'bf16': torch.bfloat16, 'fp16': torch.float16}


@OPTIM_WRAPPERS.register_module()
class MixOptimWrapper(OptimWrapper):
    """Step an optimiser on any device, with mixed precision, accumulation and clipping.

    One class for all precisions: mmengine's own wrapper for mixed precision insists on a GPU. No step is made with a
    loss that is not finite on any rank: the run stops, unless `skip_nonfinite` lets it pass over the iteration.

    Args:
        optimizer: the optimiser that steps; filled in by the constructor, a config describes it by a dict.
        amp: precision of the forward pass: 'bf16', or 'fp16' with a loss scale; None is full precision. A config may
            say 'auto' for what its GPU computes fast. Validation runs in it too. Default: None.
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
        self.skipped_steps = SkippedSteps()
        if amp is not None:
            one_of('amp', amp, PRECISIONS)
        self.amp = amp
        self._scaler = torch.amp.GradScaler(_device_type(optimizer), enabled=amp == 'fp16')
        fill_momentum(optimizer)
        self._guard = LossGuard(skip_nonfinite, lag=int(leaves_out_on_device(optimizer)))
        self._leave_out = False  # a loss that was passed over is part of the step that gradients accumulate for
        self._scales: deque[HostCopy] = deque()

    @property
    def skipped_losses(self) -> int:
        """How many losses that were not finite the run has passed over."""
        return self._guard.passed_over

    def settle(self) -> None:
        """Read what the device knows and the host does not yet: whether all losses so far were finite."""
        self._guard.settle()
        self._count_skipped(0)

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
            if not self._guard.check() and not self._guard.lag:
                self._leave_out = True  # with what accumulates before and after: it is one sum
            if self.should_update():
                if not self._leave_out:
                    self.step(**(step_kwargs or {}))
                self.zero_grad(**(zero_kwargs or {}))
                self._guard.next_step()
                self._leave_out = False

    def backward(self, loss: torch.Tensor, **options: Any) -> None:
        """Compute gradients, scaled if the precision needs it."""
        self._scaler.scale(loss).backward(**options)
        self._inner_count += 1

    def step(self, **options: Any) -> None:
        """Clip and step; a scaled step with infinite gradients is left out, and so is what the guard says."""
        left_out = self._guard.left_out
        if self.amp == 'fp16':
            self._scaled_step(left_out, **options)
            return
        if self.clip_grad_kwargs:
            self._clip_grad()
        if left_out is None:
            self.optimizer.step(**options)
        else:
            step_unless(left_out, self.optimizer, **options)

    def _scaled_step(self, left_out: torch.Tensor | None, **options: Any) -> None:
        scaler = self._scaler
        if self.clip_grad_kwargs or left_out is not None:
            scaler.unscale_(self.optimizer)
        if self.clip_grad_kwargs:
            self._clip_grad()
        if left_out is not None:
            for found in scaler._found_inf_per_device(self.optimizer).values():
                found.add_(left_out).clamp_(max=1)
        scale: Any = scaler._get_scale_async()
        before = scale.clone()
        scaler.step(self.optimizer, **options)
        scaler.update()
        # the scaler does not say whether it left the step out, but lowers its scale where it did
        self._scales.append(HostCopy((scale < before).reshape(1)))
        self._count_skipped(self._guard.lag)

    def _count_skipped(self, unread: int) -> None:
        while len(self._scales) > unread:
            self.skipped_steps.count(bool(self._scales.popleft().read()[0]))

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
        self._guard.passed_over = state_dict.pop('skipped_losses', 0)
        super().load_state_dict(state_dict)
        fill_momentum(self.optimizer)


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
