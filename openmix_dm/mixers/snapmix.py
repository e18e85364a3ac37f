"""SnapMix (https://arxiv.org/abs/2012.04846): a box for a box, with labels weighed by what the boxes mean.

Differs from released code: pairs of one class do not get the sum of both weights on both sides, which doubled their
loss; the caller's batch is not written into; a map without any activation counts as spread evenly over the image, where
released code takes the shares of one box for both images; the network is asked in eval mode, so that batch norm does
not count the images twice; lam can be drawn for each sample.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer
from openmix_dm.mixers.boxes import Box, Boxes, draw_box, inside
from openmix_dm.mixers.partner import Partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedPair, Probe
from openmix_dm.utils.checks import in_range
from openmix_dm.utils.transfers import to_device


@MIXERS.register_module()
class SnapMix(Mixer):
    """Paste a box of the partner, resized, over another box of each image (https://arxiv.org/abs/2012.04846).

    The two boxes are drawn independently of each other. The own class keeps the share of its class activation map that
    is outside of the own box, and the partner's has the share of its map inside of the box that was cut out of it. The
    two need not sum to 1: the partner's weight is `lam_b` of the target. Without labels or a model (`pair`) both maps
    count as spread evenly, so that weights are areas.

    Args:
        alpha: the shares outside of both boxes are drawn from Beta(alpha, alpha). The authors take 5 for pretrained
            networks and 1 for training from scratch. Default: 5.0.
        prob: probability of a batch to be mixed; the others stay as they are. The authors take 1 for pretrained
            networks and 0.5 for training from scratch. Default: 1.0.
        per_sample: draw both boxes for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='SnapMix', alpha=5.0)
    """

    label_from = 'class_map'
    label_fields = frozenset({'lam_b'})

    def __init__(self, alpha: float = 5.0, prob: float = 1.0, per_sample: bool = False, partner: str = 'shift') -> None:
        super().__init__(alpha, per_sample, partner)
        self.prob = in_range('prob', prob, 0, 1)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners; a given lam is the share outside of the own box."""
        size, (height, width) = len(inputs), inputs.shape[-2:]
        if torch.rand((), device='cpu').item() >= self.prob:
            ones = torch.ones(size, device=inputs.device)
            return MixedPair(inputs, ones, lam_b=torch.zeros_like(ones))
        own, cut = draw_box(lam, height, width), draw_box(self.draw_lam(size, inputs.device), height, width)
        own_boxes, cut_boxes = _both_or_none(_for_each(own, inputs), _for_each(cut, inputs))
        others, rows = partner.locate(inputs)
        maps = evidence(inputs, labels, probe)
        kept = 1 - share_inside(maps, own_boxes)
        brought = share_inside(maps.index_select(0, rows) if others is inputs else maps, cut_boxes)
        del maps
        if isinstance(own, Box) and isinstance(cut, Box):
            own = own if cut.bottom > cut.top and cut.right > cut.left else Box(0, 0, 0, 0)
            mask, _ = own.mask(height, width, inputs.device)
            return MixedPair(paste_crop(inputs, partner, cut, own), kept, mask, lam_b=brought)
        mask, _ = own_boxes.mask(height, width, inputs.device)
        return MixedPair(paste_crops(inputs, others, rows, cut_boxes, own_boxes), kept, mask, lam_b=brought)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'{super().extra_repr()}, prob={self.prob}'


def evidence(images: Tensor, labels: Tensor | None, probe: Probe | None) -> Tensor:
    """Return how the evidence for its class is spread over each image, (N, H, W) float32 with sums of 1."""
    height, width = images.shape[-2:]
    if labels is None or probe is None:
        return torch.full((len(images), height, width), 1 / (height * width), device=images.device)
    maps = probe.class_map(images, labels).float()
    maps = F.interpolate(maps[:, None], (height, width), mode='bilinear', align_corners=False)[:, 0]
    maps = maps - maps.amin(dim=(1, 2), keepdim=True)
    total = maps.sum(dim=(1, 2), keepdim=True)
    return torch.where(total > 0, maps / total, 1 / (height * width))


