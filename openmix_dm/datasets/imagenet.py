"""ImageNet-1k (ILSVRC 2012) as folders of JPEGs."""

from openmix_dm.datasets.image_folder import ImageFolder
from openmix_dm.datasets.roots import DATA_VARIABLE
from openmix_dm.registry import DATASETS


@DATASETS.register_module()
class ImageNet(ImageFolder):
    """Serve root/{train,val}/<synset>/*.JPEG; the 1,000 synsets in sorted order are the classes 0 to 999."""

    name = 'ImageNet-1k'

    def how_to_prepare(self) -> str:
        """Say what to do when the data is not there."""
        return (
            'expected ImageNet-1k as train/<synset>/*.JPEG and val/<synset>/*.JPEG. After registering at image-net.org '
            'and downloading the two archives, run: python tools/prepare_data.py imagenet '
            f'--root {self.folder.parent} --archive ILSVRC2012_img_train.tar (and the same with ILSVRC2012_img_val.tar '
            'and --devkit ILSVRC2012_devkit_t12.tar.gz). If it is elsewhere, set '
            f'{DATA_VARIABLE} to the folder above it'
        )
