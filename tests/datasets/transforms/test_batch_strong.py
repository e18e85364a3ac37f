"""Strong views of small images in tensors."""

import pytest
import torch

from openmix_dm.datasets.transforms.batch import BatchCutout, BatchRandomAffine, BatchRandomContrast


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def images(n=6, size=16):
    return torch.randint(256, (n, 3, size, size), dtype=torch.uint8)


ALL = [BatchRandomAffine(scale=(0.8, 1.2)), BatchRandomContrast(), BatchCutout(fill=7)]


@pytest.mark.parametrize('transform', ALL, ids=lambda t: type(t).__name__)
def test_drawn_by_the_generator_alone_and_image_by_image(transform):
    before = images()
    copy = before.clone()
    one, two, other = (transform(before, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert one.dtype == torch.uint8
    assert one.shape == before.shape
    assert torch.equal(before, copy)
    same = transform(before[:1].expand(6, -1, -1, -1).contiguous(), generator())
    assert len({each.numpy().tobytes() for each in same}) > 1  # each image has draws of its own


def test_nothing_asked_for_is_nothing_done():
    pictures = images()
    assert torch.equal(BatchRandomAffine(degrees=0.0, shift=0.0)(pictures, generator()), pictures)
    assert torch.equal(BatchRandomContrast((1.0, 1.0), (1.0, 1.0))(pictures, generator()), pictures)
    assert torch.equal(BatchCutout(size=0.0)(pictures, generator()), pictures)


def test_a_shift_moves_by_pixels():
    """A point in the middle of a 16 px image stays within a quarter of it, and is not lost."""
    points = torch.zeros(50, 3, 16, 16, dtype=torch.uint8)
    points[:, :, 8, 8] = 255
    moved = BatchRandomAffine(degrees=0.0, shift=0.25)(points, generator())[:, 0].float()
    places = moved.flatten(1).argmax(dim=1)
    rows, columns = places // 16, places % 16
    assert ((rows - 8).abs() <= 5).all()
    assert ((columns - 8).abs() <= 5).all()
    assert rows.unique().numel() > 3
    torch.testing.assert_close(moved.sum(dim=(1, 2)), torch.full((50,), 255.0), rtol=0.02, atol=3.0)


def test_a_scale_changes_sizes():
    square = torch.zeros(40, 3, 32, 32, dtype=torch.uint8)
    square[:, :, 8:24, 8:24] = 255
    sizes = (BatchRandomAffine(0.0, 0.0, (0.5, 1.5))(square, generator())[:, 0] > 127).sum(dim=(1, 2)).float().sqrt()
    assert sizes.min() < 12
    assert sizes.max() > 20
    assert sizes.min() >= 7
    assert sizes.max() <= 25


def test_contrast_spreads_around_the_mean():
    pictures = images(200)
    changed = BatchRandomContrast((0.5, 0.5), (1.0, 1.0))(pictures, generator()).float()
    before = pictures.float()
    torch.testing.assert_close(changed.mean(dim=(1, 2, 3)), before.mean(dim=(1, 2, 3)), rtol=0, atol=0.6)
    torch.testing.assert_close(changed.std(dim=(1, 2, 3)), before.std(dim=(1, 2, 3)) / 2, rtol=0.01, atol=0.6)


def test_cutout_covers_one_rectangle_of_bounded_size():
    white = torch.full((100, 3, 16, 16), 255, dtype=torch.uint8)
    covered = BatchCutout(size=0.5)(white, generator()) == 0
    assert torch.equal(covered[:, 0], covered[:, 1])
    for each in covered[:, 0]:
        rows, columns = each.any(dim=1).sum(), each.any(dim=0).sum()
        assert each.sum() == rows * columns
        assert max(rows, columns) <= 8
    assert covered.any(dim=(1, 2, 3)).sum() > 80


@pytest.mark.parametrize(
    ('make', 'word'),
    [
        (lambda: BatchRandomAffine(degrees=-1.0), 'degrees'),
        (lambda: BatchRandomAffine(shift=2.0), 'shift'),
        (lambda: BatchRandomAffine(scale=(1.2, 0.8)), 'scale'),
        (lambda: BatchRandomAffine(mode='wrap'), 'mode'),
        (lambda: BatchRandomContrast(contrast=(0.0, 1.0)), 'contrast'),
        (lambda: BatchCutout(size=1.5), 'size'),
        (lambda: BatchCutout(fill=300), 'fill'),
    ],
)
def test_impossible_values_are_refused(make, word):
    with pytest.raises(ValueError, match=word):
        make()
