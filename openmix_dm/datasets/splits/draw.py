"""Draw labelled images, the same ones with any version of numpy."""

import math

import numpy as np
import torch
from torch import Tensor

from openmix_dm.errors import ConfigError
from openmix_dm.utils.checks import in_range


def draw(labels: np.ndarray, count: int | None, fraction: float | None, seed: int, balanced: bool) -> np.ndarray:
    """Return sorted indices without replacement.

    count: so many in all, equally many of each class if balanced. fraction: of each class if balanced (at least one
    image), else of all. Fractions of one seed are nested, 15 % in 30 % in 50 %; counts are draws of their own.
    """
    if (count is None) == (fraction is None):
        raise ConfigError(f'expected either count or fraction of labelled images, got {count!r} and {fraction!r}')
    if fraction is not None:
        in_range('fraction', fraction, 0, 1, open_low=True)
    elif not 0 < count <= len(labels):  # type: ignore[operator]
        raise ConfigError(
            f'count of labelled images: expected 1 to {len(labels)}, the images that there are, got {count}'
        )
    order = random_order(len(labels), [seed] if count is None else [seed, count])
    if not balanced:
        return np.sort(order[: round(fraction * len(labels)) if fraction is not None else count])
    shares = class_shares(np.bincount(labels), count, fraction)
    return np.sort(np.concatenate([order[labels[order] == label][:share] for label, share in enumerate(shares)]))


def random_order(images: int, seed: list[int]) -> np.ndarray:
    """Return a permutation from the raw bits of PCG64, which numpy keeps as they are; its shuffles may change."""
    bits = np.random.PCG64(np.random.SeedSequence(seed)).random_raw(images)
    return np.argsort(bits, kind='stable')


def class_shares(sizes: np.ndarray, count: int | None, fraction: float | None) -> list[int]:
    """Return how many images each class gives."""
    if fraction is not None:
        shares = [max(1, round(fraction * int(size))) for size in sizes]
    else:
        share, rest = divmod(count or 0, len(sizes))
        if rest:
            raise ConfigError(
                f'{count} labels cannot be divided equally over {len(sizes)} classes; take a multiple of {len(sizes)}, '
                'or balanced=False'
            )
        shares = [share] * len(sizes)
    for label, (size, share) in enumerate(zip(sizes, shares, strict=True)):
        if share > size:
            raise ConfigError(
                f'{share} labelled images of class {label} are asked for, but it has {size}; ask for fewer labels'
            )
    return shares


def stratified_split(labels: Tensor, test_fraction: float, seed: int) -> tuple[Tensor, Tensor]:
    """Return sorted indices for training and testing; each class gives its share to each."""
    generator = torch.Generator().manual_seed(seed)
    members = [(labels == label).nonzero()[:, 0] for label in labels.unique()]
    shares = apportion([len(each) * test_fraction for each in members], math.ceil(len(labels) * test_fraction))
    test = torch.zeros(len(labels), dtype=torch.bool)
    for each, share in zip(members, shares, strict=True):
        test[each[torch.randperm(len(each), generator=generator)[:share]]] = True
    return (~test).nonzero()[:, 0], test.nonzero()[:, 0]


def apportion(shares: list[float], total: int) -> list[int]:
    """Round shares to whole numbers that add up to a total: the largest remainders are rounded up."""
    whole = [math.floor(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda i: whole[i] - shares[i])
    for i in by_remainder[: total - sum(whole)]:
        whole[i] += 1
    return whole
