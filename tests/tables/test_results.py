"""Collected numbers against hand-computed ones."""

import math

import pytest
from support.table_folders import TABLE, write_fgsm, write_run, write_table

from openmix_dm.errors import ConfigError
from openmix_dm.runs.folder import RunFolder
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.cells import Cell, Table
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect

# the last ten of twelve epochs are 80 + seed and nine times 90 + shift: the median is 90 + shift
EARLY = (10.0, 20.0)


def curve(value):
    return (*EARLY, value - 5, *[value] * 9)


@pytest.fixture
def table(tmp_path):
    return read_table(write_table(tmp_path))


def fill(table, root, numbers):
    """Leave finished runs: numbers are {config: [of seed 0, of seed 1, ...]}."""
    for run in runs_of(table, root):
        values = numbers.get(run.config.stem, [])
        if run.seed < len(values):
            write_run(run, curve(values[run.seed]), options=[])


def test_means_gains_and_average(table, tmp_path):
    numbers = {
        'r8_vanilla': [95.0, 95.5, 96.0],
        'r8_mixup': [90.0, 91.0, 92.0],
        'r8_mixup_dm': [91.0, 93.0, 95.0],
        'r8_cutmix': [80.0, 80.0, 80.0],
        'r8_cutmix_dm': [79.0, 80.0, 81.0],
    }
    fill(table, tmp_path, numbers)
    results = collect(table, tmp_path)
    mixup, dm = (results.by_id[name] for name in ('mixup/mce', 'mixup/dm-ce'))
    assert (mixup.mean.value, mixup.mean.std, mixup.mean.count) == (91.0, 1.0, 3)
    assert (dm.mean.value, dm.mean.std) == (93.0, 2.0)
    gain = results.gain(dm.cell)  # 1, 2, 3
    assert gain.mean == 2.0
    assert gain.high - gain.low == pytest.approx(2 * 4.302653 / math.sqrt(3), abs=1e-5)
    average = results.average_gain('DM(CE)')  # seeds: (1 - 1) / 2, (2 + 0) / 2, (3 + 1) / 2
    assert average.mean == 1.0
    assert average.high - average.low == pytest.approx(2 * 4.302653 / math.sqrt(3), abs=1e-5)
    assert results.average_gain('MCE') is None
    assert not any(result.marks for result in results.by_id.values())


def test_fewer_trials_are_marked_and_paired_by_seed(table, tmp_path):
    fill(table, tmp_path, {'r8_mixup': [90.0, 91.0, 98.0], 'r8_mixup_dm': [91.0, 93.0]})
    results = collect(table, tmp_path)
    assert results.by_id['mixup/dm-ce'].marks == ('2 of 3 trials',)
    assert results.gain(results.by_id['mixup/dm-ce'].cell).mean == 1.5
    assert results.by_id['cutmix/mce'].mean is None
    assert results.by_id['cutmix/mce'].marks == ()
    assert collect(table, tmp_path, trials=2).by_id['mixup/dm-ce'].marks == ()


def test_other_epochs_and_settings_are_marked(table, tmp_path):
    runs = [run for run in runs_of(table, tmp_path) if run.config.stem == 'r8_mixup']
    for run in runs:
        write_run(run, curve(90.0), options=['train_cfg.max_epochs=12', 'model.mixer.alpha=0.5'])
    (epochs, settings) = collect(table, tmp_path).by_id['mixup/mce'].marks
    assert epochs == '12 epochs instead of 40'
    assert settings == 'other settings: model.mixer.alpha 0.5 instead of 1.0'


def test_what_is_unfinished_shows_how_far_it_is(table, tmp_path):
    run = runs_of(table, tmp_path)[1]
    write_run(run, (10.0, 30.0, 20.0), state='running')
    result = collect(table, tmp_path).by_id['mixup/mce']
    assert result.mean.value == 20.0  # the median so far
    assert result.finished == {}
    assert result.marks == ('unfinished: epoch 3 of 40',)


def test_the_protocol_decides(tmp_path):
    cells = tuple(Cell(p, 'r', p, 'digits/r8_mixup.py', protocol=p) for p in ('median_last10', 'best', 'last'))
    table = Table('t', 'T', cells, trials=1)
    write_run(runs_of(table, tmp_path)[0], (10.0, 99.0, *[50.0] * 5, *[60.0] * 4, 70.0))
    found = [result.mean.value for result in collect(table, tmp_path).by_id.values()]
    assert found == [55.0, 99.0, 70.0]  # of the last ten, five are 50: the median lies between 50 and 60


