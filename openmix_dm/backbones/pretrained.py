"""Weights from a file into a backbone, all of them or none."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from openmix_dm.utils.tensor_files import read_tensor_file

Weights = dict[str, Tensor]
PUBLISHED = 'timm'  # `pretrained='timm'` asks for what timm publishes instead of a file
WRAPPERS = ('state_dict', 'model')
CLASSIFIERS = ('fc.', 'head.', 'head_dist.', 'classifier.')
SHOWN_KEYS = 5


def read_weights(path: str | Path) -> Weights:
    """Read a .safetensors file, or a .pth, .pt or .bin file that holds nothing but plain data.

    The weights may stand alone or under 'state_dict' or 'model'. Code in a pickle is refused, never run.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f'pretrained weights: expected a file at {path}, found none')
    return unwrap(_read_safetensors(path) if path.suffix == '.safetensors' else _read_pickle(path), str(path))


def _read_safetensors(path: Path) -> Any:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except SafetensorError as error:
        raise ValueError(f'{path}: expected a safetensors file, got one that does not read as such') from error


def _read_pickle(path: Path) -> Any:
    try:
        return read_tensor_file(path)[0]
    except ValueError as error:
        raise ValueError(
            f'{path}: expected tensors and plain data saved by torch.save, got a damaged file or one that holds code, '
            'which is not run'
        ) from (error.__cause__ or error)


def unwrap(content: Any, source: str) -> Weights:
    """Find the weights in what a file held."""
    for wrapper in WRAPPERS:
        if isinstance(content, Mapping) and isinstance(content.get(wrapper), Mapping):
            content = content[wrapper]
    if not isinstance(content, Mapping) or not content:
        raise ValueError(f'{source}: expected named weights, got {type(content).__name__} without any')
    foreign = [str(key) for key, value in content.items() if not isinstance(value, Tensor)]
    if foreign:
        raise ValueError(f'{source}: expected nothing but tensors, got other values at {_some(foreign)}')
    return dict(content)


def classifier_in(weights: Weights, source: str | None) -> tuple[Tensor, Tensor]:
    """Return weight and bias of the linear classifier that a file holds beside its backbone."""
    for name in ('fc', 'head.fc', 'head', 'classifier'):
        for prefix in ('', 'module.', 'model.'):
            weight, bias = weights.get(f'{prefix}{name}.weight'), weights.get(f'{prefix}{name}.bias')
            if weight is not None and bias is not None and weight.dim() == 2:
                return weight, bias
    raise ValueError(f'{source}: expected a linear classifier beside the backbone, such as fc.weight, found none')


def load_weights(
    module: nn.Module, weights: Weights, source: str, convert: Callable[[Weights], Weights] | None = None
) -> None:
    """Copy weights into a module; missing, unknown or misshapen ones raise a ValueError that names `source`.

    Prefixes of wrappers and classifier weights that the module lacks are dropped, and with keys under `backbone.`
    everything beside them (head, mixer). `convert` is tried only on weights that do not fit as they are.
    """
    wanted = module.state_dict()
    weights = _without_prefixes(weights, wanted)
    if convert is not None and not _fits(_without_classifier(weights, wanted), wanted):
        weights = convert(weights)
    weights = _without_classifier(weights, wanted)
    _check(weights, wanted, source)
    module.load_state_dict(weights, strict=False)  # `_check` is stricter, but knows about counters of old files


def _without_prefixes(weights: Weights, wanted: Weights) -> Weights:
    """Take off `module.`, `model.` and `backbone.` in any order, unless the module's own keys start so."""
    for prefix in ('module.', 'model.', 'backbone.'):
        own = {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}
        beside = [key for key in weights if not key.startswith(prefix)]
        alone = prefix == 'backbone.' or all(key.startswith(CLASSIFIERS) for key in beside)
        if own and alone and not any(key.startswith(prefix) for key in wanted):
            return _without_prefixes(own, wanted)
    return weights


def _without_classifier(weights: Weights, wanted: Weights) -> Weights:
    return {key: value for key, value in weights.items() if key in wanted or not key.startswith(CLASSIFIERS)}


def _missing(weights: Weights, wanted: Weights) -> list[str]:
    # Files from before batch norm counted its batches lack the counter, which only matters without a momentum.
    return [key for key in wanted if key not in weights and not key.endswith('num_batches_tracked')]


def _fits(weights: Weights, wanted: Weights) -> bool:
    same = all(key in wanted and value.shape == wanted[key].shape for key, value in weights.items())
    return same and not _missing(weights, wanted)


def _check(weights: Weights, wanted: Weights, source: str) -> None:
    if missing := _missing(weights, wanted):
        raise ValueError(f'{source}: expected weights for {_some(missing)}, found none; it has {_some(weights)}')
    if unknown := [key for key in weights if key not in wanted]:
        raise ValueError(f'{source}: expected no more than the backbone has, got {_some(unknown)}')
    for key, value in weights.items():
        if value.shape != wanted[key].shape:
            raise ValueError(f'{source}: {key}: expected shape {tuple(wanted[key].shape)}, got {tuple(value.shape)}')


def _some(keys: Iterable[str]) -> str:
    keys = list(keys)
    more = f' and {len(keys) - SHOWN_KEYS} more' if len(keys) > SHOWN_KEYS else ''
    return ', '.join(keys[:SHOWN_KEYS]) + more
