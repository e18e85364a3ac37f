"""The commands as a user types them: exit codes, words, and nothing left behind."""

import json
import re

import pytest
from support.command_runs import CONFIG, tool


@pytest.mark.slow
def test_train_then_test(tmp_path):
    options = ('--cfg-options', 'train_cfg.max_epochs=1', 'global_batch_size=400')
    code, out, err = tool('train', CONFIG, '--work-dir', tmp_path / 'run', *options)
    assert code == 0, err
    assert 'Results:' in out
    assert re.search(r'^next: \S*python tools/test.py ', out, re.MULTILINE)
    assert 'epoch 1/1  validation' in err
    code, out, err = tool('test', CONFIG, tmp_path / 'run' / 'epoch_1.pth', '--out', tmp_path / 'result.json')
    assert code == 0, err
    assert out.startswith('top1')
    assert set(json.loads((tmp_path / 'result.json').read_text())) == {'config', 'checkpoint', 'top1', 'top5', 'loss'}


@pytest.mark.slow
@pytest.mark.parametrize(
    ('arguments', 'code', 'said'),
    [
        ((CONFIG, '--cfg-options', 'model.mixer.alpah=1'), 2, 'did you mean alpha'),
        ((CONFIG, '--cfg-options', 'model.mixer.type=PuzleMx'), 2, 'there is no mixer'),
        (('configs/digits/r8_mixup_dn.py',), 2, 'did you mean r8_mixup_dm.py'),
        (('configs/imagenet/r50_mixup_dm.py',), 3, 'python tools/prepare_data.py imagenet'),
        ((CONFIG, '--launcher', 'pytorch'), 6, 'torchrun'),
    ],
)
def test_failures_are_one_line_and_an_exit_code(arguments, code, said, tmp_path):
    returned, _, err = tool('train', *arguments, '--work-dir', tmp_path / 'run', OPENMIX_DM_DATA=str(tmp_path))
    assert returned == code
    assert said in err
    assert 'Traceback' not in err
    assert err.strip().splitlines()[-1].startswith('openmix_dm: FAILED cause=')
    assert not (tmp_path / 'run' / 'run.json').exists()


def test_print_config():
    code, out, _ = tool('print_config', CONFIG)
    assert code == 0
    assert "'type': 'DecoupledCE', 'eta': 0.1" in out


@pytest.mark.slow
def test_benchmarks_print_json():
    code, out, err = tool('benchmark', 'losses', '--json', '--rounds', 2)
    assert code == 0, err
    names = [row['name'] for row in json.loads(out)['rows']]
    assert {'MCE', 'DM(CE)'} <= set(names)
