"""Every mixer that asks a network, with every loss, precision and way to train."""

import pytest
import torch
from support.mixer_examples import LEARNED as LEARNING
from support.mixer_examples import registered

from openmix_dm.classifiers import MixClassifier
from openmix_dm.engine.optim.wrapper import MixOptimWrapper
from openmix_dm.mixers import Mixer
from openmix_dm.registry import MIXERS

LEARNED = {'stage': 'stage2', 'momentum': 0.9, 'momentum_end': 0.99}
DYNAMIC = {
    'PuzzleMix': {'type': 'PuzzleMix', 'alpha': 1.0},
    'AutoMix': {'type': 'AutoMix', **LEARNED},
    'SAMix': {'type': 'SAMix', **LEARNED},
    'AdAutoMix': {'type': 'AdAutoMix', **LEARNED},
    'TransMix': {'type': 'TransMix', 'mixer': {'type': 'CutMix', 'alpha': 1.0}},
    'TokenMix': {'type': 'TokenMix', 'alpha': 1.0, 'patch_size': 4, 'minimum_tokens': 2},
    'SnapMix': {'type': 'SnapMix'},
    'GuidedMixup': {'type': 'GuidedMixup', 'saliency': 'gradient'},
    'SMMix': {'type': 'SMMix'},
    'MixPro': {'type': 'MixPro', 'cell_size': 8},
}
LOSSES = {
    'MCE': {'type': 'MixedCE'},
    'MCE, smoothed': {'type': 'MixedCE', 'label_smoothing': 0.1},
    'DM(CE)': {'type': 'DecoupledCE', 'eta': 1.0},
    'MBCE': {'type': 'MixedBCE'},
    'MBCE(two)': {'type': 'MixedBCE', 'two_hot': True},
    'DM(BCE)': {'type': 'DecoupledBCE', 't': 0.5, 'xi': 0.8},
}
EACH_BY_ITSELF = ('TransMix', 'GuidedMixup', 'MixPro')  # whose lam is of each sample in any case
SMALL_CNN = {'type': 'ThinResNet', 'depth': 8}
SMALL_VIT = {
    'type': 'TimmBackbone',
    'name': 'vit_tiny_patch16_224',
    'img_size': 16,
    'options': {'patch_size': 4, 'depth': 1, 'embed_dim': 24, 'num_heads': 2},
}
EVERY = pytest.mark.parametrize('name', DYNAMIC)


def backbone_for(name):
    return SMALL_VIT if name in ('TransMix', 'TokenMix', 'SMMix', 'MixPro') else SMALL_CNN


def make(name, loss=None, mixer=None):
    torch.manual_seed(0)
    head = {'type': 'LinearHead', 'num_classes': 5, 'loss': loss or {'type': 'MixedCE'}}
    normalise = {'type': 'Normalise', 'mean': [128.0] * 3, 'std': [64.0] * 3}
    return MixClassifier(backbone_for(name), head, mixer or DYNAMIC[name], normalise)


def batch(size=6):
    torch.manual_seed(1)
    return torch.randn(size, 3, 16, 16), torch.arange(size) % 5


def learning(model):
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def gradients(model, inputs, labels, seed=2):
    torch.manual_seed(seed)
    total = sum(model.loss(inputs, labels).values())
    return dict(zip(learning(model), torch.autograd.grad(total, learning(model).values()), strict=True))


@EVERY
@pytest.mark.parametrize('loss', LOSSES)
def test_every_loss_trains_everything_that_learns(name, loss):
    model = make(name, LOSSES[loss])
    found = gradients(model, *batch())
    assert all(gradient.isfinite().all() for gradient in found.values())
    assert any(gradient.abs().max() > 0 for key, gradient in found.items() if key.startswith('backbone.'))


@EVERY
def test_a_lam_of_each_sample_reaches_the_loss_unreduced(name, monkeypatch):
    """The loss sees as many different lam as the mixer made, not their mean."""
    model = make(name, mixer=None if name in EACH_BY_ITSELF else {**DYNAMIC[name], 'per_sample': True})
    seen = []
    per_sample = model.head.loss_fn.per_sample
    monkeypatch.setattr(
        model.head.loss_fn, 'per_sample', lambda logits, target: seen.append(target.lam) or per_sample(logits, target)
    )
    inputs, labels = batch()
    for seed in range(4):
        torch.manual_seed(seed)
        model.loss(inputs, labels)
    mixed = [lam for lam in seen if not (lam == 1).all()]
    assert max(len(lam.unique()) for lam in mixed) >= 3


@EVERY
def test_mixtures_choose_the_loss_by_the_policy(name):
    mixture = {'type': 'RandomMixer', 'mixers': [DYNAMIC[name], {'type': 'CutMix', 'alpha': 0.2}], 'probs': [0.5, 0.5]}
    losses = [{'type': 'DecoupledCE', 'eta': 1.0}, {'type': 'MixedBCE'}]
    model = make(name, {'type': 'ByPolicy', 'losses': losses}, mixture)
    model.mixer.begin(6)
    kinds, (inputs, labels) = set(), batch()
    for seed in range(6):
        torch.manual_seed(seed)
        losses = model.loss(inputs, labels)
        sum(losses.values()).backward()
        model.mixer.after_step(model)
        kinds.add(bool({'loss_block', 'loss_agree'} & losses.keys()))
    assert len(kinds) == (2 if name in (*LEARNING, 'SMMix') else 1)
    assert bool(model.mixer.classifiers()) == (name in LEARNING)
    assert model.mixer.rests == (name in (*LEARNING, 'SMMix'))


@EVERY
def test_bf16_trains_and_mixes_as_full_precision_does(name):
    model, (inputs, labels) = make(name), batch()
    optimizer = MixOptimWrapper(torch.optim.SGD(learning(model).values(), lr=0.1), amp='bf16')
    optimizer.initialize_count_status(model, 0, 10)
    before = {key: value.detach().clone() for key, value in learning(model).items()}
    with optimizer.optim_context(model):
        torch.manual_seed(2)
        losses = model.loss(inputs, labels)
    assert all(value.dtype == torch.float32 and value.isfinite() for value in losses.values())
    optimizer.update_params(sum(losses.values()))
    assert any(not torch.equal(before[key], value) for key, value in learning(model).items())


@EVERY
def test_accumulated_gradients_are_the_sum(name):
    """A mixer that asks the model for gradients on the way must not clear or add to those that are kept."""
    inputs, labels = batch()
    model = make(name).eval()  # batch norm would see other batches
    model.mixer.train()
    apart = [gradients(model, inputs, labels, seed) for seed in (2, 3)]
    for seed in (2, 3):
        torch.manual_seed(seed)
        sum(model.loss(inputs, labels).values()).backward()
    for key, parameter in learning(model).items():
        torch.testing.assert_close(parameter.grad, apart[0][key] + apart[1][key], rtol=1e-3, atol=1e-5)


@EVERY
def test_every_dynamic_mixer_runs_without_reading_the_device(name):
    model = make(name).to('meta')
    losses = model.loss(torch.empty(4, 3, 16, 16, device='meta'), torch.empty(4, dtype=torch.long, device='meta'))
    assert all(value.is_meta for value in losses.values())
    model.mixer.after_step(model)


def test_all_mixers_that_ask_a_network_are_here():
    asking = {
        name
        for name, kind in ((name, MIXERS.get(name)) for name in registered())
        if issubclass(kind, Mixer) and (kind.label_from != 'pixels' or name in ('PuzzleMix', 'GuidedMixup', 'SMMix'))
    }
    assert asking == set(DYNAMIC)
