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
    """Mix by masks that a network draws from both images and lam; see AutoMix for all but two arguments.

    lam_gain: lam bends before it scales the features, flatter around 1/2 the smaller it is; None leaves it straight.
    dropout: inside the mix block.
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
