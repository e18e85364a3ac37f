"""Small tensors that cross between host and device without making the host wait."""

from typing import Any

import torch
from torch import Tensor


def to_device(tensor: Tensor, device: torch.device, dtype: torch.dtype | None = None) -> Tensor:
    """Return a tensor on a device, of another type if one is given; the host never waits for the copy.

    A copy out of ordinary memory makes the host wait until a GPU has come to it, whatever `non_blocking` says; one out
    of pinned memory does not. torch keeps the pinned memory until the copy is done.
    """
    if device.type != 'cuda' or tensor.is_cuda:
        return tensor.to(device, dtype)
    return tensor.to(dtype=dtype).pin_memory().to(device, non_blocking=True)


class HostCopy:
    """A small tensor on its way to the host: asked for now, read later.

    On a GPU the copy goes into pinned memory, behind what the device is asked to do before it; whoever reads it an
    iteration later does not wait. Elsewhere the tensor is read as it is.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._here, self._event = tensor, None
        if tensor.is_cuda:
            self._here, self._event = self._send(tensor)

    @staticmethod
    def _send(tensor: Tensor) -> tuple[Tensor, Any]:
        """Start the copy; return where it will be, and the event after which it is there."""
        pinned = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        pinned.copy_(tensor, non_blocking=True)
        event = torch.cuda.Event()
        event.record()
        return pinned, event

    def read(self) -> list[float]:
        """Return the numbers."""
        if self._event is not None:
            self._event.synchronize()
        return self._here.tolist()
