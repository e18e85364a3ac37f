import torch
from reference import mixers as reference

from openmix_dm.mixers import CutMix


def record_centres(monkeypatch, size):
    """Make torch.randint hand out known centres, and return them."""
    drawn = []
    randint = torch.randint

    def spy(*args, **options):
        values = randint(*args, **options)
        drawn.append(values)
        return values

    monkeypatch.setattr(torch, 'randint', spy)
    return drawn


def test_equals_the_loop_for_each_sample(monkeypatch):
    inputs, labels, lam = torch.randn(9, 3, 10, 13), torch.arange(9), torch.rand(9)
    lam[:2] = torch.tensor([0.0, 1.0])
    drawn = record_centres(monkeypatch, 9)
    batch = CutMix(alpha=1.0, partner='permutation')(inputs, labels, lam=lam)
    centres = list(zip(drawn[0].tolist(), drawn[1].tolist(), strict=True))
    mixed, shown = reference.cutmix(inputs, batch.index, lam.tolist(), centres)
    assert torch.equal(batch.inputs, mixed)
    torch.testing.assert_close(batch.target.lam, shown)


def test_equals_the_loop_for_one_box(monkeypatch):
    inputs, labels = torch.randn(5, 3, 10, 13), torch.arange(5)
    for lam in (0.0, 0.1, 0.37, 0.5, 0.9, 1.0):
        with monkeypatch.context() as patch:
            drawn = record_centres(patch, 5)
            batch = CutMix(alpha=1.0, partner='permutation')(inputs, labels, lam=lam)
        centre = divmod(int(drawn[0]), 13)
        mixed, shown = reference.cutmix(inputs, batch.index, [lam] * 5, [centre] * 5)
        assert torch.equal(batch.inputs, mixed)
        torch.testing.assert_close(batch.target.lam, shown)


def expected_share(lam: float, size: int) -> float:
    """The mean share of own pixels over all centres of a square image, by enumeration."""
    half = int(size * (1 - lam) ** 0.5) // 2
    mean_side = sum(min(c + half, size) - max(c - half, 0) for c in range(size)) / size
    return 1 - (mean_side / size) ** 2


def test_mean_of_clipped_boxes_over_many_draws():
    """The border clips boxes: the mean over lam and centres, against enumeration, within four standard errors."""
    draws, size = 20_000, 32
    lam = torch.rand(draws, dtype=torch.float64)
    mask, shown = CutMix(alpha=1.0).draw_mask(lam, size, size, torch.device('cpu'))
    torch.testing.assert_close(mask.mean(dim=(1, 2, 3)), shown)
    shown = shown.double()
    residual = shown - torch.tensor([expected_share(value, size) for value in lam.tolist()], dtype=torch.float64)
    assert abs(residual.mean()) < 4 * residual.std() / draws**0.5
    assert abs(shown.mean() - 0.70) < 0.01  # the published mean for alpha = 1 at 32 px
