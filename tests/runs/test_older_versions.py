"""Folders that version 0.1 wrote, before its modules got other names: they go on, are tested and are loaded.

tests/data/version_0_1/run was stopped by a signal after 5 of 6 iterations; published is what the same run came to
without a stop.
"""

import json
import shutil

import pytest
import torch
from conftest import ROOT

import openmix_dm
from openmix_dm.commands import test, train
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.model import open_trained
from openmix_dm.runs.state import read_state

OLD = ROOT / 'tests' / 'data' / 'version_0_1'
CONFIG = str(ROOT / 'configs' / 'digits' / 'r8_mixup_dm.py')
OPTIONS = (
    '--cfg-options', 'train_cfg.max_epochs=2', 'global_batch_size=400', 'default_hooks.records.interval=1',
    'train_dataloader.dataset.size=8', 'val_dataloader.dataset.size=8', 'default_hooks.checkpoint.keep=1',
)  # fmt: skip


@pytest.fixture
def run(tmp_path):
    return shutil.copytree(OLD / 'run', tmp_path / 'run')


def test_a_run_goes_on_to_the_weights_of_the_unbroken_one(run):
    assert read_state(run).kind == 'stopped'
    assert train.main([CONFIG, '--work-dir', str(run), '--resume', *OPTIONS]) == 0
    ended, unbroken = (open_trained(place, device='cpu').model.state_dict() for place in (run, OLD / 'published'))
    # On the machine that made the fixture they are equal; others may round differently in the one iteration left.
    for name, value in unbroken.items():
        torch.testing.assert_close(ended[name], value, rtol=1e-3, atol=1e-4)
    summary = RunFolder(run).read()
    assert (summary['state'], len(summary['resumed'])) == ('done', 1)
    assert [record['iter'] for record in RunFolder(run).records('train')] == [1, 2, 3, 4, 5, 6]


def test_another_config_is_still_refused(run, capsys):
    assert train.main([CONFIG, '--work-dir', str(run), '--resume', *OPTIONS, 'model.mixer.alpha=0.3']) == 2
    assert 'model.mixer.alpha: 0.2 -> 0.3' in capsys.readouterr().err


def test_a_checkpoint_is_tested(run, tmp_path):
    out = tmp_path / 'result.json'
    assert test.main([CONFIG, str(run / 'iter_5.pth'), '--out', str(out), *OPTIONS]) == 0
    assert 0 <= json.loads(out.read_text())['top1'] <= 100


@pytest.mark.parametrize('name', ['run', 'published'])
def test_a_folder_is_loaded(name):
    model, transform, classes = openmix_dm.load(OLD / name, device='cpu')
    image = torch.randint(256, (20, 30, 3), dtype=torch.uint8).numpy()
    assert model(transform(image)[None]).shape == (1, 10)
    assert classes == [str(digit) for digit in range(10)]
