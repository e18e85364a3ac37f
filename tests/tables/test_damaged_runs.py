"""A damaged file costs its own row: status, collect and run go on over it, and name it."""

import json

import pytest
from support.short_runs import train
from support.table_folders import write_run, write_table

from openmix_dm.commands import table
from openmix_dm.runs.checkpoints import CheckpointStore
from openmix_dm.runs.folder import RunFolder
from openmix_dm.tables.catalogue import find_table
from openmix_dm.tables.plan import make_plan, runs_of
from openmix_dm.tables.results import collect

DAMAGE = {
    'an empty run.json': ('run.json', b''),
    'a cut run.json': ('run.json', lambda content: content[: len(content) // 2]),
    'a binary run.json': ('run.json', bytes(range(256))),
    'a list as run.json': ('run.json', b'[]'),
    'a run.json of odd shapes': ('run.json', b'{"state": "done", "final": [1], "hours": "long"}'),
    'a flipped bit in run.json': ('run.json', lambda content: content.replace(b'60.0', b'60.1')),
    'a binary metrics.jsonl': ('metrics.jsonl', bytes(range(256)) * 4),
    'odd lines in metrics.jsonl': ('metrics.jsonl', b'[]\n3\n{"kind": 4}\nnull\n'),
    'a list as lock': ('lock.json', b'[]'),
    'a binary config.py': ('config.py', bytes(range(256))),
    'a config.py that is code': ('config.py', b'import os\n'),
}


@pytest.fixture
def small(tmp_path):
    return write_table(tmp_path)


@pytest.fixture
def runs(small, tmp_path):
    runs = runs_of(find_table(str(small)), tmp_path / 'runs')
    for run in runs:
        write_run(run, (50.0, 60.0, 60.0), state='done' if run.seed else 'failed: ValueError: x')
    return runs


@pytest.mark.fault(
    46,
    'run.json, metrics.jsonl, config.py or lock.json of one run is empty, cut, binary, odd or flipped: '
    'status, list, collect and run --dry-run show all others, and name the file.',
)
@pytest.mark.parametrize('seed', [0, 1], ids=['failed', 'done'])
@pytest.mark.parametrize('name', DAMAGE)
def test_the_others_are_shown_and_the_damage_is_named(name, seed, runs, small, tmp_path, capsys):
    file, content = DAMAGE[name]
    run = next(run for run in runs if run.seed == seed)
    path = run.folder / file
    path.write_bytes(content(path.read_bytes()) if callable(content) else content)
    where = ('--work-dirs', str(tmp_path / 'runs'))
    for command in (['status'], ['list'], ['collect'], ['collect', '--format', 'html'], ['run', '--dry-run']):
        assert table.main([command[0], str(small), *where, *command[1:]]) == 0
        said = capsys.readouterr()
        if command == ['status']:
            lines = [line for line in said.out.splitlines() if ' seed ' in line]
            assert len(lines) == len(runs)
            assert sum('epoch 3' in line for line in lines) >= len(runs) - 1
            if file == 'run.json':
                assert ['run.json cannot be read' in line for line in lines].count(True) == 1
    results = collect(find_table(str(small)), tmp_path / 'runs')
    bad = [t for r in results.by_id.values() for t in r.trials if t.problem]
    assert all(trial.folder.path == run.folder for trial in bad)
    assert all(file in trial.problem for trial in bad)
    wrong = file == 'run.json' or (seed == 0 and file == 'metrics.jsonl')
    assert bool(bad) == wrong  # what no number depends on is for `doctor` to find


def test_a_number_that_was_changed_is_not_taken(runs, small, tmp_path):
    run = runs[-1]
    text = (run.folder / 'run.json').read_text()
    (run.folder / 'run.json').write_text(text.replace('60.0', '99.0'))
    results = collect(find_table(str(small)), tmp_path / 'runs')
    values = [trial.value for result in results.by_id.values() for trial in result.trials]
    assert values.count(None) == 1
    assert 99.0 not in values
    assert any('run.json' in mark for result in results.by_id.values() for mark in result.marks)


def test_a_damaged_run_is_run_again(runs, small, tmp_path):
    (runs[-1].folder / 'run.json').write_bytes(b'')
    plan = {step.run.folder: step for step in make_plan(runs)}
    assert plan[runs[-1].folder].action == 'resume'
    assert [step.action for folder, step in plan.items() if folder != runs[-1].folder].count('skip') == 9


@pytest.mark.parametrize('content', [b'', b'{"sta', bytes(range(256)), b'[]'])
def test_a_run_goes_on_without_its_run_json(content, tmp_path, capsys):
    folder = tmp_path / 'run'
    assert train(folder, 'train_cfg.max_epochs=1') == 0
    (folder / 'run.json').write_bytes(content)
    (folder / 'lock.json').write_text('[]')
    allowed = ('--resume', '--allow-change', 'train_cfg.max_epochs')
    assert train(folder, 'train_cfg.max_epochs=2', arguments=allowed) == 0
    assert 'run.json cannot be read' in capsys.readouterr().err
    assert RunFolder(folder).read()['state'] == 'done'
    assert CheckpointStore(folder).entries()[-1].file == 'epoch_2.pth'
    assert len(RunFolder(folder).records('val')) == 2
    assert json.loads((folder / 'run.json').read_text())['sha256']
