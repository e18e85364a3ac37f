"""GuidedMixup (https://arxiv.org/abs/2306.16612): images whose salient places differ are paired, and mixed by saliency.

Differs from released code: partners are those of the paper's greedy cycle (an option is misnamed in released code, and
its CIFAR and Tiny-ImageNet runs pair at random); the cycle is found where the images are, without a wait for the
device; the network is asked in eval mode; where neither image is salient both count alike; blurs repeat the border;
a side above 128 pixels is resized, and the other one not. How often a batch is mixed is the business of RandomMixer.
"""

from functools import reduce
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from openmix_dm.mixers.base import Lam, Mixer
from openmix_dm.mixers.partner import Partner, Permutation, both
from openmix_dm.registry import MIXERS
from openmix_dm.structures import FurtherBatch, MixedPair, MixTarget, Probe
from openmix_dm.utils.checks import non_negative, one_of
from openmix_dm.utils.modules import full_precision

SALIENCIES = ('spectral', 'gradient')
LARGEST = 128  # pixels on a side that a spectrum is taken of
BLUR, SIGMA = 7, 3.0


class GuidedPairs(Permutation):
    """Pair the rows of a batch by their saliency, and keep what was measured."""

    def __init__(self, order: Tensor, maps: Tensor) -> None:
        super().__init__(order)
        self.maps = maps


@MIXERS.register_module()
class GuidedMixup(Mixer):
    """Pair images whose salient places differ, and weigh pixels by saliency (https://arxiv.org/abs/2306.16612).

    The partners of a batch are one cycle through it, found greedily by the distance of saliency maps. Each pixel shows
    the own image by its share of the saliency that both images have there, and lam in the labels is the mean of these
    shares: nothing is drawn, and a lam from outside is ignored. The authors mix half of the batches by the spectral
    saliency and 0.8 of them by the gradient: `RandomMixer` with `NoMix` and such `probs`. Without labels or a model
    (`pair`) only the spectral saliency can mix.

    Args:
        saliency: 'spectral' (SR in the paper: the residual of the log spectrum of the grey image; no network) or
            'gradient' (AP: the size of the loss's gradient; one pass more over the network). Default: 'spectral'.
        clean_weight: weight of a further loss on the unmixed images. The authors take 1 for the gradient on
            Tiny-ImageNet (to be scaled by 2 / classes with a BCE averaged over classes), and else 0. Default: 0.0.

    Example:
        mixer = dict(type='GuidedMixup', saliency='spectral')
    """

    def __init__(self, saliency: str = 'spectral', clean_weight: float = 0.0) -> None:
        super().__init__(alpha=1.0)  # never drawn from
        self.saliency = one_of('saliency', saliency, SALIENCIES)
        self.clean_weight = non_negative('clean_weight', clean_weight)

    def draw_lam(self, size: int, device: torch.device) -> Lam:
        """Draw nothing: saliency decides."""
        return 0.5

    @torch.no_grad()
    def choose_partner(self, inputs: Tensor, labels: Tensor, probe: Probe | None = None) -> GuidedPairs:
        """Pair each image with one that is salient elsewhere."""
        maps = self.measure(inputs, labels, probe)
        with full_precision(inputs.device):
            return GuidedPairs(greedy_cycle(torch.cdist(maps.flatten(1), maps.flatten(1))), maps)

    def mix(
        self, inputs: Tensor, partner: Partner, lam: Lam, labels: Tensor | None = None, probe: Probe | None = None
    ) -> MixedPair:
        """Mix inputs with their partners, whatever lam is."""
        if isinstance(partner, GuidedPairs):
            own, other = partner.maps, partner.take(partner.maps)
        else:
            own, other = both(partner, inputs, lambda images: self.measure(images, labels, probe))
        mask = share_of(own, other)[:, None]
        further: tuple[FurtherBatch, ...] = ()
        if self.clean_weight and labels is not None:
            further = (FurtherBatch('clean', inputs, MixTarget.hard(labels), self.clean_weight),)
        mixed = partner.blend(inputs, mask.to(inputs.dtype))
        return MixedPair(mixed, mask.mean(dim=(1, 2, 3)), mask, further=further)

    @torch.no_grad()
    def measure(self, images: Tensor, labels: Tensor | None, probe: Probe | None) -> Tensor:
        """Return how the saliency of each image is spread over it, (N, H, W) float32 with sums of 1, or all 0."""
        with full_precision(images.device):
            if self.saliency == 'spectral':
                return spread(spectral_residual(images))
            if labels is None or probe is None:
                raise ValueError("GuidedMixup(saliency='gradient') needs labels and a model; take 'spectral'")
        gradient = probe.saliency(images, labels)
        with full_precision(images.device):
            return spread(gradient_size(gradient))

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        return f'saliency={self.saliency!r}, clean_weight={self.clean_weight}'


