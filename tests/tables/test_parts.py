"""A table out of files: the same as out of work dirs, from one part or several, and nothing of the machine in them."""

import hashlib
import json
import platform

import pytest
from support.table_folders import write_fgsm, write_run, write_table

from openmix_dm.commands.collect import FORMATS, TESTS
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.tables.archive.parts import collect_parts
from openmix_dm.tables.archive.run_entries import without_places
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.formats.cell_records import to_json
from openmix_dm.tables.plan import runs_of
from openmix_dm.tables.results import collect
from openmix_dm.utils.sealed import seal


@pytest.fixture
def table(tmp_path):
    return read_table(write_table(tmp_path))


@pytest.fixture
def root(table, tmp_path):
    """Runs of all kinds: finished ones, a failed, a running and a waiting one."""
    for number, run in enumerate(runs_of(table, tmp_path / 'work')):
        state = {4: 'failed: DataError: /home/me/data is not there', 9: 'running'}.get(number, 'done')
        if number != 13:
            write_run(run, [20.0, 60 + number**2 % 7, 80 + number**2 % 5], state, lab={'a': 1})
            write_fgsm(run, 50.0 + number)
    return tmp_path / 'work'


def part(results, path, keep=lambda entry: True):
    values = json.loads(to_json(results))
    path.write_text(json.dumps(seal({**values, 'runs': [run for run in values['runs'] if keep(run)]})))
    return path


@pytest.mark.parametrize('name', [name for name in FORMATS if name != 'html'])
@pytest.mark.parametrize('metric', ['top1', 'fgsm', 'hours'])
def test_a_file_gives_what_the_folders_give(name, metric, table, root, tmp_path):
    usual = collect(table, root)
    shown = table.by_metric(metric)
    again = collect_parts(shown, [part(usual, tmp_path / 'all.json')])
    assert FORMATS[name](again) == FORMATS[name](collect(shown, root))
    if name in TESTS:
        assert TESTS[name](again) == TESTS[name](collect(shown, root))


def test_the_page_says_what_it_leaves_out(table, root, tmp_path):
    page = FORMATS['html'](collect_parts(table, [part(collect(table, root), tmp_path / 'all.json')]))
    assert 'Learning curves are in the work dirs' in page
    assert page.count('<svg') == 2  # all numbers, and the gains
    assert 'Mixup(alpha=0.2)' in page


def test_parts_come_together(table, root, tmp_path):
    usual = collect(table, root)
    parts = [part(usual, tmp_path / f'{k}.json', lambda run, k=k: run['seed'] in (k, 2)) for k in (0, 1)]
    assert to_json(collect_parts(table, parts)) == to_json(collect_parts(table, parts[::-1])) == to_json(usual)
    assert collect_parts(table, parts[:1]).by_id['mixup/mce'].marks == ('2 of 3 trials',)


def test_a_run_that_went_on_counts_as_it_ended(table, tmp_path):
    run = runs_of(table, tmp_path)[1]
    folder = write_run(run, [50.0], state='running')
    early = part(collect(table, tmp_path), tmp_path / 'early.json')
    folder.finish('done', 3600.0)
    write_fgsm(run, 71.0)
    late = part(collect(table, tmp_path), tmp_path / 'late.json')
    for files in ([early, late], [late, early]):
        (trial, *_) = collect_parts(table.by_metric('fgsm'), files).by_id['mixup/mce'].trials
        assert (trial.state.kind, trial.value, trial.record['hours']) == ('done', 71.0, 1.0)


@pytest.mark.parametrize('what', ['final', 'id', 'measures'])
def test_a_run_that_two_parts_tell_differently_is_refused(what, table, root, tmp_path):
    usual = collect(table, root)
    one = part(usual, tmp_path / 'one.json')
    values = json.loads(one.read_text())
    run = values['runs'][1]
    run[what] = {'final': {'last': 1.0}, 'id': 'another', 'measures': {'fgsm': 1.0}}[what]
    other = tmp_path / 'other.json'
    other.write_text(json.dumps(seal(values)))
    name = 'fgsm' if what == 'measures' else what
    with pytest.raises(DataError, match=rf'one.json and .*other.json do not agree on digits/.* seed .*: .*{name}'):
        collect_parts(table, [one, other])


