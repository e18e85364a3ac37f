import json
import platform

import pytest
from support.table_folders import write_fgsm, write_run, write_table

from openmix_dm.errors import ConfigError
from openmix_dm.runs.lock import LOCK
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.plan import check_refusals, make_plan, runs_of


@pytest.fixture
def runs(tmp_path):
    return runs_of(read_table(write_table(tmp_path)), tmp_path / 'work', trials=1)


def actions(runs):
    return [step.action for step in make_plan(runs)]


def test_each_state_has_its_action(runs):
    vanilla, mixup, mixup_dm, cutmix, _ = runs
    write_run(vanilla, state='done')
    write_run(mixup, state='failed: NumericError: nan')
    write_run(mixup_dm, state='preempted')
    write_run(cutmix, state='running')
    assert actions(runs) == ['skip', 'resume', 'resume', 'busy', 'start']
    (cutmix.folder / LOCK).write_text(json.dumps({'host': platform.node(), 'pid': 2**30}))  # its process is gone
    assert actions(runs)[3] == 'resume'


def test_what_was_not_measured_is_made_up_for(tmp_path):
    table = read_table(
        write_table(tmp_path, "title='F'\ncolumns=['e']\nrows={'m': ['digits/r8_mixup.py']}\nmetric='fgsm'")
    )
    (run,) = runs_of(table, tmp_path / 'work', trials=1)
    assert actions([run]) == ['start']
    write_run(run)
    assert actions([run]) == ['measure']
    write_fgsm(run, 70.0)
    assert actions([run]) == ['skip']


def test_a_run_of_another_config_is_left_alone(runs):
    write_run(runs[0], state='done', options=['train_cfg.max_epochs=2'])
    write_run(runs[1], state='preempted', options=['model.mixer.alpha=0.7'])
    first, second, *rest = make_plan(runs)
    assert (first.action, second.action) == ('refuse', 'refuse')
    assert 'train_cfg.max_epochs: 2 -> 40' in first.reason
    assert 'model.mixer.alpha: 0.7 -> 1.0' in second.reason
    check_refusals([first, second, *rest])  # the others can run
    with pytest.raises(ConfigError, match=r'and 1 more like it.*--work-dirs'):
        check_refusals([first, second])


def test_a_bad_option_shows_before_any_work(tmp_path):
    table = read_table(write_table(tmp_path))
    with pytest.raises(ConfigError, match='max_epochs'):
        make_plan(runs_of(table, tmp_path / 'work', options=['train_cfg.max_epoch=3']))
    assert not (tmp_path / 'work').exists()
