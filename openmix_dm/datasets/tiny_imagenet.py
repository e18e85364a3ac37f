"""Tiny-ImageNet."""

from openmix_dm.datasets.stored_images import StoredImages
from openmix_dm.registry import DATASETS


@DATASETS.register_module()
class TinyImageNet(StoredImages):
    """Serve Tiny-ImageNet (http://cs231n.stanford.edu/tiny-imagenet-200.zip) out of prepared arrays.

    100,000 training and 10,000 validation images of 64 px in 200 classes, the synsets in sorted order. Images are uint8
    (N, 3, 64, 64), as tools/prepare_data.py wrote them. They stay on disk, where the page cache of the system serves
    all ranks.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is 'tiny-imagenet'. Default: None.
        split: 'train' or 'val'. Default: 'train'.
        transforms: configs of batch transforms, applied in order. Those that draw are left out in evaluation.
            Default: ().

    Example:
        dataset = dict(type='TinyImageNet', split='val')
    """

    name, title, num_classes = 'tiny-imagenet', 'Tiny-ImageNet', 200
    splits = ('train', 'val')
    image_size = 64
    memory_mapped = True
