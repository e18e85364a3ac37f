"""Networks that turn images into features."""

from openmix_dm.backbones.attention import CapturedAttention
from openmix_dm.backbones.base import Backbone, ConvBackbone
from openmix_dm.backbones.cifar_resnet import CifarResNet
from openmix_dm.backbones.observing import observing
from openmix_dm.backbones.pretrained import load_weights, read_weights
from openmix_dm.backbones.thin_resnet import ThinResNet
from openmix_dm.backbones.timm_backbone import TimmBackbone
from openmix_dm.backbones.timm_weights import published_weights, weights_folder
from openmix_dm.backbones.wide_resnet import PreActivationBlock, WideResNet

__all__ = [
    'Backbone',
    'CapturedAttention',
    'CifarResNet',
    'ConvBackbone',
    'PreActivationBlock',
    'ThinResNet',
    'TimmBackbone',
    'WideResNet',
    'load_weights',
    'observing',
    'published_weights',
    'read_weights',
    'weights_folder',
]
