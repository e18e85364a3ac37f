import pytest
import torch

from openmix_dm.datasets import BatchRandomCrop, BatchRandomFlip


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize('padding', [0, 2, 5])
@pytest.mark.parametrize('mode', ['reflect', 'constant', 'replicate'])
def test_crop_equals_a_loop_over_images(mode, padding):
    images = torch.randint(256, (9, 3, 6, 7), dtype=torch.uint8)
    cropped = BatchRandomCrop(padding, mode=mode)(images, generator(4))
    top, left = torch.randint(2 * padding + 1, (2, 9), generator=generator(4))
    padded = torch.nn.functional.pad(images.float(), [padding] * 4, mode=mode).byte()
    for i in range(9):
        assert torch.equal(cropped[i], padded[i, :, top[i] : top[i] + 6, left[i] : left[i] + 7])
    assert cropped.is_contiguous()


def test_crop_uses_every_shift_alike():
    images = torch.arange(64, dtype=torch.uint8).view(1, 1, 8, 8).expand(9000, 1, 8, 8)
    first = BatchRandomCrop(padding=1, mode='constant')(images, generator())[:, 0, 4, 4]
    counts = first.long().bincount()
    assert counts.count_nonzero() == 9
    assert (counts[counts > 0] - 1000).abs().max() < 4 * (9000 * 8 / 81) ** 0.5


def test_flip_mirrors_about_half():
    images = torch.randint(256, (400, 3, 4, 4), dtype=torch.uint8)
    flipped = BatchRandomFlip()(images, generator())
    same = (flipped == images).flatten(1).all(dim=1)
    mirrored = (flipped == images.flip(-1)).flatten(1).all(dim=1)
    assert (same | mirrored).all()
    assert abs(mirrored.sum() - 200) < 40
    assert torch.equal(images[mirrored], flipped[mirrored].flip(-1))
    assert torch.equal(BatchRandomFlip(prob=1)(images, generator()), images.flip(-1))


def test_images_are_left_as_they_were():
    images = torch.randint(256, (9, 3, 6, 7), dtype=torch.uint8)
    before = images.clone()
    for transform in (BatchRandomCrop(2), BatchRandomFlip()):
        transform(images, generator())
        assert torch.equal(images, before)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match='6 pixels cannot be reflected by padding=6'):
        BatchRandomCrop(padding=6)(torch.zeros(1, 3, 6, 7, dtype=torch.uint8), generator())
    with pytest.raises(ValueError, match='padding'):
        BatchRandomCrop(padding=-1)
    with pytest.raises(ValueError, match='mode'):
        BatchRandomCrop(mode='mirror')
    with pytest.raises(ValueError, match='prob'):
        BatchRandomFlip(prob=2)
