import pytest
import torch
from support.small_models import batch, classifier
from support.trained_runs import digits_run

from openmix_dm.evaluation.pixels import normalise
from openmix_dm.export.loaded_model import load
from openmix_dm.structures import MixTarget
from openmix_dm.visualization.sample_images import load_images


def test_saliency_is_the_input_gradient_and_leaves_no_trace():
    model = classifier(dropout=0.5)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 7.0)
    inputs, labels = batch()
    statistics = model.backbone.stage2[0].running_mean.clone()
    with torch.no_grad():  # a mixer may run inside no_grad
        saliency = model.probe.saliency(inputs, labels)
    assert model.backbone.training
    assert model.backbone.stage2[2].training
    assert torch.equal(model.backbone.stage2[0].running_mean, statistics)
    assert all((parameter.grad == 7).all() for parameter in model.parameters())

    model.eval()
    images = inputs.clone().requires_grad_()
    loss = model.head.loss(model.backbone(images), MixTarget.hard(labels))['loss_cls']
    torch.testing.assert_close(saliency, torch.autograd.grad(loss, images)[0].abs())


def test_fp16_loses_no_saliency():
    """A network that is sure of its images has gradients below what fp16 can hold."""
    model, _, _ = load(digits_run(), device='cpu')
    with torch.no_grad():
        model.head.fc.weight.mul_(8)  # as after many epochs
    compare_fp16(model)


@pytest.mark.slow
def test_fp16_loses_no_saliency_of_a_trained_network():
    model, _, _ = load(digits_run('r8_vanilla', epochs=20), device='cpu')
    inputs, labels = digits(model)
    assert (model(inputs).argmax(dim=1) == labels).float().mean() > 0.9
    compare_fp16(model)


def digits(model):
    """Return images as the model sees them, and their labels."""
    images, labels, _ = load_images('digits', 100)
    return normalise(model, images), labels


def compare_fp16(model):
    inputs, labels = digits(model)
    exact = model.probe.saliency(inputs, labels).flatten(1)
    with torch.autocast('cpu', dtype=torch.float16):
        rough = model.probe.saliency(inputs, labels).flatten(1)
    assert (rough.amax(dim=1) > 0).all()
    both = torch.stack((exact / exact.amax(dim=1, keepdim=True), rough / rough.amax(dim=1, keepdim=True)))
    assert all(torch.corrcoef(pair)[0, 1] > 0.99 for pair in both.unbind(1))


def test_on_the_cpu_saliency_runs_in_the_fast_layout_and_the_images_keep_theirs():
    model = classifier()
    inputs, labels = batch()
    seen = []
    with model.backbone.register_forward_pre_hook(lambda _, args: seen.append(args[0])):
        model.probe.saliency(inputs, labels)
    assert [images.is_contiguous(memory_format=torch.channels_last) for images in seen] == [True]
    assert inputs.is_contiguous()
    assert not inputs.is_contiguous(memory_format=torch.channels_last)


def test_features_of_a_stage():
    model = classifier()
    inputs, _ = batch()
    features = model.probe.features(inputs, 'stage1')
    torch.testing.assert_close(features, model.backbone.stage1(inputs))
    assert not features.requires_grad
    assert not model.backbone.stage1._forward_hooks
    with pytest.raises(ValueError, match='stage1'):
        model.probe.features(inputs, 'stage9')


def test_denormalise_undoes_the_preprocessor():
    model = classifier()
    pixels = torch.randint(256, (2, 3, 4, 4), dtype=torch.uint8)
    inputs = model.data_preprocessor({'inputs': pixels, 'labels': torch.zeros(2)})['inputs']
    torch.testing.assert_close(model.probe.denormalise(inputs), pixels / 255)


def test_attention_comes_from_the_backbone():
    model = classifier()
    inputs, _ = batch()
    torch.testing.assert_close(model.probe.attention(inputs), inputs.mean(dim=1))
