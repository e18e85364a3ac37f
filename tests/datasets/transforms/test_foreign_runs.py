"""Runs with transforms of other packages: resumed exactly, in any number of workers; stored by plain names."""

import subprocess
import sys

import cv2
import pytest
from support.checked_transforms import photograph
from support.short_runs import CONFIG, PowerCut, final, power_cut, same, train

from openmix_dm.commands.train import main
from openmix_dm.config.check import validate
from openmix_dm.config.load import load_config, name_types, to_text
from openmix_dm.config.plain import read_plain_config
from openmix_dm.registry import TRANSFORMS

CHAIN = (
    "[dict(type='torchvision/RandomResizedCrop',size=(16,16),interpolation='bicubic'),"
    "dict(type='mmcv/RandomFlip',prob=0.5),dict(type='RandomFlip'),"
    "dict(type='torchvision/RandomApply',p=0.7,transforms=["
    "dict(type='torchvision/ColorJitter',brightness=0.4,hue=0.1),dict(type='mmcv/RandomGrayscale',prob=0.5)]),"
    "dict(type='torchvision/GaussianNoise',sigma=0.05)]"
)
EVAL = "[dict(type='torchvision/Resize',size=(16,16))]"


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Sixteen small pieces of a photograph in two classes."""
    root = tmp_path_factory.mktemp('pieces')
    for split in ('train', 'val'):
        for number in range(16):
            place = root / split / 'ab'[number % 2]
            place.mkdir(parents=True, exist_ok=True)
            top, left = 30 * (number // 4), 40 * (number % 4)
            cv2.imwrite(str(place / f'{number}.png'), photograph()[top : top + 30, left : left + 36])
    return root


def run(folder, out, *options, arguments=(), workers=0):
    """Train on the pieces; options come last and win."""
    images = [
        f"{phase}_dataloader.dataset=dict(_delete_=True,type='ImageFolder',root='{folder}',split='{phase}',"
        f'transforms={chain})'
        for phase, chain in (('train', CHAIN), ('val', EVAL))
    ]
    small = ('global_batch_size=4', 'train_cfg.max_epochs=2', 'model.head.num_classes=2')
    loading = f'train_dataloader.num_workers={workers}'
    return main([str(CONFIG), '--work-dir', str(out), *arguments, '--cfg-options', *images, *small, loading, *options])


@pytest.fixture(scope='module')
def whole(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp('whole') / 'run'
    assert run(folder, out) == 0
    return out


@pytest.mark.parametrize('workers', [0, 2])
def test_a_cut_run_equals_an_unbroken_one_of_no_workers(folder, whole, tmp_path, monkeypatch, workers):
    saves = 'default_hooks.checkpoint.save_every_iters=1'
    with power_cut(monkeypatch, 5), pytest.raises(PowerCut):
        run(folder, tmp_path / 'cut', saves, workers=workers)
    changed = ('--resume', '--allow-change', 'default_hooks.checkpoint.save_every_iters')
    assert run(folder, tmp_path / 'cut', arguments=changed, workers=workers) == 0
    assert same(final(whole)['state_dict'], final(tmp_path / 'cut')['state_dict'])


def test_the_run_folder_is_read_as_plain_data(whole):
    config = read_plain_config(whole / 'config.py')
    kinds = [each['type'] for each in config.train_dataloader.dataset.transforms]
    assert kinds[:2] == ['torchvision/RandomResizedCrop', 'mmcv/RandomFlip']
    validate(config)


def test_mistakes_cost_no_run_folder(folder, tmp_path, capsys):
    wrong = CHAIN.replace('hue=0.1', 'hue=0.9')
    assert run(folder, tmp_path / 'run', f'train_dataloader.dataset.transforms={wrong}') == 2
    said = capsys.readouterr().err
    assert 'train_dataloader.dataset.transforms[3].transforms[0]: torchvision/ColorJitter refuses' in said
    assert not (tmp_path / 'run').exists()


def test_an_image_that_does_not_fit_is_told_in_one_line(folder, tmp_path, capsys):
    assert (
        run(
            folder,
            tmp_path / 'run',
            "train_dataloader.dataset.transforms=[dict(type='torchvision/RandomCrop',size=32)]",
        )
        == 3
    )
    assert 'cause=data: torchvision/RandomCrop fails on an image of 30 x 36 pixels' in capsys.readouterr().err


def test_small_images_go_through_batch_each(tmp_path):
    each = (
        "train_dataloader.dataset.transforms=[dict(type='BatchEach',transforms=[dict(type='torchvision/RandAugment')])]"
    )
    assert train(tmp_path / 'run', each, 'train_cfg.max_epochs=1') == 0


PURE = """
from mmengine.config import read_base

with read_base():
    from .base import *

from mmcv.transforms import RandomFlip
from torchvision.transforms.v2 import ColorJitter, RandomApply

jitter = dict(type=ColorJitter, brightness=0.4)
train_dataloader.update(dataset=dict(type='ImageFolder', root='pictures', split='train', transforms=[
    dict(type=RandomFlip, prob=0.5), dict(type=RandomApply, transforms=[jitter])]))
del jitter
"""


def test_classes_in_a_pure_python_config(tmp_path):
    (tmp_path / 'base.py').write_text(to_text(load_config(CONFIG)))
    (tmp_path / 'pure.py').write_text(PURE)
    config = load_config(tmp_path / 'pure.py')
    validate(config)
    flip, apply = config.train_dataloader.dataset.transforms
    assert flip == {'type': 'mmcv/RandomFlip', 'prob': 0.5}  # ours has the same name
    assert apply.type == 'torchvision/RandomApply'
    assert apply.transforms == [{'type': 'torchvision/ColorJitter', 'brightness': 0.4}]
    assert 'transforms.v2' not in to_text(config)


def test_a_class_that_nobody_has_imported_gets_its_registered_name(tmp_path, monkeypatch):
    (tmp_path / 'lab_of_transforms.py').write_text(
        'from openmix_dm.registry import TRANSFORMS\n\n\n@TRANSFORMS.register_module()\nclass LabFlip:\n    pass\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert name_types({'type': 'lab_of_transforms.LabFlip'}) == {'type': 'LabFlip'}
    assert TRANSFORMS.module_dict.pop('LabFlip').__module__ == 'lab_of_transforms'


@pytest.mark.slow
def test_only_who_uses_them_imports_their_packages():
    code = (
        'import sys; from openmix_dm.commands.print_config import main; '
        f'main([{str(CONFIG)!r}]); print("imported:", [n for n in ("torchvision", "mmcv", "timm") if n in sys.modules])'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith('imported: []\n')
