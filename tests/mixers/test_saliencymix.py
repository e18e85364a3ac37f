import pytest
import torch
from reference import saliency as reference

from openmix_dm.mixers.saliencymix import SaliencyMix, centred_boxes, most_salient

MEAN, STD = 120.0, 60.0


class PixelProbe:
    """A probe that only knows how the images were normalised."""

    def denormalise(self, inputs):
        return (inputs * STD + MEAN) / 255


def normalised(pixels):
    return (pixels.float() - MEAN) / STD


def noise(*shape):
    return torch.randint(256, shape, dtype=torch.uint8)


def spots(places, size=32):
    """Grey images, each with a bright square in a dark outline around its place.

    Without the outline the darkest places of the plain background would be as salient as the square: 255 each.
    """
    pixels = torch.full((len(places), 3, size, size), 60, dtype=torch.uint8)
    for image, (y, x) in zip(pixels, places, strict=True):
        image[:, y - 2 : y + 3, x - 2 : x + 3] = 0
        image[:, y - 1 : y + 2, x - 1 : x + 2] = 250
    return pixels


def check(batch, inputs, pixels, lam):
    mixed, shown = reference.saliencymix(inputs, inputs[batch.index], pixels[batch.index].numpy(), lam)
    assert torch.equal(batch.inputs, mixed)
    torch.testing.assert_close(batch.target.lam, shown)
    torch.testing.assert_close(batch.mask.mean(dim=(1, 2, 3)), shown)


@pytest.mark.parametrize('partner', ['shift', 'permutation'])
def test_equals_the_loop_for_each_sample(partner):
    pixels = noise(7, 3, 10, 13)
    lam = torch.tensor([0.0, 1.0, 0.1, 0.37, 0.5, 0.75, 0.9])
    inputs = normalised(pixels)
    batch = SaliencyMix(alpha=1.0, partner=partner)(inputs, torch.arange(7), PixelProbe(), lam)
    check(batch, inputs, pixels, lam.tolist())


@pytest.mark.parametrize('lam', [0.0, 0.1, 0.37, 0.75, 1.0])
def test_equals_the_loop_for_one_lam(lam):
    inputs = normalised(pixels := noise(5, 1, 13, 10))
    batch = SaliencyMix(alpha=1.0)(inputs, torch.arange(5), PixelProbe(), lam)
    check(batch, inputs, pixels, [lam] * 5)


def test_pair_looks_at_the_other_batch():
    own, other = noise(4, 3, 11, 12), noise(4, 3, 11, 12)
    own[:, 0, 0, :2] = other[:, 0, 0, :2] = torch.tensor([0, 255], dtype=torch.uint8)  # then stretching gives the bytes
    pair = SaliencyMix(alpha=1.0).pair(normalised(own), normalised(other), 0.6)
    mixed, shown = reference.saliencymix(normalised(own), normalised(other), other.numpy(), [0.6] * 4)
    assert torch.equal(pair.inputs, mixed)
    torch.testing.assert_close(pair.lam, shown)


@pytest.mark.parametrize('probe', [PixelProbe(), None])
def test_the_outlined_bright_object_of_the_partner_is_pasted(probe):
    places = [(8, 8), (8, 24), (24, 8), (24, 24), (16, 16)]
    inputs = normalised(spots(places))
    batch = SaliencyMix(alpha=1.0, partner='permutation')(inputs, torch.arange(5), probe, 0.9)
    for i, j in enumerate(batch.index.tolist()):
        y, x = places[j]
        box = (slice(None), slice(y - 1, y + 2), slice(x - 1, x + 2))
        assert torch.equal(batch.inputs[i][box], inputs[j][box])
        assert batch.mask[i, 0, y, x] == 0
        assert 1 - batch.target.lam[i] == pytest.approx(100 / 1024)  # 10 x 10 pixels: no border is near


def test_boxes_by_hand():
    mask, shown = centred_boxes(torch.tensor([0, 2 * 6 + 3]), 0.5, 4, 6)  # half sides: 1 and 2
    assert (1 - mask[0, 0]).nonzero().tolist() == [[0, 0], [0, 1]]
    assert (1 - mask[1, 0]).nonzero().tolist() == [[y, x] for y in (1, 2) for x in (1, 2, 3, 4)]
    torch.testing.assert_close(shown, torch.tensor([22 / 24, 16 / 24]))


def test_boxes_of_nothing_and_of_everything():
    centres = torch.tensor([2 * 8 + 4, 2 * 8 + 4])
    for lam, left in ((1.0, 1.0), (0.0, 0.0)):
        mask, shown = centred_boxes(centres, lam, 4, 8)
        assert shown.tolist() == [left] * 2
        assert mask.unique().tolist() == [left]
    assert centred_boxes(centres, torch.tensor([1.0, 0.0]), 4, 8)[1].tolist() == [1, 0]


def test_pixels_come_from_the_probe():
    """A probe that turns the image over moves the most salient place."""

    class Upside(PixelProbe):
        def denormalise(self, inputs):
            return super().denormalise(inputs).flip(2)

    inputs = normalised(spots([(5, 20)]))
    for probe, place in ((PixelProbe(), (5, 20)), (Upside(), (26, 20))):
        assert divmod(most_salient(inputs, probe).item(), 32) == pytest.approx(place, abs=3)


@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16])
def test_half_images_have_the_same_boxes(dtype):
    inputs = normalised(spots([(8, 8), (20, 9), (12, 25)]))
    full = SaliencyMix(alpha=1.0).pair(inputs, inputs.flip(0), 0.7)
    half = SaliencyMix(alpha=1.0).pair(inputs.to(dtype), inputs.flip(0).to(dtype), 0.7)
    assert half.inputs.dtype == dtype
    assert half.mask.dtype == torch.float32
    assert torch.equal(half.mask, full.mask)
    assert torch.equal(half.lam, full.lam)


def test_gradients_reach_both_sides_through_the_mask():
    own, other = (torch.rand(2, 3, 9, 9, requires_grad=True) for _ in range(2))
    pair = SaliencyMix(alpha=1.0).pair(own, other, 0.5)
    pair.inputs.sum().backward()
    assert torch.equal(own.grad, pair.mask.expand_as(own))
    assert torch.equal(other.grad, 1 - pair.mask.expand_as(own))


@pytest.mark.parametrize('lam', [0.4, torch.rand(6)])
@pytest.mark.parametrize('probe', [PixelProbe(), None])
def test_runs_without_values(lam, probe):
    inputs, labels = torch.empty(6, 3, 16, 9, device='meta'), torch.empty(6, dtype=torch.long, device='meta')
    batch = SaliencyMix(alpha=1.0)(inputs, labels, probe, lam)
    assert batch.inputs.is_meta
    assert batch.mask.shape == (6, 1, 16, 9)
    assert batch.target.lam.is_meta


def test_bad_settings_and_images_are_refused():
    with pytest.raises(ValueError, match='alpha'):
        SaliencyMix(alpha=0)
    with pytest.raises(ValueError, match='partner'):
        SaliencyMix(alpha=1.0, partner='neighbour')
    with pytest.raises(ValueError, match='1 or 3'):
        SaliencyMix(alpha=1.0)(torch.rand(2, 2, 8, 8), torch.arange(2))
