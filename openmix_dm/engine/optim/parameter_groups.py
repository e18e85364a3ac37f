"""Which parameters the optimiser gets, and in which groups."""

from typing import Any

from mmengine.optim import DefaultOptimWrapperConstructor, OptimWrapper
from torch import nn

from openmix_dm.engine.optim.fused import fused_on_gpus
from openmix_dm.registry import OPTIM_WRAPPER_CONSTRUCTORS, OPTIM_WRAPPERS, OPTIMIZERS

OWNER = 'owner'  # entry of a group whose parameters are not the model's own


@OPTIM_WRAPPER_CONSTRUCTORS.register_module()
class MixOptimConstructor(DefaultOptimWrapperConstructor):
    """Build the optimiser as mmengine does, by `paramwise_cfg`, except for four things.

    Frozen networks (teachers, momentum networks) are left out. Parameters of the mixer are in groups of their own, so
    that they are clipped apart from the model's; `custom_keys={'mixer': dict(lr_mult=..., momentum=...)}` gives them
    settings of their own. Parameters with equal settings share a group, where mmengine makes one for each. On a GPU,
    SGD, Adam and AdamW are fused unless the config says how they step (`fused`, `foreach`).

    Takes the arguments of mmengine's DefaultOptimWrapperConstructor, which the runner fills in from `optim_wrapper`.
    It is the constructor of every `optim_wrapper` that names no other.

    Example:
        optim_wrapper = dict(type='MixOptimWrapper', constructor='MixOptimConstructor', optimizer=dict(type='Lamb'))
    """

    # What mmengine's constructor reads of `paramwise_cfg`; it ignores what it does not know.
    paramwise_keys = frozenset(
        ('norm_decay_mult', 'bias_lr_mult', 'bias_decay_mult', 'dcn_offset_lr_mult', 'bypass_duplicate', 'custom_keys',
         'dwconv_decay_mult', 'flat_decay_mult')
    )  # fmt: skip

    def add_params(self, params: list[dict], module: nn.Module, prefix: str = '', is_dcn_module: Any = None) -> None:
        """Add what learns in a module; mmengine would warn about each frozen parameter."""
        if any(parameter.requires_grad for parameter in module.parameters()):
            super().add_params(params, module, prefix, is_dcn_module)

    def __call__(self, model: nn.Module) -> OptimWrapper:
        """Return the optimiser of a model."""
        whole: Any = model.module if hasattr(model, 'module') else model
        each: list[dict] = []
        self.add_params(each, whole)
        groups = merge(each, getattr(whole, 'mixer', None))
        optimizer = OPTIMIZERS.build({**fused_on_gpus(self.optimizer_cfg, groups), 'params': groups})
        return OPTIM_WRAPPERS.build(dict(self.optim_wrapper_cfg), default_args={'optimizer': optimizer})


def merge(each: list[dict[str, Any]], mixer: nn.Module | None) -> list[dict[str, Any]]:
    """Put parameters with equal settings and owners into one group, in the order in which they first come."""
    owned = {id(parameter) for parameter in mixer.parameters()} if mixer is not None else set()
    groups: list[dict[str, Any]] = []
    for single in each:
        settings = {key: value for key, value in single.items() if key != 'params'}
        if any(id(parameter) in owned for parameter in single['params']):
            settings[OWNER] = 'mixer'
        for group in groups:
            if settings == {key: value for key, value in group.items() if key != 'params'}:
                group['params'] += single['params']
                break
        else:
            groups.append({'params': list(single['params']), **settings})
    return groups
