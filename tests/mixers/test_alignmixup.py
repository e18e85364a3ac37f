import pytest
import torch
from reference import alignment
from support.small_models import batch, classifier

from openmix_dm.classifiers import MixClassifier
from openmix_dm.mixers import AlignMixup
from openmix_dm.mixers.partner import Shift


@pytest.mark.parametrize('rows_last', [True, False])
@pytest.mark.parametrize(('scale', 'tolerance'), [(0.3, 0.1), (1.0, 0.1), (0.3, 1e-9)])
def test_the_plan_is_that_of_slow_loops(rows_last, scale, tolerance):
    torch.manual_seed(0)
    own, other = scale * torch.randn(2, 3, 5, 9, dtype=torch.float64)
    cost = alignment.squared_distances(own, other)
    expected = torch.tensor(alignment.sinkhorn(cost, 0.1, 40, tolerance, rows_last))
    plan = AlignMixup(rounds=40, tolerance=tolerance).align(own, other, keep_own=rows_last)
    torch.testing.assert_close(plan, expected, rtol=2e-3, atol=1e-5)
    torch.testing.assert_close(plan.sum(dim=2 if rows_last else 1), torch.ones(3, 9))


@pytest.mark.parametrize('lam', [0.0, 0.3, 1.0])
def test_a_permutation_of_places_is_found_in_two_rounds(lam):
    maps = torch.stack([10 * torch.eye(4), 10 * torch.eye(4)[:, [2, 0, 3, 1]]]).view(2, 4, 2, 2)
    mixer = AlignMixup(rounds=2)
    other = maps.flip(0)
    torch.testing.assert_close(mixer.mix_maps(maps, Shift(1), lam, keep_own=True), maps)
    torch.testing.assert_close(mixer.mix_maps(maps, Shift(1), lam, keep_own=False), other)


def test_equal_features_share_all_places():
    plan = AlignMixup().align(torch.ones(1, 3, 6), torch.ones(1, 3, 6), keep_own=True)
    torch.testing.assert_close(plan, torch.full((1, 6, 6), 1 / 6))


def test_one_place_is_mixed_as_it_is():
    maps = torch.randn(4, 7, 1, 1)
    mixed = AlignMixup().mix_maps(maps, Shift(1), 0.3, keep_own=False)
    torch.testing.assert_close(mixed, 0.3 * maps + 0.7 * maps.roll(-1, 0))


def test_gradients_flow_through_both_maps_and_not_through_the_plan():
    torch.manual_seed(0)
    maps = torch.randn(2, 5, 2, 2, requires_grad=True)
    mixer = AlignMixup()
    mixer.mix_maps(maps, Shift(1), 0.3, keep_own=True)[0].sum().backward()
    plan = mixer.align(maps.detach().flatten(2), maps.detach().flip(0).flatten(2), keep_own=True)
    torch.testing.assert_close(maps.grad[0], torch.full((5, 2, 2), 0.3))
    torch.testing.assert_close(maps.grad[1].flatten(1), (0.7 * plan[0].sum(dim=0)).expand(5, 4))


def test_three_ways_by_two_fair_coins():
    torch.manual_seed(0)
    model = classifier({'type': 'AlignMixup'})
    inputs, labels = batch(2)
    batches = [model.mixer(inputs, labels) for _ in range(400)]
    hidden = sum(each.hidden is not None for each in batches)
    assert 160 < hidden < 240
    assert {each.hidden.stage for each in batches if each.hidden} == {'stage2'}
    assert all(each.inputs is inputs for each in batches if each.hidden)


def test_half_precision_aligns_in_full():
    maps = 30 * torch.randn(2, 8, 4, 4)
    with torch.autocast('cpu', dtype=torch.bfloat16):
        plan = AlignMixup().align(maps.flatten(2), maps.flip(0).flatten(2), keep_own=True)
    assert plan.dtype == torch.float32
    assert plan.isfinite().all()


@pytest.mark.parametrize('name', ['deit_tiny_patch16_224', 'swin_tiny_patch4_window7_224'])
def test_networks_without_a_map_at_the_end_are_refused(name):
    with pytest.raises(ValueError, match=r'AlignMixup aligns maps .* take a convolutional network'):
        MixClassifier(
            backbone={'type': 'TimmBackbone', 'name': name},
            head={'type': 'LinearHead', 'num_classes': 5, 'loss': {'type': 'MixedCE'}},
            mixer={'type': 'AlignMixup'},
        )


def test_it_trains_through_the_last_stage():
    torch.manual_seed(1)
    model = classifier({'type': 'AlignMixup'}, {'type': 'DecoupledCE', 'eta': 0.1})
    for _ in range(8):
        losses = model.loss(*batch())
        losses['loss_cls'].backward()
    assert all(parameter.grad is not None for parameter in model.backbone.parameters())
