"""GridMix (Baek et al., Pattern Recognition 109, 2021): a grid of holes through which the partner is seen.

https://www.sciencedirect.com/science/article/pii/S0031320320303976

These are the masks of OpenMixup, without the patch-level labels of the paper. Where we differ from that code: a region
that is larger than the image is made to fit (there, negative offsets drop or misplace the holes of two regions in
five); all patches are of one size and whole; a hole may vanish (lam 1) or fill its patch (lam 0).
"""

import torch
from torch import Tensor

from openmix_dm.mixers.base import Lam, MaskMixer
from openmix_dm.mixers.boxes import outside_mask
from openmix_dm.registry import MIXERS
from openmix_dm.utils.checks import in_range, positive, positive_range
from openmix_dm.utils.transfers import to_device

Range = tuple[float, float]
DRAWS = 5  # uniform numbers for a mask: holes, area, aspect, top, left


@MIXERS.register_module()
class GridMix(MaskMixer):
    """Show the partner through a grid of holes (https://www.sciencedirect.com/science/article/pii/S0031320320303976).

    A region of the own image is cut into patches, and the upper left 1 - lam of each of them is a hole. lam in the
    labels is the share of the pixels outside of all holes. The masks are those of OpenMixup, without the paper's
    patch-level labels; the region is made to fit into the image.

    Sizes are whole pixels: holes are rounded down, so that at least lam of the own image is shown, and patches to the
    nearest size with which the region fits into the image.

    Args:
        alpha: lam is drawn from Beta(alpha, alpha).
        n_holes: range of the number of patches in a row, both ends included; at most the width of the image.
            Default: (2, 6).
        hole_aspect_ratio: height / width of a patch and its hole. Default: 1.0.
        cut_area_ratio: range of the region's area in units of the image's. Default: (0.5, 1.0).
        cut_aspect_ratio: range of height / width of the region. Default: (0.5, 2.0).
        per_sample: draw lam and the grid for each sample instead of once for the batch. Default: False.
        partner: who is mixed with whom: 'shift' (a random cyclic shift: no sample is mixed with itself, nothing is
            gathered) or 'permutation' (a random permutation). Default: 'shift'.

    Example:
        mixer = dict(type='GridMix', alpha=1.0, n_holes=(2, 6))
    """

    def __init__(
        self,
        alpha: float,
        n_holes: tuple[int, int] = (2, 6),
        hole_aspect_ratio: float = 1.0,
        cut_area_ratio: Range = (0.5, 1.0),
        cut_aspect_ratio: Range = (0.5, 2.0),
        per_sample: bool = False,
        partner: str = 'shift',
    ) -> None:
        super().__init__(alpha, per_sample, partner)
        self.n_holes = positive_range('n_holes', n_holes)
        if not all(isinstance(count, int) for count in n_holes):
            raise ValueError(f'n_holes must be a pair of whole numbers, got {n_holes!r}')
        self.hole_aspect_ratio = positive('hole_aspect_ratio', hole_aspect_ratio)
        self.cut_area_ratio = positive_range('cut_area_ratio', cut_area_ratio)
        in_range('cut_area_ratio', self.cut_area_ratio[1], 0, 1, open_low=True)
        self.cut_aspect_ratio = positive_range('cut_aspect_ratio', cut_aspect_ratio)

    def draw_mask(self, lam: Lam, height: int, width: int, device: torch.device) -> tuple[Tensor, Lam]:
        """Return the mask of one grid, or of one for each sample, and the share outside of its holes."""
        if self.n_holes[1] > width:
            raise ValueError(f'n_holes must not exceed the width of the image, {width}, got {self.n_holes}')
        # float64: sizes have to come out as they do for one lam
        rows = lam.double() if isinstance(lam, Tensor) else torch.tensor([lam], dtype=torch.float64, device='cpu')
        uniform = torch.rand(DRAWS, len(rows), dtype=torch.float64, device=rows.device)
        down, across = self.holes(rows, uniform, height, width)
        shown = 1 - down.mean(dim=1) * across.mean(dim=1)
        mask = outside_mask(to_device(down, device), to_device(across, device))
        return mask, shown if isinstance(lam, Tensor) else float(shown)

    def holes(self, lam: Tensor, uniform: Tensor, height: int, width: int) -> tuple[Tensor, Tensor]:
        """Return the rows (N, H) and columns (N, W) that have holes, from lam (N,) and numbers (5, N) in [0, 1)."""
        fewest, most = self.n_holes
        columns = fewest + (uniform[0] * (most - fewest + 1)).floor()
        area, aspect = _between(self.cut_area_ratio, uniform[1]), _between(self.cut_aspect_ratio, uniform[2])
        cut_width = (area * height * width / aspect).sqrt()
        patch_width = _fitted(cut_width / columns, width // columns)
        patch_height = _fitted(patch_width * self.hole_aspect_ratio, height)
        rows = _fitted(cut_width * aspect / patch_height, height // patch_height)
        side = (1 - lam).sqrt()
        down = comb(rows, patch_height, (patch_height * side).floor(), uniform[3], height)
        return down, comb(columns, patch_width, (patch_width * side).floor(), uniform[4], width)

    def extra_repr(self) -> str:
        """Show the settings in `print(model)`."""
        patches = f'n_holes={self.n_holes}, hole_aspect_ratio={self.hole_aspect_ratio}'
        region = f'cut_area_ratio={self.cut_area_ratio}, cut_aspect_ratio={self.cut_aspect_ratio}'
        return f'{super().extra_repr()}, {patches}, {region}'


def comb(patches: Tensor, patch: Tensor, hole: Tensor, place: Tensor, size: int) -> Tensor:
    """Return (N, size): 1 in the first `hole` of every `patch` pixels, 0 elsewhere and outside of the region.

    place in [0, 1) says where the region, patches * patch pixels long, lies between the two ends.
    """
    length = patches * patch
    start = (place * (size - length + 1)).floor()
    position = torch.arange(size, device=place.device) - start[:, None]
    inside = (position >= 0) & (position < length[:, None])
    return (inside & (position % patch[:, None] < hole[:, None])).float()


def _fitted(value: Tensor, most: Tensor | int) -> Tensor:
    """Round to a whole number, at least 1 and at most what fits."""
    whole = value.round().clamp(min=1)
    return whole.clamp(max=most)


def _between(ends: Range, share: Tensor) -> Tensor:
    low, high = ends
    return low + (high - low) * share
