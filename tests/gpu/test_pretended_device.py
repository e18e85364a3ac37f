"""The pretended GPU sees what a GPU would notice, raises no false alarms, computes what the CPU does, and goes away."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from mixers.test_promises import ProbeOfNothing
from support.device_steps import mixed
from support.mixer_examples import LEARNED, build, case_id, cases, example, remember
from torch import nn

from openmix_dm.analysis.benchmarks.device_training import SGD, DeviceTraining, image_batch, pinned
from openmix_dm.analysis.benchmarks.pretended_device import on_device, pretended_gpu


@pytest.fixture
def record():
    with pretended_gpu() as record:
        yield record


def numbers(*shape):
    """Return a tensor of the device, and forget how it came there."""
    return torch.randn(shape, device='cuda')


WAITING = {
    'item': lambda x: x[0].item(),
    'float': lambda x: float(x.sum()),
    'if': lambda x: 1 if x.sum() > 0 else 0,
    'tolist': lambda x: x.tolist(),
    'cpu': lambda x: x.cpu(),
    'to cpu': lambda x: x.to('cpu', torch.float64),
    'numpy': lambda x: x.detach().cpu().numpy(),
    'mask': lambda x: x[x > 0],
    'write by a mask': lambda x: x.index_put_((x > 0,), torch.ones((), device='cuda')),
    'nonzero': lambda x: x.nonzero(),
    'unique': lambda x: x.unique(),
    'index of the host': lambda x: x[torch.tensor([0, 1])],
    'equal': lambda x: torch.equal(x, x),
    'repeat': lambda x: x.repeat_interleave(torch.ones(4, dtype=torch.long, device='cuda')),
    'svd': lambda x: torch.linalg.svdvals(x.view(2, 2)),
    'inverse': lambda x: torch.linalg.inv(x.view(2, 2)),
    'copy_ to the host': lambda x: torch.zeros(4).copy_(x),
    'blocking copy': lambda x: torch.zeros(4).to('cuda'),
    'blocking copy of pinned memory': lambda x: torch.zeros(4).pin_memory().to(x.device),
    'blocking copy_': lambda x: x.copy_(torch.zeros(4).pin_memory()),
    'tensor': lambda x: torch.tensor([1.0, 2.0], device='cuda'),
    'as_tensor': lambda x: torch.as_tensor([1.0, 2.0], device=x.device),
    'new_tensor': lambda x: x.new_tensor([1.0]),
    'synchronize': lambda x: torch.cuda.synchronize(),
    'event': lambda x: recorded().synchronize(),
}


def recorded():
    event = torch.cuda.Event()
    event.record()
    return event


@pytest.mark.parametrize('name', WAITING)
def test_waits_are_seen(record, name):
    values = numbers(4)
    record.clear()
    WAITING[name](values)
    assert record.waits.total() == 1
    assert not record.mixed


MIXING = {
    'sum': lambda x, y: x + y,
    'cat': lambda x, y: torch.cat((x, y)),
    'lerp': lambda x, y: torch.lerp(x, x, y),
    'select': lambda x, y: x.index_select(0, y.long().abs() % 4),
    'stack of a number': lambda x, y: torch.stack((x[0], y[0])),
    'product': lambda x, y: x @ y,
    'list': lambda x, y: torch._foreach_add_([x], [y]),
    'number written on the host': lambda x, y: y[0].add_(x[0]),
}


@pytest.mark.parametrize('name', MIXING)
def test_mixed_devices_are_seen(record, name):
    MIXING[name](numbers(4), torch.randn(4))
    assert record.mixed.total() == 1


def test_unpinned_copies_are_seen(record):
    torch.zeros(4).to('cuda', non_blocking=True)
    numbers(4).copy_(torch.zeros(4), non_blocking=True)
    assert record.unpinned.total() == 2
    assert not record.waits


FINE = {
    'pinned copy': lambda x: torch.zeros(4).pin_memory().to('cuda', non_blocking=True),
    'pinned memory': lambda x: torch.zeros(4, pin_memory=True).to(x.device, torch.float64, non_blocking=True),
    'copy_ of pinned memory': lambda x: x.copy_(torch.zeros(4).pin_memory(), non_blocking=True),
    'copy_ to pinned memory': lambda x: torch.zeros(4).pin_memory().copy_(x, non_blocking=True),
    'numbers of the host': lambda x: (x * torch.tensor(2.0) + 1).clamp(min=torch.tensor(0.0)),
    'masked fill': lambda x: x.masked_fill(x > 0, 0.0),
    'number by a mask': lambda x: x.__setitem__(x > 0, 0.0),
    'where': lambda x: torch.where(x > 0, x, torch.tensor(0.0)),
    'one-hot': lambda x: F.one_hot(x.long().abs(), 10),
    'like': lambda x: torch.zeros_like(x) + x.new_ones(4) + torch.arange(4, device=x.device),
    'same device': lambda x: x.to('cuda') + x.to(torch.float64) + x.to(x) + x.cuda(),
    'known size': lambda x: x.repeat_interleave(torch.ones(4, dtype=torch.long, device='cuda'), output_size=4),
    'event': lambda x: recorded().query(),
}


@pytest.mark.parametrize('name', FINE)
def test_what_a_gpu_takes_is_no_alarm(record, name):
    values = numbers(4)
    record.clear()
    FINE[name](values)
    assert record.trouble == []


def test_an_event_of_an_earlier_step_is_no_wait(record):
    event = recorded()
    record.next_step()
    event.synchronize()
    assert event.query()
    assert not record.waits


def test_numpy_refuses_as_it_does_on_a_gpu(record):
    for convert in (np.asarray, torch.Tensor.numpy):
        with pytest.raises(TypeError, match='cuda'):
            convert(numbers(4))
    assert np.asarray(torch.ones(2)).tolist() == [1, 1]


def test_tensors_say_where_they_are(record):
    there, here = numbers(2, 2), torch.zeros(2, 2)
    assert (there.device, there.is_cuda, there.is_cpu, there.get_device()) == (torch.device('cuda', 0), True, False, 0)
    assert (here.device.type, here.is_cuda, here.is_cpu) == ('cpu', False, True)
    for other in (there.T, there[0], there.data, there.clone(), there * 2, copy.deepcopy(there), there.to('cuda')):
        assert other.is_cuda
    for other in (there.cpu(), there.to('cpu'), torch.zeros_like(there, device='cpu'), there.to(here)):
        assert not other.is_cuda
    assert here.to(there).is_cuda
    model = copy.deepcopy(nn.BatchNorm1d(2).cuda())
    model(there).sum().backward()
    assert all(value.is_cuda for value in (*model.parameters(), *model.buffers(), model.weight.grad))


def test_operations_are_counted(record):
    values, others = [numbers(3) for _ in range(5)], [numbers(3) for _ in range(5)]

    def counted(work):
        record.clear()
        work()
        return record.launched

    assert counted(lambda: values[0] + 1) == 1
    assert counted(lambda: values[0].view(3, 1).T.expand(4, 3).detach().unbind()) == 0
    assert counted(lambda: torch.empty_like(values[0])) == 0
    assert counted(lambda: torch.zeros(3)) == 0
    assert counted(lambda: torch._foreach_lerp_(values, others, 0.5)) == 1
    assert counted(lambda: torch._foreach_lerp_(values, others, [numbers(1)[0]] * 5)) > 5
    assert counted(lambda: torch._foreach_mul_([*values, numbers(2).double()], 2)) > 5  # of two types
    assert counted(lambda: torch._foreach_mul_([value[::2] for value in values], 2)) == 5  # with gaps


def test_optimisers_work_on_lists(record):
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(6))).cuda()
    for optimizer in (torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), torch.optim.AdamW(model.parameters())):
        model(numbers(2, 3)).sum().backward()
        optimizer.step()
        record.clear()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        assert record.launched < 30  # and not one for each of 12 parameters, at 3 to 12 operations each
        assert record.trouble == []


def test_places_are_those_of_the_package():
    with pretended_gpu(places=True) as record:
        mixer = build('CutMix', {'alpha': 1.0})
        mixer(torch.rand(4, 3, 8, 8).cuda(), torch.arange(4).cuda())
        float(numbers(1))
    assert {place.split(':')[0] for place in record.places} >= {
        'openmix_dm/mixers/boxes.py',
        'openmix_dm/mixers/partner.py',
    }
    assert any('gpu/test_pretended_device.py' in line for line in record.waits)  # outside of the package: the caller


def test_everything_is_as_before_afterwards():
    before = torch.Tensor.__dict__.get('device'), torch.cuda.Event, torch.autocast, torch.cuda.is_available()
    with pretended_gpu(), pytest.raises(RuntimeError, match='inside'):
        raise RuntimeError('inside')
    with pretended_gpu():
        left = numbers(3)
    assert before == (torch.Tensor.__dict__.get('device'), torch.cuda.Event, torch.autocast, torch.cuda.is_available())
    assert left.device.type == 'cpu'
    assert (left + torch.ones(3)).tolist()
    with pytest.raises((AssertionError, RuntimeError)):
        torch.zeros(3, device='cuda')


# ---- what is done otherwise on a GPU comes to the same ----


def mix(case, images, seed, device):
    torch.manual_seed(seed)
    mixer = build(*case)
    labels = torch.arange(len(images))
    images, labels = images.to(device), labels.to(device)
    remember(mixer.to(device), images, labels)
    torch.manual_seed(seed)
    batch = mixer(images, labels, ProbeOfNothing())
    finished = batch.hidden.mix(batch.inputs) if batch.hidden else batch.inputs
    return [value for value in (finished, batch.target.lam, batch.target.y_b, batch.mask) if value is not None]


def assert_same_mixing(case, images, seeds):
    for seed in range(seeds):
        plain = mix(case, images, seed, 'cpu')
        with pretended_gpu():
            there = mix(case, images, seed, 'cuda')
            assert all(map(on_device, there))
        assert all(torch.equal(one, other) for one, other in zip(plain, there, strict=True))


@pytest.mark.parametrize('case', cases(), ids=case_id)
def test_mixing_comes_to_the_same(case):
    assert_same_mixing(case, torch.rand(7, 3, 16, 16), seeds=2)


def test_saliency_comes_to_the_same_in_parts_and_at_once():
    assert_same_mixing(('SaliencyMix', {'alpha': 1.0}), torch.rand(40, 3, 100, 120), seeds=1)


@pytest.mark.parametrize(
    'settings', [{}, {'n_labels': 2}, {'block_num': 5, 't_size': 4}, {'transport': False}], ids=str
)
def test_puzzles_come_to_the_same(settings):
    assert_same_mixing(('PuzzleMix', {'alpha': 1.0, **settings}), torch.rand(26, 3, 32, 32), seeds=4)


@pytest.mark.parametrize('name', ['Mixup', 'CutMix', 'ManifoldMix', 'AutoMix', 'SAMix', 'AdAutoMix'])
def test_training_comes_to_the_same(name):
    """Weights, statistics and counters of batch norm, the momentum network and its progress.

    By MCE, because DM losses of labels that were not mixed take a shorter way on a GPU, which rounds otherwise.
    """
    one = mixed((name, example(name)), {'type': 'MixedCE'})
    other, batch = copy.deepcopy(one), image_batch(6, 16, 5)
    steps(one, batch, 'cpu')
    with pretended_gpu():
        steps(other, batch, 'cuda')
    ours, others = one.state_dict(), other.state_dict()
    assert ours.keys() == others.keys()
    assert all(torch.equal(ours[key], others[key]) for key in ours)
    counters = [value for key, value in others.items() if key.endswith('num_batches_tracked')]
    assert counters
    assert all(count == (6 if name in LEARNED else 3) for count in counters[:1])


def steps(model, batch, device):
    fused = {**SGD, 'optimizer': {**SGD['optimizer'], 'fused': True}}  # as it is on a GPU in any case
    training = DeviceTraining(model, fused, device=device)
    ready = pinned(batch) if device == 'cuda' else batch
    for number in range(3):
        torch.manual_seed(number)
        training.step(ready)
