"""Batches that are on their way to the device before they are needed."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from openmix_dm.structures import tensors_in


def prefetched(batches: Iterable[Any], device: torch.device) -> Iterator[Any]:
    """Copy each batch to the device while the one before it is worked on, on a stream of its own.

    The loader's batches are pinned, so that the copy needs nobody to wait for it. Which batches come, and in which
    order, does not change.
    """
    stream: Any = torch.cuda.Stream(device)
    ahead = None
    for batch in batches:
        with torch.cuda.stream(stream):
            sent = moved(batch, device)
        if ahead is not None:
            yield arrived(ahead, stream, device)
        ahead = sent
    if ahead is not None:
        yield arrived(ahead, stream, device)


def moved(batch: Any, device: torch.device) -> Any:
    """Return a batch with all of its tensors on the device."""
    if isinstance(batch, Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {name: moved(value, device) for name, value in batch.items()}
    if isinstance(batch, tuple | list):
        return type(batch)(moved(value, device) for value in batch)
    return batch


def arrived(batch: Any, stream: Any, device: torch.device) -> Any:
    """Let the device's own stream wait for the copy; its memory is not used anew before that stream is done with it."""
    current = torch.cuda.current_stream(device)
    current.wait_stream(stream)
    for tensor in tensors_in(batch):
        tensor.record_stream(current)
    return batch
