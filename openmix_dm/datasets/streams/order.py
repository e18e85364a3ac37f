"""The endless order in which a stream of images is drawn."""

from functools import lru_cache

import torch
from torch import Tensor

from openmix_dm.keys import PERMUTATION, key


class EndlessOrder:
    """One permutation of the images after the other, each a function of (seed, stream, its number).

    Every image comes once before any comes again, and any place can be the first: nothing is replayed to get there.
    """

    def __init__(self, images: int, seed: int, stream: int) -> None:
        self.images, self.seed, self.stream = images, seed, stream
        self._permutation = lru_cache(maxsize=2)(self._draw)  # a batch may reach from one into the next

    def take(self, start: int, count: int) -> list[int]:
        """Return the images at `count` places from `start` on."""
        taken: list[int] = []
        while len(taken) < count:
            number, place = divmod(start + len(taken), self.images)
            taken += self._permutation(number)[place : place + count - len(taken)].tolist()
        return taken

    def _draw(self, number: int) -> Tensor:
        generator = torch.Generator().manual_seed(key(PERMUTATION, self.seed, self.stream, number))
        return torch.randperm(self.images, generator=generator)
