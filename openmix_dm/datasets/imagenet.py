"""ImageNet-1k (ILSVRC 2012) as folders of JPEGs."""

from openmix_dm.datasets.image_folder import ImageFolder
from openmix_dm.datasets.roots import DATA_VARIABLE
from openmix_dm.invocation import command
from openmix_dm.registry import DATASETS


@DATASETS.register_module()
class ImageNet(ImageFolder):
    """Serve ImageNet-1k (ILSVRC 2012, https://arxiv.org/abs/1409.0575) from its folders of JPEGs.

    The images are `root/{train,val}/<synset>/*.JPEG`; the 1,000 synsets in sorted order are the classes 0 to 999.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
        split: 'train' or 'val'.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        backend_args: a file backend of mmengine that can list folders, such as dict(backend='petrel'); root is then
            taken as it is. None is the local disk. Default: None.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.

    Example:
        dataset = dict(type='ImageNet', root='imagenet', split='train', transforms=[dict(type='Resize', size=224)])
    """

    name = 'ImageNet-1k'

    def how_to_prepare(self) -> str:
        """Say what to do when the data is not there."""
        return (
            'expected ImageNet-1k as train/<synset>/*.JPEG and val/<synset>/*.JPEG. After registering at image-net.org '
            'and downloading the two archives, run: '
            f'{command("data", "imagenet", "--root", self.folder.parent, "--archive", "ILSVRC2012_img_train.tar")} '
            '(and the same with ILSVRC2012_img_val.tar '
            'and --devkit ILSVRC2012_devkit_t12.tar.gz). If it is elsewhere, set '
            f'{DATA_VARIABLE} to the folder above it'
        )
