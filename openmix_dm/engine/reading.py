"""How a run reads its images: what two people have to agree on to get the same pixels."""

from collections.abc import Iterator
from typing import Any

from torch.utils.data import DataLoader


def describe_reading(loaders: dict[str, DataLoader | None]) -> dict[str, dict[str, Any]]:
    """Return decoder and interpolations of each phase; a data set that lives in tensors has no decoder."""
    datasets = {phase: loader.dataset for phase, loader in loaders.items() if loader is not None}
    return {
        'decoder': {phase: getattr(dataset, 'decoder', None) for phase, dataset in datasets.items()},
        'interpolation': {phase: interpolations(dataset) for phase, dataset in datasets.items()},
    }


def interpolations(dataset: Any) -> dict[str, str]:
    """Return the interpolation of each transform that has one."""
    return {type(part).__name__: part.interpolation for part in _parts(dataset) if hasattr(part, 'interpolation')}


def _parts(whole: Any) -> Iterator[Any]:
    """Walk through transforms, and those inside of them."""
    for part in getattr(whole, 'transforms', ()):
        yield part
        yield from _parts(part)
