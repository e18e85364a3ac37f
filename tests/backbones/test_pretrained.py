import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from openmix_dm.backbones import ThinResNet, TimmBackbone, WideResNet, load_weights, read_weights

VIT = {'embed_dim': 24, 'depth': 1, 'num_heads': 3}
SWIN = {'embed_dim': 12, 'depths': (1, 1, 1, 1)}
CONVNEXT = {'dims': (8, 8, 8, 8), 'depths': (1, 1, 1, 1)}

NETWORKS = {
    'thin': lambda **rest: ThinResNet(8, **rest),
    'wide': lambda **rest: WideResNet(10, 1, **rest),
    'resnet': lambda **rest: TimmBackbone('resnet18', options={'layers': (1, 1, 1, 1), 'channels': (8,) * 4}, **rest),
    'vit': lambda **rest: TimmBackbone('deit_small_patch16_224', img_size=64, options=VIT, **rest),
    'swin': lambda **rest: TimmBackbone('swin_tiny_patch4_window7_224', img_size=64, options=SWIN, **rest),
    'convnext': lambda **rest: TimmBackbone('convnext_tiny', options=CONVNEXT, stem='cifar', **rest),
}


def prefixed(weights, prefix):
    return {f'{prefix}{key}': value for key, value in weights.items()}


WRAPPINGS = {
    'bare': lambda weights: weights,
    'state_dict': lambda weights: {'state_dict': weights, 'epoch': 3},
    'model': lambda weights: {'model': weights},
    'module.': lambda weights: prefixed(weights, 'module.'),
    'module.backbone.': lambda weights: prefixed(weights, 'module.backbone.'),
    'model.': lambda weights: prefixed(weights, 'model.'),
    'classifier': lambda weights: weights | {'head.fc.weight': torch.zeros(2, 2), 'fc.bias': torch.zeros(2)},
    'own checkpoint': lambda weights: {
        'meta': {'epoch': 3},
        'state_dict': prefixed(weights, 'backbone.')
        | {'head.fc.weight': torch.zeros(2, 2), 'mixer.net.weight': torch.zeros(1), 'scale': torch.ones(1)},
    },
}


def assert_same(net, other):
    ours, theirs = net.state_dict(), other.state_dict()
    assert list(ours) == list(theirs)
    assert all(torch.equal(value, theirs[key]) for key, value in ours.items())


@pytest.mark.parametrize('wrapping', list(WRAPPINGS))
@pytest.mark.parametrize('network', ['thin', 'wide', 'resnet'])
def test_round_trip_in_every_wrapping(network, wrapping, tmp_path):
    source, file = NETWORKS[network](), tmp_path / 'weights.pth'
    torch.save(WRAPPINGS[wrapping](source.state_dict()), file)
    net = NETWORKS[network](pretrained=str(file))
    assert not torch.equal(next(net.parameters()), next(source.parameters()))
    net.init_weights()
    assert_same(net, source)


@pytest.mark.parametrize('network', ['vit', 'swin', 'convnext'])
@pytest.mark.parametrize('inner', [False, True])
def test_round_trip_of_the_other_families(network, inner, tmp_path):
    """Weights without classifier must not pass for an old layout, which timm's conversion would rename."""
    source, file = NETWORKS[network](), tmp_path / 'weights.bin'
    torch.save((source.model if inner else source).state_dict(), file)
    net = NETWORKS[network](pretrained=str(file))
    net.init_weights()
    assert_same(net, source)


def test_safetensors(tmp_path):
    source, file = ThinResNet(8), tmp_path / 'weights.safetensors'
    save_file(source.state_dict(), file)
    net = ThinResNet(8, pretrained=str(file))
    net.init_weights()
    assert_same(net, source)


def test_positions_are_resampled_to_the_image_size(tmp_path):
    source, file = NETWORKS['vit'](), tmp_path / 'weights.pt'
    torch.save(source.model.state_dict(), file)
    net = TimmBackbone('deit_small_patch16_224', img_size=96, options=VIT, pretrained=str(file))
    net.init_weights()
    assert net.model.pos_embed.shape == (1, 37, 24)
    assert torch.equal(net.model.pos_embed[:, 0], source.model.pos_embed[:, 0])  # that of the class token is kept


def test_layout_of_the_authors_is_converted(tmp_path):
    """ConvNeXt's authors name layers otherwise than timm does."""
    source, file = TimmBackbone('convnext_tiny', options=CONVNEXT), tmp_path / 'weights.pth'
    renamed = {}
    for key, value in source.model.state_dict().items():
        key = key.replace('.blocks.', '.').replace('conv_dw', 'dwconv').replace('mlp.fc', 'pwconv')
        key = key.replace('stem.', 'downsample_layers.0.').replace('head.norm', 'norm')
        if '.downsample.' in key:
            _, index, _, rest = key.split('.', 3)
            key = f'downsample_layers.{index}.{rest}'
        renamed[key] = value
    torch.save({'model': renamed | {'head.weight': torch.zeros(5, 8)}}, file)
    net = TimmBackbone('convnext_tiny', options=CONVNEXT, pretrained=str(file))
    net.init_weights()
    assert_same(net, source)


