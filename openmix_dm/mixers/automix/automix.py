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

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from openmix_dm.losses.functional import mixed_ce
from openmix_dm.mixers.automix.block import MixBlock
from openmix_dm.mixers.automix.learned import LearnedMixer
from openmix_dm.mixers.automix.masks import mask_loss, plain_near_ends, with_mean
from openmix_dm.mixers.base import Lam, per_row
from openmix_dm.mixers.partner import Partner, both, draw_partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedPair, Probe
from openmix_dm.utils.checks import in_range, non_negative
from openmix_dm.utils.modules import full_precision


@MIXERS.register_module()
class AutoMix(LearnedMixer):
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
        super().__init__(alpha, stage, momentum, momentum_end, lam_margin, clean_weight, init_std, per_sample, partner)
        self.mask_weight, self.mask_annealing = non_negative('mask_weight', mask_weight), mask_annealing
        self.mask_margin = non_negative('mask_margin', mask_margin)
        self.mask_adjust = in_range('mask_adjust', mask_adjust, 0, 1)

    def make_block(self, channels: int) -> nn.Module:
        """Build the network that draws masks."""
        return MixBlock(channels, init_std=self.init_std)

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
        losses = self.learn(inputs, labels, own) if labels is not None and self.learns_now else {}
        return MixedPair(mixed, rows, mask, losses=losses, further=self.clean_batch(inputs, labels))

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

    def draw_mask(self, own: Tensor, other: Tensor, lam: Tensor, inputs: Tensor) -> Tensor:
        """Return masks (N, 1, H, W) float32 for the inputs out of the features of both sides."""
        with full_precision(inputs.device):
            partners = F.interpolate(self._block()(own, other, lam), inputs.shape[-2:], mode=self.upsampling)
        # The block weighs the partner, a mask the own image: 1 - sigmoid(x) is sigmoid(-x).
        return torch.sigmoid(-partners)
