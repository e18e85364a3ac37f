import pytest
import torch
from reference import automix as reference

from openmix_dm.mixers.automix.block import MixBlock, PairMixBlock, bend


def pair(channels=5, size=3, height=3, width=4):
    torch.manual_seed(0)
    own, other = torch.randn(2, size, channels, height, width, dtype=torch.float64)
    return own, other, torch.rand(size, dtype=torch.float64)


def strong(block):
    """Weights large enough for the attention to choose places."""
    torch.manual_seed(1)
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return block.double()


def test_automix_block_equals_the_loops():
    own, other, lam = pair()
    block = strong(MixBlock(5))
    expected = torch.stack([reference.automix_block(block, *each) for each in zip(own, other, lam, strict=True)])
    torch.testing.assert_close(block(own, other, lam)[:, 0], expected)


@pytest.mark.parametrize('gain', [None, 0.25, 1.0])
def test_samix_block_equals_the_loops(gain):
    own, other, lam = pair()
    block = strong(PairMixBlock(5, gain, dropout=0.5)).eval()
    block.value[1].running_mean.normal_()
    block.value[1].running_var.uniform_(0.5, 2)
    expected = [reference.samix_block(block, *each, gain) for each in zip(own, other, lam, strict=True)]
    torch.testing.assert_close(block(own, other, lam)[:, 0], torch.stack(expected))


@pytest.mark.parametrize('make', [MixBlock, PairMixBlock])
def test_blocks_start_undecided_and_know_lam(make):
    own, other, _ = pair()
    block = make(5).double().eval()
    drawn = torch.sigmoid(block(own, other, torch.full((3,), 0.5)))
    assert (drawn - 0.5).abs().max() < 0.02
    block = strong(block)
    low, high = (block(own, other, torch.full((3,), lam)) for lam in (0.1, 0.9))
    assert (low - high).abs().max() > 0.01


def test_a_block_without_a_channel_for_lam_does_not_know_it():
    own, other, _ = pair()
    block = strong(MixBlock(5, lam_channel=False))
    low, high = (block(own, other, torch.full((3,), lam)) for lam in (0.1, 0.9))
    assert torch.equal(low, high)


def test_bent_lam_keeps_ends_and_middle_and_is_flatter_between():
    lam = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0], dtype=torch.float64)
    for gain in (0.0, 0.25, 1.0, 100.0):
        bent = bend(lam, gain)
        torch.testing.assert_close(bent[::2], lam[::2])
        torch.testing.assert_close(bent[1] + bent[3], torch.tensor(1.0, dtype=torch.float64))
        assert lam[1] < bent[1] < 0.5
    assert bend(lam, 0.25)[1] > bend(lam, 1.0)[1]
