"""Sizes, FLOPs and memory from meta tensors, against numbers that are known."""

import pytest
import torch
from support.loaded_cells import load
from torch import nn

from openmix_dm.tables.config_values import resolved_values
from openmix_dm.tables.model_trial import TrialStep, kinds_of, make_batch, memory_gb, try_kind
from openmix_dm.tables.saved_memory import SavedMemory


def test_the_size_of_resnet_50_is_the_published_one():
    config = load('imagenet/r50_mixup_dm.py')
    (kind,) = kinds_of(config)
    trial = try_kind(kind)
    assert trial.parameters == trial.weights == trial.learned == 25_557_032
    assert trial.gflops == pytest.approx(2 * 4.09, rel=0.01)  # 4.09 billion multiply-adds


@pytest.mark.slow
def test_the_memory_of_deit_s_is_about_what_the_paper_printed():
    """Table 10: 8.1 GB without mixing; the estimate leaves out what kernels and the allocator take."""
    config = load('cifar100/deit-s_vanilla_200e.py')
    (kind,) = kinds_of(config)
    assert memory_gb(try_kind(kind), resolved_values(config)) == pytest.approx(8.1, rel=0.15)


def test_memory_adds_up():
    trial = TrialStep(parameters=10, gflops=1.0, weights=12, learned=11, saved=100.0)
    values = {'optimiser': 'AdamW', 'batch': 5, 'ema': 0.99}
    assert memory_gb(trial, values) * 1e9 == 4 * (12 + 3 * 11 + 10) + 500
    assert memory_gb(trial, {**values, 'optimiser': 'SGD', 'ema': None}) * 1e9 == 4 * (12 + 2 * 11) + 500


def test_saved_tensors_count_once_and_weights_do_not():
    layer = nn.Linear(8, 4, bias=False)
    memory = SavedMemory(layer)
    inputs = torch.randn(16, 8)
    with memory.counting():
        out = layer(inputs)  # saves inputs (16 x 8), not the weight
        loss = (out * out).sum()  # saves out (16 x 4), twice
    assert memory.live == memory.peak == 4 * (16 * 8 + 16 * 4)
    loss.backward()
    del out, loss
    assert memory.live == 0


def test_what_is_freed_before_does_not_add_up():
    layer = nn.Linear(8, 4, bias=False)
    memory = SavedMemory(layer)
    inputs = torch.randn(16, 8)
    with memory.counting():
        for _ in range(3):
            loss = (layer(inputs) ** 2).sum()
            torch.autograd.grad(loss, layer.weight)
            del loss
    assert memory.peak == 4 * (16 * 8 + 16 * 4)


def test_a_mixture_is_tried_policy_by_policy():
    kinds = kinds_of(load('cifar100/wrn28-8_puzzlemix-rsb_dm.py'))
    assert [kind.model['mixer']['probs'] for kind in kinds] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_numbers_need_no_trial_of_their_own():
    def key(name):
        return kinds_of(load(name))[0].key

    assert key('cifar100/r18_cutmix.py') == key('cifar100/r18_cutmix_15pct.py') == key('cifar100/r18_cutmix_400e.py')
    assert key('tiny-imagenet/r18_mixup_dm.py') != key('cifar100/r18_mixup_dm.py')  # other images, other classes
    assert key('cifar100/r18_cutmix.py') != key('cifar100/r18_cutmix_dm.py')


def test_a_parameter_that_learns_nothing_is_told(monkeypatch):
    from openmix_dm.backbones import ThinResNet

    class Idle(ThinResNet):
        def __init__(self, depth):
            super().__init__(depth)
            self.idle = nn.Parameter(torch.zeros(1))

    from openmix_dm.registry import BACKBONES

    monkeypatch.setitem(BACKBONES.module_dict, 'ThinResNet', Idle)
    (kind,) = kinds_of(load('digits/r8_mixup.py'))
    with pytest.raises(ValueError, match=r'no gradient reaches backbone\.idle, and 1 parameters in all'):
        try_kind(kind)


def test_a_batch_of_streams():
    (kind,) = kinds_of(load('cifar10_semi/wrn28-2_fixmatch_250.py'))
    assert (kind.streams.labelled_views, kind.streams.unlabelled_views, kind.streams.ratio) == (1, 2, 7)
    batch = make_batch(4, kind.size, kind.streams)
    assert [view.shape for view in batch['labelled']['inputs']] == [(4, 3, 32, 32)]
    assert [view.shape for view in batch['unlabelled']['inputs']] == [(28, 3, 32, 32)] * 2
    assert batch['unlabelled']['index'].shape == (28,)
    assert kinds_of(load('cifar100/r18_mixup.py'))[0].streams is None


@pytest.mark.slow
@pytest.mark.parametrize('method', ['finetuning_dm', 'bss', 'cotuning', 'selftuning_dm'])
def test_transfer_methods_can_be_tried(method):
    (kind,) = kinds_of(load(f'cub_transfer/r50_{method}_15pct.py'))
    assert try_kind(kind).parameters == 25_557_032 - 2049 * 800  # ResNet-50 with 200 classes instead of 1000
