import pytest
import torch

from openmix_dm.mixers.partner import Given, Permutation, Shift, draw_partner


@pytest.mark.parametrize(
    'weight', [torch.tensor(0.3), torch.rand(6, 1, 1, 1), torch.rand(1, 1, 4, 5)], ids=['one', 'rows', 'mask']
)
@pytest.mark.parametrize(
    'partner', [Shift(0), Shift(1), Shift(5), Permutation(torch.randperm(6))], ids=['0', '1', '5', 'permutation']
)
def test_blend_weighs_the_own_side(partner, weight):
    own = torch.randn(6, 3, 4, 5)
    index = partner.index(6, own.device)
    assert torch.equal(partner.take(torch.arange(6)), index)
    torch.testing.assert_close(partner.blend(own, weight), weight * own + (1 - weight) * own[index])
    graph = partner.blend(own.clone().requires_grad_(), weight)
    torch.testing.assert_close(graph, partner.blend(own, weight))
    assert graph.requires_grad


def test_given_partner_blends_and_takes_nothing_else():
    own, other = torch.ones(2, 1, 2, 2), torch.zeros(2, 1, 2, 2)
    assert Given(other).blend(own, torch.tensor(0.25)).unique().tolist() == [0.25]
    with pytest.raises(TypeError):
        Given(other).take(own)
    with pytest.raises(TypeError):
        Given(other).index(2, own.device)


def test_a_shift_pairs_nobody_with_itself():
    for size in (2, 3, 8):
        for _ in range(20):
            index = draw_partner('shift', size).take(torch.arange(size))
            assert (index != torch.arange(size)).all()


def test_all_shifts_are_drawn_alike():
    counts = torch.bincount(torch.tensor([draw_partner('shift', 5).step for _ in range(4000)]), minlength=5)
    assert counts[0] == 0
    assert (counts[1:] - 1000).abs().max() < 4 * (4000 * 0.25 * 0.75) ** 0.5


def test_alone_in_the_batch():
    for kind in ('shift', 'permutation'):
        assert draw_partner(kind, 1).take(torch.arange(1)).tolist() == [0]


def test_the_gradient_reaches_a_learned_weight():
    for partner in (Shift(1), Permutation(torch.tensor([1, 0]))):
        weight = torch.tensor(0.5, requires_grad=True)
        partner.blend(torch.tensor([[1.0], [3.0]]), weight)[0].sum().backward()
        assert weight.grad.item() == -2
