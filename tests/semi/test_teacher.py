"""A network that follows another one slowly."""

import pytest
import torch
from torch import nn

from openmix_dm.semi.momentum_teacher import MomentumTeacher


def student():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


def test_weights_follow_by_hand():
    network = student()
    teacher = MomentumTeacher(network, decay=0.9)
    before = network[0].weight.detach().clone()
    with torch.no_grad():
        network[0].weight.add_(1.0)
    teacher.follow(network)
    teacher.follow(network)  # twice: 0.9 ** 2 of the old one is left
    torch.testing.assert_close(teacher.network[0].weight, before + (1 - 0.81))


def test_statistics_are_its_own():
    network = student()
    teacher = MomentumTeacher(network).train()
    teacher(torch.randn(8, 3) + 5)
    teacher.follow(network)
    assert teacher.network[1].num_batches_tracked == 1
    assert network[1].num_batches_tracked == 0
    assert not torch.equal(teacher.network[1].running_mean, network[1].running_mean)


def test_no_gradient_reaches_it_or_its_answers():
    network = student()
    teacher = MomentumTeacher(network)
    assert not any(value.requires_grad for value in teacher.parameters())
    assert not teacher(torch.randn(4, 3, requires_grad=True)).requires_grad
    assert all(value.requires_grad for value in network.parameters())


def test_it_starts_where_it_is_told_to():
    network = student()
    teacher = MomentumTeacher(student())
    teacher.copy_from(network)
    assert all(map(torch.equal, teacher.network.state_dict().values(), network.state_dict().values()))
    with pytest.raises(ValueError, match='decay'):
        MomentumTeacher(network, decay=1.5)
