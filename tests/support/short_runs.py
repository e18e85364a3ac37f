"""Short trainings of the digits in this process, and ways to cut them short."""

from contextlib import contextmanager

import torch
from conftest import ROOT
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from openmix_dm.commands.train import main
from openmix_dm.engine.train_loops import EpochTrainLoop
from openmix_dm.runs.checkpoints import load_file

CONFIG = ROOT / 'configs' / 'digits' / 'r8_mixup_dm.py'
SIZE = ('train_dataloader.dataset.size=8', 'val_dataloader.dataset.size=8')
# 7 iterations an epoch
SMALL = ('train_cfg.max_epochs=2', 'global_batch_size=200', 'default_hooks.records.interval=3', *SIZE)


class PowerCut(Exception):
    pass


def train(folder, *options, arguments=(), config=CONFIG):
    return main([str(config), '--work-dir', str(folder), *arguments, '--cfg-options', *SMALL, *options])


@contextmanager
def power_cut(monkeypatch, before_iteration):
    """Stop the training before an iteration, as if the machine had stopped."""
    run_iter = EpochTrainLoop.run_iter

    def cut(loop, idx, batch):
        if loop._iter == before_iteration:
            raise PowerCut
        run_iter(loop, idx, batch)

    with monkeypatch.context() as patch:
        patch.setattr(EpochTrainLoop, 'run_iter', cut)
        yield


def timeless(records):
    """Return records without what depends on the machine and the moment."""
    return [
        {k: v for k, v in record.items() if k not in ('images_per_s', 'memory_mb') and not k.startswith('ms_')}
        for record in records
    ]


def curves(folder):
    """Return steps and values of all curves in TensorBoard, except those of times."""
    board = EventAccumulator(str(folder / 'tensorboard'), size_guidance={'scalars': 0}).Reload()
    points = {tag: [(event.step, event.value) for event in board.Scalars(tag)] for tag in board.Tags()['scalars']}
    return {
        tag: value for tag, value in points.items() if not any(word in tag for word in ('images_per_s', 'mb', 'ms_'))
    }


def same(one, other):
    """Say whether nested results are equal bit for bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def final(folder, epochs=2):
    return load_file(folder / f'epoch_{epochs}.pth')
