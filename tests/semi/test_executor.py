"""Who goes through the network with whom, and whose statistics count."""

from itertools import pairwise

import pytest
import torch
from support.semi_steps import METHODS, batch, model, step
from torch import nn

from openmix_dm.errors import ConfigError
from openmix_dm.semi.executor import PASSES, Plan, counting, execute, interleave, read_passes


class Spy(nn.Module):
    """A network of one batch norm that notes what goes through it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.seen = []

    def forward(self, images):
        self.seen.append((len(images), torch.is_grad_enabled(), self.norm.track_running_stats))
        return self.norm(images)


def plan_of(requests, passes):
    size = len(next(iter(requests.values()))[0])
    plan = Plan(step(torch.zeros(size, 3), torch.zeros(size, dtype=torch.long)), passes)
    return plan, {name: plan.add(name, images, where) for name, (images, where) in requests.items()}


def test_a_pass_takes_all_that_asks_for_it_at_once():
    network, passes = Spy(), read_passes(None)
    images = {name: (torch.randn(4, 3), where) for name, where in (('a', 'main'), ('b', 'main'), ('c', 'guess'))}
    plan, keys = plan_of(images, passes)
    outputs = execute(plan, passes, network, nn.Identity(), chunk=4)
    assert network.seen == [(4, False, False), (8, True, True)]  # without gradient first
    joint = torch.cat([images['a'][0], images['b'][0]])
    torch.testing.assert_close(outputs[keys['b']].features, nn.BatchNorm1d(3)(joint)[4:])
    assert not outputs[keys['c']].features.requires_grad


def test_one_name_goes_through_once():
    network, passes = Spy(), read_passes(None)
    plan, _ = plan_of({'a': (torch.randn(4, 3), 'main')}, passes)
    plan.add('a', torch.randn(4, 3), 'main')
    execute(plan, passes, network, nn.Identity(), chunk=4)
    assert network.seen == [(4, True, True)]


def test_statistics_stay_and_the_batch_still_normalises():
    norm = nn.BatchNorm1d(3)
    images = torch.randn(8, 3) * 5 + 2
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    with counting(norm, False):
        frozen = norm(images)
    assert all(torch.equal(before[name], value) for name, value in norm.state_dict().items())
    assert torch.equal(frozen, norm(images))
    assert not torch.equal(before['running_mean'], norm.running_mean)


def test_a_head_is_part_of_the_network():
    network, head, passes = Spy(), nn.BatchNorm1d(3), read_passes(None)
    before = head.running_mean.clone()
    for where, moves in (('mix', False), ('main', True)):
        plan, _ = plan_of({'a': (torch.randn(4, 3) + 5, where)}, passes)
        execute(plan, passes, network, head, chunk=4)
        assert torch.equal(head.running_mean, before) != moves


def test_a_pass_through_a_teacher():
    network, teacher, passes = Spy(), Spy(), read_passes(None)
    images = {name: (torch.randn(4, 3), where) for name, where in (('a', 'main'), ('b', 'teacher'))}
    plan, keys = plan_of(images, passes)
    outputs = execute(plan, passes, network, nn.Identity(), chunk=4, teacher=nn.Sequential(teacher, nn.Flatten()))
    assert (network.seen, teacher.seen) == ([(4, True, True)], [(4, False, True)])
    assert not outputs[keys['b']].logits.requires_grad
    with pytest.raises(ConfigError, match=r'model\.teacher_decay'):
        execute(plan, passes, network, nn.Identity(), chunk=4)


def test_statistics_move_again_after_an_error():
    norm = nn.BatchNorm1d(3)
    with pytest.raises(RuntimeError), counting(norm, False):
        raise RuntimeError
    assert norm.track_running_stats


@pytest.mark.parametrize(('chunks', 'size'), [(3, 9), (3, 10), (4, 7), (15, 64), (2, 1), (1, 5)])
def test_interleaving_twice_is_nothing(chunks, size):
    rows = torch.arange(chunks * size)
    mixed = interleave(list(rows.split(size)))
    assert torch.equal(torch.cat(interleave(mixed)), rows)
    assert torch.equal(torch.cat(mixed).sort().values, rows)
    sources = {int(row) // size for row in mixed[0]}
    assert len(sources) == min(chunks, size) if size >= chunks else len(sources) >= 1


def test_interleaving_by_hand():
    one, two, three = torch.arange(3), torch.arange(10, 13), torch.arange(20, 23)
    mixed = interleave([one, two, three])
    assert [each.tolist() for each in mixed] == [[0, 11, 22], [10, 1, 12], [20, 21, 2]]


def test_an_interleaved_pass_gives_rows_back_in_their_order():
    network, passes = Spy(), read_passes({'main': {'interleave': True}})
    images = torch.randn(12, 3)
    plan = Plan(step(torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)), passes)
    key = plan.add('mixed', images, 'main')
    outputs = execute(plan, passes, network, nn.Identity(), chunk=4)
    assert network.seen == [(4, True, True), (4, True, False), (4, True, False)]
    chunks = interleave(list(images.split(4)))
    expected = torch.cat(interleave([nn.BatchNorm1d(3)(chunk) for chunk in chunks]))
    torch.testing.assert_close(outputs[key].features, expected)
    torch.testing.assert_close(network.norm.running_mean, 0.1 * chunks[0].mean(dim=0))


def test_what_cannot_be_done_is_said():
    passes = read_passes({'main': {'interleave': True}})
    plan = Plan(step(torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)), passes)
    with pytest.raises(ConfigError, match=r"no pass 'mian'.*main"):
        plan.labelled(0, 'mian')
    with pytest.raises(ConfigError, match=r'view 1 of the labelled stream.*has 1'):
        plan.labelled(1)
    with pytest.raises(ConfigError, match='needs an unlabelled stream'):
        plan.unlabelled(0)
    plan.add('odd', torch.zeros(6, 3), 'main')
    with pytest.raises(ConfigError, match='6 images cannot be interleaved in chunks of 4'):
        execute(plan, passes, Spy(), nn.Identity(), chunk=4)


def test_passes_are_changed_and_added():
    passes = read_passes({'main': {'statistics': False}, 'keys': {'grad': False}})
    assert passes['main'].statistics is False
    assert passes['main'].grad is True
    assert passes['keys'].grad is False
    assert PASSES['main'].statistics is True


# The table of the specification, with 4 labelled images and the ratio of tests: (images, gradient, statistics move).
FORWARDS = {
    'supervised': [(4, True, True)],
    'pseudolabeling': [(4, True, True), (4, True, False)],
    'mixmatch': [(8, False, False), (4, True, True), (4, True, False), (4, True, False)],
    'remixmatch': [
        (4, False, False), (4, True, True), (4, True, False), (4, True, False), (4, True, False),
        (4, True, False), (4, True, False),
    ],
    'uda': [(20, True, True)],
    'fixmatch': [(20, True, True)],
    'flexmatch': [(20, True, True)],
    'fixmatch_mixup': [(20, True, True), (8, True, False)],
    'fixmatch_dm': [(20, True, True), (8, True, False)],
    'fixmatch_dm-released': [(12, True, True), (8, True, False)],  # weak views go through the teacher alone
    'mixmatch_dm': [(8, False, False), (4, True, True), (4, True, False), (4, True, False), (8, True, False)],
}  # fmt: skip


@pytest.mark.parametrize('method', METHODS)
def test_each_method_moves_statistics_where_it_should(method):
    built = model(method).train()
    norm = next(module for module in built.backbone.modules() if isinstance(module, nn.BatchNorm2d))
    seen, moved = [], []

    def note(module, args):
        seen.append((len(args[0]), torch.is_grad_enabled(), norm.track_running_stats))
        moved.append(norm.running_mean.clone())

    built.backbone.register_forward_pre_hook(note)
    built(**batch(method), mode='loss')
    moved.append(norm.running_mean.clone())
    assert seen == FORWARDS[method]
    changed = [not torch.equal(before, after) for before, after in pairwise(moved)]
    assert changed == [statistics for _, _, statistics in FORWARDS[method]]
    assert norm.track_running_stats
