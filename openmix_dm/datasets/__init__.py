"""Data sets, what is done to their images, and the samplers that order them."""

from openmix_dm.datasets.batch_each import BatchEach, BatchResize
from openmix_dm.datasets.batch_strong import BatchCutout, BatchRandomAffine, BatchRandomContrast
from openmix_dm.datasets.batch_transforms import BatchRandomCrop, BatchRandomFlip
from openmix_dm.datasets.cifar import CIFAR10, CIFAR100
from openmix_dm.datasets.crops import CenterCrop, RandomCrop, TenCrop
from openmix_dm.datasets.digits import Digits
from openmix_dm.datasets.fine_grained import CUB200, Aircraft, Cars
from openmix_dm.datasets.image_folder import ImageFolder
from openmix_dm.datasets.image_list import ImageList
from openmix_dm.datasets.imagenet import ImageNet
from openmix_dm.datasets.picks import Pick
from openmix_dm.datasets.rand_augment import RandAugment
from openmix_dm.datasets.samplers import EvalBatches, TrainBatches
from openmix_dm.datasets.semi_augment import FixMatchRandAugment, SelfTuningRandAugment
from openmix_dm.datasets.streams import StreamBatches, Streams
from openmix_dm.datasets.subset_batches import SubsetBatches
from openmix_dm.datasets.tensor_images import TensorImages
from openmix_dm.datasets.tiny_imagenet import TinyImageNet
from openmix_dm.datasets.transforms import RandomFlip, RandomResizedCrop, Resize, ResizeShortEdge

__all__ = [
    'CIFAR10',
    'CIFAR100',
    'CUB200',
    'Aircraft',
    'BatchCutout',
    'BatchEach',
    'BatchRandomAffine',
    'BatchRandomContrast',
    'BatchRandomCrop',
    'BatchRandomFlip',
    'BatchResize',
    'Cars',
    'CenterCrop',
    'Digits',
    'EvalBatches',
    'FixMatchRandAugment',
    'ImageFolder',
    'ImageList',
    'ImageNet',
    'Pick',
    'RandAugment',
    'RandomCrop',
    'RandomFlip',
    'RandomResizedCrop',
    'Resize',
    'ResizeShortEdge',
    'SelfTuningRandAugment',
    'StreamBatches',
    'Streams',
    'SubsetBatches',
    'TenCrop',
    'TensorImages',
    'TinyImageNet',
    'TrainBatches',
]
