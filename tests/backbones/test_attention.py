import math

import pytest
import torch
from torch import nn

from openmix_dm.backbones import CapturedAttention, TimmBackbone
from openmix_dm.utils.modules import evaluating

SMALL = {'embed_dim': 24, 'depth': 2, 'num_heads': 3}


def small_vit(name='deit_small_patch16_224', size=64, **options):
    torch.manual_seed(0)
    net = TimmBackbone(name, img_size=size, options=SMALL | options)
    for parameter in net.parameters():  # timm's small start makes attention almost flat
        nn.init.normal_(parameter, std=0.5)
    return net.eval()


def attention_by_hand(net, inputs, prefix):
    """Softmax(q k / sqrt(d)) of the last block, head by head in float64."""
    seen = []
    attn = net.model.blocks[-1].attn
    with attn.register_forward_pre_hook(lambda module, args: seen.append(args[0].double())):
        net(inputs)
    dim = SMALL['embed_dim'] // SMALL['num_heads']
    qkv = seen[0] @ attn.qkv.weight.double().T + attn.qkv.bias.double()
    query, key, _ = qkv.split(SMALL['embed_dim'], dim=2)
    rows = []
    for head in range(SMALL['num_heads']):
        cut = slice(head * dim, (head + 1) * dim)
        scores = torch.einsum('nc,ntc->nt', query[:, 0, cut], key[:, :, cut]) / math.sqrt(dim)
        rows.append((scores.exp() / scores.exp().sum(1, keepdim=True))[:, prefix:])
    return torch.stack(rows).mean(0)


@pytest.mark.parametrize(
    ('name', 'prefix'),
    [('deit_small_patch16_224', 1), ('deit_small_distilled_patch16_224', 2), ('vit_small_patch16_dinov3', 5)],
)
@torch.no_grad()
def test_map_has_one_cell_per_patch(name, prefix):
    net = small_vit(name)
    attention = net.attention(torch.randn(2, 3, 64, 64))
    assert attention.shape == (2, 4, 4)
    assert net.model.num_prefix_tokens == prefix
    assert (attention > 0).all()
    assert (attention.sum((1, 2)) < 1).all()


@pytest.mark.parametrize(('name', 'prefix'), [('deit_small_patch16_224', 1), ('deit_small_distilled_patch16_224', 2)])
@torch.no_grad()
def test_map_against_an_independent_computation(name, prefix):
    net, inputs = small_vit(name), torch.randn(3, 3, 64, 64)
    expected = attention_by_hand(net, inputs, prefix).reshape(3, 4, 4)
    assert expected.std() > 0.01  # a flat map would prove little
    torch.testing.assert_close(net.attention(inputs).double(), expected, rtol=1e-4, atol=1e-6)


def test_images_that_are_not_square():
    net = small_vit(dynamic_img_size=True)
    inputs = torch.randn(2, 3, 32, 96)
    attention = net.attention(inputs)
    expected = attention_by_hand(net, inputs, 1)
    torch.testing.assert_close(attention.flatten(1).double(), expected, rtol=1e-4, atol=1e-6)
    assert attention.shape == (2, 2, 6)


@pytest.mark.parametrize('batch', [1, 3])
def test_features_and_gradients_are_those_without_capture(batch):
    net, inputs = small_vit(), torch.randn(batch, 3, 64, 64)
    plain = net(inputs)
    plain_grad = torch.autograd.grad(plain.sum(), net.model.blocks[-1].attn.qkv.weight)[0]
    with net.capture_attention() as captured:
        features = net(inputs)
    grad = torch.autograd.grad(features.sum(), net.model.blocks[-1].attn.qkv.weight)[0]
    torch.testing.assert_close(features, plain, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(grad, plain_grad, rtol=1e-3, atol=1e-4)
    assert grad.abs().sum() > 0
    assert captured.map.shape == (batch, 4, 4)
    assert captured.map.dtype == torch.float32
    assert not captured.map.requires_grad


def test_map_is_float32_under_autocast():
    net = small_vit()
    with torch.autocast('cpu', torch.bfloat16):
        assert net.attention(torch.randn(1, 3, 64, 64)).dtype == torch.float32


def test_dropout_of_attention_does_not_touch_the_map():
    net, inputs = small_vit(attn_drop_rate=0.9), torch.randn(2, 3, 64, 64)
    net.model.blocks[0].eval()
    expected = net.attention(inputs)
    net.model.blocks[-1].train()
    with net.capture_attention() as captured:
        net(inputs)
    torch.testing.assert_close(captured.map, expected)


def hooks_of(net):
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in net.modules())


def test_nothing_is_left_behind():
    net, inputs = small_vit(), torch.randn(1, 3, 64, 64)
    attn = net.model.blocks[-1].attn
    with net.capture_attention() as captured:
        assert (attn.fused_attn, hooks_of(net)) == (False, 2)
        net(inputs)
    assert (attn.fused_attn, hooks_of(net)) == (True, 0)
    net(inputs)
    assert len(captured.maps) == 1


def test_nothing_is_left_behind_after_an_exception():
    net = small_vit()

    def run():
        with net.capture_attention():
            net(torch.randn(1, 3, 50, 50))  # not the size of the model

    with pytest.raises(AssertionError):
        run()
    assert (net.model.blocks[-1].attn.fused_attn, hooks_of(net)) == (True, 0)


def test_an_unfused_model_stays_unfused():
    net = small_vit()
    net.model.blocks[-1].attn.fused_attn = False
    net.attention(torch.randn(1, 3, 64, 64))
    assert net.model.blocks[-1].attn.fused_attn is False


def test_each_forward_adds_a_map():
    net, first, second = small_vit(), torch.randn(1, 3, 64, 64), torch.randn(2, 3, 64, 64)
    with net.capture_attention() as captured:
        net(first)
        net(second)
    assert [len(one) for one in captured.maps] == [1, 2]
    assert captured.map is captured.maps[-1]


def test_a_map_needs_a_forward():
    with pytest.raises(ValueError, match='expected a forward pass inside the capturing context, got none'):
        _ = CapturedAttention().map


def test_patch_dropout_is_refused():
    net = small_vit(patch_drop_rate=0.5).train()
    with pytest.raises(ValueError, match=r'each of the 4x4 patches, got 8 .*patch dropout'), net.capture_attention():
        net(torch.randn(1, 3, 64, 64))


def test_attention_restores_every_mode():
    net = small_vit(drop_rate=0.5).train()
    net.model.blocks[0].eval()
    before = [module.training for module in net.modules()]
    with net.model.register_forward_pre_hook(lambda module, args: seen.append(module.training)):
        seen = []
        attention = net.attention(torch.randn(1, 3, 64, 64))
    assert seen == [False]
    assert [module.training for module in net.modules()] == before
    assert not attention.requires_grad


def test_modes_return_after_an_exception():
    module = nn.Sequential(nn.Dropout(), nn.BatchNorm1d(2).eval())
    with pytest.raises(KeyError), evaluating(module):
        raise KeyError
    assert [part.training for part in module.modules()] == [True, True, False]


@pytest.mark.parametrize(
    'name',
    [
        'swin_tiny_patch4_window7_224',
        'convnext_tiny',
        'resnet18',
        'xcit_nano_12_p8_224',  # has a class token, but its blocks attend between channels
        'vit_base_patch16_siglip_gap_224',  # a ViT without a class token
    ],
)
def test_other_networks_are_named_in_the_error(name):
    with torch.device('meta'):
        net = TimmBackbone(name)
    with pytest.raises(ValueError, match=rf'{name} has no class-token attention: expected a Vision Transformer with'):
        net.capture_attention()
