"""What every term of a loss has in common."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.semi.executor import Plan
from openmix_dm.semi.step_parts import Finish, Step


class Term(nn.Module):
    """Add something to a loss.

    A step has two halves: `plan` asks for images to go through the network and returns a function that makes the loss
    of what came out. Nothing of a step stays on the term; what has to outlive it is a buffer or in a submodule.
    """

    def attach(self, model: Any) -> None:
        """Build what depends on the model's sizes; called by its constructor."""

    def init_weights(self, model: Any) -> None:
        """Copy what depends on the model's weights, after pretrained ones were loaded."""

    def setup(self, facts: StreamFacts) -> None:
        """Learn about the streams before training."""

    def study(self, model: Any, batches: Iterator[tuple[Tensor, Tensor]]) -> None:
        """Look once at all labelled images, normalised, before the first step; the model is in eval mode.

        A term that defines this makes the data set need a `study_view`.
        """

    def plan(self, step: Step, plan: Plan) -> Finish:
        """Ask for what the term needs; return how its parts are made."""
        raise NotImplementedError(f'{type(self).__name__} has to define plan()')
