from pathlib import Path

import pytest
from conftest import ROOT

from openmix_dm.errors import ConfigError
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.plan import matching, run_folder, runs_of

MIXUP, CUTMIX = 'digits/r8_mixup.py', 'digits/r8_cutmix.py'
TABLE = Table(
    'some',
    'Some',
    (
        Cell('mixup/top1', 'mixup', 'top1', MIXUP),
        Cell('mixup/fgsm', 'mixup', 'fgsm', MIXUP, metric='fgsm'),
        Cell('mixup/hours', 'mixup', 'hours', MIXUP, metric='hours'),
        Cell('cutmix/top1', 'cutmix', 'top1', CUTMIX),
        Cell('vanilla/dm', 'vanilla', 'dm', None),
    ),
    trials=2,
)


def test_braces_as_in_a_shell():
    found = [cell.id for cell in matching(TABLE, '{Mixup,cutmix}/{top1,hours}')]
    assert found == ['mixup/top1', 'mixup/hours', 'cutmix/top1']
    with pytest.raises(ConfigError, match='no cell of some matches'):
        matching(TABLE, '{fmix,}/top1')


def test_a_config_that_cells_share_runs_once():
    runs = runs_of(TABLE, Path('work'))
    assert [(run.config.stem, run.seed) for run in runs] == [
        ('r8_mixup', 0),
        ('r8_cutmix', 0),
        ('r8_mixup', 1),
        ('r8_cutmix', 1),
    ]
    assert runs[0].cells == ('mixup/top1', 'mixup/fgsm', 'mixup/hours')
    assert [run.measures for run in runs] == [('fgsm',), (), ('fgsm',), ()]


def test_folder_and_command():
    run = runs_of(TABLE, Path('work'), 'cutmix/*', trials=1, options=['train_cfg.max_epochs=3'])[0]
    assert run.folder == Path('work/digits/r8_cutmix/seed0')
    assert run.name == 'digits/r8_cutmix seed 0'
    assert run.train_arguments()[1:] == [
        '--seed', '0', '--work-dir', 'work/digits/r8_cutmix/seed0', '--resume',
        '--cfg-options', 'train_cfg.max_epochs=3',
    ]  # fmt: skip


def test_options_have_a_folder_of_their_own():
    cell = Cell('a', 'a', 'b', MIXUP, options=('model.mixer.alpha=0.5', 'global_batch_size=50'))
    other = Cell('a', 'a', 'b', MIXUP, options=('global_batch_size=50', 'model.mixer.alpha=0.5'))
    expected = Path('w/digits/r8_mixup@global_batch_size=50,model.mixer.alpha=0.5/seed2')
    assert run_folder(cell, 2, Path('w')) == run_folder(other, 2, Path('w')) == expected
    odd = Cell('a', 'a', 'b', MIXUP, options=('train_dataloader.dataset.transforms=[/a b]',))
    assert run_folder(odd, 0, Path('w')).parts[2] == 'r8_mixup@train_dataloader.dataset.transforms=__a_b_'


def test_a_glob_that_matches_nothing_is_refused():
    with pytest.raises(ConfigError, match=r'no cell of some matches .*mixup/top1, mixup/fgsm'):
        runs_of(TABLE, Path('work'), 'puzzlemix/*')
    with pytest.raises(ConfigError, match='--trials must be at least 1'):
        runs_of(TABLE, Path('work'), trials=0)


def test_the_folder_is_the_one_of_train_py(monkeypatch):
    from openmix_dm.config import load as configs

    monkeypatch.chdir(ROOT)
    run = runs_of(TABLE, Path('work_dirs'))[2]
    assert configs.default_work_dir(configs.load_config(run.config), run.seed) == run.folder
