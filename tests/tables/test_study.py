"""What docs/study.md says is what its kept numbers give, and the plan is older than every run."""

import csv
import json
import subprocess
from datetime import datetime

import numpy as np
import pytest
from conftest import ROOT
from scipy import stats

from openmix_dm.commands.collect import FORMATS, TESTS
from openmix_dm.tables.archive.parts import collect_parts
from openmix_dm.tables.catalogue import find_table
from openmix_dm.utils.stats import gain_found, paired_gain

PLAN = '3b22a05'
PAGE = ROOT / 'docs/study.md'
MEASURED = ('top1', 'mixed_top2_mixup:2000', 'mixed_top2_cutmix:2000', 'ece', 'fgsm:2000')
# the files of the parts: the table of each, and the metrics that the page shows
PARTS = {
    'main.json': ('study_main', MEASURED),
    'alpha.json': ('study_alpha', MEASURED),
    'deeper.json': ('study_deeper', ('top1',)),
    'eta.json': ('study_eta', ('top1',)),
    'transfer.json': ('study_transfer', ('top1',)),
}
SHOWN = [(file, metric) for file, (_, metrics) in PARTS.items() for metric in metrics]


def test_every_kept_file_is_on_the_page():
    assert {path.name for path in (ROOT / 'docs/study').glob('*.json')} == set(PARTS)


@pytest.mark.parametrize(('file', 'metric'), SHOWN)
def test_the_page_has_the_tables_of_the_kept_numbers(file, metric):
    results = collect_parts(find_table(PARTS[file][0]).by_metric(metric), [ROOT / 'docs/study' / file])
    page = PAGE.read_text()
    made = f'{FORMATS["md"](results)}\n{TESTS["md"](results)}'
    rows = [line for line in made.splitlines() if line.startswith('|')]
    assert len(rows) > 6
    assert [row for row in rows if row not in page] == []


@pytest.mark.parametrize('file', PARTS)
def test_every_run_is_on_the_page_and_younger_than_its_commit_and_the_plan(file):
    kept, page = json.loads((ROOT / 'docs/study' / file).read_text()), PAGE.read_text()
    runs = kept['runs']
    assert {run['state'] for run in runs} == {'done'}
    (commit,) = {commit for run in runs for commit in run['commits']}
    assert f'`{commit[:7]}`' in page
    assert f'first start {min(run["start"] for run in runs)}' in page
    for older in (PLAN, commit):
        told = subprocess.run(['git', 'show', '-s', '--format=%cI', older], cwd=ROOT, capture_output=True, text=True)
        if told.returncode:
            pytest.skip('without the history of the repository')
        assert all(datetime.fromisoformat(told.stdout.strip()) < datetime.fromisoformat(run['start']) for run in runs)
    columns = [cell['values'] for cell in kept['cells'] if cell['metric'] == 'top1']
    for seed in columns[0]:
        values = ' | '.join(f'{column[seed]:.2f}' for column in columns if seed in column)
        assert f'| {seed} | {values} |' in page


def by_seed(file, row, column):
    cells = json.loads((ROOT / 'docs/study' / file).read_text())['cells']
    (values,) = (c['values'] for c in cells if (c['row'], c['column'], c['metric']) == (row, column, 'top1'))
    return {int(seed): value for seed, value in values.items()}


def test_what_was_looked_at_afterwards_is_what_is_kept_of_it():
    page = PAGE.read_text()
    with (ROOT / 'docs/study/training.csv').open() as file:
        runs = [(run['network'], run['row'], run['loss']) for run in csv.DictReader(file)]
    assert len(runs) == 120
    for network, row, loss in dict.fromkeys(runs):
        train, test, sure = (
            looked_at(network, row, loss, name) for name in ('train_top1', 'test_top1', 'test_confidence')
        )
        file = 'deeper.json' if network == 'ResNet-20' else 'eta.json' if loss.endswith('eta 1') else 'main.json'
        assert test == pytest.approx(by_seed(file, row, loss), abs=0.005)
        means = [sum(values.values()) / len(values) for values in (train, test, sure)]
        shown = ' | '.join(f'{mean:.1f}' for mean in means)
        assert f'| {network}, {row}, {loss} | {shown} | {means[2] - means[1]:+.1f} |' in page


def looked_at(network, row, loss, name):
    with (ROOT / 'docs/study/training.csv').open() as file:
        rows = list(csv.DictReader(file))
    return {
        int(run['seed']): float(run[name])
        for run in rows
        if (run['network'], run['row'], run['loss']) == (network, row, loss)
    }


