"""AdAutoMix (https://arxiv.org/abs/2312.11954): AutoMix whose mix block works against the classifier every second step.

Two or more images become one. In the first of two steps the block learns masks that the momentum network gets wrong,
held by how its logits of a mixed image are turned to those of the clean ones; in the second, masks that it gets right.

Where we differ from released code, and why:
* a cosine of 1 is what the images' meaning asks for, and released code minimises it: so do we, and `cosine_sign=-1`
  does the opposite;
* which of two steps it is follows from the number of optimiser steps, which is saved; released code counts batches
  from 0 again in a run that goes on;
* of three or more images, the weights of the partners among each other are drawn independently of lam;
* near the ends of lam, images are mixed as by Mixup, for any number of images (OpenMixup does so everywhere else);
* one head for clean and mixed images; maps of any shape; the clean logits come from the pass that makes the features.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.losses.beyond_pairs import dense_ce
from openmix_dm.mixers.automix.block import GroupMixBlock
from openmix_dm.mixers.automix.learned import LearnedMixer
from openmix_dm.mixers.automix.masks import plain_near_ends
from openmix_dm.mixers.base import Lam, per_row
from openmix_dm.mixers.partner import Partner, draw_partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import FurtherBatch, MixedPair, MixTarget, Probe
from openmix_dm.utils.checks import in_range, one_of
from openmix_dm.utils.modules import full_precision
from openmix_dm.utils.transfers import to_device

UPSAMPLINGS = ('bilinear', 'nearest')


@dataclass(frozen=True)
class Group:
    """Say which images become one, row by row: the own ones and those of some partners, and how much of each."""

    partners: tuple[Partner, ...]
    lam: Tensor  # (N,) float32, of the own image
    shares: tuple[Tensor, ...]  # (N,) float32, of each partner in the rest: they sum to 1

    @property
    def weights(self) -> list[Tensor]:
        """The weights of all images, (N,) each, the own one's first."""
        return [self.lam, *((1 - self.lam) * share for share in self.shares)]

    def of(self, own: Tensor) -> list[Tensor]:
        """Return the values of all images for each row, the own ones first."""
        return [own, *(partner.derive(lambda values: values, own) for partner in self.partners)]

    def target(self, labels: Tensor, classes: int) -> MixTarget:
        """Return the label of each row: a pair for two images, and else rows of the partners' classes."""
        if len(self.partners) == 1:
            return MixTarget(labels, self.partners[0].take(labels), self.lam)
        rows = self.lam.new_zeros(len(labels), classes)
        for partner, share in zip(self.partners, self.shares, strict=True):
            rows.scatter_add_(1, partner.take(labels)[:, None], share[:, None])
        return MixTarget(labels, rows.argmax(dim=1), self.lam, rows_b=rows)


