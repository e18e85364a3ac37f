"""The benchmarks measure what they say; how fast things are is no test's business."""

import json
from functools import partial

import pytest
import torch

from openmix_dm.analysis.benchmarks import image_loading as loader
from openmix_dm.analysis.benchmarks import lone_mixing as mixers
from openmix_dm.analysis.benchmarks import loss_functions as losses
from openmix_dm.analysis.benchmarks import mixed_steps, timing
from openmix_dm.commands import benchmark as command
from openmix_dm.datasets.reading.decode import read_image


def work(times):
    matrix = torch.randn(120, 120)

    def run():
        for _ in range(times):
            matrix @ matrix

    return run


def test_ratios_are_to_the_limit():
    one, four = timing.compare('one', {'one': work(20), 'four': work(80)}, rounds=15)
    assert (one.name, one.ratio) == ('one', 1.0)
    assert 2.5 < four.ratio < 6
    assert four.milliseconds > one.milliseconds


def test_a_slow_function_gets_fewer_rounds():
    calls = []
    timing.compare('limit', {'limit': lambda: calls.append(1)}, rounds=1000, seconds_each=0.0)
    assert len(calls) <= 12


def test_every_mixer_is_measured_and_missed_targets_show(capsys):
    names = mixers.ours()
    assert {'Mixup, shift', 'FMix, permutation', 'CutMix, shift, lam per sample'} <= set(names)
    assert {f'{name}, shift' for name in ('AutoMix', 'SAMix', 'AdAutoMix')} <= set(names)
    assert mixers.target_of('Mixup, shift', 64) == 1.1
    assert mixers.target_of('FMix, shift', 224) == 1.2
    assert mixers.target_of('Mixup, permutation', 32) == 2.0
    assert mixers.target_of('timm mixup, batch', 64) is None
    timings = [timing.Timing('Mixup, shift', 1.0, 1.0), timing.Timing('Mixup, shift, lam per sample', 1.0, 1.2)]
    assert mixers.per_sample_targets(timings) == {'Mixup, shift, lam per sample': 1.1}
    row = {'case': 'a', 'name': 'Mixup, shift', 'milliseconds': 1.0, 'ratio': 1.3, 'target': 1.1}
    command.print_table([row, {**row, 'ratio': 1.0}, {**row, 'target': None}])
    printed = capsys.readouterr().out
    assert printed.count('MISSED') == 1
    assert printed.count(' ok') == 1


def test_every_mixer_can_be_measured_by_itself():
    rows = {row.name: row.ratio for row in mixers.measure(rounds=1, shape=(4, 3, 32, 32))}
    assert {mixers.LIMIT, *mixers.ours()} <= set(rows)
    assert all(ratio > 0 for ratio in rows.values())


@pytest.mark.parametrize('name', mixers.LEARNED)
def test_learned_mixers_are_measured_without_what_they_learn(name):
    mixer = mixers.ours()[f'{name}, shift']
    mixers.with_given_features(mixer, (4, 3, 32, 32))
    images, labels = torch.randn(4, 3, 32, 32), torch.randint(10, (4,))
    batch = mixer(images, labels, lam=0.5)
    assert not batch.losses
    assert batch.mask.std() > 0  # the block saw features: a plain Mixup would have one weight for all places


def test_losses_are_measured_beside_what_everybody_writes():
    rows = losses.measure(rounds=2, samples=8, classes=10)
    assert [row.name for row in rows][:3] == [losses.LIMIT, 'MCE', 'DM(CE)']


def test_loading_is_measured_against_torchvisions(capsys, monkeypatch):
    monkeypatch.setattr(loader, 'PICTURES', 2)
    assert command.main(['loader', '--rounds', '1', '--json']) == 0
    rows = {row['name']: row for row in json.loads(capsys.readouterr().out)['rows']}
    assert {loader.LIMIT, 'cv2', loader.PACKED, loader.BATCH_LIMIT, loader.BATCH} <= set(rows)
    assert (rows['cv2']['target'], rows[loader.PACKED]['target']) == (0.555, 0.333)
    assert {name: row['target_ms'] for name, row in rows.items() if row.get('target_ms')} == {
        loader.BATCH: 1.5,
        'BatchFixMatchRandAugment': 6.0,
        'BatchRandAugment, as in Table 10': 6.0,
    }
    assert {f'{name}, Pillow, one by one' for name in ('RandAugment', 'FixMatchRandAugment')} <= set(rows)
    late = {'ratio': 0.1, 'milliseconds': 1.6, 'target': None, 'target_ms': 1.5}
    assert 'MISSED' in command.promised(late)
    assert 'ok' in command.promised({**late, 'milliseconds': 1.4})


def test_the_measured_files_are_jpegs_of_imagenets_size():
    with loader.jpegs() as folder:
        files = sorted(folder.rglob('*.jpg'))
        assert {read_image(file).shape for file in files} == {(375, 500, 3)}
        assert len(files) == 32
        assert 20_000 < sum(file.stat().st_size for file in files) / 32 < 150_000
    assert not folder.exists()


@pytest.mark.slow
def test_an_iteration_of_the_runner_is_measured(capsys, monkeypatch):
    small = partial(mixed_steps.measure, batch=4, whole_batch=2, size=16)
    monkeypatch.setattr(mixed_steps, 'measure', small)
    monkeypatch.setattr(mixed_steps, 'measure_tokens', partial(mixed_steps.measure_tokens, batch=2, size=16))
    assert command.main(['step', '--rounds', '1', '--json']) == 0
    rows = json.loads(capsys.readouterr().out)['rows']
    assert [row['name'] for row in rows][:2] == ['bare loop (limit)', 'runner']
    assert {*mixed_steps.TARGETS, *mixed_steps.TOKEN_TARGETS} < {row['name'] for row in rows}
    assert all(row['target'] for row in rows if 'limit' not in row['name'])


@pytest.mark.slow
def test_steps_are_measured_by_mixer():
    timings = {timing.name: timing.ratio for timing in mixed_steps.measure(1, batch=4, whole_batch=2, size=16)}
    assert set(timings) == {mixed_steps.VANILLA, *mixed_steps.TARGETS}
    tokens = {timing.name: timing.ratio for timing in mixed_steps.measure_tokens(1, batch=2, size=16)}
    assert set(tokens) == {mixed_steps.TOKEN_VANILLA, *mixed_steps.TOKEN_WHOLE, *mixed_steps.TOKEN_TARGETS}
    assert all(
        ratio > 0 for ratio in (timings | tokens).values()
    )  # how large they are is not for a test: machines are busy
