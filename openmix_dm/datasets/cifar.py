"""CIFAR-10 and CIFAR-100."""

from openmix_dm.datasets.stored_images import StoredImages
from openmix_dm.registry import DATASETS


@DATASETS.register_module()
class CIFAR10(StoredImages):
    """50,000 training and 10,000 test images of 32 px in 10 classes, in the official order."""

    name, title, num_classes = 'cifar10', 'CIFAR-10', 10


@DATASETS.register_module()
class CIFAR100(StoredImages):
    """50,000 training and 10,000 test images of 32 px in 100 (fine) classes, in the official order."""

    name, title, num_classes = 'cifar100', 'CIFAR-100', 100
