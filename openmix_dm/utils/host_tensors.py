"""Small tensors that are drawn on the host and needed on the device."""

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