@MIXERS.register_module()
class AdAutoMix(LearnedMixer):
    """Mix by masks that a network learns to draw with and against the model (https://arxiv.org/abs/2312.11954).

    As for AutoMix, masks are made of the features of a momentum copy of the model, the labels have the drawn weights,
    the block learns from a draw of its own, and the momentum network is evaluated beside the model, as `momentum_top1`.
    Every second optimiser step, the first included, the block learns to be wrong: by -beta times the cross-entropy of
    the momentum network, and (1 - beta) times the cosine between its logits of mixed and of clean images. In the steps
    between it learns by the cross-entropy.

    With three or more images the labels are of more than two classes (`rows_b` of the target), which losses have to
    take: MixedCE, MixedBCE. There are no pairs of two streams then.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha); of more than two images, a number for each, divided by their sum.
            Default: 1.0.
        images: how many images become one. The authors take 3, and 2 for ImageNet. Default: 2.
        beta: share of the cross-entropy in the adversarial steps. The authors take 0.3 for CIFAR-100, 0.4 for
            Tiny-ImageNet, 0.1 for ImageNet, and for CUB, Aircraft and Cars with a ResNet-18 0.3, 0.3 and 0.5.
            Default: 0.3.
        cosine_sign: 1 turns the logits of mixed images away from those of the clean ones in the adversarial steps, as
            the authors' code does; -1 towards them, which is what they say the term is for. Default: 1.
        stage: name of the backbone's stage whose features masks are made of, such as 'block6' of a Vision Transformer.
            It has to leave more than one place of an image. Default: 'stage3'.
        momentum: what the momentum network keeps of itself at the first step. Default: 0.999.
        momentum_end: what it keeps at the last step, reached along a cosine; at least `momentum`. The authors take
            0.99999 beside CIFAR and Tiny-ImageNet, and 0.99996 for Vision Transformers. Default: 0.999999.
        lam_margin: so near to 0 or 1 of lam, the model's images are mixed as by Mixup. Default: 0.03.
        lam_channel: tell the block the weight of each image. The authors do not for CNNs on CIFAR and Tiny-ImageNet,
            and do for other CNNs. Default: False.
        upsampling: how scores become as large as images: 'bilinear', or 'nearest', as the authors do for Vision
            Transformers. Default: 'bilinear'.
        clean_weight: weight of the model's further losses: on the images as they are, and see `plain_share`.
            Default: 1.0.
        plain_share: share of these that is on the same images mixed by their weights alone, as by Mixup; for more than
            two images. Default: 0.5.
        init_std: standard deviation of the block's first weights. For a short run, or few features, larger ones save
            thousands of steps in which all places get the same mask. Default: 0.01.
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='AdAutoMix', images=3, beta=0.3)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        images: int = 2,
        beta: float = 0.3,
        cosine_sign: int = 1,
        stage: str = 'stage3',
        momentum: float = 0.999,
        momentum_end: float = 0.999999,
        lam_margin: float = 0.03,
        lam_channel: bool = False,
        upsampling: str = 'bilinear',
        clean_weight: float = 1.0,
        plain_share: float = 0.5,
        init_std: float = 0.01,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, stage, momentum, momentum_end, lam_margin, clean_weight, init_std, per_sample, partner)
        if images < 2:
            raise ValueError(f'images must be at least 2, got {images!r}: one image is not mixed')
        if cosine_sign not in (1, -1):
            raise ValueError(f'cosine_sign must be 1 (as the authors code it) or -1, got {cosine_sign!r}')
        self.images, self.cosine_sign = images, cosine_sign
        self.beta = in_range('beta', beta, 0, 1)
        self.lam_channel, self.upsampling = lam_channel, one_of('upsampling', upsampling, UPSAMPLINGS)
        self.plain_share = in_range('plain_share', plain_share, 0, 1) if images > 2 else 0.0
        self.label_fields = frozenset({'rows_b'}) if images > 2 else frozenset()
        self._classes = 0

    def make_block(self, channels: int) -> nn.Module:
        """Build the network that draws masks."""
        return GroupMixBlock(channels, self.lam_channel, self.init_std)

    def attach(self, model: nn.Module) -> None:
        """Copy a model and build the mix block for its features; another call copies its weights of the moment."""
        super().attach(model)
        self._classes = getattr(model.head, 'num_classes', 0)
        if self.images > 2 and not self._classes:
            raise ValueError(f'AdAutoMix of {self.images} images needs a head with num_classes, or take images=2')

    # ---- who is mixed, and how much of whom ----

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw the weight of the own image on the CPU."""
        if self.images == 2:
            return super().draw_lam(size, device)
        own, *_ = self._parts(self.images, size if self.per_sample else 1)
        return to_device(own, device, torch.float32) if self.per_sample else own.item()

    def draw_group(self, partner: Partner, lam: Lam, inputs: Tensor) -> Group:
        """Add to the first partner all further ones, and divide among them what lam leaves."""
        size = len(inputs)
        further = [draw_partner(self.partner, size) for _ in range(self.images - 2)]
        shares = self._parts(self.images - 1, size if self.per_sample else 1)
        rows = [to_device(share, inputs.device, torch.float32).expand(size) for share in shares]
        return Group((partner, *further), per_row(lam, inputs), tuple(rows))

    def _parts(self, count: int, size: int) -> tuple[Tensor, ...]:
        """Draw numbers from Beta(alpha, alpha) for so many images, (size,) each, and divide them by their sum."""
        if count == 1:
            return (torch.ones(size, dtype=torch.float64, device='cpu'),)
        gammas = torch._standard_gamma(self._concentration[:, None, None].expand(2, count, size))
        draws = gammas[0] / gammas.sum(dim=0)
        return (draws / draws.sum(dim=0)).unbind()

    # ---- one batch ----

    @property
    def is_adversarial(self) -> bool:
        """Whether the block works against the classifier in this optimiser step."""
        return self.progress.step % 2 == 0

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners; while training, with labels, also return what the mix block learns from."""
        if labels is None and self.images > 2:
            raise ValueError(f'AdAutoMix of {self.images} images has no pairs of two streams; take images=2')
        learning = labels is not None and self.learns_now
        own, said = self.look(inputs, with_logits=learning and self.is_adversarial and self.beta < 1)
        group = self.draw_group(partner, lam, inputs)
        with torch.no_grad():
            known = group.lam if isinstance(lam, Tensor) else lam
            weights = torch.stack(group.weights, dim=1)
            masks = self.draw_masks(self._maps(group, inputs, own), group.weights, inputs)
            masks = plain_near_ends(masks, known, self.lam_margin, weights)
            mixed = blend(group.of(inputs), masks.to(inputs.dtype).split(1, dim=1))
        if labels is None:
            return MixedPair(mixed, group.lam, masks[:, :1])
        losses = self.learn(inputs, labels, own, said, group) if learning else {}
        clean = self.clean_batch(inputs, labels, 1 - self.plain_share)
        if self.images == 2:
            return MixedPair(mixed, group.lam, masks[:, :1], losses=losses, further=clean)
        target = group.target(labels, self._classes)
        others = blend(group.of(inputs)[1:], columns(group.shares, inputs))
        further = (*clean, *self.plain_batch(inputs, others, target))
        return MixedPair(
            mixed, group.lam, masks[:, :1], losses=losses, further=further, rows_b=target.rows_b, partners=others
        )

    def look(self, images: Tensor, with_logits: bool) -> tuple[Tensor, Tensor | None]:
        """Return the features of images, and what the momentum network says of them if that is wanted."""
        return self.features_and_logits(images) if with_logits else (self.features(images), None)

    def learn(
        self, inputs: Tensor, labels: Tensor, features: Tensor, said: Tensor | None, of_model: Group
    ) -> dict[str, Tensor]:
        """Return the losses of the mix block on a draw of its own; nothing but the block gets a gradient from them.

        Of two images, lam is drawn anew; of more, the weights are those of the model's batch.
        """
        lam = of_model.lam if self.images > 2 else self.draw_lam(len(inputs), inputs.device)
        group = self.draw_group(draw_partner(self.partner, len(inputs)), lam, inputs)
        if self.images > 2:
            group = Group(group.partners, group.lam, of_model.shares)
        masks = self.draw_masks(group.of(features), group.weights, inputs)
        logits = self._network()(blend(group.of(inputs.float()), masks.split(1, dim=1)))
        rows = group.target(labels, logits.shape[1]).dense(logits.shape[1])
        cost = dense_ce(logits, rows).mean()
        if not self.is_adversarial:
            return {'loss_block': cost}
        losses = {'loss_block': -self.beta * cost}
        if said is not None:
            losses['loss_cosine'] = self.cosine_sign * (1 - self.beta) * likeness(logits, said, group)
        return losses

    def draw_masks(self, maps: list[Tensor], weights: list[Tensor], inputs: Tensor) -> Tensor:
        """Return masks (N, images, H, W) float32, which sum to 1 over the images, out of the features of each."""
        with full_precision(inputs.device):
            scores = F.interpolate(self._block()(maps, weights), inputs.shape[-2:], mode=self.upsampling)
            return scores.softmax(dim=1)

    def plain_batch(self, inputs: Tensor, others: Tensor, target: MixTarget) -> tuple[FurtherBatch, ...]:
        """Return the images mixed as by Mixup, by which the model is trained besides, if it is."""
        weight = self.clean_weight * self.plain_share
        plain = torch.lerp(others, inputs, columns((target.lam,), inputs)[0])
        return (FurtherBatch('plain', plain, target, weight),) if weight else ()

    def _maps(self, group: Group, inputs: Tensor, own: Tensor) -> list[Tensor]:
        """Return the features of all images; those of a batch that is not the own one have to be made."""
        first, *further = group.partners
        measured = first.derive(lambda images: own if images is inputs else self.features(images), inputs)
        return [own, measured, *(partner.take(own) for partner in further)]

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'{super().extra_repr()}, images={self.images}, beta={self.beta}, cosine_sign={self.cosine_sign}'


def blend(values: list[Tensor], weights: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """Return the sum of several batches, each by its weights, in new memory."""
    mixed = values[0] * weights[0]
    for value, weight in zip(values[1:], weights[1:], strict=True):
        mixed = torch.addcmul(mixed, value, weight)
    return mixed


def columns(weights: tuple[Tensor, ...], images: Tensor) -> list[Tensor]:
    """Return weights (N,) in a form that multiplies images (N, C, H, W)."""
    return [weight.to(images.dtype)[:, None, None, None] for weight in weights]


def likeness(logits: Tensor, clean: Tensor, group: Group) -> Tensor:
    """Return the cosine between logits of mixed and of clean images, weighed by image, averaged over the batch."""
    with full_precision(logits.device):
        mixed, single = F.normalize(logits.float(), dim=1), F.normalize(clean.float(), dim=1)
        asked = blend(group.of(single), [weight[:, None] for weight in group.weights])
        return (mixed * asked).sum(dim=1).mean()
