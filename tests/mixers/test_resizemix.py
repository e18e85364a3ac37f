import pytest
import torch
from reference import mixers as reference

from openmix_dm.mixers import ResizeMix, resizemix
from openmix_dm.mixers.boxes import Box, Boxes
from openmix_dm.mixers.partner import Given


def record_boxes(monkeypatch):
    boxes = []
    draw = resizemix.draw_box

    def spy(*args):
        boxes.append(draw(*args))
        return boxes[-1]

    monkeypatch.setattr(resizemix, 'draw_box', spy)
    return boxes


@pytest.mark.parametrize('partner', ['shift', 'permutation'])
@pytest.mark.parametrize('per_sample', [False, True])
def test_equals_the_loop(monkeypatch, per_sample, partner):
    inputs, labels = torch.randn(6, 3, 11, 14), torch.arange(6)
    boxes = record_boxes(monkeypatch)
    for _ in range(5):
        batch = ResizeMix(alpha=1.0, per_sample=per_sample, partner=partner)(inputs, labels)
        drawn = boxes[-1]
        each = list(zip(*(part.tolist() for part in drawn), strict=True)) if per_sample else [tuple(drawn)] * 6
        assert torch.equal(batch.inputs, reference.resizemix(inputs, batch.index, each))
        shares = [1 - (bottom - top) * (right - left) / 154 for top, bottom, left, right in each]
        torch.testing.assert_close(batch.target.lam, torch.tensor(shares))


def test_bilinear_for_each_sample_is_bilinear_for_one():
    images = torch.rand(2, 3, 12, 16)
    box = Box(2, 9, 3, 12)
    boxes = Boxes(*(torch.tensor([value] * 2) for value in box))
    small = resizemix.resize(images, 7, 9, 'bilinear')
    within = resizemix.resize_into(images, torch.tensor([1, 0]), boxes, 'bilinear')[:, :, 2:9, 3:12]
    torch.testing.assert_close(within, small.flip(0), rtol=1e-4, atol=1e-5)


def taus(mixer, draws=20_000):
    lam = mixer.draw_lam(draws, torch.device('cpu')).double()
    return (1 - lam).sqrt()


def test_tau_is_uniform_in_its_scope_without_alpha():
    tau = taus(ResizeMix(scope=(0.2, 0.6), per_sample=True))
    assert tau.min() >= 0.2 - 1e-6
    assert tau.max() <= 0.6 + 1e-6
    assert abs(tau.mean() - 0.4) < 4 * (0.4 / 12**0.5) / 20_000**0.5


def test_beta_outside_the_scope_is_drawn_anew_uniformly():
    """Beta(1, 1) is uniform on [0, 1]: inside with probability 0.7, and uniform in the scope either way."""
    tau = taus(ResizeMix(alpha=1.0, per_sample=True))
    assert abs(tau.mean() - 0.45) < 4 * (0.7 / 12**0.5) / 20_000**0.5
    tau = taus(ResizeMix(alpha=0.05, per_sample=True))  # nearly all of it outside
    assert abs(tau.mean() - 0.45) < 0.02
    tau = taus(ResizeMix(alpha=50.0, per_sample=True))  # nearly all of it at one half
    assert tau.std() < 0.1


def test_one_lam_for_the_batch_has_the_same_distribution():
    mixer = ResizeMix(alpha=1.0)
    tau = torch.tensor([(1 - mixer.draw_lam(4, torch.device('cpu'))) ** 0.5 for _ in range(4000)])
    assert abs(tau.mean() - 0.45) < 4 * (0.7 / 12**0.5) / 4000**0.5


def test_the_whole_partner_is_in_the_box():
    """A partner with four colours in its corners shows all four, however small the box."""
    inputs = torch.zeros(2, 1, 32, 32)
    inputs[1, :, :16, :16], inputs[1, :, :16, 16:], inputs[1, :, 16:, :16], inputs[1, :, 16:, 16:] = 1, 2, 3, 4
    mixed = resizemix.paste(inputs, Given(inputs.flip(0)), Box(4, 8, 10, 14), 'nearest')
    assert mixed[0, 0, 4:8, 10:14].tolist() == [[1, 1, 2, 2]] * 2 + [[3, 3, 4, 4]] * 2


@pytest.mark.parametrize('scope', [(0.0, 0.5), (0.5, 0.5), (0.8, 0.1), (0.5, 1.1)])
def test_empty_scopes_are_refused(scope):
    with pytest.raises(ValueError, match='scope'):
        ResizeMix(scope=scope)


def test_unknown_interpolation_is_refused():
    with pytest.raises(ValueError, match='interpolation'):
        ResizeMix(interpolation='bicubic')
