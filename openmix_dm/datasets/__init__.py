"""Data sets, what is done to their images, and the samplers that order them."""

from openmix_dm.datasets.arrow.hugging_face import HuggingFaceImages
from openmix_dm.datasets.cifar import CIFAR10, CIFAR100
from openmix_dm.datasets.digits import Digits
from openmix_dm.datasets.fine_grained import CUB200, Aircraft, Cars
from openmix_dm.datasets.image_folder import ImageFolder
from openmix_dm.datasets.image_list import ImageList
from openmix_dm.datasets.imagenet import ImageNet
from openmix_dm.datasets.samplers.epoch_batches import EvalBatches, SubsetBatches, TrainBatches
from openmix_dm.datasets.samplers.sample_index import SampleBatch, SampleIndex
from openmix_dm.datasets.samplers.stream_batches import StreamBatches
from openmix_dm.datasets.streams import Streams
from openmix_dm.datasets.tensor_images import TensorImages
from openmix_dm.datasets.tiny_imagenet import TinyImageNet
from openmix_dm.datasets.transforms.batch import (
    BatchCutout,
    BatchRandomAffine,
    BatchRandomContrast,
    BatchRandomCrop,
    BatchRandomFlip,
)
from openmix_dm.datasets.transforms.batch_each import BatchEach, BatchResize
from openmix_dm.datasets.transforms.batch_rand_augment import BatchFixMatchRandAugment, BatchRandAugment
from openmix_dm.datasets.transforms.image import (
    CenterCrop,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Resize,
    ResizeShortEdge,
    TenCrop,
)
from openmix_dm.datasets.transforms.rand_augment import FixMatchRandAugment, RandAugment, SelfTuningRandAugment

__all__ = [
    'CIFAR10',
    'CIFAR100',
    'CUB200',
    'Aircraft',
    'BatchCutout',
    'BatchEach',
    'BatchFixMatchRandAugment',
    'BatchRandAugment',
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
    'HuggingFaceImages',
    'ImageFolder',
    'ImageList',
    'ImageNet',
    'RandAugment',
    'RandomCrop',
    'RandomFlip',
    'RandomResizedCrop',
    'Resize',
    'ResizeShortEdge',
    'SampleBatch',
    'SampleIndex',
    'SelfTuningRandAugment',
    'StreamBatches',
    'Streams',
    'SubsetBatches',
    'TenCrop',
    'TensorImages',
    'TinyImageNet',
    'TrainBatches',
]
