"""Small trained runs that many tests look at: made once, in a folder that is removed at the end."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from conftest import ROOT

from openmix_dm.commands.export import main as publish
from openmix_dm.commands.train import main

SHORT = ('global_batch_size=200', 'val_dataloader.batch_size=100', 'default_hooks.records.interval=3')
VIT = {
    'type': 'TimmBackbone',
    'name': 'vit_tiny_patch16_224',
    'img_size': 16,
    'options': {'patch_size': 4, 'embed_dim': 32, 'depth': 3, 'num_heads': 2},
}
SWIN = {
    'type': 'TimmBackbone',
    'name': 'swin_tiny_patch4_window7_224',
    'img_size': 16,
    'options': {'patch_size': 2, 'embed_dim': 16, 'depths': (1, 1), 'num_heads': (1, 2), 'window_size': 4},
}


@cache
def folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix='trained-'))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def digits_run(name='r8_mixup', seed=0, epochs=3) -> Path:
    """A ResNet-8, trained for a second on the digits; better than chance, far from perfect."""
    return _digits_run(name, seed, epochs)


@cache
def _digits_run(name, seed, epochs) -> Path:
    path = folder() / name / f'seed{seed}'
    return _train(path, ROOT / f'configs/digits/{name}.py', f'randomness.seed={seed}', f'train_cfg.max_epochs={epochs}')


@cache
def vit_run() -> Path:
    """A Vision Transformer of three blocks, as good as untrained."""
    return _train_backbone('vit', VIT)


@cache
def swin_run() -> Path:
    return _train_backbone('swin', SWIN)


def _train_backbone(name, backbone) -> Path:
    config = folder() / f'{name}.py'
    config.write_text(
        f'_base_ = {str(ROOT / "configs/digits/r8_mixup.py")!r}\n'
        f'model = dict(backbone=dict(_delete_=True, **{backbone!r}))\n'
        'optim_wrapper = dict(optimizer=dict(lr=0.01))\n'
    )
    return _train(folder() / name / 'seed0', config, 'train_cfg.max_epochs=1')


def _train(path, config, *options) -> Path:
    assert main([str(config), '--work-dir', str(path), '--cfg-options', *SHORT, *options]) == 0
    return path


@cache
def _published() -> Path:
    path = folder() / 'published'
    assert publish(['publish', str(digits_run()), '--out', str(path)]) == 0
    return path


def published_copy(out: Path) -> Path:
    """The digits' run, published: a folder that a test may spoil."""
    return shutil.copytree(_published(), out)
