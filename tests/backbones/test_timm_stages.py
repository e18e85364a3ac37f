import pytest
import torch

from openmix_dm.backbones import TimmBackbone


def stage_shapes(net, size):
    shapes = {}
    for name, stage in net.stages.items():
        stage.register_forward_hook(lambda module, args, output, name=name: shapes.update({name: tuple(output.shape)}))
    net(torch.empty(2, 3, size, size, device='meta'))
    return shapes


def meta(name, **arguments):
    with torch.device('meta'):
        return TimmBackbone(name, **arguments)


@pytest.mark.parametrize(('name', 'expansion'), [('resnet18', 1), ('resnet50', 4), ('resnext50_32x4d', 4)])
def test_resnets(name, expansion):
    assert stage_shapes(meta(name), 64) == {
        'stem': (2, 64, 16, 16),
        'stage1': (2, 64 * expansion, 16, 16),
        'stage2': (2, 128 * expansion, 8, 8),
        'stage3': (2, 256 * expansion, 4, 4),
        'stage4': (2, 512 * expansion, 2, 2),
    }


def test_convnext():
    assert stage_shapes(meta('convnext_tiny'), 64) == {
        'stem': (2, 96, 16, 16),
        'stage1': (2, 96, 16, 16),
        'stage2': (2, 192, 8, 8),
        'stage3': (2, 384, 4, 4),
        'stage4': (2, 768, 2, 2),
    }


def test_swin_keeps_channels_last():
    assert stage_shapes(meta('swin_tiny_patch4_window7_224'), 224) == {
        'stem': (2, 56, 56, 96),
        'stage1': (2, 56, 56, 96),
        'stage2': (2, 28, 28, 192),
        'stage3': (2, 14, 14, 384),
        'stage4': (2, 7, 7, 768),
    }


@pytest.mark.parametrize('name', ['deit_small_patch16_224', 'beit_base_patch16_224'])
def test_vits_have_a_stem_with_class_token_and_twelve_blocks(name):
    shapes = stage_shapes(meta(name), 224)
    assert list(shapes) == ['stem'] + [f'block{index}' for index in range(1, 13)]
    assert set(shapes.values()) == {(2, 197, meta(name).num_features)}


def test_stem_of_a_vit_is_what_its_first_block_reads():
    net = TimmBackbone('deit_small_patch16_224', img_size=32, options={'depth': 2, 'embed_dim': 24, 'num_heads': 3})
    seen = []
    net.stage('stem').register_forward_hook(lambda module, args, output: seen.append(output))
    net.stage('block1').register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    net(torch.randn(1, 3, 32, 32))
    assert torch.equal(*seen)


@pytest.mark.parametrize('name', ['resnet18', 'convnext_tiny', 'swin_tiny_patch4_window7_224'])
def test_stages_are_chained(name):
    """The hooked output of a stage is the input of the next one, so that mixing there reaches the rest."""
    with torch.device('meta'):
        net = TimmBackbone(name)
    outputs, inputs = [], []
    for stage in net.stages.values():
        stage.register_forward_hook(lambda module, args, output: outputs.append(output))
        stage.register_forward_pre_hook(lambda module, args: inputs.append(args[0]))
    net(torch.empty(1, 3, 224, 224, device='meta'))
    assert all(after is before for before, after in zip(outputs[:-1], inputs[1:], strict=True))


def test_unknown_families_say_what_was_found():
    with pytest.raises(ValueError, match=r'stages of vgg11: expected a network built like .*, got parts features'):
        _ = meta('vgg11').stages
