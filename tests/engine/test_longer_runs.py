"""A run that is given another length: its schedules are those of a run of that length."""

import pytest
from support.short_runs import final, same, train

from openmix_dm.runs.folder import RunFolder

LONGER = ('--resume', '--allow-change', 'train_cfg.max_epochs')


def rates(folder):
    return [record['lr'] for record in RunFolder(folder).records('train')]


@pytest.mark.slow
@pytest.mark.parametrize(
    'schedule',
    [
        'param_scheduler.eta_min=0',
        "param_scheduler=[dict(type='LinearLR', start_factor=0.1, by_epoch=True, end=1, convert_to_iter_based=True),"
        "dict(type='CosineAnnealingLR', begin=1, by_epoch=True, convert_to_iter_based=True)]",
        "param_scheduler=dict(type='CosineAnnealingLR', eta_min=0, by_epoch=True)",
    ],
    ids=['cosine', 'warm-up and cosine', 'by epochs'],
)
def test_a_longer_run_follows_the_schedule_of_its_length(tmp_path, schedule):
    if schedule.startswith('param_scheduler=dict'):
        schedule = schedule.replace('dict(', 'dict(_delete_=True,')
    assert train(tmp_path / 'short', schedule) == 0
    assert train(tmp_path / 'whole', schedule, 'train_cfg.max_epochs=4') == 0
    assert train(tmp_path / 'short', schedule, 'train_cfg.max_epochs=4', arguments=LONGER) == 0
    short, whole = rates(tmp_path / 'short'), rates(tmp_path / 'whole')
    half = len(whole) // 2
    assert short[half:] == pytest.approx(whole[half:])
    assert short[:half] != pytest.approx(whole[:half])
    assert 'from iteration 14 on the learning rate is' in (tmp_path / 'short' / 'train.log').read_text()


def test_the_same_length_goes_on_exactly_and_says_nothing(tmp_path):
    assert train(tmp_path / 'run') == 0
    before = final(tmp_path / 'run')
    assert train(tmp_path / 'run', arguments=['--resume']) == 0
    assert same(before['param_schedulers'], final(tmp_path / 'run')['param_schedulers'])
    assert 'schedules are not those' not in (tmp_path / 'run' / 'train.log').read_text()
