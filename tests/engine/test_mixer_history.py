"""What a mixer carries from batch to batch is of one epoch, is saved for each rank, and a run goes on from it."""

import pytest
import torch
from conftest import ROOT
from support import echo_mixer
from support.short_runs import PowerCut, final, power_cut, same, train
from support.two_ranks import on_two_ranks

from openmix_dm.engine.hooks.mixer_step import MixerStepHook
from openmix_dm.errors import CheckpointError
from openmix_dm.registry import MIXERS
from openmix_dm.runs.checkpoints import load_file

CONFIG = ROOT / 'configs' / 'digits' / 'r8_mixup.py'
OPTIONS = (
    'model.mixer={"_delete_": True, "type": "EchoMix"}', 'default_hooks.checkpoint.save_every_iters=3',
    'find_unused_parameters=True',
)  # fmt: skip
MIXERS.module_dict.pop('EchoMix')  # there while the tests of this file run only: others go through the whole registry


@pytest.fixture(scope='module', autouse=True)
def registered():
    MIXERS.register_module(module=echo_mixer.EchoMix)
    yield
    MIXERS.module_dict.pop('EchoMix')


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp('whole') / 'run'
    assert train(folder, *OPTIONS, config=CONFIG) == 0
    return folder


RECURSIVE = ROOT / 'configs' / 'digits' / 'r8_recursivemix.py'
EACH = ('model.mixer.per_sample=True', 'optim_wrapper.amp=bf16', 'optim_wrapper.accumulative_counts=2', *OPTIONS[1:2])


@pytest.mark.parametrize('options', [OPTIONS[1:2], EACH], ids=['plain', 'per sample, bf16, accumulated'])
def test_recursivemix_goes_on_from_the_batch_before(options, tmp_path, monkeypatch):
    """Cut in the middle of both epochs, and before the second begins."""
    assert train(tmp_path / 'whole', *options, config=RECURSIVE) == 0
    for cut in (4, 7, 11):
        with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
            train(tmp_path / str(cut), *options, config=RECURSIVE)
        assert train(tmp_path / str(cut), *options, config=RECURSIVE, arguments=['--resume']) == 0
        assert same(final(tmp_path / str(cut))['state_dict'], final(tmp_path / 'whole')['state_dict'])
    (history,) = load_file(tmp_path / 'whole' / 'epoch_2.pth')['mixer_history']
    assert set(history) == {'images', 'rows', 'logits'}
    assert history['images'].shape[0] == len(history['rows']) == len(history['logits'])


@pytest.mark.parametrize('cut', [2, 4, 8, 11])
def test_a_run_that_was_cut_goes_on_with_the_same_history(cut, whole, tmp_path, monkeypatch):
    with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
        train(tmp_path / 'cut', *OPTIONS, config=CONFIG)
    assert train(tmp_path / 'cut', *OPTIONS, config=CONFIG, arguments=['--resume']) == 0
    assert same(final(tmp_path / 'cut')['state_dict'], final(whole)['state_dict'])


def test_the_history_is_in_the_checkpoint(whole):
    (history,) = load_file(whole / 'epoch_2.pth')['mixer_history']
    assert {name: len(values) for name, values in history.items()}.keys() == {'images', 'rows'}


class Runner:
    def __init__(self, rank, world_size, mixer):
        self.rank, self.world_size = rank, world_size
        self.bare_model = torch.nn.Module()
        self.bare_model.mixer = mixer


def echo_of(rank):
    mixer = echo_mixer.EchoMix()
    mixer.restore_history({'images': torch.full((2, 1, 4, 4), float(rank)), 'rows': torch.eye(2)})
    return mixer


def saved_on(rank):
    hook, runner, checkpoint = MixerStepHook(), Runner(rank, 2, echo_of(rank)), {}
    hook.before_save(runner)
    if rank == 0:
        hook.before_save_checkpoint(runner, checkpoint)
    return checkpoint


def test_every_rank_gets_its_own_back(tmp_path):
    checkpoint, _ = on_two_ranks(saved_on, tmp_path)
    for rank in (0, 1):
        runner = Runner(rank, 2, echo_mixer.EchoMix())
        MixerStepHook().after_load_checkpoint(runner, checkpoint)
        assert same(runner.bare_model.mixer.history(), echo_of(rank).history())
    runner = Runner(0, 1, echo_mixer.EchoMix())
    MixerStepHook().after_load_checkpoint(runner, checkpoint)
    assert not runner.bare_model.mixer.history()  # another number of ranks: as at the start of an epoch


def test_a_damaged_history_is_said():
    with pytest.raises(CheckpointError, match='what its mixer carried cannot be read'):
        MixerStepHook().after_load_checkpoint(Runner(0, 1, echo_mixer.EchoMix()), {'mixer_history': [3]})
