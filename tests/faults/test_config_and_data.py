"""What is wrong before any work: refused at once, with the name of the thing. Quick rows: part of the normal suite."""

import io
import os
import tarfile
import time

import pytest
from support.fault_cases import CONFIG, check_failed, tool, train

IMAGENET = 'configs/imagenet/r50_mixup_dm.py'


def test_f14_missing_data(tmp_path):
    """The data set is missing: exit 3 within seconds, the folder looked at and the command that prepares it."""
    outcome = tool('train', IMAGENET, '--work-dir', tmp_path / 'run', OPENMIX_DM_DATA=str(tmp_path))
    check_failed(outcome, 3, 'data', str(tmp_path / 'imagenet'), 'prepare_data.py imagenet')
    assert outcome.seconds < 30
    assert not (tmp_path / 'run').exists()


@pytest.mark.faults
def test_f14_empty_data(tmp_path):
    """An empty folder of a data set: exit 3."""
    (tmp_path / 'imagenet' / 'train').mkdir(parents=True)
    outcome = tool('train', IMAGENET, '--work-dir', tmp_path / 'run', OPENMIX_DM_DATA=str(tmp_path))
    check_failed(outcome, 3, 'data', str(tmp_path / 'imagenet'))


def test_f15_unknown_mixer(tmp_path):
    """A mixer that does not exist (`PuzleMix`): exit 2, and the nearest name."""
    outcome = train(tmp_path / 'run', 'model.mixer.type=PuzleMix')
    check_failed(outcome, 2, 'config', 'did you mean PuzzleMix')
    assert not (tmp_path / 'run').exists()


@pytest.mark.faults
@pytest.mark.parametrize(
    ('key', 'near'),
    [('modle.mixer.alpha=1', 'model'), ('optim_wrapper.optimizer.lrr=1', 'optim_wrapper.optimizer.lrr')],
)
def test_f16_misspelt_option(key, near, tmp_path):
    """A misspelt key by --cfg-options: exit 2, and the nearest key."""
    check_failed(train(tmp_path / 'run', key), 2, 'config', near, 'did you mean')


def test_f16_misspelt_key_in_a_file(tmp_path, root):
    """A misspelt key in a child config: exit 2, the nearest key, and file and line."""
    config = tmp_path / 'child.py'
    config.write_text(f'_base_ = {str(root / CONFIG)!r}\nmodel = dict(\n    mixer=dict(alpah=1.0))\n')
    check_failed(train(tmp_path / 'run', config=config), 2, 'config', 'did you mean alpha', f'{config}:3')


@pytest.mark.faults
@pytest.mark.parametrize(
    'option',
    [
        'model.mixer.alpha=0', 'model.mixer.alpha=-1', "model.mixer.alpha=float('nan')", 'model.mixer.alpha=nan',
        "model.mixer=dict(_delete_=True,type='RandomMixer',probs=[0.5,0.6],mixers=[dict(type='Mixup',alpha=1.0),"
        "dict(type='CutMix',alpha=1.0)])",
    ],
)  # fmt: skip
def test_f17_impossible_values(option, tmp_path):
    """alpha 0, below 0 or NaN; probabilities that do not add up to 1: exit 2 with the key, before any work."""
    check_failed(train(tmp_path / 'run', option), 2, 'config', 'model.mixer')
    assert not (tmp_path / 'run').exists()


def test_f28_cyclic_base(tmp_path):
    """Configs that inherit each other: exit 2, and the cycle."""
    (tmp_path / 'a.py').write_text("_base_ = 'b.py'\n")
    (tmp_path / 'b.py').write_text("_base_ = 'a.py'\n")
    check_failed(train(tmp_path / 'run', config=tmp_path / 'a.py'), 2, 'config', 'a.py -> ', 'b.py -> ')


@pytest.mark.faults
def test_f28_import_in_a_config(tmp_path, root):
    """`import os` in a config: it trains."""
    config = tmp_path / 'child.py'
    config.write_text(f'import os\n_base_ = {str(root / CONFIG)!r}\n_cores = os.cpu_count()\n')
    outcome = train(tmp_path / 'run', 'train_cfg.max_epochs=1', config=config)
    assert outcome.code == 0, outcome.err


@pytest.mark.faults
def test_f13_label_out_of_range(tmp_path):
    """A label that the head has no output for: exit 2 before training, with label and outputs."""
    (tmp_path / 'list.txt').write_text('a.jpg 0\nb.jpg 999\n')
    dataset = f"dict(_delete_=True,type='ImageList',root={str(tmp_path)!r},list_file='list.txt')"
    outcome = tool(
        'train', CONFIG, '--work-dir', tmp_path / 'run', '--cfg-options', 'global_batch_size=2',
        f'train_dataloader.dataset={dataset}', 'val_dataloader.dataset.size=8',
    )  # fmt: skip
    check_failed(outcome, 2, 'config', 'num_classes=10', '1000 classes')
    assert not (tmp_path / 'run').exists()


def make_link(tar, name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    tar.addfile(info)


def make_file(tar, name):
    info = tarfile.TarInfo(name)
    info.size = 3
    tar.addfile(info, io.BytesIO(b'bad'))


@pytest.mark.faults
@pytest.mark.parametrize(
    'put',
    [
        lambda tar: make_file(tar, '../escaped.JPEG'),
        lambda tar: make_file(tar, '/tmp/openmix_dm_escaped.JPEG'),
        lambda tar: make_link(tar, 'ILSVRC2012_val_00000001.JPEG', '/etc/passwd'),
    ],
    ids=['up', 'absolute', 'link'],
)
def test_f19_archive_that_escapes(put, tmp_path):
    """An archive with `../x`, an absolute path or a link out: exit 3, and nothing is written."""
    archive = tmp_path / 'ILSVRC2012_img_val.tar'
    with tarfile.open(archive, 'w') as tar:
        put(tar)
    devkit = tmp_path / 'ILSVRC2012_devkit_t12.tar.gz'
    with tarfile.open(devkit, 'w:gz'):
        pass
    outcome = tool(
        'prepare_data', 'imagenet', '--root', tmp_path / 'root', '--archive', archive, '--devkit', devkit, '--no-verify'
    )
    check_failed(outcome, 3, 'data')
    left = [path for path in (tmp_path / 'root').rglob('*') if path.is_file()] if (tmp_path / 'root').exists() else []
    assert not left
    assert not (tmp_path / 'escaped.JPEG').exists()
    assert not os.path.exists('/tmp/openmix_dm_escaped.JPEG')  # noqa: PTH110


@pytest.mark.faults
def test_f30_no_internet_for_pretrained_weights(tmp_path):
    """Pretrained weights without a network: exit 4 within seconds, and the file that is looked for."""
    began = time.monotonic()
    outcome = train(
        tmp_path / 'run', "model.backbone=dict(_delete_=True,type='TimmBackbone',name='resnet10t',pretrained='timm')",
        https_proxy='http://127.0.0.1:9', HTTPS_PROXY='http://127.0.0.1:9',
        OPENMIX_DM_WEIGHTS=str(tmp_path / 'weights'), HF_HOME=str(tmp_path / 'hub'), TORCH_HOME=str(tmp_path / 'torch'),
    )  # fmt: skip
    check_failed(outcome, 4, 'checkpoint', 'resnet10t', str(tmp_path / 'weights'))
    assert time.monotonic() - began < 60  # ten on a machine that does nothing else
