"""A model on several ranks: what a config says of its wrapper is merged with what we say."""

import json
import sys

import pytest
import torch
from mmengine.config import Config
from support.command_runs import run
from support.short_runs import CONFIG, SMALL, final, same
from timm.layers import BatchNormAct2d, SyncBatchNormAct
from torch import nn

from openmix_dm.engine import runner as runners
from openmix_dm.engine.runner import synchronise_norms, wrapper_settings
from openmix_dm.errors import ConfigError
from openmix_dm.mixers import Mixup, NoMix, RandomMixer
from openmix_dm.registry import MODEL_WRAPPERS

OURS = {'broadcast_buffers': False, 'find_unused_parameters': False, 'device_ids': None}


class Model(nn.Module):
    def __init__(self, mixer=None):
        super().__init__()
        self.mixer = mixer or NoMix()


def settings(model=None, **config):
    return wrapper_settings(Config(config), model or Model())


def test_one_key_keeps_the_others():
    assert settings() == {'type': 'MMDistributedDataParallel', **OURS}
    assert settings(model_wrapper_cfg={'static_graph': True}) == {
        'type': 'MMDistributedDataParallel',
        'static_graph': True,
        **OURS,
    }
    named = settings(model_wrapper_cfg={'type': 'MMDistributedDataParallel', 'find_unused_parameters': True})
    assert named == {'type': 'MMDistributedDataParallel', **OURS, 'find_unused_parameters': True}


def test_the_key_of_the_config_holds_unless_the_wrapper_has_its_own():
    assert settings(find_unused_parameters=True)['find_unused_parameters']
    both = settings(find_unused_parameters=True, model_wrapper_cfg={'find_unused_parameters': False})
    assert not both['find_unused_parameters']


def test_each_rank_names_the_gpu_that_it_has_taken(monkeypatch):
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: True)
    monkeypatch.setattr(torch.cuda, 'current_device', lambda: 3)
    assert settings()['device_ids'] == [3]


def test_a_wrapper_of_another_kind_is_left_to_itself():
    @MODEL_WRAPPERS.register_module(force=True)
    class WrapperOfMyOwn(nn.Module):
        def __init__(self, module, speed=1):
            super().__init__()

    try:
        given = {'type': 'WrapperOfMyOwn', 'speed': 2}
        assert settings(model_wrapper_cfg=given) == given
    finally:
        MODEL_WRAPPERS.module_dict.pop('WrapperOfMyOwn')


def test_a_mixture_that_learns_has_no_static_graph():
    class Learning(Mixup):
        def __init__(self):
            super().__init__(alpha=1.0)
            self.weight = nn.Parameter(torch.zeros(1))

    mixture = Model(RandomMixer([Learning(), NoMix()]))
    assert settings(mixture)['find_unused_parameters']
    with pytest.raises(ConfigError, match='static_graph=True, but which parameters get a gradient changes'):
        settings(mixture, model_wrapper_cfg={'static_graph': True})


def test_gradients_that_accumulate_have_no_static_graph():
    with pytest.raises(ConfigError, match=r'but optim_wrapper.accumulative_counts holds'):
        settings(model_wrapper_cfg={'static_graph': True}, optim_wrapper={'accumulative_counts': 2})


def test_norms_are_synchronised_with_what_they_hold(monkeypatch):
    """timm's norms hold an activation, which torch's own conversion would drop."""
    monkeypatch.setattr(runners.torch.cuda, 'is_available', lambda: True)
    model = nn.Sequential(nn.Conv2d(3, 4, 1), BatchNormAct2d(4, act_layer=nn.SiLU), nn.BatchNorm2d(4))
    names = list(model.state_dict())
    converted = synchronise_norms(model)
    assert [type(part) for part in converted] == [nn.Conv2d, SyncBatchNormAct, nn.SyncBatchNorm]
    assert isinstance(converted[1].act, nn.SiLU)
    assert list(converted.state_dict()) == names


SPY = """
import json, sys
sys.path.insert(0, {root!r})
import torch.distributed as dist
from openmix_dm.engine.train_loops import EpochTrainLoop
run = EpochTrainLoop.run
def spy(loop):
    run(loop)
    model = loop.runner.model
    names = ('broadcast_buffers', 'find_unused_parameters', 'gradient_as_bucket_view', 'static_graph', 'device_ids')
    with open({out!r} + str(dist.get_rank()), 'w') as file:
        json.dump({{name: getattr(model, name) for name in names}}, file)
    return model
EpochTrainLoop.run = spy
from openmix_dm.commands.train import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def on_two_ranks(tmp_path, root):
    script = tmp_path / 'spy.py'
    script.write_text(SPY.format(root=str(root), out=str(tmp_path / 'wrapper')))
    launch = (sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2', str(script))

    def train(name, *options):
        arguments = (str(CONFIG), '--work-dir', str(tmp_path / name), '--launcher', 'pytorch', '--cfg-options')
        return run(*launch, *arguments, *SMALL, *options)

    return train


@pytest.mark.slow
@pytest.mark.parametrize(
    ('switches', 'more'),
    [
        ({'gradient_as_bucket_view': True, 'static_graph': True}, ()),
        ({'gradient_as_bucket_view': True}, ('optim_wrapper.accumulative_counts=2',)),
    ],
    ids=['static graph', 'accumulation'],
)
def test_switches_of_the_wrapper_reach_it_and_change_no_weight(tmp_path, on_two_ranks, switches, more):
    off = {**OURS, 'gradient_as_bucket_view': False, 'static_graph': False}
    for name, wanted in (('plain', {}), ('fast', switches)):
        code, _, err = on_two_ranks(name, *more, *([f'model_wrapper_cfg={wanted}'] if wanted else []))
        assert code == 0, err
        assert [json.loads((tmp_path / f'wrapper{rank}').read_text()) for rank in (0, 1)] == [{**off, **wanted}] * 2
    assert same(final(tmp_path / 'plain'), final(tmp_path / 'fast'))


@pytest.mark.slow
def test_synchronised_norms_without_gpus_are_refused_before_the_run(tmp_path, on_two_ranks):
    code, _, err = on_two_ranks('run', 'sync_bn=torch')
    assert code != 0
    assert "sync_bn='torch' needs GPUs" in err
    assert not (tmp_path / 'run' / 'run.json').exists()