def share_inside(maps: Tensor, boxes: Boxes) -> Tensor:
    """Return the part of each map (N, H, W) inside of its box, (N,)."""
    rows = inside(boxes.top, boxes.bottom, maps.shape[1], maps.device)
    columns = inside(boxes.left, boxes.right, maps.shape[2], maps.device)
    return ((maps * columns[:, None, :]).sum(dim=2) * rows).sum(dim=1).clamp(0, 1)


def paste_crop(inputs: Tensor, partner: Partner, crop: Box, box: Box) -> Tensor:
    """Return the images with one crop of their partners in one box: bilinear, corners on corners."""
    height, width = box.bottom - box.top, box.right - box.left
    if not height or not width:
        return inputs.clone()

    def resized(images: Tensor) -> Tensor:
        cut = images[..., crop.top : crop.bottom, crop.left : crop.right]
        return F.interpolate(cut, (height, width), mode='bilinear', align_corners=True)

    small = partner.derive(resized, inputs)
    mixed = inputs.clone()
    mixed[..., box.top : box.bottom, box.left : box.right] = small
    return mixed


def paste_crops(inputs: Tensor, others: Tensor, order: Tensor, crops: Boxes, boxes: Boxes) -> Tensor:
    """Return the images with a crop of their partners, others[order], in a box, of each sample its own."""
    mask, _ = boxes.mask(inputs.shape[-2], inputs.shape[-1], inputs.device)
    mixed = torch.empty_like(inputs)
    for start in range(0, len(inputs), step := -(-len(inputs) // 8)):  # in parts: where pixels come from takes memory
        rows = slice(start, start + step)
        part = Boxes(*(edge[rows] for edge in crops)), Boxes(*(edge[rows] for edge in boxes))
        mixed[rows] = crop_into(others, order[rows], *part).lerp_(inputs[rows], mask[rows].to(inputs.dtype))
    return mixed


def crop_into(images: Tensor, order: Tensor, crops: Boxes, boxes: Boxes) -> Tensor:
    """Return, for each row of `order`, a crop of that image resized into a box; what is outside has no meaning."""
    height, width = images.shape[-2:]
    grid_y = _sources(crops.top, crops.bottom, boxes.top, boxes.bottom, height)
    grid_x = _sources(crops.left, crops.right, boxes.left, boxes.right, width)
    size = (len(order), height, width)
    grid = torch.stack((grid_x[:, None, :].expand(size), grid_y[:, :, None].expand(size)), dim=-1)
    partners = images.index_select(0, order).float()
    return F.grid_sample(partners, grid, padding_mode='border', align_corners=True).to(images.dtype)


def _sources(start: Tensor, stop: Tensor, to_start: Tensor, to_stop: Tensor, size: int) -> Tensor:
    """Return where in an image, from -1 to 1 for its first and last pixel, each row of a box comes from, (N, size)."""
    steps = (to_stop - to_start - 1).clamp(min=1)[:, None]
    share = (torch.arange(size, device=start.device) - to_start[:, None]) / steps
    place = start[:, None] + share * (stop - start - 1).clamp(min=0)[:, None]
    return 2 * place / max(size - 1, 1) - 1


def _for_each(box: Box | Boxes, inputs: Tensor) -> Boxes:
    """Return a box for each sample on the device of the inputs."""
    if isinstance(box, Box):
        edges = to_device(torch.tensor(box, device='cpu'), inputs.device)
        return Boxes(*edges[:, None].expand(4, len(inputs)))
    return Boxes(*(to_device(edge, inputs.device) for edge in box))


def _both_or_none(own: Boxes, other: Boxes) -> tuple[Boxes, Boxes]:
    """Empty both boxes of a sample where one is empty: without a crop there is nothing to paste, and nowhere to."""
    there = torch.ones_like(own.top, dtype=torch.bool)
    for box in (own, other):
        there = there & (box.bottom > box.top) & (box.right > box.left)
    empty = [Boxes(*(torch.where(there, edge, 0) for edge in box)) for box in (own, other)]
    return empty[0], empty[1]
