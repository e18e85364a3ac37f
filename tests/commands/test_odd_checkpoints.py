"""Checkpoints that load as plain data, and are odd all the same: exit 4 and their name, however they are given."""

import copy

import pytest
import torch
from support.short_runs import CONFIG, train

from openmix_dm.commands.test import main as evaluate
from openmix_dm.runs.checkpoints import load_file, save_file


@pytest.fixture(scope='module')
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp('good') / 'run'
    assert train(folder, 'train_cfg.max_epochs=1') == 0
    return load_file(folder / 'epoch_1.pth')


def named(state):
    return next(iter(state['state_dict']))


ODD = {
    'no weights': lambda s: s.update(state_dict=3),
    'weights without names': lambda s: s.update(state_dict={1: torch.ones(2)}),
    'a weight that is text': lambda s: s['state_dict'].update({named(s): 'text'}),
    'a weight of another shape': lambda s: s['state_dict'].update({named(s): torch.ones(1, 2, 3)}),
    'complex weights': lambda s: s['state_dict'].update({named(s): torch.ones(3, dtype=torch.complex64)}),
}
ODD_RUNS = {
    'no meta': lambda s: s.update(meta=None),
    'iterations that are text': lambda s: s['meta'].update(iter='many'),
    'no iterations': lambda s: s['meta'].pop('iter'),
    'an optimiser that is a list': lambda s: s.update(optimizer=[1, 2]),
    'an optimiser of other weights': lambda s: s['optimizer'].update(param_groups=[]),
    'schedules that are none': lambda s: s.update(param_schedulers=[{'a': 1}, 3]),
    'a world of text': lambda s: s['meta'].update(world_size='two'),
}


@pytest.mark.fault(
    50,
    'Checkpoints that load as plain data, with weights, meta or optimiser of odd types and shapes: exit 4 '
    'for test.py, load_from and --resume.',
)
@pytest.mark.parametrize('name', [*ODD, *ODD_RUNS])
def test_exit_4_with_its_name(name, good, tmp_path, capsys):
    state, path = copy.deepcopy(good), tmp_path / 'odd.pth'
    {**ODD, **ODD_RUNS}[name](state)
    save_file(state, path)
    if name in ODD:
        assert evaluate([str(CONFIG), str(path)]) == 4
        assert train(tmp_path / 'a', f'load_from={path}') == 4
    assert train(tmp_path / 'b', arguments=('--resume', str(path))) == 4
    said = capsys.readouterr().err
    assert said.count('cause=checkpoint') == (3 if name in ODD else 1)
    assert 'Traceback' not in said
