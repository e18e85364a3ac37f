import pytest
import torch

from openmix_dm.heads import LinearHead
from openmix_dm.losses import DecoupledBCE
from openmix_dm.structures import MixTarget


def test_owns_its_loss():
    head = LinearHead(num_classes=5, in_features=3, loss={'type': 'DecoupledBCE', 't': 0.5, 'xi': 0.8})
    features, target = torch.randn(4, 3), MixTarget(torch.arange(4), torch.arange(4).flip(0), torch.rand(4))
    expected = DecoupledBCE(t=0.5, xi=0.8)(head.fc(features), target)
    torch.testing.assert_close(head.loss(features, target), {'loss_cls': expected})


@pytest.mark.parametrize(('init', 'std'), [('trunc_normal', 0.02), ('normal', 0.01), ('xavier', (2 / 600) ** 0.5)])
def test_initialisations(init, std):
    head = LinearHead(num_classes=300, in_features=300, loss={'type': 'MixedCE'}, init=init)
    assert abs(head.fc.weight.std().item() - std) < 0.02 * std
    assert not head.fc.bias.any()


def test_torch_initialisation_is_left_alone():
    torch.manual_seed(5)
    expected = torch.nn.Linear(3, 5)
    torch.manual_seed(5)
    assert torch.equal(LinearHead(num_classes=5, in_features=3, loss={'type': 'MixedCE'}).fc.weight, expected.weight)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match='num_classes'):
        LinearHead(num_classes=0, in_features=3, loss={'type': 'MixedCE'})
    with pytest.raises(ValueError, match='init'):
        LinearHead(num_classes=2, in_features=3, loss={'type': 'MixedCE'}, init='zeros')
