"""Data sets, what is done to their images, and the samplers that order them."""

from openmix_dm.datasets.batch_transforms import BatchRandomCrop, BatchRandomFlip
from openmix_dm.datasets.digits import Digits
from openmix_dm.datasets.image_folder import ImageFolder
from openmix_dm.datasets.imagenet import ImageNet
from openmix_dm.datasets.picks import Pick
from openmix_dm.datasets.samplers import EvalBatches, TrainBatches
from openmix_dm.datasets.tensor_images import TensorImages
from openmix_dm.datasets.transforms import CenterCrop, RandomFlip, RandomResizedCrop, ResizeShortEdge

__all__ = [
    'BatchRandomCrop',
    'BatchRandomFlip',
    'CenterCrop',
    'Digits',
    'EvalBatches',
    'ImageFolder',
    'ImageNet',
    'Pick',
    'RandomFlip',
    'RandomResizedCrop',
    'ResizeShortEdge',
    'TensorImages',
    'TrainBatches',
]