DAMAGE = {
    'empty': (lambda content: b'', 'it is empty'),
    'cut': (lambda content: content[: len(content) // 2], 'no JSON'),
    'binary': (lambda content: bytes(range(256)), 'no JSON'),
    'a list': (lambda content: b'[]', 'expected an object'),
    'deep': (lambda content: b'[' * 100_000, 'no JSON'),
    'of somebody else': (lambda content: b'{"runs": [{"a": 1}]}', 'no runs of a table'),
    'changed': (lambda content: content.replace(b'"best": 8', b'"best": 9'), 'its own hash'),
    'without its hash': (lambda content: content.replace(b'sha256', b'sha'), 'its own hash'),
}


@pytest.mark.parametrize('name', DAMAGE)
def test_a_damaged_file_is_named(name, table, root, tmp_path):
    damage, said = DAMAGE[name]
    path = part(collect(table, root), tmp_path / 'part.json')
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=rf'part.json cannot be collected: .*{said}.*collect --format json'):
        collect_parts(table, [path])
    for missing in (tmp_path / 'nothing.json', tmp_path):
        with pytest.raises(DataError, match=rf'{missing.name} cannot be collected'):
            collect_parts(table, [missing])


ODD = {
    'seed': ('seed', '0'), 'a seed that is a word': ('seed', True), 'state': ('state', 'perfect'),
    'options': ('options', [1]), 'values': ('values', {'top1': 3}), 'hours': ('hours', 'long'),
    'not finite': ('final', {'last': float('nan')}), 'measures': ('measures', {'fgsm': None}),
    'changes': ('changes', {'a': 1}), 'hardware': ('hardware', 'big'), 'gpus': ('hardware', {'gpus': 3}),
}  # fmt: skip


@pytest.mark.parametrize('name', ODD)
def test_a_whole_file_of_odd_shapes_is_refused(name, table, root, tmp_path):
    key, value = ODD[name]
    values = json.loads(to_json(collect(table, root)))
    values['runs'][0][key] = value
    values.pop('sha256')
    # as seal() does, which would refuse NaN
    values['sha256'] = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    (tmp_path / 'odd.json').write_text(json.dumps(values))
    with pytest.raises(DataError, match=r'odd.json cannot be collected'):
        collect_parts(table, [tmp_path / 'odd.json'])


def test_a_file_without_runs_of_the_table_is_refused(table, root, tmp_path):
    path = part(collect(table, root), tmp_path / 'part.json')
    other = read_table(write_table(tmp_path, "title='O'\ncolumns=['c']\nrows={'r': ['digits/r8_fmix.py']}", 'other'))
    with pytest.raises(DataError, match=r'part.json holds 14 runs, and none of them is of other'):
        collect_parts(other, [path])
    shared = read_table(write_table(tmp_path, "title='O'\ncolumns=['c']\nrows={'r': ['digits/r8_mixup.py']}", 'shared'))
    assert collect_parts(shared, [path]).by_id['r/c'].mean == collect(shared, root).by_id['r/c'].mean


def test_a_config_that_has_changed_since_is_marked(table, root, tmp_path):
    path = part(collect(table, root), tmp_path / 'part.json')
    values = json.loads(path.read_text())
    values['runs'][0]['config_hash'] = 'of another'
    path.write_text(json.dumps(seal(values)))
    (mark,) = collect_parts(table, [path]).by_id['vanilla/mce'].marks
    assert mark == "other settings: the config 'of another' instead of 'what it is now'"


def test_nothing_names_the_machine(tmp_path):
    (tmp_path / 'secret').mkdir()
    own = tmp_path / 'secret' / 'mine.py'
    base = runs_of(read_table(write_table(tmp_path)), tmp_path)[1].config
    own.write_text(f'_base_ = {str(base)!r}\n')
    option = f'val_dataloader.dataset.note={tmp_path}/secret/weights.pth'
    text = f"title='S'\ncolumns=['c', 'd']\nrows={{'r': ['mine.py', dict(config='mine.py', options=[{option!r}])]}}"
    mine = read_table(write_table(tmp_path / 'secret', text))
    first, *_ = runs_of(mine, tmp_path / 'work')
    write_run(first, state=f'failed: DataError: {tmp_path}/secret on {platform.node()}')
    written = to_json(collect(mine, tmp_path / 'work'))
    assert '"config": "secret/mine.py"' in written
    assert 'val_dataloader.dataset.note=.../weights.pth' in written
    assert str(tmp_path) not in written
    assert tmp_path.name not in written
    assert not platform.node() or f'on {platform.node()}' not in written


def test_options_that_differ_by_folders_alone_cannot_be_kept(tmp_path):
    options = [f'model.note=/{name}/x.pth' for name in 'ab']
    entries = [f"dict(config='digits/r8_mixup.py', options=[{option!r}])" for option in options]
    text = f"title='S'\ncolumns=['c', 'd']\nrows={{'r': [{', '.join(entries)}]}}"
    results = collect(read_table(write_table(tmp_path, text)), tmp_path)
    with pytest.raises(ConfigError, match='differ only by the folders'):
        to_json(results)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('a=/home/me/x/w.pth', 'a=.../w.pth'),
        ('/data is not there', '.../data is not there'),
        ("open '/a b'", "open '.../a b'"),
        ('~/runs/x.py, C:\\data\\y.py', '.../x.py, .../y.py'),
        ('8/255 of a/b/c.py, ../x/y, 3 / 4, images/s', '8/255 of a/b/c.py, ../x/y, 3 / 4, images/s'),
        ('https://somewhere.org/a/b.tar', 'https:/.../b.tar'),
    ],
)
def test_places_are_left_out(text, expected):
    assert without_places(text) == expected
    assert without_places({'k': [text, 1, None]}) == {'k': [expected, 1, None]}
