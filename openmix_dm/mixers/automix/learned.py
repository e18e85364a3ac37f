"""What mixers share that learn along with a model: a momentum copy of it, a block that draws masks, schedules."""

from typing import Any

import torch
from torch import Tensor, nn

from openmix_dm.mixers.automix.momentum import MomentumNetwork, Progress
from openmix_dm.mixers.base import Mixer
from openmix_dm.structures import FurtherBatch, MixTarget
from openmix_dm.utils.checks import in_range, non_negative, positive
from openmix_dm.utils.modules import full_precision


class LearnedMixer(Mixer):
    """Hold a momentum copy of the model and a network that makes masks of its features; `mix` is left to subclasses.

    `attach` makes the networks, out of a model with a backbone and a head; without it the mixer cannot mix.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        stage: name of the backbone's stage whose features masks are made of.
        momentum: what the momentum network keeps of itself at the first step.
        momentum_end: what it keeps at the last step, reached along a cosine; at least `momentum`.
        lam_margin: so near to 0 or 1 of lam, the model's images are mixed as by Mixup.
        clean_weight: weight of the model's loss on the images as they are.
        init_std: standard deviation of the block's first weights.
        per_sample: draw lam for each sample instead of once for the batch.
        partner: who is mixed with whom, see `Mixer`.
    """

    label_from = 'drawn'
    needs_model = True
    example = {'stage': 'stage2'}

    def __init__(
        self,
        alpha: float,
        stage: str,
        momentum: float,
        momentum_end: float,
        lam_margin: float,
        clean_weight: float,
        init_std: float,
        per_sample: bool,
        partner: str,
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        self.stage = stage
        self.momentum = in_range('momentum', momentum, 0, 1)
        self.momentum_end = in_range('momentum_end', momentum_end, momentum, 1)
        self.lam_margin = in_range('lam_margin', lam_margin, 0, 0.5)
        self.clean_weight = non_negative('clean_weight', clean_weight)
        self.init_std = positive('init_std', init_std)
        self.progress = Progress()
        self.network: MomentumNetwork | None = None
        self.block: nn.Module | None = None

    def make_block(self, channels: int) -> nn.Module:
        """Build the network that draws masks."""
        raise NotImplementedError(f'{type(self).__name__} has to define make_block()')

    # ---- beside the model ----

    def attach(self, model: nn.Module) -> None:
        """Copy a model and build the mix block for its features; another call copies its weights of the moment."""
        whole: Any = model
        if not hasattr(model, 'backbone') or not hasattr(model, 'head'):
            raise ValueError(
                f'{type(self).__name__} copies a model with a backbone and a head, got {type(model).__name__}'
            )
        if self.network is None:
            whole.backbone.stage(self.stage)  # raises with the names that there are
            network = MomentumNetwork(whole.backbone, whole.head)
            self.block = self.make_block(_channels(network, self.stage)).to(next(network.parameters()).device)
            self.network = network.train(self.training)
        self.network.copy_from(whole)

    def check_size(self, height: int, width: int) -> None:
        """Refuse images of which the stage makes a single place."""
        _check_places(self._network().map_shape(self.stage, (height, width)), self.stage, (height, width))

    def begin(self, steps: int) -> None:
        """End the schedules after so many optimiser steps."""
        self.progress.steps = steps

    def after_step(self, model: nn.Module) -> None:
        """Let the momentum network follow the model."""
        self._network().follow(model, self.progress.between(1 - self.momentum, 1 - self.momentum_end))
        self.progress.advance()

    def classifiers(self) -> dict[str, nn.Module]:
        """Name the momentum network, which can be evaluated."""
        return {} if self.network is None else {'momentum': self.network}

    # ---- one batch ----

    @property
    def learns_now(self) -> bool:
        """Whether a batch with labels is one to learn from: not while the model is evaluated."""
        return self.training and torch.is_grad_enabled()

    def clean_batch(self, inputs: Tensor, labels: Tensor | None, share: float = 1.0) -> tuple[FurtherBatch, ...]:
        """Return the images as they were, by which the model is trained besides, if it is."""
        weight = self.clean_weight * share
        return (FurtherBatch('clean', inputs, MixTarget.hard(labels), weight),) if weight and labels is not None else ()

    def features(self, images: Tensor) -> Tensor:
        """Return what masks are made of: the momentum network's features, in full precision and without gradient."""
        with full_precision(images.device):
            features = self._network().features(images.float(), self.stage)
        _check_places(features.shape[1:], self.stage, tuple(images.shape[-2:]))
        return features

    def features_and_logits(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return the same features, and what the momentum network says of the images, of one pass."""
        with full_precision(images.device):
            features, logits = self._network().features_and_logits(images.float(), self.stage)
        _check_places(features.shape[1:], self.stage, tuple(images.shape[-2:]))
        return features, logits

    def _network(self) -> MomentumNetwork:
        if self.network is None:
            raise self._not_attached()
        return self.network

    def _block(self) -> nn.Module:
        if self.block is None:
            raise self._not_attached()
        return self.block

    def _not_attached(self) -> ValueError:
        return ValueError(
            f'{type(self).__name__} learns along with a model: call attach(model) with a MixClassifier, or with '
            'anything that has a backbone and a head, before the first batch'
        )

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'{super().extra_repr()}, stage={self.stage!r}, momentum={self.momentum}..{self.momentum_end}'


def _channels(network: MomentumNetwork, stage: str) -> int:
    """Return how many features there are at each place after a stage, if it has places."""
    size = network.backbone.example_size
    shape = network.map_shape(stage, size)
    _check_places(shape, stage, size)
    return shape[0]


def _check_places(shape: torch.Size, stage: str, size: tuple[int, ...]) -> None:
    """Refuse features (C, h, w) of an image without places that a mask could tell apart."""
    if shape[1] * shape[2] == 1:
        raise ValueError(
            f'a learned mask needs features at several places, but after {stage!r} an image of {size[0]} x {size[1]} '
            'has 1 x 1; choose an earlier stage'
        )
