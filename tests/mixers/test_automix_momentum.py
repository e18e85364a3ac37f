import pytest
import torch
from reference import automix as reference
from support.mixer_examples import AnyModel

from openmix_dm.mixers.automix.momentum import MomentumNetwork, Progress


def test_the_schedule_is_a_true_cosine_over_the_run():
    progress = Progress()
    progress.steps = 50
    for step in range(60):
        at = min(step, 50)
        expected = reference.momentum_at(at, 50, 0.9, 0.999)
        assert 1 - progress.between(1 - 0.9, 1 - 0.999) == pytest.approx(expected, abs=1e-6)
        progress.advance()
    assert progress.cosine() == 0


def test_without_a_known_end_the_schedule_stays_at_its_start():
    progress = Progress()
    progress.advance()
    assert progress.between(0.25, 0.0) == 0.25


def test_progress_is_state():
    first, second = Progress(), Progress()
    for _ in range(7):
        first.advance()
    second.load_state_dict(first.state_dict())
    assert second.step == 7


def test_the_network_follows_by_a_share_and_keeps_its_own_statistics():
    model = AnyModel()
    network = MomentumNetwork(model.backbone, model.head)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1)
    model.backbone.stage1[1].running_mean.fill_(5)
    network.follow(model, 0.25)
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(parameter, before[name] + 0.25)
    assert (network.backbone.stage1[1].running_mean == 0).all()
    network.copy_from(model)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), model.parameters(), strict=True))
    assert (network.backbone.stage1[1].running_mean == 5).all()


def test_a_tiny_share_is_not_lost():
    """1 - 0.999999 in float32 is off by a hundredth; the share itself is not."""
    progress = Progress()
    assert progress.between(1e-6, 1e-6) == pytest.approx(1e-6, rel=1e-5)


def test_features_stop_at_the_stage_and_need_no_gradient():
    model = AnyModel()
    network = MomentumNetwork(model.backbone, model.head)
    ran = []
    network.backbone.stage2.register_forward_hook(lambda *_: ran.append(1))
    features = network.features(torch.rand(2, 3, 8, 6), 'stage1')
    assert features.shape == (2, 4, 8, 6)
    assert not ran
    assert not features.requires_grad
    assert not any(parameter.requires_grad for parameter in network.parameters())
    assert network.map_shape('stage2', (64, 64)) == (8, 32, 32)
    assert network.training
