"""Mixing takes, beyond its result, at most the memory of one more batch."""

import pytest
import torch
from mixers.test_promises import ProbeOfNothing
from support.mixer_examples import LEARNED, build, case_id, cases, remember
from torch._C._profiler import _EventType

SHAPE = (32, 3, 64, 64)
LARGE = (48, 3, 128, 128)  # SaliencyMix looks at 4 MB at a time, whatever the batch


def peak_bytes(function):
    """The most memory held at once during a call, beyond what was held before it: from torch's own allocation log."""
    with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        result = function()
    held, peak = 0, 0
    for event in sorted(allocations(profile.profiler.kineto_results.experimental_event_tree()), key=lambda e: e[0]):
        held += event[1]
        peak = max(peak, held)
    return peak, result


def allocations(events):
    for event in events:
        if event.tag == _EventType.Allocation:
            yield event.start_time_ns, event.extra_fields.alloc_size
        yield from allocations(event.children)


def test_the_measure_measures():
    batch = torch.rand(SHAPE)
    size = batch.numel() * 4
    peak, _ = peak_bytes(lambda: batch + 1)
    assert size <= peak < 1.01 * size
    peak, _ = peak_bytes(lambda: (batch + 1) * 2 + 3)
    assert 2 * size <= peak < 2.01 * size


@pytest.mark.parametrize('case', cases(), ids=case_id)
def test_at_most_one_batch_beyond_the_result(case):
    name, _ = case
    if name == 'AttentiveMix' or name in LEARNED:
        pytest.skip('runs a network of its own, whose features are its memory')
    mixer = build(*case)
    shape = LARGE if name == 'SaliencyMix' else SHAPE
    inputs, labels = torch.rand(shape), torch.arange(shape[0])
    remember(mixer, inputs, labels)(inputs, labels, ProbeOfNothing())
    size = inputs.numel() * 4
    for seed in range(3):
        torch.manual_seed(seed)
        peak, batch = peak_bytes(lambda: mixer(inputs, labels, ProbeOfNothing()))
        result = 0 if batch.inputs is inputs else size
        assert peak <= result + 1.05 * size, f'{peak / size:.2f} batches'
