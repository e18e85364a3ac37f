"""ResizeMix (https://arxiv.org/abs/2012.11101): the whole partner, made smaller and pasted into the own image.

Differs from released code: pixels of the small image are taken at the centres of the areas that they stand for instead
of at their upper left corners, which shifts the image by up to half a pixel; and lam can be drawn for each sample.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer, per_row
from openmix_dm.mixers.boxes import Box, Boxes, draw_box
from openmix_dm.mixers.partner import Partner
from openmix_dm.registry import MIXERS
from openmix_dm.structures import MixedPair, Probe
from openmix_dm.utils.checks import one_of
from openmix_dm.utils.transfers import to_device

INTERPOLATIONS = ('nearest', 'bilinear')


@MIXERS.register_module()
class ResizeMix(Mixer):
    """Paste the whole partner, made smaller, over each image (https://arxiv.org/abs/2012.11101).

    The partner is resized to tau of its sides and pasted at a uniform centre. The box is cut off at the border, and the
    whole partner is fitted into what is left of it; lam in the labels is the share of the own pixels. A lam given from
    outside is honoured as tau = sqrt(1 - lam), in scope or not.

    Args:
        alpha: None draws tau uniformly from `scope`. A number draws tau from Beta(alpha, alpha), and anew, uniformly,
            where that is outside of `scope`. Default: None.
        scope: range of tau, the side of the small image as a share of the image's. Default: (0.1, 0.8).
        interpolation: how the partner is resized: 'nearest' or 'bilinear'. Default: 'nearest'.
        per_sample: draw tau and the box for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='ResizeMix', alpha=1.0)
    """

    def __init__(
        self,
        alpha: float | None = None,
        scope: tuple[float, float] = (0.1, 0.8),
        interpolation: str = 'nearest',
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(1.0 if alpha is None else alpha, per_sample, partner)
        low, high = scope
        if not 0 < low < high <= 1:
            raise ValueError(f'scope must be a range of sides with 0 < low < high <= 1, got {tuple(scope)}')
        self.uniform, self.scope = alpha is None, (low, high)
        self.interpolation = one_of('interpolation', interpolation, INTERPOLATIONS)

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw tau, and return the share that it leaves of the own image."""
        low, high = self.scope
        tau = low + (high - low) * torch.rand(size if self.per_sample else 1, dtype=torch.float64, device='cpu')
        if not self.uniform:
            drawn = super().draw_lam(size, torch.device('cpu'))
            beta = torch.as_tensor(drawn, dtype=torch.float64, device='cpu').expand(len(tau))
            tau = torch.where((beta >= low) & (beta <= high), beta, tau)
        lam = 1 - tau**2
        return to_device(lam, device, torch.float32) if self.per_sample else lam.item()

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners."""
        height, width = inputs.shape[-2:]
        box = draw_box(lam, height, width)
        mask, shown = box.mask(height, width, inputs.device)
        rows = per_row(shown, inputs)
        if isinstance(box, Box):
            return MixedPair(paste(inputs, partner, box, self.interpolation), rows, mask)
        resized = resize_into(*partner.locate(inputs), box, self.interpolation)
        return MixedPair(resized.lerp_(inputs, mask.to(inputs.dtype)), rows, mask)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        alpha = None if self.uniform else self.alpha
        return (
            f'alpha={alpha}, scope={self.scope}, interpolation={self.interpolation!r}, '
            f'per_sample={self.per_sample}, partner={self.partner!r}'
        )


def paste(inputs: Tensor, partner: Partner, box: Box, interpolation: str) -> Tensor:
    """Return the images with their whole partners inside one box."""
    height, width = box.bottom - box.top, box.right - box.left
    if not height or not width:
        return inputs.clone()
    # resized first and reordered then: the small images are what is moved
    small = partner.derive(lambda images: resize(images, height, width, interpolation), inputs)
    mixed = inputs.clone()
    mixed[..., box.top : box.bottom, box.left : box.right] = small
    return mixed


def resize(images: Tensor, height: int, width: int, interpolation: str) -> Tensor:
    """Resize images (N, C, H, W)."""
    if interpolation == 'bilinear':
        return F.interpolate(images, (height, width), mode='bilinear', align_corners=False)
    return F.interpolate(images, (height, width), mode='nearest-exact')


def resize_into(images: Tensor, order: Tensor, boxes: Boxes, interpolation: str) -> Tensor:
    """Return, for each row of `order`, that image whole inside the row's box; what is outside has no meaning."""
    height, width = images.shape[-2:]
    boxes = Boxes(*(to_device(edge, images.device) for edge in boxes))
    if interpolation == 'nearest':
        rows, columns = _sources(boxes.top, boxes.bottom, height), _sources(boxes.left, boxes.right, width)
        place = (order[:, None, None], rows[:, :, None], columns[:, None, :])
        resized = images.new_empty(len(order), *images.shape[1:])
        for channel in range(images.shape[1]):  # one at a time: the memory of one, and the layout of the images
            resized[:, channel] = images[place[0], channel, place[1], place[2]]
        return resized
    grid_y, grid_x = _places(boxes.top, boxes.bottom, height), _places(boxes.left, boxes.right, width)
    size = (len(order), height, width)
    grid = torch.stack((grid_x[:, None, :].expand(size), grid_y[:, :, None].expand(size)), dim=-1)
    partners = images.index_select(0, order).float()
    return F.grid_sample(partners, grid, padding_mode='border', align_corners=False).to(images.dtype)


def _sources(start: Tensor, stop: Tensor, size: int) -> Tensor:
    """Return which row of an image each row of its box shows, (N, size): the one under its centre, in whole numbers."""
    places = torch.arange(size, device=start.device) - start[:, None]
    return ((2 * places + 1) * size // (2 * (stop - start).clamp(min=1)[:, None])).clamp(0, size - 1)


def _places(start: Tensor, stop: Tensor, size: int) -> Tensor:
    """Return where in an image, from -1 to 1, the centre of each row of its box is, (N, size)."""
    centres = torch.arange(size, device=start.device) + 0.5 - start[:, None]
    return 2 * centres / (stop - start).clamp(min=1)[:, None] - 1
