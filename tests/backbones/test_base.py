import subprocess
import sys

import pytest
import torch
from torch import nn

from openmix_dm.backbones import Backbone, ConvBackbone


def small_net(pretrained=None):
    stages = {'stem': nn.Conv2d(3, 4, 3, padding=1), 'stage1': nn.Conv2d(4, 6, 3, 2, 1)}
    return ConvBackbone(stages, 6, pretrained)


def test_features_are_the_average_of_the_last_stage():
    net, inputs = small_net(), torch.randn(2, 3, 8, 10)
    last = net.stage1(net.stem(inputs))
    torch.testing.assert_close(net(inputs), last.flatten(2).mean(2))


def test_stages_are_the_modules_that_run():
    net = small_net()
    assert list(net.stages) == ['stem', 'stage1']
    assert net.stage('stage1') is net.stage1
    assert sorted(net.state_dict()) == ['stage1.bias', 'stage1.weight', 'stem.bias', 'stem.weight']


def test_a_hook_on_a_stage_changes_the_features():
    net, inputs = small_net(), torch.randn(2, 3, 8, 8)
    plain = net(inputs)
    with net.stage('stem').register_forward_hook(lambda module, args, output: output.flip(0)):
        swapped = net(inputs)
    torch.testing.assert_close(swapped, plain.flip(0))


def test_unknown_stage_names_the_valid_ones():
    with pytest.raises(ValueError, match=r"expected one of stem, stage1, got 'stage9'"):
        small_net().stage('stage9')


def test_no_class_token_says_which_network_has_one():
    with pytest.raises(ValueError, match=r'ConvBackbone has no class-token attention.*deit_small_patch16_224'):
        small_net().attention(torch.randn(1, 3, 8, 8))
    with pytest.raises(ValueError, match='ConvBackbone has no class-token attention'):
        small_net().capture_attention()


def test_published_weights_are_refused_at_once():
    with pytest.raises(ValueError, match=r"expected a file, got 'timm'"):
        small_net(pretrained='timm')


def test_init_weights_without_pretrained_changes_nothing():
    net = small_net()
    before = {key: value.clone() for key, value in net.state_dict().items()}
    net.init_weights()
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())


def test_init_weights_loads_the_file(tmp_path):
    source, file = small_net(), tmp_path / 'net.pth'
    torch.save(source.state_dict(), file)
    net = small_net(pretrained=str(file))
    assert not torch.equal(net.stem.weight, source.stem.weight)  # the constructor only remembers it
    net.init_weights()
    assert torch.equal(net.stem.weight, source.stem.weight)


def test_contract_is_abstract():
    with pytest.raises(NotImplementedError):
        Backbone(4)(torch.zeros(1))
    with pytest.raises(NotImplementedError):
        Backbone(4).stage('stem')


def test_import_stays_cheap():
    code = 'import sys, openmix_dm.backbones; print([name for name in ("timm", "torchvision") if name in sys.modules])'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '[]'
