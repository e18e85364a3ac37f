"""Grad-CAM on networks whose answer is known, and the layouts of all families."""

import pytest
import torch
from support.trained_runs import SWIN, VIT
from torch import nn

from openmix_dm.analysis.grad_cam import as_map, grad_cam
from openmix_dm.backbones import Backbone
from openmix_dm.registry import MODELS


class Channels(Backbone):
    """Its last stage is the image itself: class k will read the mean of channel k."""

    def __init__(self):
        super().__init__(num_features=3)
        self.first, self.last = nn.Identity(), nn.Identity()

    @property
    def stages(self):
        return {'first': self.first, 'last': self.last}

    def forward(self, inputs):
        return self.last(self.first(inputs)).mean(dim=(2, 3))


class Reader(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.backbone = Channels()
        self.head = nn.Linear(3, len(weight))
        self.head.weight.data = torch.tensor(weight)


def test_the_map_of_a_class_is_its_channel():
    model = Reader([[1.0, 0, 0], [0, 2, 0], [0, 0, -1]])
    inputs = torch.rand(4, 3, 5, 6) + 0.1
    classes = torch.tensor([[0, 1], [1, 0], [2, 0], [1, 2]])
    maps = grad_cam(model, inputs, classes)
    assert maps.shape == (4, 2, 5, 6)
    for i, row in enumerate(classes.tolist()):
        for k, channel in enumerate(row):
            expected = inputs[i, channel] / inputs[i, channel].max() if channel < 2 else torch.zeros(5, 6)
            assert torch.allclose(maps[i, k], expected, atol=1e-6)  # class 2 has only evidence against it
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_weights_are_mean_gradients():
    """Against the definition, with autograd and loops, on a real network with a nonlinear end."""
    model = classifier({'type': 'ThinResNet', 'depth': 8})
    inputs = torch.randn(2, 3, 16, 16)
    maps = grad_cam(model, inputs, torch.tensor([[3], [7]]))
    x = inputs
    for name, stage in model.backbone.stages.items():
        x = stage(x)
        if name == 'stage3':
            kept = x
            kept.retain_grad()
    logits = model.head(x.mean((2, 3)))
    (logits[0, 3] + logits[1, 7]).backward()
    for i in range(2):
        cam = sum(kept.grad[i, c].mean() * kept[i, c] for c in range(64)).relu().detach()
        big = nn.functional.interpolate(cam[None, None], (16, 16), mode='bilinear', align_corners=False)[0, 0]
        assert torch.allclose(maps[i, 0], big / big.max().clamp(min=1e-38), atol=1e-5)


def classifier(backbone):
    head = {'type': 'LinearHead', 'num_classes': 10, 'loss': {'type': 'MixedCE'}}
    return MODELS.build({'type': 'MixClassifier', 'backbone': backbone, 'head': head}).eval()


@pytest.mark.parametrize(
    'backbone',
    [VIT, SWIN, {'type': 'TimmBackbone', 'name': 'convnext_atto', 'options': {'depths': (1, 1, 1, 1)}}],
    ids=['vit', 'swin', 'convnext'],
)
def test_every_family_has_maps_with_evidence(backbone):
    model = classifier(backbone)
    inputs = torch.randn(2, 3, 16, 16) if 'img_size' in backbone else torch.randn(2, 3, 64, 64)
    maps = grad_cam(model, inputs, torch.tensor([[0, 1], [2, 3]]))
    assert maps.shape == (2, 2, *inputs.shape[-2:])
    assert maps.amax() == 1
    assert maps.amin() >= 0
    assert maps.isfinite().all()


def test_tokens_are_laid_out_as_the_patches_were():
    backbone = classifier(VIT).backbone
    inputs = torch.zeros(1, 3, 16, 16)
    tokens = torch.arange(17.0).view(1, 17, 1)  # a class token, then 4 x 4 patches
    assert as_map(tokens, backbone, inputs)[0, 0].tolist() == (torch.arange(16.0) + 1).view(4, 4).tolist()
    swin = classifier(SWIN).backbone
    assert as_map(torch.zeros(1, 4, 5, 7), swin, inputs).shape == (1, 7, 4, 5)
    with pytest.raises(ValueError, match='Grad-CAM needs'):
        as_map(torch.zeros(2, 5), backbone, inputs)
