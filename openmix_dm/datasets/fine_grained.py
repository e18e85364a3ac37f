"""The fine-grained data sets: photographs of birds, aircraft and cars."""

from collections.abc import Sequence
from typing import Any

from openmix_dm.datasets.image_files import SKIP_LIMIT, ImageFiles
from openmix_dm.datasets.image_list import index_list, read_lines
from openmix_dm.datasets.reading.decode import MAX_PIXELS
from openmix_dm.datasets.reading.file_source import FileSource
from openmix_dm.datasets.roots import how_to_prepare, resolve_root
from openmix_dm.errors import DataError
from openmix_dm.registry import DATASETS
from openmix_dm.utils.checks import one_of


class IndexedImages(ImageFiles):
    """Serve root/{train,test}.txt, lines of `path label`, with the names of root/classes.txt.

    tools/prepare_data.py writes these files from the published lists.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is the name of the data set. Default: None.
        split: 'train' or 'test'. Default: 'train'.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.
    """

    name = ''  # as tools/prepare_data.py knows it
    title = ''

    def __init__(
        self,
        root: str | None = None,
        split: str = 'train',
        transforms: Sequence[dict[str, Any]] = (),
        imdecode_backend: str = 'cv2',
        max_pixels: int = MAX_PIXELS,
        on_error: str = 'raise',
        skip_limit: int = SKIP_LIMIT,
    ) -> None:
        one_of('split', split, ('train', 'test'))
        folder = resolve_root(self.name if root is None else root)
        for file in ('classes.txt', f'{split}.txt'):
            if not (folder / file).is_file():
                todo = how_to_prepare(self.name, folder)
                raise DataError(f'{folder} has no {self.title} as it is prepared ({file} is missing); {todo}')
        classes = read_lines(folder / 'classes.txt')
        paths, labels = index_list(folder / f'{split}.txt', len(classes))
        reading = (imdecode_backend, max_pixels, on_error, skip_limit)
        super().__init__(FileSource(str(folder)), paths, labels, classes, transforms, *reading)


@DATASETS.register_module()
class CUB200(IndexedImages):
    """Serve Caltech-UCSD Birds-200-2011 (https://data.caltech.edu/records/65de6-vp158) from image files.

    5,994 training and 5,794 test images of 200 species. tools/prepare_data.py writes the lists that are read.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is 'cub200'. Default: None.
        split: 'train' or 'test'. Default: 'train'.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.

    Example:
        dataset = dict(type='CUB200', split='train', transforms=[dict(type='Resize', size=256)])
    """

    name, title = 'cub200', 'CUB-200-2011'


@DATASETS.register_module()
class Aircraft(IndexedImages):
    """Serve FGVC-Aircraft (https://arxiv.org/abs/1306.5151) from image files.

    6,667 training images (published as train and val) and 3,333 test images of 100 variants. tools/prepare_data.py
    writes the lists that are read.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is 'aircraft'. Default: None.
        split: 'train' or 'test'. Default: 'train'.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.

    Example:
        dataset = dict(type='Aircraft', split='train', transforms=[dict(type='Resize', size=256)])
    """

    name, title = 'aircraft', 'FGVC-Aircraft'


@DATASETS.register_module()
class Cars(IndexedImages):
    """Serve Stanford Cars (Krause et al., 3dRR 2013) from image files.

    8,144 training and 8,041 test images of 196 models. tools/prepare_data.py writes the lists that are read.

    Args:
        root: folder of the data set, as it is if absolute, else below $OPENMIX_DM_DATA (./data if that is not set).
            None is 'cars'. Default: None.
        split: 'train' or 'test'. Default: 'train'.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.

    Example:
        dataset = dict(type='Cars', split='train', transforms=[dict(type='Resize', size=256)])
    """

    name, title = 'cars', 'Stanford Cars'
