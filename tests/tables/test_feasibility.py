"""`table.py check`: what is wrong is found and told, what is right is counted."""

import json
from dataclasses import replace

import pytest
from support.loaded_cells import CONFIGS

from openmix_dm.commands.table import main
from openmix_dm.paper.paper_tables import paper_tables
from openmix_dm.tables import feasibility as checking
from openmix_dm.tables import feasibility as reading
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.feasibility import check

FACTS = ('table', 'dataset', 'backbone', 'method', 'loss', 'setting', 'config', 'state')
VALUES = (
    'mixer_type', 'alpha', 'loss_type', 'eta', 't', 'xi', 'epochs', 'optimiser', 'lr', 'weight_decay', 'batch',
    'resolution', 'parameters', 'gflops', 'memory_gb',
)  # fmt: skip


def digits(*configs, options=()):
    cells = [Cell(id=name, row=name, column='x', config=name, options=options) for name in configs]
    return Table('own', 'A table', tuple(cells))


def last_line(capsys):
    return capsys.readouterr().out.splitlines()[-1]


def test_a_table_of_ones_own(capsys, tmp_path):
    table = digits('digits/r8_mixup.py', 'digits/r8_cutmix_dm.py')
    assert check([table], jobs=1, json_path=tmp_path / 'found.json') == 0
    assert last_line(capsys) == '2 of 2 cells ok, 0 printed as -'
    rows = json.loads((tmp_path / 'found.json').read_text())
    assert all(name in row for row in rows for name in (*FACTS, *VALUES))
    assert rows[1]['loss_type'] == 'DecoupledCE'
    assert (rows[1]['eta'], rows[1]['alpha'], rows[1]['epochs'], rows[1]['resolution']) == (0.1, 0.2, 40, 16)


def test_a_missing_config_is_named(capsys):
    assert check([digits('digits/r8_mixup.py', 'digits/r8_nothing.py')], jobs=1) == 1
    told, last = capsys.readouterr().out.splitlines()
    assert told == 'configs/digits/r8_nothing.py (own): there is no configs/digits/r8_nothing.py'
    assert last == '1 of 2 cells ok, 0 printed as -'


def test_a_misspelt_key_is_told(capsys):
    assert check([digits('digits/r8_mixup_dm.py', options=('model.head.loss.etta=1',))], jobs=1) == 1
    assert 'model.head.loss.etta is not an argument of DecoupledCE; did you mean eta?' in capsys.readouterr().out


def test_a_model_that_cannot_be_built_is_told(capsys):
    assert check([digits('digits/r8_manifoldmix.py', options=('model.mixer.stages=["stage9"]',))], jobs=1) == 1
    assert 'unknown stage' in capsys.readouterr().out


def test_a_dash_is_no_failure_and_not_counted(capsys):
    table = replace(digits('digits/r8.py'), cells=(Cell(id='a', row='a', column='b', config=None),))
    assert check([table], jobs=1) == 0
    assert last_line(capsys) == '0 of 0 cells ok, 1 printed as -'


def test_a_value_that_is_not_the_papers_is_told(capsys, monkeypatch, tmp_path):
    """A wrong eta in the config of a cell of the paper, found by the command itself."""
    import shutil

    folder = tmp_path / 'configs'
    shutil.copytree(CONFIGS, folder)
    leaf = folder / 'cifar100/r18_cutmix_dm.py'
    leaf.write_text(leaf.read_text().replace('eta=0.1', 'eta=0.2'))
    monkeypatch.setattr(reading, 'CONFIGS', folder)
    table = paper_tables()[0]
    chosen = [cell for cell in table.cells if cell.id.startswith('cifar100/r18/cutmix/')]
    rows = [row for row in checking.check_rows([table], jobs=1, only=chosen) if row['state'] != 'ok']
    assert [(row['cell'], row['problem']) for row in rows] == [
        ('cifar100/r18/cutmix/dm', 'eta is 0.2, but 0.1 by the rules of the paper')
    ]


@pytest.mark.slow
def test_two_processes_find_the_same(capsys, tmp_path):
    table = next(table for table in paper_tables() if table.name == 'limited_labels')
    for jobs in (1, 2):
        assert check([table], jobs=jobs, json_path=tmp_path / f'{jobs}.json') == 0
        assert last_line(capsys) == '27 of 27 cells ok, 3 printed as -'
    assert (tmp_path / '1.json').read_text() == (tmp_path / '2.json').read_text()


@pytest.mark.slow
def test_all_cells_of_the_paper_are_ok(capsys):
    assert main(['check', '--all', '--jobs', '2']) == 0
    assert last_line(capsys) == '649 of 649 cells ok, 14 printed as -'


def test_semi_supervised_tables_can_be_left_out(monkeypatch):
    checked = []
    monkeypatch.setattr('openmix_dm.tables.feasibility.check', lambda tables, *rest: checked.append(len(tables)) or 0)
    assert main(['check', '--all']) == main(['check', '--all', '--supervised']) == 0
    assert checked == [17, 14]


def test_the_command_refuses_what_cannot_be(capsys, tmp_path):
    assert main(['check', 'digits', '--jobs', '0']) == 2
    assert main(['check', 'digits', '--json', str(tmp_path / 'nowhere' / 'a.json')]) == 2
    assert main(['check', 'no-such-table']) == 2
    with pytest.raises(SystemExit):
        main(['check'])
