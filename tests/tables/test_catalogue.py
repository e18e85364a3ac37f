import re

import pytest
from conftest import ROOT
from support.table_folders import TABLE, write_table

from openmix_dm.config import load as configs
from openmix_dm.config.load import load_run_config
from openmix_dm.errors import ConfigError
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect


def test_rows_and_columns_become_cells(tmp_path):
    table = read_table(write_table(tmp_path))
    assert (table.name, table.title, table.trials, table.axis) == ('small', 'A small table', 3, '')
    by_id = {cell.id: cell for cell in table.cells}
    assert list(by_id) == ['vanilla/mce', 'vanilla/dm-ce', 'mixup/mce', 'mixup/dm-ce', 'cutmix/mce', 'cutmix/dm-ce']
    assert by_id['mixup/dm-ce'].config == 'digits/r8_mixup_dm.py'
    assert by_id['mixup/dm-ce'].baseline == 'mixup/mce'
    assert by_id['mixup/mce'].baseline is None
    assert by_id['vanilla/dm-ce'].config is None
    assert by_id['vanilla/dm-ce'].baseline is None
    assert len(table.runnable()) == 5


def test_a_row_may_be_the_baseline(tmp_path):
    rows = "{str(x): [dict(config='digits/r8_mixup_dm.py', options=[f'model.head.loss.eta={x}'])] for x in (0.0, 1.0)}"
    text = f"title = 'Eta'\ncolumns = ['Mixup']\nrows = {rows}\nbaseline = '0.0'\naxis = 'eta'\ntrials = 2"
    none, one = read_table(write_table(tmp_path, text)).cells
    assert (none.baseline, one.baseline) == (None, '0.0/mixup')
    assert one.options == ('model.head.loss.eta=1.0',)


def test_seeds_begin_where_the_table_says(tmp_path):
    text = "title = 'Seeds'\ncolumns = ['a']\nrows = {'x': ['digits/r8_mixup.py']}\ntrials = 2\nfirst_seed = 100"
    table = read_table(write_table(tmp_path, text))
    assert [run.seed for run in runs_of(table, tmp_path)] == [100, 101]
    assert [run.folder.name for run in runs_of(table, tmp_path, trials=3)] == ['seed100', 'seed101', 'seed102']
    (result,) = collect(table, tmp_path).by_id.values()
    assert [trial.seed for trial in result.trials] == [100, 101]


def test_a_config_beside_the_table(tmp_path):
    (tmp_path / 'mine.py').write_text(f"_base_ = '{ROOT}/configs/digits/r8_mixup.py'\n")
    table = read_table(write_table(tmp_path, "title = 'Mine'\ncolumns = ['a']\nrows = {'x': ['mine.py']}"))
    (run,) = runs_of(table, tmp_path / 'work', trials=1)
    assert run.config == tmp_path / 'mine.py'
    assert run.folder == tmp_path / 'work' / tmp_path.name / 'mine' / 'seed0'
    assert configs.load_config(run.config).model.mixer.type == 'Mixup'


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        (("baseline = 'MCE'", "baselin = 'MCE'"), 'did you mean baseline'),
        (("baseline = 'MCE'", "baseline = 'MSE'"), 'neither a column nor a row; did you mean MCE'),
        (("baseline = 'MCE'", 'trials = 0'), 'trials must be a whole number'),
        (("baseline = 'MCE'", 'first_seed = -1'), 'first_seed must be a whole number, 0 or above'),
        (("baseline = 'MCE'", 'metric = 5'), 'metric must be the name of a value'),
        (("baseline = 'MCE'", 'source = 2'), 'source must be a text, got 2'),
        (("baseline = 'MCE'", "axis = ['eta']"), "axis must be a text, got ['eta']"),
        (("baseline = 'MCE'", "protocol = 'first'"), 'protocol must be one of'),
        (("'digits/r8_mixup.py'", "'digits/r8_mixpu.py'"), 'Mixup, MCE: there is no config digits/r8_mixpu.py'),
        (("['digits/r8_vanilla.py', None]", "['digits/r8_vanilla.py']"), "row 'Vanilla' must list 2 configs"),
        (("'digits/r8_mixup.py'", "dict(conf='digits/r8_mixup.py')"), 'expected a config'),
        (("title = 'A small table'", ''), 'sets no title'),
        (("'CutMix'", "'mix-up'"), 'differ only in signs'),
        (('{', '{{'), 'cannot be read'),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, said):
    text = TABLE.replace("'Mixup':", "'Mix up':") if 'mix-up' in change[1] else TABLE
    with pytest.raises(ConfigError, match=r'small\.py') as error:
        read_table(write_table(tmp_path, text.replace(*change)))
    assert said in str(error.value)


def test_names_of_ones_own_and_imports_are_allowed(tmp_path):
    read_table(write_table(tmp_path, f'import math\n_mine = 3\n{TABLE}'))


@pytest.mark.parametrize('path', sorted((ROOT / 'configs' / 'tables').glob('*.py')), ids=lambda path: path.stem)
def test_every_table_of_the_repository_can_run(path, tmp_path):
    table = read_table(path)
    assert path.read_text().startswith('# ')
    assert table.trials >= 3
    told = re.search(r'(\d+) (epochs|steps)', table.title)
    for run in runs_of(table, tmp_path, trials=1):
        training = load_run_config(run.config, run.options, run.seed).train_cfg  # loads, takes its options, validates
        assert told[1] == str(training['max_epochs' if told[2] == 'epochs' else 'max_iters'])


def test_the_digits_have_every_static_mixer():
    table = read_table(ROOT / 'configs/tables/digits.py')
    rows = [cell.row for cell in table.runnable() if cell.column == 'DM(CE)']
    assert rows == ['Mixup', 'CutMix', 'ManifoldMix', 'FMix', 'ResizeMix', 'SaliencyMix', 'SmoothMix', 'GridMix']
    for cell in table.runnable():
        model = configs.load_config(ROOT / 'configs' / cell.config).model
        assert model.mixer.type == {'Vanilla': 'NoMix'}.get(cell.row, cell.row)
        assert model.head.loss.type == {'MCE': 'MixedCE', 'DM(CE)': 'DecoupledCE'}[cell.column]
        if cell.column == 'DM(CE)':
            assert (model.mixer.alpha, model.head.loss.eta) == (0.2, 0.1)


@pytest.mark.parametrize(
    ('name', 'grid'), [('eta', [0, 0.01, 0.1, 0.5, 1, 2]), ('xi', [1, 0.9, 0.8, 0.7]), ('t', [2, 1, 0.5, 0.3])]
)
def test_the_ablations_have_the_grids_of_the_paper(name, grid):
    table = read_table(ROOT / f'configs/tables/ablation_{name}.py')
    for cell in table.cells:
        loss = configs.load_config(ROOT / 'configs' / cell.config, cell.options).model.head.loss
        assert loss[name] == float(cell.row)
    assert [float(row) for row in dict.fromkeys(cell.row for cell in table.cells)] == grid


def test_the_table_of_the_documentation_works(tmp_path):
    (code,) = re.findall(r'```python\n(.*?)```', (ROOT / 'docs/tables.md').read_text(), re.DOTALL)
    table = read_table(write_table(tmp_path, code))
    assert [cell.baseline for cell in table.cells] == [None, 'alpha-0.2/mce', None, 'alpha-1/mce']
    for run in runs_of(table, tmp_path, trials=1):
        load_run_config(run.config, run.options, run.seed)
