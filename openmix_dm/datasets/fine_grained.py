"""The fine-grained data sets: photographs of birds, aircraft and cars."""

from collections.abc import Sequence
from typing import Any

from openmix_dm.datasets.image_files import SKIP_LIMIT, ImageFiles
from openmix_dm.datasets.image_list import read_lines, read_list
from openmix_dm.datasets.roots import how_to_prepare, resolve_root
from openmix_dm.errors import DataError
from openmix_dm.registry import DATASETS
from openmix_dm.utils.checks import one_of


class IndexedImages(ImageFiles):
    """Serve root/{train,test}.txt, lines of `path label`, with the names of root/classes.txt.

    tools/prepare_data.py writes these files from the published lists. root: the name of the data set if not given. The
    other arguments are those of ImageFiles.
    """

    name = ''  # as tools/prepare_data.py knows it
    title = ''

    def __init__(
        self,
        root: str | None = None,
        split: str = 'train',
        transforms: Sequence[dict[str, Any]] = (),
        decoder: str = 'cv2',
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
        paths, labels = read_list(folder / f'{split}.txt', len(classes))
        super().__init__(folder, paths, labels, classes, transforms, decoder, on_error, skip_limit)


@DATASETS.register_module()
class CUB200(IndexedImages):
    """Caltech-UCSD Birds-200-2011: 5,994 training and 5,794 test images of 200 species."""

    name, title = 'cub200', 'CUB-200-2011'


@DATASETS.register_module()
class Aircraft(IndexedImages):
    """FGVC-Aircraft: 6,667 training (published as train and val) and 3,333 test images of 100 variants."""

    name, title = 'aircraft', 'FGVC-Aircraft'


@DATASETS.register_module()
class Cars(IndexedImages):
    """Stanford Cars: 8,144 training and 8,041 test images of 196 models."""

    name, title = 'cars', 'Stanford Cars'
