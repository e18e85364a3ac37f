"""A network that follows another one slowly."""

import copy

import torch
from torch import Tensor, nn

from openmix_dm.utils.checks import in_range


class MomentumTeacher(nn.Module):
    """Hold an average of a student's weights: teacher = decay * teacher + (1 - decay) * student, at each `follow`.

    It runs in train mode with batch statistics and running statistics of its own, without gradient (Self-Tuning's key
    encoder). It is saved with the model that holds it.
    """

    def __init__(self, student: nn.Module, decay: float = 0.999) -> None:
        super().__init__()
        self.decay = in_range('decay', decay, 0, 1)
        self.network = copy.deepcopy(student).requires_grad_(False)

    def copy_from(self, student: nn.Module) -> None:
        """Start from the student as it is now."""
        self.network.load_state_dict(student.state_dict())

    @torch.no_grad()
    def follow(self, student: nn.Module) -> None:
        """Move towards the student; buffers stay the teacher's own."""
        mine = [value.detach() for value in self.network.parameters()]
        torch._foreach_lerp_(mine, [value.detach() for value in student.parameters()], 1 - self.decay)

    @torch.no_grad()
    def forward(self, inputs: Tensor) -> Tensor:
        """Return what the teacher makes of a batch."""
        return self.network(inputs)
