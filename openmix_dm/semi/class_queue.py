"""The last keys of each class."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.utils.dist import gather_rows


class ClassQueue(nn.Module):
    """Keep `length` unit vectors for each class, the oldest of which makes room for the next; random ones at first.

    What is added is what all ranks add, in the order of the global batch, so that every rank holds the same queue.
    """

    keys: Tensor
    next: Tensor

    def __init__(self, num_classes: int, length: int, width: int) -> None:
        super().__init__()
        if length < 1 or width < 1:
            raise ValueError(f'a queue needs at least one key of at least one number, got {length} x {width}')
        self.length = length
        self.register_buffer('keys', F.normalize(torch.randn(num_classes, length, width), dim=2))
        self.register_buffer('next', torch.zeros(num_classes, dtype=torch.int64))

    @torch.no_grad()
    def add(self, keys: Tensor, labels: Tensor) -> None:
        """Add keys (N, width), each to its class."""
        keys, labels = gather_rows(keys.detach().to(self.keys.dtype)), gather_rows(labels)
        same_class = labels[:, None] == labels
        before = same_class.tril(diagonal=-1).sum(dim=1)  # of this batch and class, how many come earlier
        place = (self.next[labels] + before) % self.length
        # A batch with more keys of a class than the queue has places writes some places twice: the last one stays.
        rows = torch.arange(len(labels), device=labels.device)
        last = ((same_class & (place[:, None] == place)) * rows).amax(dim=1)
        self.keys[labels, place] = keys[last]
        self.next.index_add_(0, labels, torch.ones_like(labels))  # bincount would wait for the device
        self.next %= self.length
