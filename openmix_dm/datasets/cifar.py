"""CIFAR-10 and CIFAR-100."""

from openmix_dm.datasets.stored_images import StoredImages
from openmix_dm.registry import DATASETS


@DATASETS.register_module()
class CIFAR10(StoredImages):
    """Serve CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html) out of memory.

    50,000 training and 10,000 test images of 32 px in 10 classes, in the official order. Images are uint8
    (N, 3, 32, 32), as tools/prepare_data.py wrote them; nothing is unpickled.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is 'cifar10'. Default: None.
        split: 'train' or 'test'. Default: 'train'.
        transforms: configs of batch transforms, applied in order. Those that draw are left out in evaluation.
            Default: ().

    Example:
        dataset = dict(type='CIFAR10', split='train', transforms=[dict(type='BatchRandomFlip')])
    """

    name, title, num_classes = 'cifar10', 'CIFAR-10', 10


@DATASETS.register_module()
class CIFAR100(StoredImages):
    """Serve CIFAR-100 (https://www.cs.toronto.edu/~kriz/cifar.html) with its fine labels out of memory.

    50,000 training and 10,000 test images of 32 px in 100 (fine) classes, in the official order. Images are uint8
    (N, 3, 32, 32), as tools/prepare_data.py wrote them; nothing is unpickled.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is 'cifar100'. Default: None.
        split: 'train' or 'test'. Default: 'train'.
        transforms: configs of batch transforms, applied in order. Those that draw are left out in evaluation.
            Default: ().

    Example:
        dataset = dict(type='CIFAR100', split='train', transforms=[dict(type='BatchRandomFlip')])
    """

    name, title, num_classes = 'cifar100', 'CIFAR-100', 100
