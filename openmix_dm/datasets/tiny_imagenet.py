"""Tiny-ImageNet."""

from openmix_dm.datasets.stored_images import StoredImages
from openmix_dm.registry import DATASETS


@DATASETS.register_module()
class TinyImageNet(StoredImages):
    """100,000 training and 10,000 validation images of 64 px in 200 classes, the synsets in sorted order."""

    name, title, num_classes = 'tiny-imagenet', 'Tiny-ImageNet', 200
    splits = ('train', 'val')
    image_size = 64
    memory_mapped = True
