"""SaliencyMix (https://arxiv.org/abs/2006.01791): the box around the partner's most salient pixel, pasted.

Where we differ from the released code, and why:
* each image has its own most salient pixel; the released code takes that of one image of the batch for all, so that
  all but one get a box from anywhere;
* saliency is computed by torch for the batch at once, on its device, instead of by OpenCV on the host;
* it is computed on pixels: the released code gives OpenCV normalised floats, whose grey is cut off to bytes.
"""

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer
from openmix_dm.mixers.boxes import boxes_around
from openmix_dm.mixers.fine_grained_saliency import fine_grained_saliency
from openmix_dm.mixers.partner import Partner
from openmix_dm.mixers.teacher import pixels_of
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedPair, Probe
from openmix_dm.utils.transfers import to_device

PART = 2**20  # pixels and channels that are looked at together on a CPU: 4 MB


@MIXERS.register_module()
class SaliencyMix(Mixer):
    """Paste a box around the partner's most salient pixel (https://arxiv.org/abs/2006.01791).

    The box has about (1 - lam) of the area. As in CutMix it shrinks where it meets the border, and lam in the labels is
    what is left of the own image. Each sample has a box of its own, also where lam is one for the batch; the released
    code takes the most salient pixel of one image for all. Images without any contrast are most salient at the top
    left.

    Saliency needs pixels: those of `probe.denormalise`, or, without a probe, each image stretched to fill the range.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        per_sample: draw lam for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='SaliencyMix', alpha=1.0)
    """

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners by the boxes around the partners' most salient pixels."""
        height, width = inputs.shape[-2:]
        centres = partner.derive(lambda images: most_salient(images, probe), inputs)
        mask, shown = centred_boxes(centres, lam, height, width)
        return MixedPair(partner.blend(inputs, mask.to(inputs.dtype)), shown, mask)


@torch.no_grad()
def most_salient(inputs: Tensor, probe: Probe | None = None) -> Tensor:
    """Return the most salient pixel of each image (N,), counted along the rows; the first of equals.

    Equals are common, in OpenCV too: the spot that is brightest against its surround and the darkest one both have 255.
    """
    # On a CPU in parts that stay in its cache: saliency takes some five images of memory for each image. A GPU has the
    # memory, and would wait for each of the many small operations to be launched.
    parts = inputs.split(max(1, PART // inputs[0].numel())) if inputs.device.type == 'cpu' else (inputs,)
    maps = (fine_grained_saliency(pixels_of(part, probe).mul_(255)) for part in parts)
    return torch.cat([saliency.flatten(1).argmax(dim=1) for saliency in maps])


def centred_boxes(centres: Tensor, lam: Lam, height: int, width: int) -> tuple[Tensor, Tensor]:
    """Return masks (N, 1, H, W) that are 0 in boxes around the centres (N,) and 1 outside, and their means (N,)."""
    rows = (
        to_device(lam, centres.device)
        if isinstance(lam, Tensor)
        else torch.full(centres.shape, lam, dtype=torch.float64, device=centres.device)
    )
    boxes = boxes_around(centres.div(width, rounding_mode='floor'), centres % width, rows, height, width)
    return boxes.mask(height, width, centres.device)
