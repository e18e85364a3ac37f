"""SAMix (https://arxiv.org/abs/2111.15454): AutoMix with a block that sees both images at once.

Differs from AutoMix in the block (queries and keys of both images together, values by two layers, lam as a gain), in
smooth masks, and in a mask loss that also asks for contrast. The released code's weight of negative classes has no
effect with its loss, and is left out.
"""

from torch import nn

from openmix_dm.mixers.automix.automix import AutoMix
from openmix_dm.mixers.automix.block import PairMixBlock
from openmix_dm.registry import MIXERS
from openmix_dm.utils.checks import in_range, non_negative


@MIXERS.register_module()
class SAMix(AutoMix):
    """Mix by learned masks as AutoMix does, with a block that sees both images (https://arxiv.org/abs/2111.15454).

    Beside the block, masks are smooth, and the mask loss asks for contrast as well. All else is as for AutoMix: the
    labels have the drawn lam, `attach` makes the networks, and the momentum network is evaluated as `momentum_top1`.

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
        lam_gain: lam bends before it scales the features, flatter around 1/2 the smaller this is; 0, 1/2 and 1 stay.
            None leaves it straight. Default: None.
        dropout: probability of dropout inside the mix block, of the values' hidden features. Default: 0.0.
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='SAMix', alpha=2.0, dropout=0.1)
    """

    upsampling = 'bilinear'
    variance_weight = 2.0

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
        lam_gain: float | None = None,
        dropout: float = 0.0,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(
            alpha=alpha,
            stage=stage,
            momentum=momentum,
            momentum_end=momentum_end,
            mask_weight=mask_weight,
            mask_margin=mask_margin,
            mask_annealing=mask_annealing,
            lam_margin=lam_margin,
            mask_adjust=mask_adjust,
            clean_weight=clean_weight,
            init_std=init_std,
            per_sample=per_sample,
            partner=partner,
        )
        self.lam_gain = None if lam_gain is None else non_negative('lam_gain', lam_gain)
        self.dropout = in_range('dropout', dropout, 0, 1)

    def make_block(self, channels: int) -> nn.Module:
        """Build the network that draws masks."""
        return PairMixBlock(channels, self.lam_gain, self.dropout, self.init_std)
