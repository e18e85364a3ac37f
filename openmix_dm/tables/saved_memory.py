"""How much memory training takes, counted on tensors that have none."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class SavedMemory:
    """Count the bytes that autograd keeps for backward passes, at each moment and at most.

    A storage counts once, however many saved tensors look at it; weights do not count. What a mixer saves and frees
    before the model's own pass is not added to that.
    """

    def __init__(self, model: nn.Module) -> None:
        own = [*model.parameters(), *model.buffers()]
        self._weights = {_storage(tensor) for tensor in own}
        self._users: dict[int, int] = {}
        self.live = self.peak = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what is saved inside."""
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: _Saved(tensor, self), lambda saved: saved.tensor):
            yield

    def keep(self, tensor: Tensor) -> None:
        """Count a tensor that is saved."""
        storage = _storage(tensor)
        if storage not in self._weights:
            self._users[storage] = self._users.get(storage, 0) + 1
            if self._users[storage] == 1:
                self.live += tensor.untyped_storage().nbytes()
                self.peak = max(self.peak, self.live)

    def free(self, tensor: Tensor) -> None:
        """Count a saved tensor off."""
        storage = _storage(tensor)
        if storage not in self._weights:
            self._users[storage] -= 1
            if self._users[storage] == 0:
                del self._users[storage]
                self.live -= tensor.untyped_storage().nbytes()


class _Saved:
    """A saved tensor, which is counted for as long as the graph holds it."""

    def __init__(self, tensor: Tensor, memory: SavedMemory) -> None:
        self.tensor, self._memory = tensor, memory
        memory.keep(tensor)

    def __del__(self) -> None:
        self._memory.free(self.tensor)


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata
