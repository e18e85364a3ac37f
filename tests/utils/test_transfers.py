"""Small tensors reach the device without a wait, and stay as they are on the CPU."""

import pytest
import torch

from openmix_dm.analysis.benchmarks.pretended_device import pretended_gpu
from openmix_dm.utils.transfers import to_device


def test_on_the_cpu_nothing_is_copied():
    values = torch.rand(3)
    assert to_device(values, torch.device('cpu')) is values
    assert to_device(values, torch.device('cpu'), torch.float32) is values
    assert to_device(values, torch.device('cpu'), torch.float64).dtype == torch.float64


@pytest.mark.parametrize('dtype', [None, torch.float16])
def test_the_copy_to_a_gpu_is_pinned(dtype):
    values = torch.rand(3)
    with pretended_gpu() as record:
        there = to_device(values, torch.device('cuda', 0), dtype)
        assert there.is_cuda
        assert to_device(there, there.device) is there
    assert record.trouble == []
    assert record.launched == 1
    assert torch.equal(there, values.to(dtype or torch.float32))


def test_other_devices_get_a_plain_copy():
    assert to_device(torch.rand(3), torch.device('meta')).is_meta
