"""What a backbone shows on its way: against what its parts give when they are called by hand."""

import pytest
import torch

from openmix_dm.backbones import ThinResNet, TimmBackbone, observing


def vit():
    torch.manual_seed(0)
    net = TimmBackbone('deit_tiny_patch16_224', img_size=64, options={'depth': 2})
    for parameter in net.parameters():  # timm's small start makes attention almost flat
        torch.nn.init.normal_(parameter, std=0.1)
    return net.eval()


def test_received_attention_is_the_mean_of_what_patches_give():
    net, inputs = vit(), torch.randn(2, 3, 64, 64)
    with observing(net, ('received', 'attention')) as found, torch.no_grad():
        net(inputs)
    model = net.model
    tokens = model._pos_embed(model.patch_embed(inputs))
    tokens = model.blocks[0](tokens)
    attention = model.blocks[1].attn
    q, k, _ = attention.qkv(model.blocks[1].norm1(tokens)).reshape(2, 17, 3, 3, 64).permute(2, 0, 3, 1, 4)
    weights = (q @ k.mT / 8).softmax(dim=-1)
    expected = torch.zeros(2, 16)
    for query in range(1, 17):
        for head in range(3):
            expected += weights[:, head, query, 1:] / 48
    torch.testing.assert_close(found['received'].flatten(1), expected, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(found['attention'].flatten(1), weights[:, :, 0, 1:].mean(dim=1), rtol=1e-4, atol=1e-6)


def test_tokens_are_those_after_the_final_norm():
    net, inputs = vit(), torch.randn(2, 3, 64, 64)
    with observing(net, ('tokens',)) as found:
        features = net(inputs)
    torch.testing.assert_close(found['tokens'], net.tokens(inputs)[:, 1:])
    assert found['tokens'].requires_grad
    assert features.shape == (2, 192)


@pytest.mark.parametrize('net', [ThinResNet(depth=8), TimmBackbone('resnet18'), vit()], ids=('thin', 'timm', 'vit'))
def test_the_last_map(net):
    net.eval()
    inputs = torch.randn(2, 3, 64, 64)
    with observing(net, ('map',)) as found:
        net(inputs)
    *_, last = net.stages
    torch.testing.assert_close(found['map'], net.feature_map(inputs, last))
    assert found['map'].requires_grad


def test_hooks_are_gone_afterwards():
    net = vit()
    with observing(net, ('received', 'attention', 'map', 'tokens')):
        net(torch.randn(1, 3, 64, 64))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in net.modules())
    assert all(block.attn.fused_attn for block in net.model.blocks)


@pytest.mark.parametrize(
    ('want', 'said'), [('tokens', 'ThinResNet has no tokens'), ('received', 'class-token attention')]
)
def test_what_a_network_does_not_have_is_refused(want, said):
    with pytest.raises(ValueError, match=said), observing(ThinResNet(depth=8), (want,)):
        pass
