"""Distribution alignment (ReMixMatch, arXiv:1911.09785)."""

import torch
from torch import Tensor, nn

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.registry import SEMI_PARTS
from openmix_dm.utils.checks import in_range
from openmix_dm.utils.dist import mean_over_batch

EPS = 1e-6  # added to both distributions: a class that nobody predicts divides by nothing


@SEMI_PARTS.register_module()
class DistributionAlignment(nn.Module):
    """Align soft pseudo-labels with the labelled class frequencies (ReMixMatch, https://arxiv.org/abs/1911.09785).

    Pseudo-labels (N, classes) are scaled by (class frequencies of the labelled images) / (their own running mean) and
    renormalised. The running mean starts at the mean of the first batch; a batch is that of all ranks.

    Args:
        decay: share of the running mean that is kept at each batch. Default: 0.999.

    Example:
        labeler = dict(type='Labeler', align=dict(type='DistributionAlignment', decay=0.999))
    """

    running: Tensor
    started: Tensor
    target: Tensor

    def __init__(self, decay: float = 0.999) -> None:
        super().__init__()
        self.decay = in_range('decay', decay, 0, 1)
        self.register_buffer('running', torch.empty(0))
        self.register_buffer('started', torch.zeros((), dtype=torch.bool))
        self.register_buffer('target', torch.empty(0), persistent=False)

    def setup(self, facts: StreamFacts) -> None:
        """Take the class frequencies of the labelled images."""
        self.target = (facts.class_counts / facts.class_counts.sum()).to(self.running.device, torch.float32)
        self.running = torch.zeros_like(self.target)

    def forward(self, probabilities: Tensor) -> Tensor:
        """Update the running mean by the pseudo-labels of a batch, then align them, (N, classes)."""
        batch = mean_over_batch(probabilities)
        # torch.where and not `if`, which would wait for the device.
        self.running = torch.where(self.started, self.decay * self.running + (1 - self.decay) * batch, batch)
        self.started = torch.ones_like(self.started)
        aligned = probabilities * (self.target + EPS) / (self.running + EPS)
        return aligned / aligned.sum(dim=1, keepdim=True)
