"""A package of somebody else: a mixer with a part of its own, a loss, a data set, a transform, a hook, a metric.

Nothing in openmix_dm knows it. A config of fifteen lines trains, resumes bit for bit, tests, predicts, publishes and
loads.
"""

import json
import os
import signal
import subprocess
import sys
import time

import cv2
import numpy as np
import pytest
from conftest import ROOT
from support.short_runs import same

from openmix_dm.runs.checkpoints import load_file

LAB = """
import torch
from mmengine.evaluator import BaseMetric
from mmengine.hooks import Hook
from mmengine.registry import Registry
from openmix_dm.datasets import TensorImages
from openmix_dm.losses.base import MixLoss
from openmix_dm.mixers import MaskMixer
from openmix_dm.registry import DATASETS, HOOKS, LOSSES, METRICS, MIXERS, TRANSFORMS

EDGES = Registry('edge of a mask')


@EDGES.register_module()
class SoftEdge:
    def __init__(self, width):
        self.width = width

    def __call__(self, distance):
        return (distance / self.width + 0.5).clamp(0, 1)


@MIXERS.register_module()
class CurtainMix(MaskMixer):
    builds = {'edge': EDGES}
    example = {'edge': {'type': 'SoftEdge', 'width': 0.2}}

    def __init__(self, alpha, edge, per_sample=False, partner='shift'):
        super().__init__(alpha, per_sample, partner)
        self.edge = EDGES.build(edge)

    def draw_mask(self, lam, height, width, device):
        columns = (torch.arange(width, device=device) + 0.5) / width
        lam = torch.as_tensor(lam, device=device, dtype=torch.float32).reshape(-1, 1, 1, 1)
        mask = self.edge(lam - columns).expand(-1, 1, height, width)
        share = mask.mean(dim=(1, 2, 3))
        return mask, share if len(share) > 1 else float(share)


@LOSSES.register_module()
class OneVersusRest(MixLoss):
    def per_sample(self, logits, target):
        wanted = target.dense(logits.shape[1])
        return torch.nn.functional.binary_cross_entropy_with_logits(logits.float(), wanted, reduction='none').sum(1)

    def probabilities(self, logits):
        return logits.float().sigmoid()


@DATASETS.register_module()
class Bars(TensorImages):
    num_classes, classes, image_size = 2, ('horizontal', 'vertical'), 16

    def __init__(self, split, images=200, transforms=()):
        generator = torch.Generator().manual_seed(len(split))
        labels = torch.arange(images) % 2
        pixels = torch.randint(0, 120, (images, 3, 16, 16), generator=generator)
        for image, place in enumerate(torch.randint(16, (images,), generator=generator)):
            (pixels[image].transpose(1, 2) if labels[image] else pixels[image])[:, place] = 255
        super().__init__(pixels.to(torch.uint8), labels, transforms)


@TRANSFORMS.register_module()
class BatchNoise:
    needs_draws = True

    def __init__(self, level):
        self.level = level

    def __call__(self, images, generator):
        noise = torch.randint(-self.level, self.level + 1, images.shape, generator=generator)
        return (images.int() + noise).clamp(0, 255).to(torch.uint8)


@HOOKS.register_module()
class SlowHook(Hook):
    def __init__(self, seconds):
        self.seconds = seconds

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        import time
        time.sleep(self.seconds)


@METRICS.register_module()
class Doubt(BaseMetric):
    default_prefix = 'lab'

    def process(self, data_batch, data_samples):
        self.results += [1 - float(sample['pred_score'].max()) for sample in data_samples]

    def compute_metrics(self, results):
        return {'doubt': sum(results) / len(results)}
"""
CONFIG = """
_base_ = '{root}/configs/digits/r8_cutmix.py'
custom_imports = dict(imports=['lab'])
model = dict(
    mixer=dict(_delete_=True, type='CurtainMix', alpha=1.0, edge=dict(type='SoftEdge', width=0.2)),
    head=dict(num_classes=2, loss=dict(_delete_=True, type='OneVersusRest')),
)
_train = dict(_delete_=True, type='Bars', split='train', transforms=[dict(type='BatchNoise', level=9)])
train_dataloader = dict(dataset=_train)
val_dataloader = dict(dataset=dict(_delete_=True, type='Bars', split='test', images=60))
val_evaluator = [dict(type='TopK', topk=(1,)), dict(type='Doubt')]
custom_hooks = [dict(type='SlowHook', seconds=0.05)]
default_hooks = dict(checkpoint=dict(save_best='lab/doubt', rule='less'))
train_cfg = dict(max_epochs=6)
global_batch_size = 50
"""


def start(folder, *command):
    environment = {**os.environ, 'PYTHONPATH': f'{folder}:{ROOT}'}
    tool = [sys.executable, str(ROOT / 'tools' / f'{command[0]}.py'), *map(str, command[1:])]
    return subprocess.Popen(
        tool, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def run(folder, *command, code=0):
    process = start(folder, *command)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == code, said
    return said


@pytest.mark.slow
def test_a_package_of_somebody_else_does_it_all(tmp_path):
    (tmp_path / 'lab.py').write_text(LAB)
    (tmp_path / 'bars.py').write_text(CONFIG.format(root=ROOT))
    assert len(CONFIG.strip().splitlines()) <= 15

    run(tmp_path, 'train', 'bars.py', '--work-dir', 'whole')
    process = start(tmp_path, 'train', 'bars.py', '--work-dir', 'stopped')
    metrics = tmp_path / 'stopped' / 'metrics.jsonl'
    deadline = time.time() + 60
    while time.time() < deadline and (not metrics.exists() or '"epoch": 2' not in metrics.read_text()):
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 75
    run(tmp_path, 'train', 'bars.py', '--work-dir', 'stopped', '--resume')
    for name in ('epoch_6.pth', 'best_lab_doubt.pth'):
        assert same(*(load_file(tmp_path / folder / name)['state_dict'] for folder in ('whole', 'stopped')))

    assert 'lab/doubt' in run(tmp_path, 'test', 'bars.py', 'whole/best_lab_doubt.pth')
    cv2.imwrite(str(tmp_path / 'bar.png'), np.full((16, 16, 3), 60, np.uint8))
    refused = run(tmp_path, 'export', 'predict', 'whole', 'bar.png', code=2)
    assert '--import lab' in refused
    run(tmp_path, 'export', 'predict', 'whole', 'bar.png', '--import', 'lab', '--out', 'said.json')
    (row,) = json.loads((tmp_path / 'said.json').read_text())
    assert set(row['classes']) == {'horizontal', 'vertical'}
    assert abs(sum(row['p']) - 1) > 1e-6  # read by the sigmoid of its loss
    run(tmp_path, 'export', 'publish', 'whole', '--import', 'lab', '--out', 'published')
    code = (
        'import openmix_dm as o; m, t, c = o.load("published", imports=["lab"]); print(m(t("bar.png")[None]).shape, c)'
    )
    environment = {**os.environ, 'PYTHONPATH': f'{tmp_path}:{ROOT}'}
    loaded = subprocess.run([sys.executable, '-c', code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "torch.Size([1, 2]) ['horizontal', 'vertical']" in loaded.stdout, loaded.stderr
    assert 'calibration.png' in run(tmp_path, 'analyze', 'calibration', 'whole', '--import', 'lab')
