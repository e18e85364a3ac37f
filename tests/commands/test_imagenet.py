"""configs/imagenet/r50_mixup_dm.py on a few images in the layout of ImageNet: as it is, on two ranks, as a base."""

import json
from pathlib import Path

import pytest
from support.command_runs import run, tool
from support.imagenet_folder import write_imagenet

CONFIG = 'configs/imagenet/r50_mixup_dm.py'
SHORT = ('--cfg-options', 'train_cfg.max_epochs=1', 'global_batch_size=4')  # length and memory, nothing else
FEW_WORKERS = ('train_dataloader.num_workers=1', 'val_dataloader.num_workers=0')

CHILD = """
_base_ = {base!r}
model = dict(mixer=dict(type='CutMix', alpha=1.0))
train_dataloader = dict(dataset=dict(transforms=[dict(type='RandomResizedCrop', size=64), dict(type='RandomFlip')]))
"""


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    """Eight training and five validation images of three synsets; the validation does not divide by two ranks."""
    return write_imagenet(tmp_path_factory.mktemp('data'), train=8, val=5)


def finished(folder):
    """Return the record of a run that went through."""
    state = json.loads((folder / 'run.json').read_text())
    records = [json.loads(line) for line in (folder / 'metrics.jsonl').read_text().splitlines()]
    assert state['state'] == 'done'
    assert [record['kind'] for record in records][-1] == 'val'
    assert records[-1]['iter'] == 2
    assert 0 <= records[-1]['top1'] <= records[-1]['top5'] <= 100
    assert (folder / 'epoch_1.pth').is_file()
    return records[-1]


@pytest.mark.slow
def test_plainly_then_tested(data, tmp_path):
    folder = tmp_path / 'run'
    code, _, err = tool('train', CONFIG, '--work-dir', folder, *SHORT, OPENMIX_DM_DATA=data)
    assert code == 0, err
    last = finished(folder)
    code, out, err = tool('test', CONFIG, folder / 'epoch_1.pth', OPENMIX_DM_DATA=data)
    assert code == 0, err
    assert out.strip().splitlines()[-1] == f'top1 {last["top1"]:.2f}  top5 {last["top5"]:.2f}  loss {last["loss"]:.2f}'


@pytest.mark.slow
def test_on_two_ranks(data, tmp_path):
    folder = tmp_path / 'run'
    code, _, err = run(
        'tools/dist_train.sh', CONFIG, '2', '--work-dir', str(folder), *SHORT, *FEW_WORKERS, OPENMIX_DM_DATA=data
    )
    assert code == 0, err
    finished(folder)
    assert json.loads((folder / 'run.json').read_text())['world_size'] == 2


@pytest.mark.slow
def test_from_a_child_config(data, tmp_path, root):
    child = tmp_path / 'child.py'
    child.write_text(CHILD.format(base=str(root / CONFIG)))
    code, _, err = tool('train', child, '--work-dir', tmp_path / 'run', *SHORT, *FEW_WORKERS, OPENMIX_DM_DATA=data)
    assert code == 0, err
    finished(tmp_path / 'run')
    assert "'type': 'CutMix'" in (tmp_path / 'run' / 'config.py').read_text()


@pytest.mark.slow
def test_a_damaged_image_stops_the_run_by_name_or_is_skipped(data, tmp_path, root):
    """The worker that meets it says which file it is; with a limit the run goes on without it."""
    child = tmp_path / 'child.py'
    child.write_text(CHILD.format(base=str(root / CONFIG)))
    short = (*SHORT, *FEW_WORKERS)
    damaged = Path(data) / 'imagenet' / 'train' / 'n01440764' / 'n01440764_0.JPEG'
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-50])
    try:
        code, _, err = tool('train', child, '--work-dir', tmp_path / 'a', *short, OPENMIX_DM_DATA=data)
        assert code == 3, err
        assert f'{damaged} cannot be decoded as an image' in err
        skip = ('train_dataloader.dataset.on_error=skip', 'train_dataloader.dataset.skip_limit=1')
        code, _, err = tool('train', child, '--work-dir', tmp_path / 'b', *short, *skip, OPENMIX_DM_DATA=data)
        assert code == 0, err
        finished(tmp_path / 'b')
        assert f'skipped (1 of at most 1): {damaged}' in err
    finally:
        damaged.write_bytes(content)
