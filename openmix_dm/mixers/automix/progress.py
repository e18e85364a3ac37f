"""How far a training is: a counter in a buffer, so that a resumed run goes on with its schedules."""

import math

import torch
from torch import Tensor, nn


class Progress(nn.Module):
    """Count optimiser steps and follow a cosine over all of them; nothing is read back from the device."""

    step: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer('step', torch.zeros((), dtype=torch.long))
        self.steps: int | None = None  # of the whole run; part of its config, so not of its state

    def advance(self) -> None:
        """Count a step."""
        self.step += 1

    def cosine(self) -> Tensor:
        """Return a number that falls from 1 at the start to 0 at the end, or stays 1 if the end is not known."""
        if self.steps is None:
            return torch.ones_like(self.step, dtype=torch.float32)
        return (1 + torch.cos(math.pi * (self.step / self.steps).clamp(max=1))) / 2

    def between(self, start: float, end: float) -> Tensor:
        """Return a number that goes from start to end along the cosine."""
        return end + (start - end) * self.cosine()
