import pytest
import torch
from support.small_models import batch, classifier

from openmix_dm.mixers import ManifoldMix
from openmix_dm.structures import MixTarget


def test_stages_are_drawn_alike_and_the_input_is_one_of_them():
    mixer, draws = ManifoldMix(alpha=1.0, stages=('input', 'stage1', 'stage2')), 3000
    inputs, labels = torch.randn(4, 3, 4, 4), torch.arange(4)
    counts = {'input': 0, 'stage1': 0, 'stage2': 0}
    for _ in range(draws):
        mixed = mixer(inputs, labels)
        counts[mixed.hidden.stage if mixed.hidden else 'input'] += 1
        assert (mixed.inputs is inputs) == (mixed.hidden is not None)
    assert max(abs(count - draws / 3) for count in counts.values()) < 4 * (draws * 2 / 9) ** 0.5


@pytest.mark.parametrize('per_sample', [False, True])
@pytest.mark.parametrize('partner', ['shift', 'permutation'])
def test_a_hidden_stage_is_mixed_like_the_loop_does_it(per_sample, partner):
    """Features of the own and of the partner's image, weighed, for each sample; the gradient reaches both."""
    mixer = ManifoldMix(alpha=1.0, stages=['stage1'], per_sample=per_sample, partner=partner)
    model = classifier(mixer).eval()
    inputs, labels = batch()
    torch.manual_seed(4)
    loss = model(inputs, labels, mode='loss')['loss_cls']
    torch.manual_seed(4)
    mixed = mixer(inputs, labels)
    features, rows = model.backbone.stage1(inputs), []
    for i, lam in enumerate(mixed.target.lam):
        rows.append(lam * features[i] + (1 - lam) * features[mixed.index[i]])
    hidden = model.backbone.stage2(torch.stack(rows)).mean(dim=(2, 3))
    expected = model.head.loss(hidden, MixTarget(labels, labels[mixed.index], mixed.target.lam))['loss_cls']
    torch.testing.assert_close(loss, expected)
    one, other = (torch.autograd.grad(value, model.backbone.stage1.weight)[0] for value in (loss, expected))
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ('backbone', 'stage', 'size'),
    [
        ({'type': 'ThinResNet', 'depth': 8}, 'stage2', 16),
        ({'type': 'WideResNet', 'depth': 10, 'widen_factor': 1}, 'stage1', 16),
        ({'type': 'TimmBackbone', 'name': 'resnet18'}, 'stage3', 32),
        ({'type': 'TimmBackbone', 'name': 'convnext_atto'}, 'stage1', 32),
        ({'type': 'TimmBackbone', 'name': 'vit_tiny_patch16_224', 'img_size': 32}, 'block2', 32),
    ],
    ids=lambda value: value.get('name', value['type']) if isinstance(value, dict) else str(value),
)
def test_works_in_any_backbone(backbone, stage, size):
    from openmix_dm.classifiers import MixClassifier

    model = MixClassifier(
        backbone=backbone,
        head={'type': 'LinearHead', 'num_classes': 5, 'loss': {'type': 'DecoupledCE', 'eta': 0.1}},
        mixer={'type': 'ManifoldMix', 'alpha': 1.0, 'stages': [stage]},
    )
    inputs, labels = torch.randn(3, 3, size, size), torch.arange(3)
    model(inputs, labels, mode='loss')['loss_cls'].backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    assert not any(module._forward_hooks for module in model.backbone.stages.values())


def test_a_stage_that_does_not_exist_is_refused_at_build():
    with pytest.raises(ValueError, match="got 'stage7'"):
        classifier({'type': 'ManifoldMix', 'alpha': 1.0, 'stages': ['stage7']})
    for stages in ((), 'stage1'):
        with pytest.raises(ValueError, match='stages'):
            ManifoldMix(alpha=1.0, stages=stages)


def test_across_streams_the_images_are_mixed():
    pair = ManifoldMix(alpha=1.0, stages=['stage1']).pair(torch.ones(2, 3, 4, 4), torch.zeros(2, 3, 4, 4), 0.25)
    assert pair.hidden is None
    assert pair.inputs.unique().tolist() == [0.25]
