"""`table.py collect` and `table.py measure` as a user types them."""

import json

import numpy as np
import pytest
import torch
from support.table_folders import write_fgsm, write_run, write_table

from openmix_dm.commands.table import main
from openmix_dm.commands.train import main as train
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.registry import DATASETS
from openmix_dm.runs.model import open_trained
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.measures import find_measure
from openmix_dm.tables.plan import runs_of


def table(tmp_path, command, *arguments):
    return main([command, str(tmp_path / 'small.py'), '--work-dirs', str(tmp_path / 'work'), *arguments])


@pytest.fixture
def runs(tmp_path):
    return runs_of(read_table(write_table(tmp_path)), tmp_path / 'work')


@pytest.fixture
def filled(runs):
    for number, run in enumerate(runs):
        write_run(run, [60.0 + number**2 % 7])
    return runs


def test_the_plain_table_has_no_tests_until_they_are_asked_for(filled, tmp_path, capsys):
    assert table(tmp_path, 'collect') == 0
    plain = capsys.readouterr().out
    assert 'Holm' not in plain
    assert table(tmp_path, 'collect', '--tests') == 0
    tested = capsys.readouterr().out
    assert tested.startswith(plain)
    assert '| p | p (Holm) | 12 seeds find | 24 seeds find | 48 seeds find |' in tested
    assert table(tmp_path, 'collect', '--power', '5') == 0
    assert '| p | p (Holm) | 5 seeds find |' in capsys.readouterr().out
    assert table(tmp_path, 'collect', '--tests', '--format', 'latex') == 0
    assert capsys.readouterr().out.count(r'\begin{table}') == 2


def test_the_interval_is_chosen(filled, tmp_path, capsys):
    found = {}
    for kind in ('t', 'bootstrap'):
        assert table(tmp_path, 'collect', '--interval', kind, '--format', 'json') == 0
        found[kind] = json.loads(capsys.readouterr().out)
    t, bootstrap = (found[kind]['average_gains']['DM(CE)'] for kind in found)
    assert (t['gain'], t['p'], t['seeds_find']) == (bootstrap['gain'], bootstrap['p'], bootstrap['seeds_find'])
    assert t['gain_low'] < bootstrap['gain_low'] < bootstrap['gain_high'] < t['gain_high']
    assert found['bootstrap']['interval'] == 'bootstrap'
    assert table(tmp_path, 'collect', '--interval', 'bootstrap') == 0
    assert 'with 95 % bootstrap intervals (BCa)' in capsys.readouterr().out


def test_another_metric_of_the_same_runs_from_folders_and_from_a_file(filled, tmp_path, capsys):
    for number, run in enumerate(filled):
        write_fgsm(run, 50.0 + number)
    part = tmp_path / 'part.json'
    assert table(tmp_path, 'collect', '--format', 'json', '--out', str(part)) == 0
    capsys.readouterr()
    assert table(tmp_path, 'collect', '--metric', 'fgsm') == 0
    shown = capsys.readouterr().out
    assert shown.startswith('**A small table; here fgsm**')
    assert '| Mixup | 56.00 ± 5.00 |' in shown  # runs 1, 6 and 11
    assert main(['collect', str(tmp_path / 'small.py'), '--from', str(part), '--metric', 'fgsm']) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (('--metric', 'tpo1'), "none of 15 finished runs has 'tpo1'; did you mean top1?"),
        (('--metric', 'ece:2000'), 'ece:2000 was measured of none of 15 finished runs: '),
        (('--metric', 'ece:few'), 'as in ece:2000'),
        (('--power', '1'), '--power takes numbers of seeds, 2 or above, got 1'),
        (('--tests', '--format', 'svg'), 'a plot has no room'),
        (('--from', 'x.json'), 'either it or --work-dirs'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(filled, tmp_path, arguments, said, capsys):
    assert table(tmp_path, 'collect', *arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count('\n') == 1


TRAINED = """
title = 'Trained'
columns = ['MCE']
rows = {'Mixup': [dict(config='digits/r8_mixup.py', options=['train_cfg.max_epochs=1', 'global_batch_size=200'])]}
trials = 2
"""
METRICS = ('ece', 'fgsm:60', 'mixed_top2_mixup:60', 'mixed_top2_cutmix:60')


def slow_ece(folder, bins=15):
    """Expected calibration error by its definition, one image after the other."""
    trained = open_trained(folder, device='cpu')
    dataset = DATASETS.build(trained.config.val_dataloader.dataset)
    sums = np.zeros((bins, 3))
    for place in range(len(dataset)):
        sample = dataset[place]
        with torch.no_grad():
            logits = logits_of(trained.model, sample['inputs'][None].float() / 255)
        scores = torch.softmax(logits, 1)[0]
        confidence, best = float(scores.max()), int(scores.argmax())
        sums[min(int(np.ceil(confidence * bins)) - 1, bins - 1)] += 1, confidence, best == int(sample['labels'])
    return 100 * sum(abs(right - sure) for _, sure, right in sums) / sums[:, 0].sum()


def test_finished_runs_are_measured_once(tmp_path, capsys):
    first, _ = runs_of(read_table(write_table(tmp_path, TRAINED)), tmp_path / 'work')
    assert train(first.train_arguments()) == 0
    capsys.readouterr()
    assert table(tmp_path, 'measure', '--metrics', *METRICS) == 0
    said = capsys.readouterr().out
    assert 'small: 3 of 3 to measure, 1 runs are not finished' in said
    assert said.count(': measured') == 3
    assert find_measure('ece').read(first.folder) == pytest.approx(slow_ece(first.folder), abs=1e-3)
    record = json.loads((first.folder / 'fgsm-60.json').read_text())
    assert record['runs'][0]['images'] == 60
    assert 0 <= find_measure('mixed_top2_cutmix:60').read(first.folder) <= 100
    written = {path: path.stat().st_mtime_ns for path in first.folder.glob('*.json')}
    assert table(tmp_path, 'measure', '--metrics', *METRICS) == 0
    assert '0 of 3 to measure' in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in first.folder.glob('*.json')} == written
    assert table(tmp_path, 'collect', '--metric', 'fgsm:60') == 0
    assert f'{record["runs"][0]["fgsm"][0]:.2f}' in capsys.readouterr().out

    for checkpoint in first.folder.glob('*.pth'):  # one that cannot be measured
        checkpoint.unlink()
    assert table(tmp_path, 'measure', '--metrics', 'ece:50') == 3
    said = capsys.readouterr()
    assert 'seed 0 ece: FAILED: ' in said.out
    assert '1 of 1 could not be measured' in said.err


def test_what_to_measure_has_to_be_known(runs, tmp_path, capsys):
    assert table(tmp_path, 'measure') == 2
    assert 'name --metrics, fgsm, ece' in capsys.readouterr().err
    assert table(tmp_path, 'measure', '--metrics', 'eec') == 2
    assert 'did you mean ece' in capsys.readouterr().err
