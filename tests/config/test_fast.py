"""--fast and configs/_base_/fast.py."""

import pytest
import torch
from conftest import ROOT
from mmengine.config import Config
from support.short_runs import CONFIG, SMALL

from openmix_dm.commands.train import main
from openmix_dm.config.fast import FAST, best_precision, describe_speed
from openmix_dm.config.load import load_config, load_run_config
from openmix_dm.config.resolve import resolve
from openmix_dm.runs.folder import RunFolder

FAST_CONFIG = load_run_config(CONFIG, SMALL, fast=True)


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that only emulates bf16."""
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: True)
    monkeypatch.setattr(torch.cuda, 'is_bf16_supported', lambda including_emulation=True: including_emulation)


def test_the_word_and_the_file_are_the_same():
    assert Config.fromfile(ROOT / 'configs' / '_base_' / 'fast.py').to_dict() == FAST


def test_emulated_bf16_is_not_fast(gpu, monkeypatch):
    assert best_precision() == 'fp16'
    monkeypatch.setattr(torch.cuda, 'is_bf16_supported', lambda including_emulation=True: True)
    assert best_precision() == 'bf16'


def test_auto_is_what_the_machine_computes_fast(gpu, monkeypatch):
    assert FAST_CONFIG.optim_wrapper.amp == 'auto'
    assert resolve(FAST_CONFIG, 1).optim_wrapper.amp == 'fp16'
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: False)
    assert resolve(FAST_CONFIG, 1).optim_wrapper.amp is None


def test_what_the_config_says_stays():
    options = ['channels_last=False', 'optim_wrapper.amp=bf16', 'env_cfg.cudnn_benchmark=False']
    config = load_run_config(CONFIG, [*SMALL, *options], fast=True)
    assert (config.channels_last, config.optim_wrapper.amp, config.env_cfg.cudnn_benchmark) == (False, 'bf16', False)
    assert config.prefetch_to_device


def test_what_is_switched_on_is_named(gpu):
    config = resolve(FAST_CONFIG, 1)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(2))], fused=True)
    assert describe_speed(config, optimizer) == [
        'fp16',
        'channels_last',
        'cudnn_benchmark',
        'fused SGD',
        'gradients as views of buckets',
        'prefetched copies',
    ]
    plain = torch.optim.SGD([torch.nn.Parameter(torch.zeros(2))])
    assert describe_speed(load_config(CONFIG), plain) == []


def test_a_run_says_and_keeps_what_was_switched_on(tmp_path, capsys):
    """On a machine without a GPU, what only a GPU has is not named."""
    arguments = [str(CONFIG), '--fast', '--work-dir', str(tmp_path / 'run'), '--cfg-options', *SMALL]
    assert main([*arguments, 'train_cfg.max_epochs=1']) == 0
    assert '\nfast      channels_last\n' in capsys.readouterr().err
    assert RunFolder(tmp_path / 'run').read()['fast'] == ['channels_last']
