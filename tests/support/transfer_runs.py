"""Short runs of the transfer methods on the digits, from weights of a network that was not trained."""

import torch
from conftest import ROOT

from openmix_dm.commands.train import main
from openmix_dm.config.load import load_config
from openmix_dm.runs.model import build_model

FOLDER = ROOT / 'configs' / 'digits_transfer'
METHODS = sorted(path.stem.removeprefix('r8_') for path in FOLDER.glob('r8_*.py') if path.stem != 'r8_source')
SHORT = (
    'train_cfg.max_iters=4',
    'train_cfg.val_interval=2',
    'param_scheduler.milestones=[2]',
    'param_scheduler.end=4',
    'train_dataloader.dataset.dataset.size=8',
    'val_dataloader.dataset.size=8',
)


def source_file(folder):
    """Write a checkpoint of the source network."""
    path = folder / 'source.pth'
    if not path.exists():
        model = build_model(load_config(FOLDER / 'r8_source.py'))
        torch.save({'state_dict': model.state_dict()}, path)
    return path


def run(method, folder, source_folder, *options, arguments=()):
    """Train a method for four iterations; return the exit code."""
    pretrained = f'model.backbone.pretrained={source_file(source_folder)}'
    config = str(FOLDER / f'r8_{method}.py')
    return main([config, '--work-dir', str(folder), *arguments, '--cfg-options', *SHORT, pretrained, *options])