def greedy_cycle(distances: Tensor) -> Tensor:
    """Return the partner of each row, (N,), as one cycle through all rows of distances (N, N).

    From one end of the largest distance it goes on to whatever is farthest among the rows not visited yet. Three
    operations a row, on the device: the host would have to wait for the distances.
    """
    size = len(distances)
    far = distances.clone().fill_diagonal_(-torch.inf)
    path = torch.empty(size, dtype=torch.long, device=far.device)
    steps = path.split(1)
    torch.div(far.argmax(), size, rounding_mode='floor', out=steps[0][0])
    for here, there in pairwise(steps):
        far.index_fill_(1, here, -torch.inf)
        torch.argmax(far.index_select(0, here), dim=1, out=there)
    return torch.empty_like(path).scatter_(0, path, path.roll(-1))


def share_of(own: Tensor, other: Tensor) -> Tensor:
    """Return own / (own + other), and one half where both are 0."""
    total = own + other
    return torch.where(total > 0, own / total, 0.5)


def spread(maps: Tensor) -> Tensor:
    """Return saliency maps (N, H, W) blurred and with sums of 1; a map of zeros stays one."""
    maps = blur(maps)
    total = maps.sum(dim=(1, 2), keepdim=True)
    return maps.div_(torch.where(total > 0, total, 1.0))


def gradient_size(gradient: Tensor) -> Tensor:
    """Return the size of gradients (N, C, H, W), which are not negative, at each pixel."""
    # hypot does not square: the gradients of a network that is sure of itself would come to 0
    return reduce(torch.hypot, gradient.float().unbind(dim=1))


def spectral_residual(images: Tensor) -> Tensor:
    """Return what is unusual in the spectrum of each image, back in its places, (N, H, W)."""
    height, width = images.shape[-2:]
    small = min(height, LARGEST), min(width, LARGEST)
    grey = _grey(images)
    spectrum = torch.fft.fft2(resize(grey, small))
    del grey
    size = spectrum.abs().square_().add_(1e-10).sqrt_()
    usual = F.avg_pool2d(F.pad(size.log()[:, None], (1, 1, 1, 1), mode='replicate'), 3, stride=1)[:, 0]
    factor = size.log().sub_(usual).exp_().div_(size)
    del size, usual
    torch.view_as_real(spectrum).mul_(factor[..., None])  # a product with the complex numbers would make factor complex
    spectrum = torch.fft.ifft2(spectrum)
    return resize(blur(spectrum.abs()), (height, width))


def blur(maps: Tensor) -> Tensor:
    """Blur maps (N, H, W) by a Gaussian of 7 x 7, the border repeated.

    By two products of matrices: a CPU pads the one channel of a convolution to 16, which takes 5 times the images.
    """
    rows, columns = (_blurring(size, maps.device) for size in maps.shape[1:])
    return rows @ maps @ columns.mT


def _blurring(size: int, device: torch.device) -> Tensor:
    """Return how much of each of so many places is in each blurred place, (size, size)."""
    places, offsets = torch.arange(size, device=device), torch.arange(BLUR, device=device) - BLUR // 2
    kernel = (-(offsets / SIGMA).square() / 2).softmax(dim=0)
    sources = (places[:, None] + offsets).clamp(0, size - 1)
    return ((sources[:, :, None] == places) * kernel[:, None]).sum(dim=1)


def resize(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Resize maps (N, H, W), if they have another size."""
    if maps.shape[-2:] == size:
        return maps
    return F.interpolate(maps[:, None], size, mode='bilinear', align_corners=False)[:, 0]


def _grey(images: Tensor) -> Tensor:
    """Return the brightness of images (N, 3, H, W), by the usual weights; of other channels, their mean."""
    if images.shape[1] != 3:
        return images.float().mean(dim=1)
    red, green, blue = images.unbind(dim=1)
    return (0.2989 * red.float()).add_(green, alpha=0.587).add_(blue, alpha=0.114)
