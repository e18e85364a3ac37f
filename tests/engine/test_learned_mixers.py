"""A mixer that learns, in a run: schedule, momentum network, records, parameter groups, loading."""

import json

import pytest
import torch
from conftest import ROOT
from support.short_runs import SIZE, final, train
from support.small_models import batch, classifier

from openmix_dm.commands.test import main as evaluate
from openmix_dm.engine.optim.parameter_groups import OWNER, MixOptimConstructor
from openmix_dm.engine.optim.wrapper import MixOptimWrapper
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

AUTOMIX = ROOT / 'configs' / 'digits' / 'r8_automix.py'
SHORT = 'train_cfg.max_epochs=1'


def construct(model, paramwise=None, **settings):
    optimizer = {'type': 'SGD', 'lr': 0.1, 'momentum': 0.9, 'weight_decay': 1e-4}
    return MixOptimConstructor({'type': 'MixOptimWrapper', 'optimizer': optimizer, **settings}, paramwise)(model)


def learned_model():
    torch.manual_seed(0)
    return classifier({'type': 'AutoMix', 'stage': 'stage1'})


# ---- a run ----


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp('learned') / 'run'
    options = ('optim_wrapper.accumulative_counts=2', 'global_batch_size=200', SHORT)
    assert train(folder, *options, config=AUTOMIX) == 0
    return folder


def test_the_schedule_counts_optimiser_steps_and_ends_with_the_run(run):
    state = final(run, 1)
    assert state['meta']['iter'] == 14
    assert state['state_dict']['mixer.progress.step'] == 7


def test_the_momentum_network_is_evaluated_beside_the_trained_one(run):
    (record,) = RunFolder(run).records('val')
    assert {'top1', 'top5', 'momentum_top1', 'momentum_top5'} <= set(record)
    assert {'median_last10', 'momentum_median_last10', 'momentum_best'} <= set(RunFolder(run).read()['final'])


def test_all_losses_are_recorded(run):
    losses = {'loss', 'loss_cls', 'loss_block', 'loss_mask', 'loss_clean'}
    assert all(losses <= set(record) for record in RunFolder(run).records('train'))


def test_testing_a_checkpoint_gives_both_numbers_again(run, tmp_path):
    options = ['--cfg-options', *SIZE]
    assert evaluate([str(AUTOMIX), str(run / 'epoch_1.pth'), '--out', str(tmp_path / 'a.json'), *options]) == 0
    measured, (record,) = json.loads((tmp_path / 'a.json').read_text()), RunFolder(run).records('val')
    assert measured['top1'] == pytest.approx(record['top1'])
    assert measured['momentum_top1'] == pytest.approx(record['momentum_top1'])


def test_weights_of_another_run_start_the_momentum_network_too(run, tmp_path):
    """A run of another mixer has no momentum network: ours starts from the weights that are loaded, not at random."""
    bare = {k: v for k, v in load_file(run / 'epoch_1.pth')['state_dict'].items() if not k.startswith('mixer.')}
    torch.save({'state_dict': bare}, tmp_path / 'bare.pth')
    options = ('optim_wrapper.optimizer.lr=1e-9', f'load_from={tmp_path / "bare.pth"}', SHORT)
    assert train(tmp_path / 'run', *options, config=AUTOMIX) == 0
    state = final(tmp_path / 'run', 1)['state_dict']
    weights = [name for name in bare if name.startswith('backbone.') and name.endswith('weight')]
    for name in weights:
        torch.testing.assert_close(state[f'mixer.network.{name}'], bare[name], atol=1e-6, rtol=0)


# ---- parameter groups ----


def test_frozen_networks_are_not_in_the_optimiser_and_the_mixer_has_a_group_of_its_own():
    model = learned_model()
    optimizer = construct(model).optimizer
    model_group, mixer_group = optimizer.param_groups
    assert {id(p) for p in mixer_group['params']} == {id(p) for p in model.mixer.block.parameters()}
    own = [*model.backbone.parameters(), *model.head.parameters()]
    assert {id(p) for p in model_group['params']} == {id(p) for p in own}
    assert OWNER not in model_group
    assert mixer_group[OWNER] == 'mixer'


def test_the_mixer_can_have_settings_of_its_own():
    keys = {'mixer': {'lr_mult': 0.5, 'decay_mult': 0.0, 'momentum': 0.0}}
    model_group, mixer_group = construct(learned_model(), {'custom_keys': keys}).optimizer.param_groups
    assert (model_group['lr'], model_group['weight_decay'], model_group['momentum']) == (0.1, 1e-4, 0.9)
    assert (mixer_group['lr'], mixer_group['weight_decay'], mixer_group['momentum']) == (0.05, 0.0, 0.0)


def test_parameters_with_equal_settings_share_a_group():
    groups = construct(classifier(), {'norm_decay_mult': 0.0}).optimizer.param_groups
    assert sorted(group['weight_decay'] for group in groups) == [0.0, 1e-4]


def test_the_mixer_is_clipped_apart_from_the_model():
    """However large the gradients of one side are, the other's stay as they are."""
    model = learned_model()
    wrapper = construct(model, clip_grad={'max_norm': 1.0})
    assert isinstance(wrapper, MixOptimWrapper)
    wrapper.initialize_count_status(model, 0, 10)
    torch.manual_seed(1)
    sum(model.loss(*batch()).values()).backward()
    for parameter in model.mixer.block.parameters():
        parameter.grad.fill_(1e6)
    for parameter in (*model.backbone.parameters(), *model.head.parameters()):
        parameter.grad.fill_(1e-3)
    wrapper._clip_grad()
    norm = torch.stack([p.grad.norm() for p in model.mixer.block.parameters()]).norm()
    assert norm.item() == pytest.approx(1, rel=1e-3)
    assert all((parameter.grad == 1e-3).all() for parameter in model.backbone.parameters())