def test_how_much_less_is_fitted_is_that_of_the_kept_numbers():
    cells = [('ResNet-8', 'Mixup, alpha 0.2', 'DM(CE)'), ('ResNet-8', 'Mixup, alpha 1', 'DM(CE)')]
    cells += [('ResNet-20', 'Mixup, alpha 1', 'DM(CE)'), ('ResNet-8', 'Mixup, alpha 1', 'DM(CE), eta 1')]
    first, second, deeper, larger = (
        paired_gain(*(looked_at(network, row, each, 'train_top1') for each in ('MCE', loss)))
        for network, row, loss in cells
    )
    assert (
        f'by {first.mean:.1f} points at alpha 0.2, by {second.mean:.1f} at alpha 1 (interval [{second.low:.1f}, '
        f'{second.high:.1f}]), by {deeper.mean:.1f} with ResNet-20 and by {larger.mean:.1f} with eta 1'
    ) in page_in_one_line()


def test_the_loss_of_fit_and_the_gain_of_a_run_are_as_little_related_as_the_page_says():
    fits, gains = [], []
    for row in [f'{mixer}, alpha {alpha}' for mixer in ('Mixup', 'CutMix') for alpha in ('0.2', '1')]:
        for found, name in ((fits, 'train_top1'), (gains, 'test_top1')):
            ours, base = (looked_at('ResNet-8', row, loss, name) for loss in ('DM(CE)', 'MCE'))
            change = np.array([ours[seed] - base[seed] for seed in ours])
            found.extend(change - change.mean())
    r, freedom = np.corrcoef(fits, gains)[0, 1], len(fits) - 4 - 1  # 4 means of rows were taken off
    p = 2 * stats.t.sf(abs(r) * np.sqrt(freedom / (1 - r**2)), freedom)
    assert f'a correlation of {r:.2f} over {len(fits)} pairs (p = {p:.2f})' in page_in_one_line()


def page_in_one_line():
    return ' '.join(PAGE.read_text().split())


def test_the_split_by_alpha_is_that_of_the_kept_numbers():
    gains = {}
    for alpha in ('0.2', '1'):
        rows = [f'{mixer}, alpha {alpha}' for mixer in ('Mixup', 'CutMix')]
        pairs = [(by_seed('main.json', row, 'DM(CE)'), by_seed('main.json', row, 'MCE')) for row in rows]
        gains[alpha] = {seed: sum(ours[seed] - base[seed] for ours, base in pairs) / 2 for seed in pairs[0][0]}
    page, none = PAGE.read_text(), dict.fromkeys(gains['1'], 0.0)
    for ours, base in ((gains['0.2'], none), (gains['1'], none), (gains['0.2'], gains['1'])):
        found = paired_gain(ours, base)
        assert f'{found.mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}]' in page


def test_the_seeds_that_would_decide_and_the_hours_are_those_of_the_kept_numbers():
    page = page_in_one_line()
    kept = {file: json.loads((ROOT / 'docs/study' / file).read_text()) for file in PARTS}
    found = kept['alpha.json']['average_gains']['DM(CE)']
    seeds = next(n for n in range(2, 1000) if gain_found(found['gain_std'], n) <= found['gain'])
    assert f'{seeds} new seeds would find a gain of {found["gain"]:.2f} with a probability of 80 %' in page
    runs = {(run['config'], *run['options'], run['seed']): run for each in kept.values() for run in each['runs']}
    unbroken = [run['hours'] for run in runs.values() if not run['resumed']]
    assert f'The {len(runs)} runs of both plans took {sum(unbroken):.1f} hours by the clock' in page
    assert len(runs) - len(unbroken) == 4  # in words there


def test_the_first_table_says_what_the_parts_say():
    readme = (ROOT / 'README.md').read_text().replace(' points [', ' [')
    for file, column in (('main.json', 'DM(CE)'), ('alpha.json', 'DM(CE)'), ('transfer.json', '+DM')):
        found = json.loads((ROOT / 'docs/study' / file).read_text())['average_gains'][column]
        gain = f'{found["gain"]:+.2f} [{found["gain_low"]:+.2f}, {found["gain_high"]:+.2f}]'
        assert f'| {gain} |' in PAGE.read_text().partition('## Plan')[0]
        if file != 'transfer.json':
            assert gain in readme
