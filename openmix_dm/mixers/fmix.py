"""FMix (https://arxiv.org/abs/2002.12047): masks cut from low-frequency noise.

Where we differ from the released code:
- It joins rows 0 and 1 of the spectrum, instead of the real and imaginary part, to complex numbers: its masks have two
  horizontal frequencies only. Ours are isotropic, as the paper describes them; `two_frequencies` gives its masks back.
- It labels by the drawn lam; we label by what the mask shows.
- It rounds lam * H * W up or down by a coin; we round to the nearest, so that half a pixel is the largest error.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, MaskMixer
from openmix_dm.registry import MIXERS
from openmix_dm.utils.checks import in_range, non_negative
from openmix_dm.utils.transfers import to_device


@MIXERS.register_module()
class FMix(MaskMixer):
    """Show the own image where low-frequency noise is largest, in lam of the pixels (https://arxiv.org/abs/2002.12047).

    lam * H * W is rounded to whole pixels, and lam in the labels is what the mask shows. The noise is isotropic, as the
    paper describes it; the masks of the released code have two horizontal frequencies only.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        decay_power: the amplitude of frequency f is f ** -decay_power; more makes smoother shapes. Default: 3.0.
        max_soft: half the width of a linear edge from own to partner, in shares of the pixels; 0 cuts. Default: 0.0.
        two_frequencies: draw the masks of the released code. Default: False.
        per_sample: draw lam and the noise for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='FMix', alpha=1.0, decay_power=3.0)
    """

    def __init__(
        self,
        alpha: float,
        decay_power: float = 3.0,
        max_soft: float = 0.0,
        two_frequencies: bool = False,
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        self.decay_power = non_negative('decay_power', decay_power)
        self.max_soft = in_range('max_soft', max_soft, 0, 0.5)
        self.two_frequencies = two_frequencies

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        """Return the mask of one noise image, or of one for each sample, and the share of own pixels."""
        size = height * width
        field = self.draw_field(len(lam) if isinstance(lam, Tensor) else 1, height, width, device).flatten(1)
        if isinstance(lam, Tensor):
            # float64: the number of pixels has to come out as it does for one lam
            own = (to_device(lam, device, torch.float64) * size).round()
            soft = torch.minimum(own, size - own).clamp(max=int(self.max_soft * size))
            return rank_mask(field, own, soft).view(-1, 1, height, width), (own / size).float()
        count = round(lam * size)
        width_of_edge = min(int(self.max_soft * size), count, size - count)
        if width_of_edge > 0:
            edge = field.new_full((1,), count), field.new_full((1,), width_of_edge)
            return rank_mask(field, *edge).view(1, 1, height, width), count / size
        return top_mask(field, count).view(1, 1, height, width), count / size

    def draw_field(self, rows: int, height: int, width: int, device: torch.device) -> Tensor:
        """Draw low-frequency noise (rows, H, W)."""
        table = two_frequency_table if self.two_frequencies else isotropic_table
        amplitude = table(height, width, self.decay_power, device)
        noise = torch.randn(rows, *amplitude.shape, dtype=torch.float32, device=device)
        return filtered(noise, amplitude, height, width)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        own = f'decay_power={self.decay_power}, max_soft={self.max_soft}, two_frequencies={self.two_frequencies}'
        return f'{super().extra_repr()}, {own}'


@lru_cache(maxsize=16)  # its powers take as long as the transform
def isotropic_table(height: int, width: int, decay_power: float, device: torch.device) -> Tensor:
    """Return the amplitude (H, W // 2 + 1, 2) of the real and the imaginary part of each frequency of an image."""
    vertical, horizontal = torch.fft.fftfreq(height, device=device), torch.fft.rfftfreq(width, device=device)
    table = _decay(torch.hypot(vertical[:, None], horizontal), height, width, decay_power)
    # The inverse transform takes the real part of these columns. Half of their energy is lost with the other part, and
    # vertical waves would be weaker than horizontal ones.
    for column in {0, width // 2} if width % 2 == 0 else {0}:
        table[:, column] *= math.sqrt(2)
    return table[..., None].repeat(1, 1, 2)


@lru_cache(maxsize=16)
def two_frequency_table(height: int, width: int, decay_power: float, device: torch.device) -> Tensor:
    """Return the amplitude (K, 2, 2) of the real and the imaginary part of K vertical and 2 horizontal frequencies.

    In the released code the real part has the amplitudes of row 0 of the spectrum, and the imaginary part those of
    row 1; what is left of the image's horizontal frequencies becomes the vertical ones.
    """
    kept = torch.fft.fftfreq(width, device=device)[: width // 2 + 1 + width % 2].abs()
    rows = torch.stack([kept, torch.hypot(kept, kept.new_tensor(1 / height))], dim=-1)
    return _decay(rows, height, width, decay_power)[:, None].repeat(1, 2, 1)


def _decay(frequency: Tensor, height: int, width: int, power: float) -> Tensor:
    # in units of the lowest frequency, because otherwise a high power overflows
    return (frequency * max(height, width)).clamp_(min=1).pow_(-power).float()


def filtered(noise: Tensor, amplitude: Tensor, height: int, width: int) -> Tensor:
    """Return the images (rows, H, W) of spectra given as real and imaginary parts in the last axis."""
    spectrum = torch.view_as_complex(noise * amplitude)
    # One axis at a time: what a transform of both does to a spectrum that is not Hermitian depends on the library.
    return torch.fft.irfft(torch.fft.ifft(spectrum, n=height, dim=-2), n=width, dim=-1)


def top_mask(field: Tensor, own: int) -> Tensor:
    """Return a mask (1, size) that is 1 at the `own` largest values of one field, exactly that many even with ties."""
    few, largest = min(own, field.shape[1] - own), own <= field.shape[1] - own
    chosen = field[0].topk(few, largest=largest, sorted=False).indices
    mask = torch.full_like(field[0], float(not largest))
    return mask.index_fill_(0, chosen, float(largest))[None]


def rank_mask(field: Tensor, own: Tensor, soft: Tensor) -> Tensor:
    """Return masks (N, size) that are 1 at the own[i] largest values of field i, and 0 elsewhere.

    soft[i] > 0 pixels on either side of the edge get a ramp from 1 to 0 instead, which keeps the mean.
    """
    rank = torch.arange(field.shape[1], device=field.device)
    steps = (2 * soft - 1).clamp(min=1)[:, None]
    ramp = ((own[:, None] - 0.5 - rank) / steps + 0.5).clamp(0, 1).float()
    return torch.empty_like(ramp).scatter_(1, field.argsort(dim=1, descending=True), ramp)
