"""Images that Hugging Face's `datasets` reads: a folder written by it, or a data set of the Hub."""

from collections.abc import Sequence
from typing import Any

from openmix_dm.datasets.arrow.columns import ImageColumn, read_labels
from openmix_dm.datasets.arrow.opening import PACKED, names_hash, open_split, read_record
from openmix_dm.datasets.image_files import SKIP_LIMIT, DecodedImages
from openmix_dm.datasets.reading.decode import MAX_PIXELS, read_file
from openmix_dm.datasets.splits.split_files import labels_hash
from openmix_dm.errors import DataError
from openmix_dm.registry import DATASETS


@DATASETS.register_module()
class HuggingFaceImages(DecodedImages):
    """Serve images of Hugging Face's `datasets` (https://arxiv.org/abs/2109.02846) out of memory-mapped Arrow tables.

    The form for a million images: a few large files instead of one for each image, read at any place, shared by all
    workers. `tools/prepare_data.py pack` writes such a folder from any data set. The stored bytes are decoded as those
    of image files are, so pixels are the same. Code that comes with a data set is never run. Labels are those of a
    ClassLabel, or whole numbers from 0; names of classes as strings are refused.

    Args:
        path: a folder that save_to_disk wrote, or one that load_dataset understands (image folders, parquet), as it is
            if absolute, else below $OPENMIX_DM_DATA (./data if that is not set); or a name on the Hub, owner/name.
        split: name of the split; load_dataset understands parts of one too, such as 'train[:10%]'. Default: 'train'.
        image_key: name of the column of images. Default: 'image'.
        label_key: name of the column of labels. Default: 'label'.
        transforms: configs of transforms of one RGB uint8 array (H, W, 3), applied in order. The last may give several
            crops, (crops, H, W, 3). Or configs of batch transforms, where all images have one size. Default: ().
        imdecode_backend: 'cv2', 'pillow', 'turbojpeg' or 'simplejpeg'. The last two need packages of their own, refuse
            JPEGs that are damaged inside, and leave what is no JPEG to cv2. Default: 'cv2'.
        max_pixels: an image whose header promises more is refused. Default: 178956970.
        on_error: 'raise', or 'skip' to take the next image for one that cannot be decoded. Only training skips: a test
            over other images is another test. Default: 'raise'.
        skip_limit: number of different images that may be skipped; one more is an error. Each rank counts for itself.
            Default: 100.
        config_name: which configuration of a data set that has several, such as 'plain_text'. Default: None.
        revision: tag, branch or commit of a data set of the Hub; None takes its main branch. Default: None.

    Example:
        dataset = dict(type='HuggingFaceImages', path='imagenet-packed', split='train')
    """

    def __init__(
        self,
        path: str,
        split: str = 'train',
        image_key: str = 'image',
        label_key: str = 'label',
        transforms: Sequence[dict[str, Any]] = (),
        imdecode_backend: str = 'cv2',
        max_pixels: int = MAX_PIXELS,
        on_error: str = 'raise',
        skip_limit: int = SKIP_LIMIT,
        config_name: str | None = None,
        revision: str | None = None,
    ) -> None:
        data, self.folder = open_split(path, split, config_name, revision)
        where = f'{self.folder or path} ({split})'
        labels, classes = read_labels(data, label_key, where)
        self._images = ImageColumn(data, image_key, where)
        reading = (imdecode_backend, max_pixels, on_error, skip_limit)
        super().__init__(where, labels, classes, transforms, *reading)
        self.name = self._compare_record(split)

    def read_bytes(self, index: int) -> tuple[bytes, str]:
        """Return the stored bytes of an image, or those of the file that its row names, and the place of the row."""
        name = self.file_name(index)
        label = f'{self.where}, row {index}' + (f' ({name})' if name else '')
        content = self._images.content(index)
        if content is None and not name:
            raise DataError(f'{label} has neither bytes nor the path of a file')
        return read_file(name) if content is None else content, label

    def file_name(self, index: int) -> str:
        """Return what the table calls an image; '' if it has no name."""
        return self._images.path(index)

    def _compare_record(self, split: str) -> str:
        """Refuse other rows than were packed, such as those of a file that lost its end; return the packed name."""
        places = [] if self.folder is None else [self.folder / split / PACKED, self.folder / PACKED]
        file = next((place for place in places if place.is_file()), None)
        if file is None:
            return ''
        record = read_record(file)
        if record.get('labels_sha256') != labels_hash(self.labels):
            raise DataError(
                f'{self.where} has {len(self):,} images with other labels than the {record.get("images")} that were '
                'packed; delete the folder of the split and pack it again'
            )
        if record.get('classes_sha256', names_hash(self.classes)) != names_hash(self.classes):
            raise DataError(
                f'{self.where} has other names of classes than were packed; delete the folder of the split and pack '
                'it again'
            )
        return record.get('name', '')