def test_memory_hours_and_attack(tmp_path):
    cells = tuple(Cell(m, 'r', m, 'digits/r8_mixup.py', metric=m) for m in ('memory', 'hours', 'fgsm'))
    table = Table('t', 'T', cells, trials=1)
    (run,) = runs_of(table, tmp_path)
    write_run(run, (50.0,), seconds=1800)
    found = collect(table, tmp_path).by_id
    assert found['memory'].mean.value == 0.5  # 512 MB
    assert found['hours'].mean.value == 0.5
    assert found['fgsm'].mean is None
    write_fgsm(run, 71.5)
    assert collect(table, tmp_path).by_id['fgsm'].mean.value == 71.5


def test_the_papers_gains_are_recomputed():
    cells = (
        Cell('a/mce', 'a', 'mce', None, printed=70.0),
        Cell('a/dm', 'a', 'dm', None, printed=71.0, baseline='a/mce'),
        Cell('b/mce', 'b', 'mce', None, printed=60.0),
        Cell('b/dm', 'b', 'dm', None, printed=60.5, baseline='b/mce'),
        Cell('c/dm', 'c', 'dm', None, printed=50.0),
    )
    results = collect(Table('t', 'T', cells), None)
    assert results.printed_gain(cells[1]) == 1.0
    assert results.printed_gain(cells[4]) is None
    assert results.average_printed_gain('dm') == 0.75


def test_trials_below_one_are_refused(table, tmp_path):
    with pytest.raises(ConfigError, match='--trials'):
        collect(table, tmp_path, trials=0)


@pytest.mark.parametrize(
    ('metric', 'protocol', 'expected'), [('lab/f1', 'best', 0.9), ('lab/error', 'best', 3.0), ('lab/f1', 'last', 0.5)]
)
def test_any_value_of_the_validations_is_a_metric(tmp_path, metric, protocol, expected):
    text = f"title='V'\ncolumns=['v']\nrows={{'m': ['digits/r8_mixup.py']}}\nmetric={metric!r}\ntrials=1\n"
    text += f'protocol={protocol!r}'
    table = read_table(write_table(tmp_path, text))
    summary = {'median_last10': 0.7, 'max': 0.9, 'min': 0.1, 'last': 0.5}
    for run in runs_of(table, tmp_path):
        write_run(run, values={'lab/f1': summary, 'lab/error': {**summary, 'min': 3.0}})
    (result,) = collect(table, tmp_path).by_id.values()
    assert result.mean.value == expected


def test_a_done_run_without_the_number_of_its_protocol_is_marked(tmp_path):
    """Trained without an average of the weights, which the table takes."""
    table = read_table(write_table(tmp_path, TABLE + "protocol = 'ema_last'\ntrials = 2\n"))
    for run in runs_of(table, tmp_path):
        final = {'ema_last': 71.0} if run.seed == 0 or 'cutmix' in run.config.stem else {'last': 70.0}
        write_run(run, final=final)
    results = collect(table, tmp_path)
    assert results.by_id['cutmix/mce'].marks == ()
    assert results.by_id['mixup/mce'].marks == ('1 of 2 trials', '1 of 2 trials done without ema_top1')
    for run in runs_of(table, tmp_path):
        RunFolder(run.folder).update(final={'last': 70.0})
    assert collect(table, tmp_path).by_id['mixup/mce'].marks == ('2 of 2 trials done without ema_top1',)


def test_other_metrics_are_of_the_weights_that_the_protocol_names(tmp_path):
    values = {
        'top5': {'last': 98.0, 'max': 98.5},
        'ema_top5': {'last': 99.0, 'max': 99.5},
        'momentum_top1': {'last': 50.0},
    }
    protocols = {'last': 98.0, 'best': 98.5, 'ema_last': 99.0, 'ema_best': 99.5}
    texts = {protocol: f"{TABLE}protocol = '{protocol}'\ntrials = 1\n" for protocol in protocols}
    tables = {protocol: read_table(write_table(tmp_path, text, protocol)) for protocol, text in texts.items()}
    for run in runs_of(tables['last'], tmp_path):
        write_run(run, values=values)
    for protocol, expected in protocols.items():
        results = collect(tables[protocol].by_metric('top5'), tmp_path)
        assert results.by_id['mixup/mce'].mean.value == expected
    for metric, expected in {'ema_top5': 99.0, 'momentum_top1': 50.0}.items():  # which says itself of what weights
        results = collect(tables['ema_last'].by_metric(metric), tmp_path)
        assert results.by_id['mixup/mce'].mean.value == expected
