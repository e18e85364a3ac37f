"""Every setting of a config that its numbers depend on, in one flat dict, by the names that --cfg-options takes.

Defaults of our own classes are filled in, so that what a config says and what it leaves out compare as equal if they
are. Of classes of other packages, only what a config says is known.
"""

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mmengine.config import Config
from mmengine.registry import Registry

from openmix_dm import registry
from openmix_dm.registry import SCOPE

Settings = dict[str, Any]
WHOLE = ('global_batch_size', 'model', 'optim_wrapper', 'param_scheduler', 'train_cfg')
OF_LOADERS = ('dataset', 'sampler', 'repeats')  # workers and the size of a batch that is only evaluated change nothing


def settings_of(config: Config) -> Settings:
    """Return what is trained, on what, by what and how long; nothing of what is only recorded or saved."""
    given = config.to_dict()
    parts = {name: given.get(name) for name in WHOLE}
    for phase in ('train', 'val'):
        loader = given.get(f'{phase}_dataloader') or {}
        parts |= {f'{phase}_dataloader.{key}': loader.get(key) for key in OF_LOADERS}
    parts['default_hooks.ema'] = (given.get('default_hooks') or {}).get('ema')
    return flat(parts)


def flat(part: Any, name: str = '') -> Settings:
    """Return the settings of a part of a config by their full names; what is not set is left out."""
    if isinstance(part, Mapping):
        inner = [(str(key), value) for key, value in with_defaults(part).items()]
    elif isinstance(part, list | tuple) and any(isinstance(each, Mapping | list | tuple) for each in part):
        inner = [(str(place), value) for place, value in enumerate(part)]
    else:
        return {} if part is None else {name: plain(part)}
    found: Settings = {}
    for key, value in inner:
        found |= flat(value, f'{name}.{key}' if name else key)
    return found


def with_defaults(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a class of ours is built with, whether it is said or not."""
    kind = part.get('type')
    target = our_classes().get(kind) if isinstance(kind, str) else kind
    if not callable(target) or getattr(target, '__module__', '').split('.')[0] != SCOPE:
        return dict(part)
    arguments = inspect.signature(target).parameters.values()
    defaults = {each.name: each.default for each in arguments if each.default is not each.empty}
    return {**defaults, **part}


@cache
def our_classes() -> dict[str, Any]:
    """Return all that is registered here, by name."""
    found: dict[str, Any] = {}
    for each in vars(registry).values():
        if isinstance(each, Registry) and each.scope == SCOPE:
            each.import_from_location()
            found |= each.module_dict
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON would hold it."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return (
        value
        if isinstance(value, str | int | float | bool) or value is None
        else getattr(value, '__name__', str(value))
    )


def differences(found: Settings, expected: Settings, parts: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    """Return (found, expected) of the settings below some names that are not equal; what is not set is None."""
    below = tuple(f'{part}.' for part in parts)
    names = [name for name in {**expected, **found} if name in parts or name.startswith(below)]
    return {name: (found.get(name), expected.get(name)) for name in names if found.get(name) != expected.get(name)}
