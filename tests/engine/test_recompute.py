"""Activations that are computed again change nothing but time and memory."""

import copy

import pytest
import torch
from support.short_runs import PowerCut, final, power_cut, same, train
from torch import nn

from openmix_dm.classifiers import MixClassifier
from openmix_dm.engine.recompute import recompute_activations
from openmix_dm.errors import ConfigError
from openmix_dm.runs.folder import RunFolder

STAGES = "activation_checkpointing=['backbone.stage1','backbone.stage3']"
VIT = (
    "model.backbone=dict(_delete_=True, type='TimmBackbone', name='vit_tiny_patch16_224', img_size=8, "
    'drop_path_rate=0.2, options=dict(patch_size=2, depth=2, embed_dim=24, num_heads=2, proj_drop_rate=0.1))'
)
TRANSMIX = "model.mixer=dict(_delete_=True,type='TransMix',mixer=dict(type='CutMix',alpha=1.0))"
# What a run has beside it: options, and the modules that are computed again.
RUNS = {
    'an average of weights': (("default_hooks.ema=dict(type='EmaHook',decay=0.9)",), STAGES),
    'a mixer inside the backbone': (("model.mixer=dict(_delete_=True,type='ManifoldMix',alpha=1.0)",), STAGES),
    'a mixer that asks for gradients': (("model.mixer=dict(_delete_=True,type='PuzzleMix',alpha=1.0)",), STAGES),
    'a mixer that learns': (
        ("model.mixer=dict(_delete_=True,type='AutoMix',stage='stage2')",),
        "activation_checkpointing=['backbone.stage1','mixer.network.backbone.stage2']",
    ),
    'bf16': (('optim_wrapper.amp=bf16', 'optim_wrapper.accumulative_counts=2'), STAGES),
    'dropout and stochastic depth': (
        (VIT,),
        "activation_checkpointing=['backbone.model.blocks.0','backbone.model.blocks.1']",
    ),
    'attention that is read': ((VIT, TRANSMIX), 'activation_checkpointing=backbone.model.blocks.0'),
}


@pytest.mark.slow
@pytest.mark.parametrize('name', RUNS)
def test_the_run_is_the_same_bit_for_bit(name, tmp_path):
    options, modules = RUNS[name]
    assert train(tmp_path / 'kept', *options) == train(tmp_path / 'again', *options, modules) == 0
    kept, again = (final(tmp_path / run) for run in ('kept', 'again'))
    assert same(kept, again)
    assert RunFolder(tmp_path / 'kept').records('val') == RunFolder(tmp_path / 'again').records('val')


@pytest.mark.slow
def test_a_run_goes_on_bit_for_bit(tmp_path, monkeypatch):
    """And the running statistics of batch norm, which count each batch once, are those of a run that keeps all."""
    assert train(tmp_path / 'kept') == train(tmp_path / 'again', STAGES) == 0
    with power_cut(monkeypatch, before_iteration=10), pytest.raises(PowerCut):
        train(tmp_path / 'cut', STAGES)
    assert train(tmp_path / 'cut', STAGES, arguments=['--resume']) == 0
    assert same(final(tmp_path / 'kept'), final(tmp_path / 'again'))
    assert same(final(tmp_path / 'again'), final(tmp_path / 'cut'))


def classifier():
    torch.manual_seed(0)
    return MixClassifier(
        backbone={'type': 'ThinResNet', 'depth': 8},
        head={'type': 'LinearHead', 'num_classes': 4, 'loss': {'type': 'MixedCE'}},
    )


def step(model):
    """Train one step; return the numbers kept for the backward pass and how often the first block ran."""
    kept, calls = [], []
    block = model.backbone.stage1[0]
    with (
        block.register_forward_pre_hook(lambda *_: calls.append(torch.is_grad_enabled())),
        torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor.numel()) or tensor, lambda t: t),
    ):
        inputs = torch.randn(8, 3, 16, 16, generator=torch.Generator().manual_seed(1))
        sum(model(inputs, torch.arange(8) % 4, mode='loss').values()).backward()
    return sum(kept), len(calls)


def test_less_is_kept_and_computed_twice():
    plain, leaner = classifier(), classifier()
    recompute_activations(leaner, ['backbone.stage1', 'backbone.stage2', 'backbone.stage3'])
    kept, calls = step(plain)
    less, again = step(leaner)
    assert (calls, again) == (1, 2)
    assert less < 0.5 * kept
    for (name, one), other in zip(plain.named_parameters(), leaner.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad), name
    assert same(dict(plain.state_dict()), dict(leaner.state_dict()))


def test_modules_inside_each_other_and_named_twice():
    plain, nested = classifier(), classifier()
    recompute_activations(nested, ['backbone.stage1', 'backbone.stage1.0', 'backbone.stage1'])
    step(plain)
    step(nested)
    for one, other in zip(plain.parameters(), nested.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)
    assert same(dict(plain.state_dict()), dict(nested.state_dict()))


def test_a_list_of_modules_is_no_module_to_be_run():
    model = classifier()
    model.backbone.parts = nn.ModuleList([nn.ReLU()])
    with pytest.raises(ConfigError, match='is a ModuleList, which is not run itself'):
        recompute_activations(model, ['backbone.parts'])


def test_a_copy_computes_with_its_own_weights():
    """An average of weights is a copy; mmengine's way would let it run the forward of the original."""
    model = classifier().eval()
    recompute_activations(model, 'backbone.stage2')
    other = copy.deepcopy(model)
    inputs = torch.randn(2, 3, 16, 16)
    before = other(inputs)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert torch.equal(other(inputs), before)
    assert isinstance(model.backbone.stage2, nn.Sequential)
    assert list(model.state_dict()) == list(classifier().state_dict())


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (("activation_checkpointing=['backbone.stag1']",), 'did you mean backbone.stage1'),
        (("activation_checkpointing=['']",), 'the model has no module'),
        (('activation_checkpointing=backbone',), 'name the stages instead (backbone.stem, backbone.stage1'),
        (('activation_checkpointing=mixer',), 'mixer draws random numbers of its own'),
        ((VIT, TRANSMIX, "activation_checkpointing=['backbone.model.blocks.1']"), 'TransMix reads the attention of'),
    ],
)
def test_what_cannot_be_computed_again_is_refused_before_the_run(tmp_path, capsys, options, said):
    assert train(tmp_path / 'run', *options) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / 'run' / 'run.json').exists()
