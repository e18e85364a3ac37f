"""Counters of batch norm are brought up to date together."""

import pytest
import torch
from torch import nn

from openmix_dm.utils.modules import counting_at_once


def network():
    """Norms that run once, twice and never, one that looks at its count, and one that counts nothing."""
    return nn.ModuleDict(
        {
            'once': nn.BatchNorm1d(3),
            'twice': nn.BatchNorm1d(3),
            'never': nn.BatchNorm1d(3),
            'mean': nn.BatchNorm1d(3, momentum=None),
            'none': nn.BatchNorm1d(3, track_running_stats=False),
        }
    )


def run(norms):
    inputs = torch.randn(4, 3)
    for name in ('once', 'twice', 'twice', 'mean', 'none'):
        inputs = norms[name](inputs)


def test_counts_and_statistics_are_those_of_plain_calls():
    plain, together = network(), network()
    for norms in (plain, together):
        torch.manual_seed(1)
        run(norms)
    torch.manual_seed(2)
    run(plain)
    torch.manual_seed(2)
    with counting_at_once(together):
        run(together)
    for one, other in zip(plain.state_dict().items(), together.state_dict().items(), strict=True):
        assert one[0] == other[0]
        assert torch.equal(one[1], other[1])
    assert [int(norm.num_batches_tracked) for name, norm in together.items() if name != 'none'] == [2, 4, 0, 2]


def test_a_network_in_eval_mode_counts_nothing():
    norms = network().eval()
    with counting_at_once(norms):
        run(norms)
    assert not any(norm.num_batches_tracked for name, norm in norms.items() if name != 'none')


def test_an_error_leaves_what_was_counted_and_the_counters_in_place():
    norms = network()
    with pytest.raises(RuntimeError, match='running_mean'), counting_at_once(norms):
        norms['once'](norms['twice'](torch.randn(4, 3))[:, :2])  # two features for three means
    assert norms['once'].num_batches_tracked == 1
    assert isinstance(norms['never'].num_batches_tracked, torch.Tensor)
    assert 'num_batches_tracked' not in norms['never'].__dict__
