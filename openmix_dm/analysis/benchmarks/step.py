"""An iteration through the runner against a bare loop that does the same work."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config

from openmix_dm.analysis.benchmarks.timing import Timing
from openmix_dm.config.resolve import resolve
from openmix_dm.engine.build import build_loader, build_runner
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.model import build_model

LIMIT, RUNNER = 'bare loop (limit)', 'runner'
TARGETS = {RUNNER: 1.03}


def config(epochs: int) -> dict[str, Any]:
    """ResNet-8 on digits enlarged to 32 px, batch 100, Mixup with DM(CE): 14 iterations an epoch."""
    return {
        'default_scope': 'openmix_dm',
        'randomness': {'seed': 0},
        'global_batch_size': 100,
        'model': {
            'type': 'MixClassifier',
            'data_preprocessor': {'type': 'Normalise', 'mean': [78.0] * 3, 'std': [81.4] * 3},
            'backbone': {'type': 'ThinResNet', 'depth': 8},
            'mixer': {'type': 'Mixup', 'alpha': 0.2},
            'head': {'type': 'LinearHead', 'num_classes': 10, 'loss': {'type': 'DecoupledCE', 'eta': 0.1}},
        },
        'train_dataloader': {
            'dataset': {
                'type': 'Digits',
                'split': 'train',
                'size': 32,
                'transforms': [{'type': 'BatchRandomCrop', 'padding': 4}],
            }
        },
        'train_cfg': {'type': 'EpochTrainLoop', 'max_epochs': epochs},
        'optim_wrapper': {'type': 'MixOptimWrapper', 'optimizer': {'type': 'SGD', 'lr': 0.1, 'momentum': 0.9}},
        'param_scheduler': {'type': 'CosineAnnealingLR', 'by_epoch': True, 'convert_to_iter_based': True},
        'default_hooks': {'checkpoint': None},
    }


def measure(rounds: int) -> list[Timing]:
    """Train an epoch by each in turn, `rounds` times, on one thread."""
    torch.set_num_threads(1)
    bare = BareLoop(resolve(Config(config(rounds + 1)), 1), rounds + 1)
    with tempfile.TemporaryDirectory() as folder:
        runner = RunnerEpochs(resolve(Config({**config(rounds + 1), 'work_dir': folder}), 1), Path(folder))
        for loop in (bare, runner):
            loop.epoch()  # warm up
        seconds: dict[str, list[float]] = {LIMIT: [], RUNNER: []}
        for number in range(rounds):
            both = [(LIMIT, bare.epoch), (RUNNER, runner.epoch)]
            for name, epoch in both if number % 2 else reversed(both):
                start = time.thread_time()
                epoch()
                seconds[name].append((time.thread_time() - start) / bare.iterations)
        runner.close()
    ratios = {name: [v / base for v, base in zip(seconds[name], seconds[LIMIT], strict=True)] for name in seconds}
    return [
        Timing(name, statistics.median(values) * 1e3, statistics.median(ratios[name]))
        for name, values in seconds.items()
    ]


class BareLoop:
    """Load, normalise, mix, forward, backward, step and schedule by hand, and nothing else."""

    def __init__(self, settings: Config, epochs: int) -> None:
        loader: Any = build_loader(settings, 'train')
        self.loader = loader
        self.model: Any = build_model(settings).train()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.iterations: int = len(self.loader)
        self.done = 0
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, epochs * self.iterations)

    def epoch(self) -> None:
        """Train for one epoch."""
        model = self.model
        self.loader.batch_sampler.start_at(self.done)
        for data in self.loader:
            data = model.data_preprocessor(data, training=True)
            batch = model.mixer(data['inputs'], data['labels'])
            loss = model.head.loss_fn(model.head(model.backbone(batch.inputs)), batch.target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
        self.done += 1


class RunnerEpochs:
    """The training loop of the runner, an epoch at a time."""

    def __init__(self, settings: Config, folder: Path) -> None:
        self.runner = build_runner(settings, phases=('train',))
        RunFolder(folder).update(state='running')
        self.runner.optim_wrapper.initialize_count_status(self.runner.model, 0, self.runner.train_loop.max_iters)
        self.runner.call_hook('before_train')

    def epoch(self) -> None:
        """Train for one epoch."""
        self.runner.train_loop.run_epoch()

    def close(self) -> None:
        """Close what the runner has opened."""
        self.runner.call_hook('after_train')
        self.runner.close()
