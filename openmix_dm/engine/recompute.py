"""Memory for time: modules whose activations are not kept but computed again by the backward pass."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

from openmix_dm.errors import ConfigError
from openmix_dm.mixers import Mixer
from openmix_dm.utils.suggest import did_you_mean

KEY = 'activation_checkpointing'


def recompute_activations(model: nn.Module, names: str | Sequence[str]) -> None:
    """Let modules, by their names in a model, keep none of their activations; results stay as they are, bit for bit.

    Not mmengine's, by which batch norm counts each batch twice in its running statistics, and by which the copy of a
    module (an average of weights, a momentum network) computes with the weights of the original.
    """
    modules = dict(model.named_modules())
    for name in dict.fromkeys([names] if isinstance(names, str) else names):
        if not name or name not in modules:
            near = did_you_mean(name, [known for known in modules if known])
            raise ConfigError(f'{KEY}: the model has no module {name!r} (but {_first_names(model)}, ...){near}')
        _check_module(name, modules[name])
        _check_hooks(model, name, modules[name])
        _recompute(modules[name])


def _check_module(name: str, module: nn.Module) -> None:
    """Refuse a module that would not be computed again, or not in the same way."""
    if type(module).forward is nn.Module.forward:
        raise ConfigError(f'{KEY}: {name} is a {type(module).__name__}, which is not run itself; name its parts')
    if any(isinstance(part, Mixer) for part in module.modules()):
        raise ConfigError(f'{KEY}: {name} draws random numbers of its own; name the networks in it, if there are some')


def _check_hooks(model: Any, name: str, module: nn.Module) -> None:
    """Refuse a module with a place inside that mixers reach by hooks: they are gone when it is computed again."""
    stages: dict[str, nn.Module] = getattr(getattr(model, 'backbone', None), 'stages', {})
    inside = set(module.modules())
    held = [stage for stage, part in stages.items() if part in inside and part is not module]
    if held:
        raise ConfigError(
            f'{KEY}: {name} holds the stages {", ".join(held)} of the backbone, at which mixers are hooked in; '
            f'name the stages instead ({", ".join(_names_of(model, [stages[stage] for stage in held]))})'
        )
    reading = [part for part in model.modules() if isinstance(part, Mixer) and part.label_from == 'attention']
    if reading and stages and list(stages.values())[-1] in inside:
        raise ConfigError(
            f'{KEY}: {type(reading[0]).__name__} reads the attention of {name} while it runs; leave this module out'
        )


def _names_of(model: nn.Module, modules: Sequence[nn.Module]) -> list[str]:
    return [name for name, module in model.named_modules() if module in modules]


def _first_names(model: nn.Module) -> str:
    return ', '.join(f'{outer}.{inner}' for outer, part in model.named_children() for inner, _ in part.named_children())


def _recompute(module: nn.Module) -> None:
    """Change the forward of a module by changing its class, so that a copy of it calls its own."""
    kind = type(module)

    def forward(self: nn.Module, *args: Any, **options: Any) -> Any:
        def contexts() -> tuple[AbstractContextManager, AbstractContextManager]:
            return nullcontext(), _statistics_kept(self)

        return checkpoint(kind.forward, self, *args, use_reentrant=False, context_fn=contexts, **options)

    module.__class__ = type(kind.__name__, (kind,), {'forward': forward, '__module__': kind.__module__})


@contextmanager
def _statistics_kept(module: nn.Module) -> Iterator[None]:
    """Leave the running statistics of batch norm as they are: the first pass has counted the batch."""
    norms = [part for part in module.modules() if isinstance(part, _BatchNorm) and part.training]
    before = [(norm.momentum, norm.num_batches_tracked) for norm in norms]
    for norm, (_, counted) in zip(norms, before, strict=True):
        # by a share of 0, not by switching them off: torch compares what both passes keep for the backward pass
        norm.momentum, norm.num_batches_tracked = 0.0, None if counted is None else torch.zeros_like(counted)
    try:
        yield
    finally:
        for norm, (momentum, counted) in zip(norms, before, strict=True):
            norm.momentum, norm.num_batches_tracked = momentum, counted
