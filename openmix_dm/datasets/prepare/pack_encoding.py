"""Images as they are packed: their files, or smaller JPEGs, as rows of an Arrow table."""

import hashlib
import io
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openmix_dm.datasets.arrow.opening import import_datasets
from openmix_dm.datasets.reading.decode import decode_image
from openmix_dm.datasets.tensor_images import TensorImages
from openmix_dm.datasets.transforms.image import ResizeShortEdge
from openmix_dm.errors import DataError

QUALITY = 95
SHARD_IMAGES = 4096  # 0.5 GB of ImageNet: what a killed run may lose, and what is hashed as one
ENCODED = 64  # images at a time
LARGEST = 1 << 30  # bytes of the images of one record batch; Arrow's own limit is twice that
SAMPLED = 200  # images whose sizes say how much space all will take


@dataclass(frozen=True)
class Packing:
    """How images are stored.

    Args:
        short_edge: shorter edge that larger images are resized to; None stores the bytes of files as they are.
            Default: None.
        quality: of the JPEGs that resized images become, 1 to 100. Default: 95.
        shard_images: number of images in a file. Default: 4096.
    """

    short_edge: int | None = None
    quality: int = QUALITY
    shard_images: int = SHARD_IMAGES


def class_names(dataset: Any) -> list[str]:
    """Return the names of the classes; their numbers where they have none."""
    return list(getattr(dataset, 'classes', None) or map(str, range(dataset.num_classes)))


def features_of(dataset: Any) -> Any:
    """Return what `datasets` calls the columns of a packed data set."""
    datasets, names = import_datasets(), class_names(dataset)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f'two classes have one name, {twice!r}; expected different ones')
    return datasets.Features({'image': datasets.Image(), 'label': datasets.ClassLabel(names=names)})


def record_batches(dataset: Any, packing: Packing, rows: range, schema: Any, pool: Executor) -> Iterator[Any]:
    """Yield rows as they are stored, in their order, in pieces of a bounded size."""
    for start in range(rows.start, rows.stop, ENCODED):
        some = range(start, min(start + ENCODED, rows.stop))
        contents = list(pool.map(lambda index: encode(dataset, index, packing), some))
        ends = np.cumsum([len(content) for content in contents]) // LARGEST
        for piece in np.unique(ends):
            first, last = np.flatnonzero(ends == piece)[[0, -1]]
            yield _record_batch(dataset, contents[first : last + 1], start + int(first), schema)


def _record_batch(dataset: Any, contents: list[bytes], start: int, schema: Any) -> Any:
    import pyarrow as pa

    rows = range(start, start + len(contents))
    columns = [pa.array(contents, pa.binary()), pa.array([_stored_name(dataset, row) for row in rows], pa.string())]
    labels = np.asarray(dataset.labels)[rows.start : rows.stop].astype(np.int64)
    return pa.RecordBatch.from_arrays([pa.StructArray.from_arrays(columns, ['bytes', 'path']), labels], schema=schema)


def _stored_name(dataset: Any, index: int) -> str | None:
    """Return what an image is called within its data set, None if it has no name."""
    if isinstance(dataset, TensorImages):
        return None
    name = os.fsencode(dataset.file_name(index)).decode(errors='replace')  # Arrow takes nothing but UTF-8
    return (Path(name).name if Path(name).is_absolute() else name) or None


def source_hash(dataset: Any) -> str:
    """Return a hash by which the images are known again: of their pixels in memory, or of the names of their files."""
    if isinstance(dataset, TensorImages):
        return hashlib.sha256(dataset.images.contiguous().numpy().data).hexdigest()
    digest = hashlib.sha256()
    for index in range(len(dataset)):
        digest.update(os.fsencode(dataset.file_name(index)) + b'\0')
    return digest.hexdigest()


def estimate_size(dataset: Any, packing: Packing, pool: Executor) -> int:
    """Return about how many bytes the images take, and a tenth more: from some that lie evenly among them."""
    sampled = sorted({place * len(dataset) // SAMPLED for place in range(SAMPLED)})
    sizes = list(pool.map(lambda index: len(encode(dataset, index, packing)), sampled))
    return int(1.1 * (sum(sizes) / len(sizes) + 64) * len(dataset))


def encode(dataset: Any, index: int, packing: Packing) -> bytes:
    """Return an image as it is stored: its file, a PNG of its pixels, or a JPEG of its smaller self."""
    content, image = None, None
    if isinstance(dataset, TensorImages):
        image = dataset.images[index].permute(1, 2, 0).numpy()
    else:
        content, label = dataset.read_bytes(index)
        if packing.short_edge is not None:
            image = decode_image(content, label, max_pixels=dataset.max_pixels)
    if image is not None and packing.short_edge is not None and min(image.shape[:2]) > packing.short_edge:
        return _save(ResizeShortEdge(packing.short_edge)(image), 'JPEG', quality=packing.quality)
    return _save(image, 'PNG') if content is None else content


def _save(image: Any, kind: str, **options: Any) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(file, kind, **options)
    return file.getvalue()
