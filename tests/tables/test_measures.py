"""Metrics that are measured after the training: their names, their files, and what is left to measure."""

import json

import pytest
from support.table_folders import write_table

from openmix_dm.errors import ConfigError
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.cells import less_is_better, unit_of
from openmix_dm.tables.measures import find_measure, is_measured, metrics_in, missing_measures

STUDY = ['ece', 'fgsm:2000', 'mixed_top2_mixup:2000', 'mixed_top2_cutmix:2000']


def test_the_name_says_how_many_images(tmp_path):
    folder = tmp_path / 'r8@model.mixer.alpha=1.0' / 'seed3'
    assert find_measure('fgsm').file == 'fgsm.json'
    assert find_measure('fgsm').arguments(folder)[:4] == ['fgsm', str(folder), '--eps', '8']
    some = find_measure('fgsm:2000')
    assert some.file == 'fgsm-2000.json'
    words = some.arguments(folder)
    assert words[words.index('--limit') + 1] == '2000'
    assert words[-4:] == ['--names', 'r8 seed3', '--out', str(folder / 'fgsm-2000.png')]
    assert '--limit' not in find_measure('ece').arguments(folder)


@pytest.mark.parametrize(
    ('metric', 'said'),
    [('fgms', 'did you mean fgsm'), ('fgsm:', 'has to follow'), ('ece:many', 'ece:2000'), ('ece:0', 'ece:2000')],
)
def test_mistakes_are_refused(metric, said, tmp_path):
    with pytest.raises(ConfigError, match=said):
        find_measure(metric)
    if is_measured(metric):
        text = f"title='F'\ncolumns=['e']\nrows={{'m': ['digits/r8_mixup.py']}}\nmetric={metric!r}"
        with pytest.raises(ConfigError, match=said):
            read_table(write_table(tmp_path, text))


def test_what_shares_a_file_is_measured_once(tmp_path):
    assert [measure.file for measure in missing_measures(STUDY, tmp_path)] == [
        'ece.json', 'fgsm-2000.json', 'mixed_top2-2000.json',
    ]  # fmt: skip
    mixed = {'Mixup': {'top2': [31.0]}, 'CutMix': {'top2': [29.0]}}
    (tmp_path / 'mixed_top2-2000.json').write_text(json.dumps({'lams': [0.5], 'runs': [{'mixers': mixed}]}))
    (tmp_path / 'fgsm-notes.json').write_text('{}')
    assert [measure.stem for measure in missing_measures(STUDY, tmp_path)] == ['ece', 'fgsm']
    assert list(metrics_in(tmp_path)) == STUDY[2:]
    assert [find_measure(metric).read(tmp_path) for metric in STUDY] == [None, None, 31.0, 29.0]


def test_which_way_is_better():
    assert [less_is_better(metric) for metric in STUDY] == [True, True, False, False]
    assert unit_of('fgsm:2000') == ' in % error of 2,000 test images'
    assert (unit_of('ece'), unit_of('lab/f1')) == (' in %', '')
