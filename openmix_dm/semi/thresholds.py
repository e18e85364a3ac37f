"""Which pseudo-labels are trusted."""

import torch
from torch import Tensor, nn

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.errors import ConfigError
from openmix_dm.registry import SEMI_PARTS
from openmix_dm.utils.checks import in_range
from openmix_dm.utils.dist import gather_rows

TAU = 0.95


class Threshold(nn.Module):
    """Say which pseudo-labels of a batch are trusted; state lives in buffers and is the same on all ranks."""

    def setup(self, facts: StreamFacts) -> None:
        """Learn about the streams before training."""

    def levels(self, num_classes: int, device: torch.device) -> Tensor:
        """Return the confidence that is asked for, one for all classes, or (classes,)."""
        raise NotImplementedError

    def record(self, confidence: Tensor, hard: Tensor, index: Tensor) -> None:
        """Take note of the pseudo-labels of a batch, after its mask was made."""


@SEMI_PARTS.register_module()
class FixedThreshold(Threshold):
    """Trust pseudo-labels of at least a fixed confidence (FixMatch, https://arxiv.org/abs/2001.07685).

    Args:
        tau: lowest confidence that is trusted, the same for all classes; 0 trusts all. Default: 0.95.

    Example:
        labeler = dict(type='Labeler', threshold=dict(type='FixedThreshold', tau=0.95))
    """

    def __init__(self, tau: float = TAU) -> None:
        super().__init__()
        self.tau = in_range('tau', tau, 0, 1)

    def levels(self, num_classes: int, device: torch.device) -> Tensor:
        """Return tau."""
        return torch.full((), self.tau, device=device)


@SEMI_PARTS.register_module()
class CurriculumThreshold(Threshold):
    """Lower the threshold of classes that are learned slowly (FlexMatch, https://arxiv.org/abs/2110.08263).

    This is curriculum pseudo-labelling. Each unlabelled image remembers the last class that it was given with a
    confidence of at least tau. A class with few such images gets a lower threshold: tau * M(beta), beta = its count
    over the largest count, M(b) = b / (2 - b). As long as most images remember nothing, their number is the largest:
    that is the warm-up.

    Args:
        tau: highest threshold that a class can have, and the confidence at which a class is remembered, in [0, 1].
            Default: 0.95.

    Example:
        labeler = dict(type='Labeler', threshold=dict(type='CurriculumThreshold', tau=0.95))
    """

    remembered: Tensor

    def __init__(self, tau: float = TAU) -> None:
        super().__init__()
        self.tau = in_range('tau', tau, 0, 1)
        self.register_buffer('remembered', torch.empty(0, dtype=torch.int64))  # (unlabelled,) class, or -1

    def setup(self, facts: StreamFacts) -> None:
        """Make room for the images of the unlabelled stream."""
        self.remembered = torch.full((facts.unlabelled,), -1, device=self.remembered.device)

    def levels(self, num_classes: int, device: torch.device) -> Tensor:
        """Return tau * M(beta) for each class; all zero while no image remembers anything."""
        if not len(self.remembered):
            raise ConfigError(
                'CurriculumThreshold does not know the unlabelled stream; call model.setup(streams.facts)'
            )
        counts = torch.zeros(num_classes + 1, dtype=torch.int64, device=self.remembered.device)
        counts.scatter_add_(0, self.remembered + 1, torch.ones_like(self.remembered))
        beta = counts[1:] / counts.max()  # the images that remember nothing are counted too
        return self.tau * beta / (2 - beta)

    def record(self, confidence: Tensor, hard: Tensor, index: Tensor) -> None:
        """Remember the classes of confident pseudo-labels, by tau and not by the class's threshold; of all ranks."""
        sure = gather_rows(confidence) >= self.tau
        hard, index = gather_rows(hard), gather_rows(index)
        # An image may be twice in a batch: its last pseudo-label counts, which a plain write would leave to chance.
        order = torch.arange(len(index), device=index.device)
        last = torch.full_like(self.remembered, -1)
        last.scatter_reduce_(0, index, torch.where(sure, order, -1), 'amax')
        self.remembered = torch.where(last >= 0, hard[last.clamp(min=0)], self.remembered)
