"""AutoMix (https://arxiv.org/abs/2103.13027): a network that learns to mix, trained along with the model.

One step has two independent draws of lam and partners. With one, the mix block learns: the momentum network classifies
what its masks show, and the gradient goes through the frozen network to the masks. With the other, the model learns
from images that the block has mixed, without gradient; it also learns from the images as they are.

Where we differ from released code, and why:
* one head for clean and mixed images, and one classifier for every mixer: this file adds no training step of its own;
* the weight of the mask loss falls along a cosine over the whole run; released code anneals what it has annealed
  already, so that the loss is gone after a thirtieth of it;
* `mask_adjust` takes the masks of the model's batch to the lam of that batch, not to that of the block's;
* the first, clean pass of the momentum network ends at the stage that masks are made of;
* lam is always known to the block, and can be drawn for each sample.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.losses.functional import mixed_ce
from openmix_dm.mixers.automix.block import MixBlock
from openmix_dm.mixers.automix.masks import mask_loss, plain_near_ends, with_mean
from openmix_dm.mixers.automix.momentum import MomentumNetwork, Progress
from openmix_dm.mixers.base import Lam, Mixer, per_row
from openmix_dm.mixers.partner import Partner, both, draw_partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import FurtherBatch, MixedPair, MixTarget, Probe
from openmix_dm.utils.checks import in_range, non_negative, positive
from openmix_dm.utils.modules import full_precision


@MIXERS.register_module()
class AutoMix(Mixer):
    """Mix by masks that a network learns to draw along with the model (https://arxiv.org/abs/2103.13027).

    The mix block makes a mask of lam and of the features of both images, those of a momentum copy of the model. The
    labels have the drawn lam. The block learns from a draw of lam and partners of its own; the model learns from mixed
    and from clean images, by one head. The momentum network is evaluated beside the model, as `momentum_top1`.

    `attach` makes the networks, out of a model with a backbone and a head; without it the mixer cannot mix.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha). Default: 2.0.
        stage: name of the backbone's stage whose features masks are made of, such as 'block6' of a Vision Transformer.
            It has to leave more than one place of an image. Default: 'stage3'.
        momentum: what the momentum network keeps of itself at the first step. Default: 0.999.
        momentum_end: what it keeps at the last step, reached along a cosine; at least `momentum`. Default: 0.999999.
        mask_weight: weight of the loss that keeps the mean of masks near lam. Default: 0.1.
        mask_margin: distance between the mean of masks and lam that costs nothing. Default: 0.1.
        mask_annealing: let `mask_weight` fall to 0 along a cosine over the run. Default: True.
        lam_margin: so near to 0 or 1 of lam, the model's images are mixed as by Mixup. Default: 0.08.
        mask_adjust: probability for a batch that the model's masks are scaled to a mean of lam. Default: 0.0.
        clean_weight: weight of the model's loss on the images as they are. Default: 1.0.
        init_std: standard deviation of the block's first weights. For a short run, or few features, larger ones save
            thousands of steps in which all places get the same mask. Default: 0.01.
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='AutoMix', alpha=2.0, stage='stage3')
    """

    label_from = 'drawn'
    needs_model = True
    example = {'stage': 'stage2'}
    upsampling = 'nearest'
    variance_weight = 0.0  # within the mask loss

    def __init__(
        self,
        alpha: float = 2.0,
        stage: str = 'stage3',
        momentum: float = 0.999,
        momentum_end: float = 0.999999,
        mask_weight: float = 0.1,
        mask_margin: float = 0.1,
        mask_annealing: bool = True,
        lam_margin: float = 0.08,
        mask_adjust: float = 0.0,
        clean_weight: float = 1.0,
        init_std: float = 0.01,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        self.stage = stage
        self.momentum = in_range('momentum', momentum, 0, 1)
        self.momentum_end = in_range('momentum_end', momentum_end, momentum, 1)
        self.mask_weight, self.mask_annealing = non_negative('mask_weight', mask_weight), mask_annealing
        self.mask_margin, self.lam_margin = (
            non_negative('mask_margin', mask_margin),
            in_range('lam_margin', lam_margin, 0, 0.5),
        )
        self.mask_adjust = in_range('mask_adjust', mask_adjust, 0, 1)
        self.clean_weight = non_negative('clean_weight', clean_weight)
        self.init_std = positive('init_std', init_std)
        self.progress = Progress()
        self.network: MomentumNetwork | None = None
        self.block: nn.Module | None = None

    def make_block(self, channels: int) -> nn.Module:
        """Build the network that draws masks."""
        return MixBlock(channels, init_std=self.init_std)

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

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners; while training, with labels, also return what the mix block learns from."""
        own, other = both(partner, inputs, self.features)
        rows = per_row(lam, inputs)
        with torch.no_grad():
            known = rows if isinstance(lam, Tensor) else lam
            mask = plain_near_ends(self.draw_mask(own, other, rows, inputs), known, self.lam_margin)
            if self.mask_adjust and torch.rand((), device='cpu').item() < self.mask_adjust:
                mask = with_mean(mask, rows)
        mixed = partner.blend(inputs, mask.to(inputs.dtype))
        learning = self.training and torch.is_grad_enabled() and labels is not None
        losses = self.learn(inputs, labels, own) if learning and labels is not None else {}
        return MixedPair(mixed, rows, mask, losses=losses, further=self.clean_batch(inputs, labels))

    def clean_batch(self, inputs: Tensor, labels: Tensor | None) -> tuple[FurtherBatch, ...]:
        """Return the images as they were, by which the model is trained besides, if it is."""
        if not self.clean_weight or labels is None:
            return ()
        return (FurtherBatch('clean', inputs, MixTarget.hard(labels), self.clean_weight),)

    def learn(self, inputs: Tensor, labels: Tensor, features: Tensor) -> dict[str, Tensor]:
        """Return the losses of the mix block on a draw of its own; nothing but the block gets a gradient from them."""
        lam = self.draw_lam(len(inputs), inputs.device)
        partner, rows = draw_partner(self.partner, len(inputs)), per_row(lam, inputs)
        mask = self.draw_mask(features, partner.take(features), rows, inputs)
        logits = self._network()(partner.blend(inputs.float(), mask))
        balance = mask_loss(mask, lam, self.mask_margin, self.variance_weight)
        weight = self.progress.between(self.mask_weight, 0.0) if self.mask_annealing else self.mask_weight
        return {
            'loss_block': mixed_ce(logits, labels, partner.take(labels), rows).mean(),
            'loss_mask': balance * weight,
        }

    def features(self, images: Tensor) -> Tensor:
        """Return what masks are made of: the momentum network's features, in full precision and without gradient."""
        with full_precision(images.device):
            features = self._network().features(images.float(), self.stage)
        _check_places(features.shape[1:], self.stage, tuple(images.shape[-2:]))
        return features

    def draw_mask(self, own: Tensor, other: Tensor, lam: Tensor, inputs: Tensor) -> Tensor:
        """Return masks (N, 1, H, W) float32 for the inputs out of the features of both sides."""
        with full_precision(inputs.device):
            partners = F.interpolate(self._block()(own, other, lam), inputs.shape[-2:], mode=self.upsampling)
        # The block weighs the partner, a mask the own image: 1 - sigmoid(x) is sigmoid(-x).
        return torch.sigmoid(-partners)

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
