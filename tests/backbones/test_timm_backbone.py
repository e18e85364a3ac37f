import copy

import pytest
import timm
import torch
from torch import nn

from openmix_dm.backbones import TimmBackbone
from openmix_dm.registry import BACKBONES

VIT = {'embed_dim': 24, 'depth': 2, 'num_heads': 3}
SMALL = {
    'resnet18': {'layers': (1, 1, 1, 1), 'channels': (8, 8, 16, 16)},
    'convnext_tiny': {'depths': (1, 1, 1, 1), 'dims': (8, 8, 16, 16)},
    'swin_tiny_patch4_window7_224': {'depths': (1, 1, 2, 1), 'embed_dim': 12},
    'deit_small_patch16_224': VIT,
    'deit_small_distilled_patch16_224': VIT,
    'mobilenetv3_small_100': {},  # its pooled features pass one more layer before the classifier
}


def small(name, **arguments):
    return TimmBackbone(name, img_size=64, options=SMALL[name], **arguments)


@pytest.mark.parametrize(
    ('name', 'parameters', 'num_features'),
    [
        ('resnet18', 11_176_512, 512),
        ('resnet34', 21_284_672, 512),
        ('resnet50', 23_508_032, 2048),
        ('resnext50_32x4d', 22_979_904, 2048),
        ('deit_small_patch16_224', 21_665_664, 384),
        ('swin_tiny_patch4_window7_224', 27_519_354, 768),
        ('convnext_tiny', 27_820_128, 768),
    ],
)
def test_parameters(name, parameters, num_features):
    with torch.device('meta'):
        net = BACKBONES.build({'type': 'TimmBackbone', 'name': name})
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters
    assert net.num_features == num_features


def last_linear(model):
    return [layer for layer in model.modules() if isinstance(layer, nn.Linear)][-1]


@pytest.mark.parametrize('name', [name for name in SMALL if 'distilled' not in name])
@torch.no_grad()
def test_features_are_what_timm_classifies(name):
    net, inputs = small(name).eval(), torch.randn(2, 3, 64, 64)
    sized = {'img_size': 64} if 'patch' in name else {}
    full = timm.create_model(name, num_classes=7, **sized, **SMALL[name]).eval()
    missing = full.load_state_dict(net.model.state_dict(), strict=False)
    assert len(missing.missing_keys) == 2  # weight and bias of the classifier
    assert not missing.unexpected_keys
    features = net(inputs)
    assert features.shape == (2, net.num_features)
    torch.testing.assert_close(last_linear(full)(features), full(inputs))


@pytest.mark.parametrize('name', list(SMALL))
def test_trains(name):
    net = small(name, drop_path_rate=0.1).train()
    net(torch.randn(4, 3, 64, 64)).square().sum().backward()
    weights = [parameter for parameter in net.parameters() if parameter.ndim > 1]
    assert all(weight.grad is not None for weight in weights)
    assert weights[0].grad.any()


@pytest.mark.parametrize(
    ('name', 'count'), [('deit_small_patch16_224', 17), ('resnet18', 4), ('swin_tiny_patch4_window7_224', 4)]
)
@torch.no_grad()
def test_tokens_pool_to_the_features(name, count):
    net, inputs = small(name).eval(), torch.randn(2, 3, 64, 64)
    tokens = net.tokens(inputs)
    assert tokens.shape == (2, count, net.num_features)
    pooled = tokens[:, 0] if 'deit' in name else tokens.mean(1)
    torch.testing.assert_close(pooled, net(inputs))


@torch.no_grad()
def test_tokens_of_convnext_come_before_its_final_norm():
    net, inputs = small('convnext_tiny').eval(), torch.randn(2, 3, 64, 96)
    tokens = net.tokens(inputs)
    assert tokens.shape == (2, 6, 16)
    norm = net.model.head.norm
    torch.testing.assert_close(norm(tokens.mean(1)[:, :, None, None]).flatten(1), net(inputs))


def test_no_residual_branch_starts_at_zero():
    def zeros(model):
        return [norm for norm in model.modules() if isinstance(norm, nn.BatchNorm2d) and not norm.weight.any()]

    assert zeros(timm.create_model('resnet18'))  # timm's own default
    assert not zeros(TimmBackbone('resnet18'))
    assert zeros(TimmBackbone('resnet18', options={'zero_init_last': True}))


def test_drop_path_reaches_the_model():
    def rates(net):
        return [layer.drop_prob for layer in net.modules() if type(layer).__name__ == 'DropPath']

    assert max(rates(small('deit_small_patch16_224', drop_path_rate=0.3))) == pytest.approx(0.3)
    assert not rates(small('deit_small_patch16_224'))


def test_drop_path_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match=r'expected 0 for vgg11, which has no stochastic depth, got 0.1'):
        TimmBackbone('vgg11', drop_path_rate=0.1)


def test_image_size_reaches_only_models_that_have_one():
    with torch.device('meta'):
        vit = TimmBackbone('deit_small_patch16_224', img_size=(96, 160))
        TimmBackbone('resnet18', img_size=96)
    assert vit.model.patch_embed.grid_size == (6, 10)


def test_seed_decides_the_weights():
    def draw(seed):
        torch.manual_seed(seed)
        return small('convnext_tiny').model.stages[3].blocks[0].mlp.fc1.weight

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


def test_looking_up_options_draws_no_random_numbers():
    torch.manual_seed(0)
    expected = timm.create_model('convnext_tiny', num_classes=0, **SMALL['convnext_tiny']).stem[0].weight
    torch.manual_seed(0)
    assert torch.equal(small('convnext_tiny').model.stem[0].weight, expected)


@pytest.mark.parametrize(('name', 'near'), [('resnet51', 'resnet50'), ('deit_smal_patch16_224', 'deit_small_patch16')])
def test_unknown_names_come_with_near_ones(name, near):
    with pytest.raises(ValueError, match=rf"such as .*{near}.*, got '{name}'"):
        TimmBackbone(name)


def test_unknown_tags_come_with_the_known_ones():
    with pytest.raises(ValueError, match=r'unknown weights of resnet50: .*resnet50\.tv_in1k'):
        TimmBackbone('resnet50.tv_in2k')


def test_unknown_options_fail_at_build():
    with pytest.raises(TypeError, match='drop_pth'):
        TimmBackbone('resnet18', options={'drop_pth': 0.1})


def test_a_copy_captures_its_own_attention():
    net = small('deit_small_patch16_224').eval()
    twin = copy.deepcopy(net)
    nn.init.zeros_(twin.model.blocks[-1].attn.qkv.weight)
    inputs = torch.randn(1, 3, 64, 64)
    torch.testing.assert_close(twin.attention(inputs), torch.full((1, 4, 4), 1 / 17))
    assert not torch.allclose(net.attention(inputs), torch.full((1, 4, 4), 1 / 17), atol=1e-7)