def test_counters_of_old_batch_norms_may_be_missing():
    source, net = ThinResNet(8), ThinResNet(8)
    old = {key: value for key, value in source.state_dict().items() if not key.endswith('num_batches_tracked')}
    load_weights(net, old, 'old.pth')
    assert_same(net, source)


class Attack:
    """Create a file when unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


def test_code_in_a_pickle_is_refused_and_not_run(tmp_path):
    file, marker = tmp_path / 'evil.pth', tmp_path / 'ran'
    torch.save({'state_dict': ThinResNet(8).state_dict(), 'extra': Attack(marker)}, file)
    with pytest.raises(ValueError, match=r'evil\.pth: .*holds code, which is not run') as caught:
        ThinResNet(8, pretrained=str(file)).init_weights()
    assert isinstance(caught.value.__cause__, pickle.UnpicklingError)
    assert not marker.exists()
    torch.load(file, weights_only=False)  # the attack is a real one
    assert marker.exists()


@pytest.mark.parametrize('name', ['weights.pth', 'weights.safetensors'])
@pytest.mark.parametrize('content', [b'', b'not weights'])
def test_damaged_file(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name):
        read_weights(tmp_path / name)


@pytest.mark.parametrize('network', ['thin', 'resnet'])
def test_missing_file_is_named(network, tmp_path):
    file = tmp_path / 'nowhere.pth'
    with pytest.raises(FileNotFoundError, match=str(file)):
        NETWORKS[network](pretrained=str(file)).init_weights()


@pytest.mark.parametrize('content', [torch.zeros(2), {}, {'state_dict': {}}])
def test_file_without_weights(content, tmp_path):
    torch.save(content, tmp_path / 'empty.pth')
    with pytest.raises(ValueError, match=r'empty\.pth: expected named weights'):
        read_weights(tmp_path / 'empty.pth')


def test_values_that_are_no_tensors(tmp_path):
    torch.save({'stem.weight': torch.zeros(1), 'epoch': 3}, tmp_path / 'mixed.pth')
    with pytest.raises(ValueError, match=r'expected nothing but tensors, got other values at epoch'):
        read_weights(tmp_path / 'mixed.pth')


def test_misshapen_weights_name_key_and_both_shapes():
    weights = ThinResNet(8).state_dict() | {'stem.0.weight': torch.zeros(16, 3, 7, 7)}
    with pytest.raises(
        ValueError, match=r'w\.pth: stem\.0\.weight: expected shape \(16, 3, 3, 3\), got \(16, 3, 7, 7\)'
    ):
        load_weights(ThinResNet(8), weights, 'w.pth')


def test_missing_weights_are_listed():
    weights = ThinResNet(8).state_dict()
    del weights['stage2.0.branch.0.0.weight']
    with pytest.raises(ValueError, match=r'w\.pth: expected weights for stage2\.0\.branch\.0\.0\.weight, found none'):
        load_weights(ThinResNet(8), weights, 'w.pth')


def test_unknown_weights_are_listed_but_not_all():
    weights = ThinResNet(8).state_dict() | {f'extra{index}': torch.zeros(1) for index in range(7)}
    with pytest.raises(ValueError, match=r'got extra0, extra1, extra2, extra3, extra4 and 2 more$'):
        load_weights(ThinResNet(8), weights, 'w.pth')


def test_failure_changes_nothing():
    net = ThinResNet(8)
    before = net.stem[0].weight.clone()
    weights = ThinResNet(8).state_dict() | {'stage3.0.shortcut.0.weight': torch.zeros(1)}
    with pytest.raises(ValueError, match=r'stage3\.0\.shortcut\.0\.weight'):
        load_weights(net, weights, 'w.pth')
    assert torch.equal(net.stem[0].weight, before)


@pytest.mark.parametrize('network', ['resnet', 'vit', 'swin', 'convnext'])
def test_weights_of_another_network_are_refused(network, tmp_path):
    file = tmp_path / 'other.pth'
    torch.save(ThinResNet(8).state_dict() | {'fc.weight': torch.zeros(4, 4), 'mask.weight': torch.zeros(2, 2)}, file)
    with pytest.raises(ValueError, match=r'other\.pth: expected weights for .* it has '):
        NETWORKS[network](pretrained=str(file)).init_weights()
