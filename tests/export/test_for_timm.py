"""Networks of ours in timm: the same weights, the same logits."""

import re

import pytest
import timm
import torch
from mmengine.config import Config
from safetensors import safe_open
from support.trained_runs import SWIN, VIT, vit_run

from openmix_dm.commands.export import main
from openmix_dm.errors import ConfigError, NumericError
from openmix_dm.export import for_timm
from openmix_dm.registry import MODELS
from openmix_dm.runs.model import TrainedModel

SMALL = {
    'ResNet': {'type': 'TimmBackbone', 'name': 'resnet18', 'options': {'layers': (1, 1, 1, 1)}},
    'DeiT': {**VIT, 'name': 'deit_tiny_patch16_224'},
    'Swin': SWIN,
    'ConvNeXt': {
        'type': 'TimmBackbone',
        'name': 'convnext_tiny.fb_in1k',  # a tag names weights, not the network
        'img_size': 32,  # which means nothing to it
        'options': {'depths': (1, 1, 1, 1), 'dims': (8, 16, 24, 32)},
    },
}


def trained(root, tmp_path, backbone):
    config = Config.fromfile(root / 'configs/digits/r8_mixup.py')
    config.model.backbone = backbone
    model = MODELS.build(config.model).eval()
    for module in model.modules():  # as after training: running statistics are no constants
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return TrainedModel(model, config, tmp_path / 'epoch_1.pth')


@pytest.mark.parametrize('kind', SMALL)
def test_timm_loads_it_strictly_and_answers_alike(kind, root, tmp_path):
    ours, out = trained(root, tmp_path, SMALL[kind]), tmp_path / 'model.safetensors'
    line = for_timm.export_timm(ours, out)
    theirs = eval(line, {'timm': timm}).eval()
    images = torch.randn(3, 3, *ours.model.backbone.example_size)
    with torch.no_grad():
        expected = ours.model(images)
        torch.testing.assert_close(theirs(images), expected, rtol=1e-4, atol=1e-5)
        plain = eval(re.sub(', checkpoint_path=.*', ')', line), {'timm': timm}).eval()
        assert not torch.allclose(plain(images), expected, atol=1e-2)
    assert expected.shape == (3, 10)
    (tmp_path / 'another').touch()
    assert out.stat().st_mode == (tmp_path / 'another').stat().st_mode


def test_the_file_says_what_images_are_normalised_by(root, tmp_path):
    ours = trained(root, tmp_path, SMALL['ResNet'])
    for_timm.export_timm(ours, tmp_path / 'model.safetensors')
    with safe_open(tmp_path / 'model.safetensors', framework='pt') as file:
        said = file.metadata()
    assert said['architecture'] == '"resnet18"'
    expected = [value / 255 for value in ours.config.model.data_preprocessor.mean]
    assert torch.allclose(torch.tensor(eval(said['mean'])), torch.tensor(expected))


def test_by_the_command(tmp_path, capsys):
    out = tmp_path / 'model.safetensors'
    assert main(['timm', str(vit_run()), '--out', str(out)]) == 0
    line = re.search(r'timm\.create_model\(.*\)', capsys.readouterr().out)[0]
    assert eval(line, {'timm': timm}).head.out_features == 10
    assert main(['timm', str(vit_run()), '--out', str(tmp_path / 'a.pth')]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ['model.safetensors']


@pytest.mark.parametrize(
    ('backbone', 'said'),
    [
        ({'type': 'ThinResNet', 'depth': 8}, 'timm has no network ThinResNet'),
        ({**SMALL['ResNet'], 'stem': 'cifar'}, "with the stem 'cifar'"),
        ({**VIT, 'name': 'deit_tiny_distilled_patch16_224'}, r'more than one classifier \(head.weight.*head_dist'),
    ],
)
def test_what_timm_has_not_is_refused_with_the_reason(backbone, said, root, tmp_path):
    with pytest.raises(ConfigError, match=said):
        for_timm.export_timm(trained(root, tmp_path, backbone), tmp_path / 'model.safetensors')
    assert not list(tmp_path.iterdir())


def test_weights_that_answer_otherwise_are_not_written(root, tmp_path, monkeypatch):
    right = for_timm.timm_weights

    def spoilt(*args):
        weights = right(*args)
        return {name: value * 1.01 if name == 'fc.weight' else value for name, value in weights.items()}

    monkeypatch.setattr(for_timm, 'timm_weights', spoilt)
    with pytest.raises(NumericError, match='logits differ'):
        for_timm.export_timm(trained(root, tmp_path, SMALL['ResNet']), tmp_path / 'model.safetensors')
    assert not list(tmp_path.iterdir())
