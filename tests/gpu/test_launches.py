"""Work goes to the device in few, large pieces; `benchmark.py launches` counts them."""

import json

import pytest
import torch
from support.device_steps import trouble

from openmix_dm.analysis.benchmarks import launches
from openmix_dm.commands import benchmark as command
from openmix_dm.mixers import PuzzleMix, SaliencyMix
from openmix_dm.registry import BACKBONES

WAITS_BY_ITSELF = {'BSS': 'aten::_linalg_svd'}


def operations(work):
    return launches.count(work).launched


def test_a_large_batch_of_saliency_is_no_more_operations_than_a_small_one():
    few, many = (operations(lambda n=n: launches.mixing(SaliencyMix(1.0), n, 64)) for n in (8, 256))
    assert few == many <= launches.TARGETS[launches.SALIENCY]


@pytest.mark.parametrize('per_sample', [False, True])
@pytest.mark.parametrize('size', [2, 30])
def test_a_puzzle_keeps_to_its_operations(size, per_sample):
    mixer = launches._finest(PuzzleMix(1.0, per_sample=per_sample))
    counted = operations(lambda: launches.mixing(mixer, size, 64))
    assert counted <= launches.TARGETS[launches.PUZZLE] + 12 * per_sample  # the prior and the ends of each lam
    assert mixer.draw_grid(64, 64) == 8


def test_lists_of_parameters_are_single_operations():
    """LAMB: as many as there are tensors whose step is scaled, and some 30; averages: one for each type."""
    network = BACKBONES.build({'type': 'ThinResNet', 'depth': 20})
    decaying = sum(parameter.dim() > 1 for parameter in network.parameters())
    assert operations(lambda: launches.optimiser_step(network)) <= decaying + 40
    assert operations(lambda: launches.averaging(network)) == 3


@pytest.mark.parametrize('json_wanted', [False, True])
def test_the_command_counts(json_wanted, capsys, monkeypatch):
    monkeypatch.setattr(launches, 'RESNET50', 'resnet18')
    monkeypatch.setattr(launches, 'RESNET_MIXERS', {'Mixup': {'alpha': 1.0}})
    monkeypatch.setattr(launches, 'TOKEN_MIXERS', {})
    monkeypatch.setattr(launches, 'STREAM_METHODS', {'BSS': launches.STREAM_METHODS['BSS']})
    monkeypatch.setattr(launches, 'PIXELS', 32)
    monkeypatch.setitem(launches.TARGETS, launches.EMA, 2)
    assert command.main(['launches', *(['--json'] if json_wanted else [])]) == 0
    printed = capsys.readouterr().out
    if not json_wanted:
        assert [line.split()[-1] for line in printed.splitlines() if '<=' in line] == ['ok', 'MISSED', 'ok', 'ok', 'ok']
        assert 'aten::_linalg_svd at openmix_dm/semi/terms/spectral.py' in printed
        return
    rows = {row['name']: row for row in json.loads(printed)['rows']}
    assert set(rows) == {
        'Mixup',
        'BSS',
        launches.LAMB,
        launches.EMA,
        launches.SALIENCY,
        launches.GUIDED,
        launches.PUZZLE,
    }
    assert 100 < rows['Mixup']['operations'] < 300
    assert rows[launches.PUZZLE]['target'] == 600


@pytest.mark.slow
def test_the_promised_numbers_hold():
    rows = launches.measure(pixels=64)
    assert set(launches.TARGETS) <= {row.name for row in rows}
    for row in rows:
        assert row.target is None or row.operations <= row.target, row
        assert trouble(row, *filter(None, [WAITS_BY_ITSELF.get(row.name)])) == []


def test_saliency_adds_no_floats_up_on_the_device():
    """A GPU refuses running sums of floats where a run is to be deterministic."""
    summed = []

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is torch.Tensor.cumsum and args[0].is_cuda:
                summed.append(args[0].dtype)
            return func(*args, **(kwargs or {}))

    def work():
        mix = launches.mixing(SaliencyMix(1.0), 4, 32)

        def watched():
            with Watch():
                mix()

        return watched

    launches.count(work)
    assert summed
    assert not any(kind.is_floating_point for kind in summed)
